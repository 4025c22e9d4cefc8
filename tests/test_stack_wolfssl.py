"""wolfSSL as a stack of the user: its recipe, and in the slow size the library itself."""

import json
import os
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

import slowhand
from conftest import Cli
from slowhand import data, own_stacks
from slowhand.own_stacks.recipes import KNOWN, LIBRARIES, wolfssl
from test_settings import carrier

SLOW = pytest.mark.skipif(
    "SLOWHAND_FULL" not in os.environ, reason="compiles wolfSSL for 40 s; ./test --full"
)

LISTS = json.loads((data.CSRC / "wolfssl" / "sources.json").read_text())

# Another program has seen this of wolfSSL 5.9.4, which was compiled with secp256r1 as its only
# curve, with RSA and without renegotiation_info. Here each ClientHello has four more curves (RFC
# 8422 section 5.1.1), and the hellos but those that ask for a cookie have renegotiation_info (RFC
# 5746 section 3.4); a ClientHello of DTLS 1.3 has nine signature algorithms less, and no key
# share.
CURVES, RENEGOTIATION, ALGORITHMS, KEY_SHARE = 4 * 2, 5, 9 * 2, 4 + 65
HELLO = CURVES + RENEGOTIATION
SIZES = {
    "dtls1.2": sum((87, 60, 119, 107, 25, 42, 67, 67)) + 2 * HELLO + RENEGOTIATION,
    "dtls1.3": sum((257, 144, 330, 77, 28, 58, 58, 32)) + 2 * (HELLO - ALGORITHMS - KEY_SHARE),
}
"""The octets of a handshake with a pre-shared key and AES_128_CCM_8, without losses.

The identity has 15 octets.
"""


def test_the_recipe_has_every_function_that_the_library_calls() -> None:
    root = carrier("wolfssl-sys") / "wolfssl-src"
    parts = wolfssl.parts(root, None)
    files = [file for part in parts for file in part.files]
    assert len(files) == len({*files})
    assert all(file.is_file() for file in files)
    # Each function that is called by another name has that name once in the adapter, and none is
    # compiled with another name where the library defines it.
    adapter = "".join(file.read_text() for file in (data.CSRC / "wolfssl").glob("*.c"))
    for part in LISTS["parts"]:
        texts = [(root / f"{name}.c").read_text() for name in part["files"]]
        defined = {*re.findall(r"^int (\w+)\(", "\n".join(texts), re.MULTILINE)}
        assert not defined & {*part["renamed"]}
        for function in part["renamed"]:
            macro = re.sub("Sha(?:256|384|512)?|Ccm|Gcm", "##name##", function)
            # A macro makes some of their names, and writes others.
            names = rf"(?:{function}|{macro})"
            assert re.search(rf"slowhand_{names}\(|COUNTED_\w+\({names},", adapter), function


def test_the_sources_are_found_where_cargo_has_them() -> None:
    assert LIBRARIES["wolfssl"].carried() == carrier("wolfssl-sys") / "wolfssl-src"
    assert KNOWN["wolfssl"].library == "wolfssl"


def test_another_folder_is_refused(cli: Cli, tmp_path: Path) -> None:
    said = cli("stacks", "add", "mine", "wolfssl", "--source", tmp_path, code=2).stderr
    assert "allowed: the folder of wolfSSL 5.9, with wolfssl/ssl.h" in said


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A stack `wolfssl` in a folder of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLOWHAND_STACKS", str(tmp_path_factory.mktemp("stacks")))
        own_stacks.add("wolfssl")
        yield


@SLOW
def test_its_check_finds_nothing(added: None) -> None:
    found = own_stacks.check("wolfssl")
    assert found.problems == []
    assert found.trial is not None
    tried = {(each["protocol"], each["credential"]) for each in found.trial["sessions"]}
    credentials = ("psk", "raw_public_key", "certificate")
    assert tried == {*product(("dtls1.2", "dtls1.3", "tls1.2"), credentials)} | {
        ("tls1.3", credential) for credential in credentials[1:]
    }
    assert all(each["leaked"] == 0 for each in found.trial["sessions"])


