"""Stacks in Rust: compiled by Cargo with the guard, and dimpl among them."""

import json
import os
import re
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

import slowhand
from conftest import Cli
from slowhand import data, own_stacks
from slowhand.own_stacks import building, crates

TOY = data.CRATES / "toy"
"""The example of docs/own-stack.md."""

C_TOY = data.CSRC / "slowhand" / "toy.c"

CRATE = data.CRATES.parent / "crates" / "slowhand-stack"
"""The crate that a stack in Rust depends on."""

DRAW = "host::random(&mut random);"
"""Where the toy's client draws its random number."""

PROGRAM = """
[package]
name = "program"
edition = "2024"
[[bin]]
name = "program"
path = "main.rs"
"""
"""A crate without a library."""

GCM = {
    "dtls1.2": "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "dtls1.3": "TLS_AES_128_GCM_SHA256",
}
"""A suite with certificates of each protocol of dimpl."""

Make = Callable[..., Path]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the toy, as a user has it. What Cargo has compiled of it stays for the next one."""
    copy = tmp_path_factory.mktemp("rust") / "toy"
    shutil.copytree(TOY, copy)
    manifest = copy / crates.MANIFEST
    text = manifest.read_text()
    assert "../../crates/slowhand-stack" in text
    moved = text.replace("../../crates/slowhand-stack", os.fspath(CRATE))
    release = '[profile.release]\ndebug = "line-tables-only"\n'
    manifest.write_text(f"{moved}\n[workspace]\n{release}")
    return copy


@pytest.fixture
def toy(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Adds a toy with other code. `SLOWHAND_STACKS` is a new folder."""
    monkeypatch.setenv("SLOWHAND_STACKS", str(tmp_path / "stacks"))

    def make(name: str, old: str = DRAW, new: str = DRAW) -> Path:
        text = (TOY / "src" / "lib.rs").read_text()
        assert old in text
        (folder / "src" / "lib.rs").write_text(text.replace(old, new, 1))
        return own_stacks.add(name, [folder / crates.MANIFEST])

    return make


def test_the_toy_in_rust_speaks_with_the_toy_in_c(cli: Cli, toy: Make, folder: Path) -> None:
    added = toy("rusty")
    own_stacks.add("toy-in-c", [C_TOY])  # other tests load one of the name "toy"
    defined = building._run(["nm", "-D", "--defined-only", str(added / "stack.so")]).stdout.split()
    assert defined[2::3] == ["slowhand_stack"]
    checked = own_stacks.check("rusty")
    assert checked.problems == []
    assert checked.trial is not None
    (session,) = checked.trial["sessions"]
    assert (session["datagrams"], session["octets"]) == (4, 2 * (13 + 16) + 2 * 13)
    # Each octet, each operation and each draw of the one is that of the other.
    lossy = ["network.link_pdr=0.6", "mac.max_retries=0"]
    rows = [
        slowhand.run(
            "psk-tinydtls",
            count=4,
            set=[f"session.stack={client}", f"session.server_stack={server}", *lossy],
        )
        for client, server in product(("toy-in-c", "rusty"), repeat=2)
    ]
    assert sum(rows[0]["datagrams_lost"]) > 0
    assert all(frame.equals(rows[0]) for frame in rows)
    # The digest is of the sources and the options, and not of folders.
    about = json.loads(cli("stacks", "rusty", "--json").stdout)
    other = own_stacks.add("other", [TOY / crates.MANIFEST])
    assert (other / "digest").read_text().split()[0] == about["digest"]
    patched = toy("patched", "RETRANSMISSIONS: u32 = 7", "RETRANSMISSIONS: u32 = 6")
    assert (patched / "digest").read_text().split()[0] != about["digest"]


@pytest.mark.parametrize(
    ("function", "code"),
    [
        ("clock_gettime", "let _ = std::time::Instant::now();"),
        ("getrandom", "let _ = std::collections::HashMap::<u8, u8>::new();"),
        ("open64", 'let _ = std::fs::read("/etc/hostname");'),
    ],
)
def test_what_the_standard_library_asks_of_the_system_ends_the_session(
    toy: Make, function: str, code: str
) -> None:
    name = f"bad-{function}"
    toy(name, new=f"{DRAW} {code}")
    problem = own_stacks.check(name).problems[0]
    assert f"the stack {name} calls {function}, which depends on the computer" in problem


def test_a_panic_is_a_session_that_has_failed(toy: Make) -> None:
    line = (TOY / "src" / "lib.rs").read_text().partition(DRAW)[0].count("\n") + 1
    toy("panics", new=f'{DRAW} assert!(random.is_empty(), "{{}} of them", random.len());')
    frame = slowhand.run("psk-tinydtls", count=2, set={"session.stack": "panics"})
    assert list(frame["outcome"]) == ["error", "error"]
    assert all(f"panicked at lib.rs:{line}: 16 of them" in why for why in frame["failure_reason"])


