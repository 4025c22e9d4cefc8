"""Builds of OpenSSL as stacks: of the sources that are built in, of OpenSSL 4.0, side by side."""

import json
import os
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import slowhand
from conftest import Cli, the_message
from slowhand import data, own_stacks
from slowhand.own_stacks import building
from slowhand.own_stacks.recipes import KNOWN, LIBRARIES, openssl
from test_settings import carrier

BUILDS = pytest.mark.skipif(
    "SLOWHAND_FULL" not in os.environ, reason="minutes of compilation; ./test --full"
)

PSK_SUITE = "TLS_PSK_WITH_AES_128_CCM_8"


def test_each_renamed_call_has_its_counter() -> None:
    adapter = data.CSRC / "openssl"
    text = (adapter / "operations.c").read_text() + (adapter / "arithmetic.c").read_text()
    replaced = [name for names in openssl.LISTS["replaced"].values() for name in names]
    for function in [*openssl.LISTS["counted"], *replaced]:
        # A macro makes those of hash functions.
        name, _, step = function.partition("_")
        made = f"COUNTED_HASH({name}, " in text and f"slowhand_##name##_{step}(" in text
        assert made or f"slowhand_{function}(" in text, function
    root = carrier("openssl-src") / "openssl"
    for file in [*openssl.LISTS["callers"], *openssl.LISTS["replaced"]]:
        assert (root / file).is_file()


def test_what_is_no_openssl_is_refused(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWHAND_STACKS", str(tmp_path / "stacks"))
    refused = cli("stacks", "add", "mine", "openssl", "--source", tmp_path, code=2)
    assert "allowed: the folder of OpenSSL 3.5 or later" in the_message(refused)
    listed = tmp_path / "listed"
    listed.write_text(f"root {tmp_path}\nsource {tmp_path / 'a.c'}")
    with pytest.raises(own_stacks.StackError, match=r"found no provid.*needs another adapter"):
        openssl.parts(tmp_path, None)
    with pytest.raises(own_stacks.StackError, match=r"--config: found .*use --cflags"):
        openssl.parts(tmp_path, listed)
    assert not (tmp_path / "stacks").exists()


def test_a_version_that_does_not_know_an_option_is_configured_without_it(tmp_path: Path) -> None:
    (tmp_path / "ssl" / "statem").mkdir(parents=True)
    (tmp_path / "Configure").write_text(
        'if (my @no = grep { /^no-(engine|asm)$/ } @ARGV) { die "***** Unsupported options: ",'
        ' join(", ", @no), "\\n" }\nopen my $out, ">", "configured"; print $out "@ARGV";'
    )
    work = tmp_path / "work"
    work.mkdir()
    (work / "configdata.pm").write_text(
        "package configdata; use parent 'Exporter'; our @EXPORT = qw(%unified_info %config);"
        " our (%unified_info, %config); 1;"
    )
    assert openssl.prepare(tmp_path, work) == work
    given = (work / "configured").read_text().split()
    assert "no-quic" in given
    assert not {"no-engine", "no-asm"} & {*given}
    assert (work / "listed").read_text() == f"root {tmp_path.resolve()}"


def test_openssl_4_is_known_by_its_name(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWHAND_STACKS", str(tmp_path))
    assert KNOWN["openssl-4.0"].carrier == "openssl-src 400.0.2"
    assert all(known.crate or known.library in LIBRARIES for known in KNOWN.values())
    said = cli("run", "psk-tinydtls", "--set", "session.stack=openssl-4.0", code=2).stderr
    assert "`slowhand stacks add openssl-4.0` makes it" in said


def rows(client: str, server: str, *overrides: str) -> Any:
    stacks = [f"session.stack={client}", f"session.server_stack={server}"]
    return slowhand.run("quickstart", count=2, set=[*stacks, *overrides])


SESSIONS = {
    "certificates": (),
    "a lossy link": ("network.link_pdr=0.6", "session.mtu=256"),
    "a pre-shared key": (
        *(f"session.suite={PSK_SUITE}", "session.auth=psk", "session.curve="),
        *("session.psk=00112233445566778899aabbccddeeff", "session.psk_identity=sensor"),
    ),
    "RSA": ("session.suite=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "session.rsa_bits=2048"),
    "TLS 1.3": ("session.protocol=tls1.3", "session.suite=TLS_AES_128_CCM_8_SHA256"),
}
"""The columns in which the builds are compared."""


@BUILDS
def test_two_versions_stand_beside_the_one_that_is_built_in(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWHAND_STACKS", str(tmp_path / "made"))
    own_stacks.add("same", ["openssl"], source=carrier("openssl-src") / "openssl")
    own_stacks.add("openssl-4.0")
    built = own_stacks.builds(["same", "openssl-4.0"])
    assert [build["version"] for build in built.values()] == ["3.5.5", "4.0.3"]
    made = own_stacks.folder()
    for name in ("same", "openssl-4.0"):
        # One symbol is visible, and none of OpenSSL or slowhand is looked for outside.
        file = str(made / name / "stack.so")
        defined = building._run(["nm", "-D", "--defined-only", file]).stdout.split()
        assert defined[2::3] == ["slowhand_stack"]
        sought = building._run(["nm", "-D", "--undefined-only", file]).stdout
        assert not any(word in sought for word in ("SSL_", "EVP_", "ossl_", "slowhand"))
        checked = json.loads(cli("stacks", "check", name, "--json").stdout)
        assert checked["problems"] == []
        assert len(checked["trial"]["sessions"]) == 5
    for what, overrides in SESSIONS.items():
        built_in = rows("openssl", "openssl", *overrides)
        # Sources that are the same give the same bits: alone, and with the other build as the peer.
        for pair in product(("openssl", "same"), repeat=2):
            assert rows(*pair, *overrides).equals(built_in), (what, pair)
        # Who computes changes nothing in 4.0 either: not a random number, not a time.
        new = rows("openssl-4.0", "openssl-4.0", *overrides)
        library = ("session.arithmetic=library", *overrides)
        assert rows("openssl-4.0", "openssl-4.0", *library).equals(new), what
        # All three in one process: each has its own state, and what came before changes nothing.
        assert rows("openssl-4.0", "openssl", *overrides)["outcome"].eq("completed").all(), what
        assert rows("openssl", "openssl", *overrides).equals(built_in), what