@SLOW
@pytest.mark.parametrize("protocol", SIZES)
def test_its_handshakes_have_the_octets_of_another_program(added: None, protocol: str) -> None:
    suite = {"dtls1.2": "TLS_PSK_WITH_AES_128_CCM_8", "dtls1.3": "TLS_AES_128_CCM_8_SHA256"}
    asked = ["session.stack=wolfssl", f"session.protocol={protocol}", "session.timeout_s=10"]
    asked += [f"session.suite={suite[protocol]}", "session.auth=psk"]
    asked += ["session.psk_identity=Client_identity"]
    frame = slowhand.run("psk-tinydtls", count=1, set=asked)
    assert list(frame["outcome"]) == ["completed"]
    assert list(frame["bytes_payload"]) == [SIZES[protocol]]


@SLOW
@pytest.mark.parametrize(
    "asked",
    [
        ["session.protocol=dtls1.2"],
        ["session.protocol=dtls1.3", "session.suite=TLS_AES_128_CCM_8_SHA256"],
        ["session.protocol=tls1.3", "session.suite=TLS_AES_128_GCM_SHA256"],
    ],
)
def test_the_records_are_the_same_whoever_computes(added: None, asked: list[str]) -> None:
    memo, own = (
        slowhand.run("quickstart", count=3, set=[*asked, "session.stack=wolfssl", arithmetic])
        for arithmetic in ("session.arithmetic=memo", "session.arithmetic=library")
    )
    assert list(memo["outcome"]) == ["completed"] * 3
    assert memo.equals(own)


@SLOW
def test_it_speaks_with_the_others_over_a_bad_path(added: None) -> None:
    suites = {
        "dtls1.2": ("mbedtls", "openssl", "tinydtls", "lean-dtls"),
        "dtls1.3": ("lean-dtls",),
    }
    for protocol, others in suites.items():
        suite = "TLS_PSK_WITH_AES_128_CCM_8" if protocol == "dtls1.2" else "TLS_AES_128_CCM_SHA256"
        asked = [f"session.protocol={protocol}", f"session.suite={suite}", "session.auth=psk"]
        asked += ["lowpan.fragment_loss=0.1"]
        for other, ends in product(others, (("stack", "server_stack"), ("server_stack", "stack"))):
            pair = [f"session.{ends[0]}=wolfssl", f"session.{ends[1]}={other}"]
            frame = slowhand.run("psk-tinydtls", count=4, set=[*asked, *pair])
            assert list(frame["outcome"]) == ["completed"] * 4, (other, ends)


@SLOW
def test_a_small_build_has_what_its_options_leave(cli: Cli, added: None, tmp_path: Path) -> None:
    config = tmp_path / "small.h"
    without = ["HAVE_ECC", "HAVE_CURVE25519", "HAVE_SUPPORTED_CURVES", "HAVE_RPK"]
    without += ["WOLFSSL_HAVE_SP_ECC", "WOLFSSL_TLS13", "WOLFSSL_DTLS13"]
    without += ["WOLFSSL_SEND_HRR_COOKIE", "WOLFSSL_DTLS_CH_FRAG"]
    undone = "".join(f"#undef {option}\n" for option in without)
    config.write_text(f"{undone}#define NO_CERTS\n")
    source = carrier("wolfssl-sys") / "wolfssl-src"
    said = cli("stacks", "add", "small", "wolfssl", "--source", source, "--config", config).stdout
    assert "Its licence is GPL-3.0-or-later: who passes it on has to pass on" in said
    made = json.loads(cli("stacks", "small", "--json").stdout)
    assert made["protocols"] == ["dtls1.2", "tls1.2"]
    assert made["credentials"] == ["psk"]
    assert json.loads(cli("stacks", "check", "small", "--json").stdout)["problems"] == []
