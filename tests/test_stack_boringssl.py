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
from slowhand.own_stacks.recipes import boringssl

full = pytest.mark.skipif("SLOWHAND_FULL" not in os.environ, reason="four minutes; ./test --full")

TOY = data.CSRC / "slowhand" / "toy.c"


@pytest.fixture
def stacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new folder for stacks."""
    monkeypatch.setenv("SLOWHAND_STACKS", str(tmp_path / "stacks"))
    return tmp_path / "stacks"


def test_every_file_is_there_and_none_is_compiled_twice() -> None:
    root = boringssl.carried()
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
    with pytest.raises(own_stacks.StackError, match="install a compiler of C\\+\\+, or name it with CXX"):
        own_stacks.add("boringssl")


@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a compiler of C++")
def test_the_interface_is_one_of_cxx_too() -> None:
    command = [*building._compile(boringssl.ADAPTER / "stack.cc"), "-fsyntax-only", "-Wall", "-Werror"]
    subprocess.run([*command, str(boringssl.ADAPTER / "stack.cc")], check=True)


def test_an_end_that_imports_its_key_needs_a_peer_that_does(
    cli: Cli, stacks: Path, tmp_path: Path
) -> None:
    text = TOY.read_text()
    for old, new in (
        ("SLOWHAND_DTLS12", "SLOWHAND_DTLS13"),
        ("{0xC0A8, 0}", "{0x1305, 0}"),
        (".longest_psk", ".psk_modes = 1u << SLOWHAND_PSK_KE, .imports_psk = 1, .longest_psk"),
    ):
        assert old in text
        text = text.replace(old, new)
    source = tmp_path / "toy.c"
    source.write_text(text)
    own_stacks.add("importer", [source])
    sets = ("--set", "session.protocol=dtls1.3", "--set", "session.auth=psk")
    pairs = [("importer", "lean-dtls"), ("lean-dtls", "importer")]
    for client, server in pairs:
        of_both = ("--set", f"session.stack={client}", "--set", f"session.server_stack={server}")
        said = cli("run", "quickstart", *sets, *of_both, code=2).stderr
        assert "only importer imports its pre-shared key (RFC 9258), not lean-dtls" in " ".join(said.split())
        assert "session.server_stack" in said


@full
def test_its_sessions(cli: Cli, stacks: Path) -> None:
    cli("stacks", "add", "boringssl")
    object_ = str(stacks / "boringssl" / "stack.so")
    defined = subprocess.run(["nm", "-D", "--defined-only", object_], capture_output=True, text=True)
    assert defined.stdout.split()[2::3] == ["slowhand_stack"]
    checked = json.loads(cli("stacks", "check", "boringssl", "--json").stdout)
    assert checked["problems"] == []
    frame = slowhand.run("quickstart", count=2, set={"session.stack": "boringssl"})
    assert list(frame["outcome"]) == ["completed", "completed"]
