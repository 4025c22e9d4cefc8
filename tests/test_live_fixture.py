"""The fixture of pytest: what it says of a test that fails, and what it keeps."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import slowhand
from slowhand.realtime import status

TESTS = """
SCENARIO = "quickstart"


def test_wait(slowhand_live):
    net = slowhand_live(SCENARIO, udp=9, set={"network.link_pdr": 0.9})
    net.wait(handshakes=1, timeout_s=0.2)


def test_closed(slowhand_live):
    net = slowhand_live(SCENARIO, speed=50)
    net.wait(timeout_s=60)
    net.close()
    assert net.records["outcome"].to_list() == ["gave_up"]


def test_two(slowhand_live):
    slowhand_live(SCENARIO, udp=9, capture=None)
    slowhand_live("no-such-scenario")


def test_passes(slowhand_live):
    slowhand_live(SCENARIO, speed=50).wait(timeout_s=60)


def test_warns(slowhand_live):
    slowhand_live('busy', speed=1e6).wait(timeout_s=60)
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The words of pytest on these tests, and its folder of temporary files."""
    folder = tmp_path_factory.mktemp("tests")
    (folder / "test_it.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull]
    done = subprocess.run(
        [*command, "--rootdir", folder, "--basetemp", folder / "kept", folder],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert "3 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    return done.stdout, folder / "kept"


def section(output: str, test: str) -> str:
    """The words on the networks of a test."""
    report = re.split(rf"_+ {test} _+\n", output)[1]
    found = re.search(r"-+ slowhand live -+\n(.*?)\n(?=_|=|-)", report, re.S)
    assert found, report
    return found[1]


def test_a_failed_test_says_what_its_network_did(said: tuple[str, Path]) -> None:
    lines = section(said[0], "test_wait").splitlines()
    assert re.fullmatch(r".*quickstart\.toml, seed 1, at \d+\.\d s", lines[0])
    assert lines[1:3] == [
        "sessions   no sessions",
        "datagrams  0 sent, 0 delivered, 0 lost, 0 waiting",
    ]
    assert lines[3].startswith("late by the clock: p50 ")
    closed = section(said[0], "test_closed").splitlines()
    assert closed[0].endswith("quickstart.toml, seed 1, closed")
    assert closed[1] == "sessions   1 completed"
    assert re.fullmatch(r"datagrams  \d+ sent, \d+ delivered, 0 lost, 0 waiting", closed[2])


def test_the_capture_of_a_failed_test_is_kept_and_of_others_not(said: tuple[str, Path]) -> None:
    for test in ("test_wait", "test_closed"):
        (path,) = re.findall(r"^capture +(.*)$", section(said[0], test), re.M)
        # pcapng: the type of a section header block.
        assert Path(path).read_bytes().startswith(b"\x0a\x0d\x0d\x0a")
    assert "capture" not in section(said[0], "test_two")
    kept = {path.name for path in said[1].rglob("*.pcapng")}
    assert kept == {"network-1.pcapng"} and len(list(said[1].rglob("*.pcapng"))) == 2


def test_a_traceback_has_only_the_lines_of_the_test(said: tuple[str, Path]) -> None:
    failures = said[0].split("= FAILURES =")[1]
    assert "TimeoutError: wait: not reached within 0.2 s" in failures
    assert "slowhand.ScenarioError: scenario: found 'no-such-scenario'" in failures
    places = re.findall(r"^(\S+\.py):\d+: ", failures, re.M)
    assert places and {Path(place).name for place in places} == {"test_it.py"}


def test_a_network_that_could_not_keep_up_is_a_warning(said: tuple[str, Path]) -> None:
    warnings = said[0].split("= warnings summary =")[1]
    assert re.search(r"test_it.py::test_warns\n.*UserWarning: the network was late: p99 ", warnings)
    with pytest.warns(UserWarning, match=r"the network was late: p99 .* or a lower speed"):  # noqa: SIM117
        with slowhand.live("busy", speed=1e6) as net:
            net.wait(timeout_s=60)


def test_losses_are_named_with_the_most_first() -> None:
    with slowhand.live("quickstart", speed=50, set={"lowpan.fragment_loss": 0.9}) as net:
        net.wait(timeout_s=60)
    lost = net.report()["datagrams"]["lost"]
    reasons = [reason.replace("_", " ") for reason in sorted(lost, key=lambda one: -lost[one])]
    assert reasons and re.search(rf"lost \({reasons[0]} \d", status.account(net))
