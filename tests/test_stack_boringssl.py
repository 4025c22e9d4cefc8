"""BoringSSL as a stack: its list of sources, what is refused, and, with --full, its sessions."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import slowhand
from conftest import Cli
from slowhand import data, own_stacks
from slowhand.own_stacks import building
from slowhand.own_stacks.recipes import LIBRARIES, boringssl

full = pytest.mark.skipif("SLOWHAND_FULL" not in os.environ, reason="four minutes; ./test --full")

TOY = data.CSRC / "slowhand" / "toy.c"


@pytest.fixture
def stacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new folder for stacks."""
    monkeypatch.setenv("SLOWHAND_STACKS", str(tmp_path / "stacks"))
    return tmp_path / "stacks"


def write(folder: Path, session: str) -> Path:
    """A scenario with this session, over links that lose frames."""
    file = folder / "scenario.toml"
    file.write_text(
        '[network]\ntopology = { kind = "line", hops = 2 }\nlink_pdr = 0.9\n[mac]\nkind = "csma"\n'
        '[client]\ndevice = "openmote-cc2538"\n[session]\n' + session
    )
    return file


def test_every_file_is_there_and_none_is_compiled_twice() -> None:
    root = LIBRARIES["boringssl"].carried()
    parts = boringssl.parts(root, None)
    files = [file for part in parts for file in part.files]
    assert all(file.is_file() for file in files)
    assert len({*files}) == len(files)
    # A file that is left out, and one with renamed functions, has the name that it has in the list.
    about = json.loads((boringssl.ADAPTER / "sources.json").read_text())
    every = boringssl.listed(root, {**about, "left_out": []})
    assert {*about["renamed"]} <= {*every}
    for left_out in about["left_out"]:
        assert any(file.startswith(left_out) for file in every), left_out
    own = {file.name for file in boringssl.ADAPTER.glob("*.cc")}
    assert own == {*about["own"]}


def test_another_folder_is_refused(cli: Cli, stacks: Path, tmp_path: Path) -> None:
    said = cli("stacks", "add", "mine", "boringssl", "--source", tmp_path, code=2).stderr
    assert "allowed: the folder of BoringSSL, with gen/sources.cmake" in said


def test_a_missing_compiler_is_named(stacks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    said = r"install a compiler of C\+\+, or name it with CXX"
    with pytest.raises(own_stacks.StackError, match=said):
        own_stacks.add("boringssl")


@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a compiler of C++")
def test_the_interface_is_one_of_cxx_too() -> None:
    source = boringssl.ADAPTER / "stack.cc"
    command = [*building._compile(source), "-fsyntax-only", "-Wall", "-Werror", str(source)]
    subprocess.run(command, check=True)


@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a compiler of C++")
def test_a_stack_with_global_objects_of_cxx_is_loaded(stacks: Path, tmp_path: Path) -> None:
    source = tmp_path / "global.cc"
    source.write_text(
        "#include <chrono>\n#include <cstdlib>\n#include <string>\n"
        "static auto loaded = std::chrono::steady_clock::now();\n"
        "static std::string kept = std::string(100, getenv(\"HOME\") ? 'a' : 'b');\n"
        'extern "C" const char *kept_text() { return kept.c_str(); }\n'
    )
    own_stacks.add("global", [TOY, source])
    assert own_stacks.check("global").problems == []


def test_an_end_that_imports_its_key_needs_a_peer_that_does(
    cli: Cli, stacks: Path, tmp_path: Path
) -> None:
    text = TOY.read_text()
    for old, new in (
        ("SLOWHAND_DTLS12, 0, NULL", "SLOWHAND_DTLS13, 0, (const uint16_t[]) {23, 0}"),
        ("{0xC0A8, 0}", "{0x1305, 0}"),
        (".longest_psk", ".psk_modes = 1u << SLOWHAND_PSK_KE, .imports_psk = 1, .longest_psk"),
    ):
        assert old in text
        text = text.replace(old, new)
    source = tmp_path / "toy.c"
    source.write_text(text)
    own_stacks.add("importer", [source])
    scenario = write(tmp_path, 'protocol = "dtls1.3"\nauth = "psk"\n')
    for client, server in (("importer", "lean-dtls"), ("lean-dtls", "importer")):
        ends = ("--set", f"session.stack={client}", "--set", f"session.server_stack={server}")
        said = " ".join(cli("run", scenario, *ends, code=2).stderr.split())
        assert "only importer imports its pre-shared key (RFC 9258), not lean-dtls" in said
        assert "allowed: two libraries that import a pre-shared key of DTLS 1.3" in said
    cli("run", scenario, "--count", 1, "--set", "session.stack=importer")


@full
def test_its_sessions(cli: Cli, stacks: Path, tmp_path: Path) -> None:
    own_stacks.add("boringssl")
    object_ = str(stacks / "boringssl" / "stack.so")
    command = ["nm", "-D", "--defined-only", object_]
    defined = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert defined.split()[2::3] == ["slowhand_stack"]
    checked = json.loads(cli("stacks", "check", "boringssl", "--json").stdout)
    assert checked["problems"] == []
    octets = {
        (each["protocol"], each["credential"]): (each["datagrams"], each["octets"])
        for each in checked["trial"]["sessions"]
    }
    # Flights of 317, 230, 66 and 40 octets, measured without this adapter; that ClientHello had
    # two suites more.
    assert octets["dtls1.3", "psk"] == (4, 317 - 2 * 2 + 230 + 66 + 40)
    # A server without a cookie, and with losses.
    refused = cli("run", write(tmp_path, 'stack = "boringssl"\n'), code=2).stderr
    assert "session.cookie: found true, allowed: false (the library has no cookie)" in refused
    scenario = write(tmp_path, 'stack = "boringssl"\ncookie = false\ntimeout_s = 3\n')
    peers = {
        "dtls1.2": ("boringssl", "mbedtls", "openssl", "lean-dtls"),
        "dtls1.3": ("boringssl", "lean-dtls"),
    }
    for protocol, servers in peers.items():
        for server in servers:
            ends = {"session.protocol": protocol, "session.server_stack": server}
            rows = [
                slowhand.run(scenario, count=3, set={**ends, "session.arithmetic": arithmetic})
                for arithmetic in ("memo", "library")
            ]
            assert list(rows[0]["outcome"]) == ["completed"] * 3
            assert rows[0].equals(rows[1])