@pytest.mark.parametrize("answer", ["suite(&self) -> u16", "max_data(&self) -> Option<usize>"])
def test_a_panic_in_an_answer_is_reported(toy: Make, answer: str) -> None:
    line = f"fn {answer} {{"
    name = answer.partition("(")[0]
    toy(name, line, f'{line} assert!(self.mtu == 0, "asked");')
    problems = own_stacks.check(name).problems
    said = rf"{name} fails: panicked at lib.rs:\d+: asked"
    assert any(re.search(said, each) for each in problems)


def test_a_panic_before_a_session_is_reported(toy: Make) -> None:
    line = "fn create("
    with pytest.raises(own_stacks.StackError, match=r"panicked at lib.rs:\d+: not ready"):
        toy("unready", line, f'fn load() {{ panic!("not ready") }} {line}')


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ("nonsense", "of which cargo says: error"),
        ("[workspace]\n", "contains no package"),
        (PROGRAM, "allowed: the Cargo.toml of a crate with a library"),
    ],
)
def test_a_crate_that_is_no_stack_is_refused(
    cli: Cli, toy: Make, tmp_path: Path, manifest: str, said: str
) -> None:
    (tmp_path / crates.MANIFEST).write_text(manifest)
    (tmp_path / "main.rs").write_text("fn main() {}")
    assert said in cli("stacks", "add", "wrong", crates.MANIFEST, code=2).stderr


def test_what_the_compiler_says_is_passed_on(toy: Make, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(own_stacks.StackError, match="cargo could not make the stack: its messages"):
        toy("wrong", "fn tag(", "fn tga(")
    assert "no method named `tag`" in capsys.readouterr().err


def test_a_package_without_the_crates_says_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWHAND_STACKS", str(tmp_path / "stacks"))
    with pytest.raises(own_stacks.StackError, match="--source: found here, allowed: none"):
        own_stacks.add("dimpl", source="here")
    monkeypatch.setattr(data, "CRATES", tmp_path)
    with pytest.raises(own_stacks.StackError, match="whose crate is only in a clone of slowhand"):
        own_stacks.add("dimpl")


@pytest.mark.skipif("SLOWHAND_FULL" not in os.environ, reason="two minutes; ./test --full")
def test_dimpl_is_a_stack(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOWHAND_STACKS", str(tmp_path / "stacks"))
    own_stacks.add("dimpl")
    checked = own_stacks.check("dimpl")
    assert checked.problems == []
    assert checked.trial is not None
    sessions = {
        (each["protocol"], each["credential"]): (each["datagrams"], each["octets"])
        for each in checked.trial["sessions"]
    }
    # Other programs with this library have measured these: 110/60/142/108/109/67.
    assert sessions["dtls1.2", "psk"] == (6, 596)
    assert {*sessions} == {
        *(("dtls1.2", credential) for credential in ("psk", "certificate")),
        ("dtls1.3", "certificate"),
    }
    # Its own arithmetic gives what the fast one gives, also with losses and small datagrams.
    for protocol, peer in product(("dtls1.2", "dtls1.3"), ("dimpl", "lean-dtls")):
        auth = "server" if (protocol, peer) == ("dtls1.2", "lean-dtls") else "mutual"
        settings = [
            "session.stack=dimpl",
            f"session.server_stack={peer}",
            f"session.protocol={protocol}",
            "session.credential=certificate",
            f"session.suite={GCM[protocol]}",
            f"session.auth={auth}",
            "session.mtu=256",
            "session.timeout_s=5",
            "network.link_pdr=0.75",
            "mac.max_retries=2",
            "client.device=openmote-cc2538",
        ]
        memo, library = (
            slowhand.run(
                "psk-tinydtls", count=4, set=[*settings, f"session.arithmetic={arithmetic}"]
            )
            for arithmetic in ("memo", "library")
        )
        assert memo.equals(library)
        assert {*memo["outcome"]} == {"completed"}
        assert sum(memo["datagrams_lost"]) > 0
        # Both ends log the same secrets.
        settings.append("client.device=linux-host")
        options = [word for setting in settings for word in ("--set", setting)]
        cli("run", "psk-tinydtls", *options, "--count", 1, "--pcap", "frames.pcapng")
        logged = re.findall(rb"(CLIENT_[A-Z_]+\w* )", (tmp_path / "frames.pcapng").read_bytes())
        secrets = {
            "dtls1.2": [b"CLIENT_RANDOM "],
            "dtls1.3": [b"CLIENT_HANDSHAKE_TRAFFIC_SECRET ", b"CLIENT_TRAFFIC_SECRET_0 "],
        }
        assert sorted(logged) == secrets[protocol]
