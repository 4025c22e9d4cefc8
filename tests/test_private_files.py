"""Only the owner may read a file that holds keys or secrets. Other files are as usual."""

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import slowhand
from conftest import COMMAND, QUICKSTART
from slowhand import pages

KEY = {"session.psk": "00112233445566778899aabbccddeeff"}
LINK_KEY = {"mac.security": {"level": "enc-mic-32", "key": "0f" * 16}}


@pytest.fixture(autouse=True)
def _usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.rglob("*.*")}


def cli(folder: Path, *arguments: str) -> None:
    subprocess.run([*COMMAND, *arguments], cwd=folder, check=True, capture_output=True)


ALL = ("--records=r.parquet", "--report=r.html", "--nodes=n.parquet", "--buffers=b.csv")
MORE = ("--timeline=t.html", "--pcap=p.pcapng")
SET = ("--set", f"session.psk={KEY['session.psk']}")


def test_what_run_writes_of_a_scenario_with_a_key_is_for_its_owner(tmp_path: Path) -> None:
    cli(tmp_path, "run", "psk-tinydtls", "--count=2", *SET, *ALL, *MORE)
    secret = {"r.parquet", "r.html", "n.parquet", "p.pcapng"}
    found = modes(tmp_path)
    assert found == {name: 0o600 if name in secret else 0o644 for name in found}
    assert len(found) == len(ALL + MORE)
    # Files that others may read do not have the key.
    for name in found.keys() - secret:
        assert KEY["session.psk"].encode() not in (tmp_path / name).read_bytes(), name


def test_without_a_key_only_the_capture_is_for_its_owner(tmp_path: Path) -> None:
    cli(tmp_path, "run", str(QUICKSTART), "--count=2", *ALL, *MORE)
    found = modes(tmp_path)
    assert {name for name, mode in found.items() if mode == 0o600} == {"p.pcapng"}
    assert {mode for name, mode in found.items() if name != "p.pcapng"} == {0o644}


def test_the_rows_of_a_sweep_with_a_key_are_for_its_owner(tmp_path: Path) -> None:
    for name, key in (("with", KEY), ("without", {})):
        scenario = slowhand.Scenario("psk-tinydtls", key)
        slowhand.sweep(scenario, {"network.link_pdr": "0.8,0.9"}, count=2, out=tmp_path / name)
    assert set(modes(tmp_path / "with").values()) == {0o600}
    assert set(modes(tmp_path / "without").values()) == {0o644}


@pytest.mark.parametrize("key", [KEY, LINK_KEY, {}])
def test_what_python_writes_is_for_its_owner(key: dict[str, str], tmp_path: Path) -> None:
    scenario = slowhand.Scenario("psk-tinydtls", key)
    run = slowhand.Run(scenario, count=1)
    (tmp_path / "old.parquet").touch(mode=0o666)  # a file that is there is replaced
    run.write_parquet(tmp_path / "old.parquet")
    pages.report(run, tmp_path / "page.html")
    (tmp_path / "old.pcapng").touch(mode=0o666)
    scenario.capture(tmp_path / "old.pcapng")
    scenario.capture(tmp_path / "new.pcapng")
    mode = 0o600 if key else 0o644
    assert modes(tmp_path) == {
        "old.parquet": mode,
        "page.html": mode,
        "old.pcapng": 0o600,
        "new.pcapng": 0o600,
    }


@pytest.mark.parametrize("key", [KEY, {}])
def test_what_a_live_network_writes_is_for_its_owner(key: dict[str, str], tmp_path: Path) -> None:
    scenario = slowhand.Scenario("psk-tinydtls", key)
    with slowhand.live(scenario, speed=50, capture=tmp_path / "live.pcapng") as net:
        net.wait(timeout_s=60)
    net.write_parquet(tmp_path / "live.parquet")
    assert modes(tmp_path) == {"live.pcapng": 0o600, "live.parquet": 0o600 if key else 0o644}


@pytest.mark.parametrize(("key", "mode"), [({}, 0o644), (LINK_KEY, 0o600)])
def test_the_capture_of_programs_has_no_secret_but_the_key_of_the_link_layer(
    key: dict[str, str], mode: int, tmp_path: Path
) -> None:
    with slowhand.live("psk-tinydtls", set=key, udp=9, capture=tmp_path / "live.pcapng"):
        pass
    assert modes(tmp_path) == {"live.pcapng": mode}


def test_a_key_that_an_override_replaces_is_still_in_the_text() -> None:
    text = f"session.psk={KEY['session.psk']}"
    scenario = slowhand.Scenario("psk-tinydtls", [text])
    assert not slowhand.Scenario("psk-tinydtls").holds_keys
    assert scenario.holds_keys
    assert slowhand.Scenario("psk-tinydtls", [text, "session.psk="]).holds_keys
