"""Libraries take what `slowhand settings` prints: compilers and parsers read it."""

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import slowhand
from conftest import ROOT, Cli, the_message
from slowhand import Setting
from slowhand.settings import (
    LIBRARIES,
    Snippet,
    californium,
    contiki_ng,
    mbedtls,
    openssl,
    openthread,
    snippets,
    suites,
    tinydtls,
    wolfssl,
    zephyr,
)
from slowhand.settings.session import AROUND

PSK_8 = "TLS_PSK_WITH_AES_128_CCM_8"
ECDSA_8 = "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8"
STRANGE = 'a"b\\c?\x01\xe97'
RAW: dict[str, Setting] = {"stack": "lean-dtls", "suite": ECDSA_8, "credential": "raw_public_key"}
DTLS13: dict[str, Setting] = {
    "stack": "lean-dtls",
    "suite": "TLS_AES_128_CCM_8_SHA256",
    "protocol": "dtls1.3",
}

SESSIONS: dict[str, dict[str, Setting]] = {
    "certificates": {"suite": ECDSA_8, "mtu": 256, "connection_id": 4, "timeout_s": 2.5},
    "server only": {"suite": ECDSA_8, "auth": "server", "max_fragment_length": 1024},
    "record sizes": {"stack": "lean-dtls", "suite": PSK_8, "record_size_limit": 256},
    "psk": {"suite": PSK_8, "mtu": 220, "connection_id": 0, "max_timeout_s": 8, "timeout_s": 1},
    "identity": {"suite": PSK_8, "psk_identity": STRANGE, "resumption": "id", "cookie": False},
    "ticket": {"suite": "TLS_PSK_WITH_AES_256_GCM_SHA384", "resumption": "ticket"},
    "rsa": {"suite": "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", "rsa_bits": 1024},
    "old rsa": {"suite": "TLS_RSA_WITH_AES_128_CBC_SHA", "auth": "server", "resumption": "ticket"},
    "old curve": {"suite": "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "curve": "secp192r1"},
    "password": {"suite": "TLS_ECJPAKE_WITH_AES_128_CCM_8", "mtu": 600},
    "tls 1.2": {"protocol": "tls1.2", "suite": ECDSA_8, "max_fragment_length": 4096},
    "tls 1.3": {"protocol": "tls1.3", "suite": "TLS_AES_128_GCM_SHA256", "resumption": "ticket"},
    "raw public key": {**RAW, "mtu": 80, "timeout_s": 3},
    "raw, server only": {**RAW, "auth": "server"},
    "early data": {**RAW, "false_start": True, "backoff": "cocoa"},
    "dtls 1.3": {**DTLS13, "connection_id": 8},
    "dtls 1.3, short": {**DTLS13, "connection_id": 8, "mtu": 100, "timeout_s": 1},
    "dtls 1.3 psk": {**DTLS13, "auth": "psk"},
    "dtls 1.3 dhe": {**DTLS13, "auth": "psk", "psk_mode": "psk_dhe_ke"},
    "dtls 1.3 dhe, short": {
        **{**DTLS13, "auth": "psk", "psk_mode": "psk_dhe_ke", "connection_id": 8},
        **{"psk_identity": "thirty-two octets, as many as is", "mtu": 100, "timeout_s": 1},
    },
    "agreement": {"stack": "lean-dtls", "suite": "TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256"},
    "lean": {"stack": "lean-dtls", "suite": PSK_8, "lean": ["all"], "timeout_floor_s": 1},
    "tinydtls": {"stack": "tinydtls", "suite": "TLS_PSK_WITH_AES_128_CCM", "timeout_s": 0.5},
    "tls 1.3, compressed": {
        **{"stack": "rustls", "protocol": "tls1.3", "suite": "TLS_AES_128_GCM_SHA256"},
        "certificate_compression": "zlib",
    },
    "two libraries": {"suite": PSK_8, "server_stack": "tinydtls", "server_timeout_s": 3},
}
"""The keys of `[session]`, in the scenario `minimal`."""

RESUMED: dict[str, Setting] = {"session.suite": ECDSA_8, "session.resumption": "id"}
AROUND_KEYS = {key for key, _ in AROUND}


def of_session(session: str) -> slowhand.Scenario:
    keys = {"stack": "mbedtls", **SESSIONS[session]}
    return slowhand.Scenario("minimal", {f"session.{k}": v for k, v in keys.items()})


@cache
def made(session: str) -> list[Snippet]:
    return snippets(of_session(session))


def of(library: str, language: str) -> dict[str, str]:
    """The distinct texts of a library, each with the first session that has it."""
    found = {
        snippet.text: session
        for session in reversed(SESSIONS)
        for snippet in made(session)
        if (snippet.library, snippet.language) == (library, language)
    }
    assert found
    return {session: text for text, session in found.items()}


@cache
def carrier(name: str) -> Path:
    """The folder of a crate that carries the sources of a library, as the build finds it."""
    version = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    (host,) = re.findall(r"^host: (.*)$", version, re.MULTILINE)
    asked = ["cargo", "metadata", "--format-version=1", "--locked", "--offline"]
    carriers = " ".join(f'--cfg slowhand_carriers="{name}"' for name in ("sessions", "interop"))
    asked_for = ["rustc", "--print", "sysroot"]
    root = subprocess.run(asked_for, capture_output=True, text=True, check=True).stdout.strip()
    # As Cargo has it for build scripts: where rustc is a link, it does not find its library.
    environment = os.environ | {"RUSTFLAGS": carriers, "LD_LIBRARY_PATH": f"{root}/lib"}
    command = [*asked, "--filter-platform", host]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    listed = done.stdout
    found = [p["manifest_path"] for p in json.loads(listed)["packages"] if p["name"] == name]
    return Path(found[0]).parent


def compiled(files: dict[str, str], folder: Path, *options: str | Path) -> None:
    """Compiles each text, without a warning."""
    for at, (session, text) in enumerate(files.items()):
        file = folder / f"{at}.c"
        file.write_text(text)
        warnings = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
        command = ["cc", "-fsyntax-only", *warnings, *map(str, options), str(file)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, f"{session}:\n{done.stderr}\n{text}"


def test_mbedtls_takes_its_settings(tmp_path: Path) -> None:
    sessions = ROOT / "crates" / "slowhand-sessions"
    root = carrier("mbedtls-rs-sys") / "mbedtls"
    config = '-DMBEDTLS_CONFIG_FILE="csrc/mbedtls/config.h"'
    compiled(of("mbedtls", "c"), tmp_path, config, "-I", sessions, "-I", root / "include")


def test_the_check_of_an_option_fails_without_it(tmp_path: Path) -> None:
    (tmp_path / "none.h").write_text("#define MBEDTLS_SSL_TLS_C\n")
    root = carrier("mbedtls-rs-sys") / "mbedtls"
    config = '-DMBEDTLS_CONFIG_FILE="none.h"'
    with pytest.raises(AssertionError, match=r'#error "define MBEDTLS_SSL_PROTO_DTLS"'):
        compiled(of("mbedtls", "c"), tmp_path, config, "-I", tmp_path, "-I", root / "include")


def test_openssl_takes_its_settings(tmp_path: Path) -> None:
    built = sorted(ROOT.glob("target/*/build/slowhand-sessions-*/out/openssl/include"))
    include = carrier("openssl-src") / "openssl" / "include"
    compiled(of("openssl", "c"), tmp_path, "-I", built[0], "-I", include)


def test_headers_have_the_name_of_each_suite() -> None:
    mbedtls_header = "mbedtls/include/mbedtls/ssl_ciphersuites.h"
    for crate, header, names in (
        (
            "mbedtls-rs-sys",
            mbedtls_header,
            {mbedtls.constant(name) for name in suites.of("mbedtls")},
        ),
        ("openssl-src", "openssl/include/openssl/tls1.h", map(openssl.constant, OF_OPENSSL)),
    ):
        text = (carrier(crate) / header).read_text()
        assert {*names} <= {*re.findall(r"#\s*define (\w+)\s", text)}, crate


OF_OPENSSL = [suites.SUITES[name] for name in suites.of("openssl")]


def test_wolfssl_takes_its_settings(tmp_path: Path) -> None:
    root = carrier("wolfssl-sys") / "wolfssl-src"
    settings = ROOT / "crates" / "slowhand-sessions" / "csrc" / "wolfssl"
    compiled(
        of("wolfssl", "c"), tmp_path, "-DWOLFSSL_USER_SETTINGS", "-I", settings, "-isystem", root
    )
    known = re.findall(r'SUITE_INFO\("([^"]+)",\s*"([^"]+)"', (root / "src/internal.c").read_text())
    names = {iana: name for name, iana in known}
    assert {iana: names.get(iana) for iana in wolfssl.SUITES} == wolfssl.SUITES


def test_tinydtls_takes_its_settings(tmp_path: Path) -> None:
    compiled(of("tinydtls", "c"), tmp_path, *tinydtls_options())


def tinydtls_options() -> list[str | Path]:
    root = carrier("tinydtls-sys") / "src" / "tinydtls"
    config = ROOT / "crates" / "slowhand-sessions" / "csrc" / "tinydtls"
    return ["-I", config, "-isystem", root]


def test_the_timer_of_tinydtls_becomes_the_one_of_the_scenario(tmp_path: Path) -> None:
    """Its source, changed as the snippet says, is compiled, and a handshake begins."""
    root = carrier("tinydtls-sys") / "src" / "tinydtls"
    (tmp_path / "dtls.c").write_text((root / "dtls.c").read_text())
    script = of("tinydtls", "sh")["tinydtls"]
    subprocess.run(["sh", "-c", script], cwd=tmp_path, check=True)
    (tmp_path / "settings.c").write_text(of("tinydtls", "c")["tinydtls"])
    (tmp_path / "main.c").write_text(FIRST_TIMEOUT)
    names = ["netq", "peer", "session", "ccm", "hmac", "crypto", "dtls_debug", "dtls_time"]
    names += ["dtls_prng", "aes/rijndael", "aes/rijndael_wrap", "sha2/sha2", "ecc/ecc"]
    sources = [root / f"{name}.c" for name in names]
    own = [tmp_path / f"{name}.c" for name in ("dtls", "settings", "main")]
    options = [
        "-w",
        "-DNDEBUG",
        "-DHAVE_GETRANDOM",
        "-o",
        tmp_path / "run",
        "-I",
        root,
        *tinydtls_options(),
    ]
    subprocess.run(["cc", *map(str, [*options, *own, *sources])], check=True)
    run = subprocess.run([tmp_path / "run"], capture_output=True, text=True, check=True)
    assert run.stdout == "500 ms, suites c0a4\n"


FIRST_TIMEOUT = r"""
#include <stdio.h>
#include "tinydtls.h"
#include "dtls.h"
#include "netq.h"

const unsigned char psk[] = "key";
const size_t psk_length = 3;
void configure(dtls_context_t *context, dtls_handler_t *handler);

static int write_datagram(dtls_context_t *context, session_t *peer, uint8 *octets, size_t length)
{
    /* A ClientHello without a session ID and a cookie: the length of its suites is at 61. */
    unsigned suites = octets[61] << 8 | octets[62];
    unsigned ticks = netq_head(&context->sendqueue)->timeout;
    printf("%u ms, suites", ticks * 1000 / CLOCK_SECOND);
    for (unsigned at = 63; at + 1 < 63 + suites; at += 2)
        if (octets[at] != 0) /* not the signal of RFC 5746 */
            printf(" %02x%02x", octets[at], octets[at + 1]);
    printf("\n");
    return (int) length;
}

int main(void)
{
    static dtls_handler_t handler = {.write = write_datagram};
    session_t peer;
    dtls_init();
    dtls_context_t *context = dtls_new_context(NULL);
    configure(context, &handler);
    dtls_session_init(&peer);
    peer.size = sizeof peer.addr.sin6;
    return dtls_connect(context, &peer) < 0;
}
"""


def test_lean_dtls_takes_its_settings_in_c(tmp_path: Path) -> None:
    header = ROOT / "crates" / "lean-dtls-c" / "include"
    compiled(of("lean-dtls", "c"), tmp_path, "-I", header)


def test_the_rust_that_cargo_compiles_is_what_is_printed(tmp_path: Path) -> None:
    folder = ROOT / "crates" / "lean-dtls" / "tests" / "settings"
    subprocess.run([sys.executable, folder / "make.py", tmp_path], check=True)
    printed = {file.name: file.read_text() for file in tmp_path.glob("*.rs")}
    committed = {file.name: file.read_text() for file in folder.glob("*.rs")}
    assert printed == committed, "run: .venv/bin/python crates/lean-dtls/tests/settings/make.py"


def test_zephyr_takes_its_lines(tmp_path: Path) -> None:
    """The syntax of a .config: symbols of the list, with values of their types."""
    for text in of("zephyr", "kconfig").values():
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        for line in lines:
            match = re.fullmatch(r"CONFIG_([A-Z0-9_]+)=(\w+)", line)
            assert match, line
            allowed = {"bool": r"[yn]", "int": r"\d+"}[zephyr.KCONFIG[match[1]]]
            assert re.fullmatch(allowed, match[2]), line
        assert len({line.partition("=")[0] for line in lines}) == len(lines)


def test_zephyr_takes_its_calls(tmp_path: Path) -> None:
    """Its header is not here: one with the names of the list stands for it."""
    header = tmp_path / "zephyr" / "net" / "socket.h"
    header.parent.mkdir(parents=True)
    names = "".join(f"#define {name} {at}\n" for at, name in enumerate(zephyr.OPTIONS))
    call = "int zsock_setsockopt(int, int, int, const void *, unsigned);\n"
    header.write_text("#pragma once\n#include <stdint.h>\n" + names + call)
    include = carrier("mbedtls-rs-sys") / "mbedtls" / "include"
    compiled(of("zephyr", "c"), tmp_path, "-I", tmp_path, "-I", include)


def test_contiki_ng_takes_its_macros(tmp_path: Path) -> None:
    for text in of("contiki-ng", "c").values():
        for name in re.findall(r"\b(?:COAP|CSPRNG)_[A-Z_]+\b", text):
            assert name in contiki_ng.MACROS
    compiled(of("contiki-ng", "c"), tmp_path, "-Wno-pedantic")
    for text in of("contiki-ng", "make").values():
        for name in re.findall(r"\bMAKE_[A-Z_]+", text):
            assert name in contiki_ng.VARIABLES
        (tmp_path / "Makefile").write_text(text + "\nall:\n\t@echo $(MAKE_WITH_DTLS)\n")
        run = subprocess.run(["make", "-s"], cwd=tmp_path, capture_output=True, text=True)
        assert run.stdout == "1\n", run.stderr


def test_openthread_takes_its_macros_and_calls(tmp_path: Path) -> None:
    """Its header is not here: one with the functions of the list stands for it."""
    header = tmp_path / "openthread" / "coap_secure.h"
    header.parent.mkdir()
    declared = "".join(f"{prototype};\n" for prototype in openthread.FUNCTIONS)
    types = "#include <stdbool.h>\n#include <stdint.h>\ntypedef struct otInstance otInstance;\n"
    header.write_text("#pragma once\n" + types + declared)
    texts = of("openthread", "c")
    compiled(texts, tmp_path, "-I", tmp_path)
    for text in texts.values():
        for name in re.findall(r"#define (\w+)", text):
            assert name in openthread.MACROS


def test_the_timer_of_openthread_becomes_the_one_of_the_scenario(tmp_path: Path) -> None:
    source = tmp_path / "src" / "core" / "meshcop" / "secure_transport.cpp"
    source.parent.mkdir(parents=True)
    # the line of src/core/meshcop/secure_transport.cpp at b0735664ce54
    source.write_text("    mbedtls_ssl_conf_handshake_timeout(&mConf, 8000, 60000);\n")
    subprocess.run(["sh", "-c", of("openthread", "sh")["certificates"]], cwd=tmp_path, check=True)
    assert "mbedtls_ssl_conf_handshake_timeout(&mConf, 2500, 60000);" in source.read_text()


VALUES = {
    "time": r"\d+\[ms\]",
    "float": r"\d+\.\d",
    "integer": r"\d*",
    "boolean": "true|false",
    "length": "BYTES_(512|1024|2048|4096)",
    "suite": "TLS_[A-Z0-9_]+",
    "curve": "secp256r1|secp192r1",
    "certificate": "X_509|RAW_PUBLIC_KEY",
    "authentication": "NEEDED|NONE",
}


def test_californium_takes_its_properties() -> None:
    """The syntax of java.util.Properties: names of the list, with values of their types."""
    for text in of("californium", "properties").values():
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        for line in lines:
            name, equals, value = line.partition("=")
            assert equals
            assert re.fullmatch(VALUES[californium.PROPERTIES[name]], value), line
        assert len({line.partition("=")[0] for line in lines}) == len(lines)


def one(library: str, language: str, **keys: Setting) -> str:
    """The text of a library for a session of its own."""
    session = {"stack": "mbedtls", "suite": PSK_8, **keys}
    scenario = slowhand.Scenario("minimal", {f"session.{k}": v for k, v in session.items()})
    (found,) = [x.text for x in snippets(scenario, library) if x.language == language]
    return found


def test_long_timers_have_no_exponent_and_fit_into_32_bits(tmp_path: Path) -> None:
    text = one("californium", "properties", timeout_s=1, max_timeout_s=2000)
    assert "DTLS.MAX_RETRANSMISSION_TIMEOUT=2000000[ms]" in text
    text = one("californium", "properties", timeout_s=5000)
    assert "DTLS.RETRANSMISSION_TIMEOUT=5000000[ms]" in text

    text = one("openssl", "c", timeout_s=5000)
    assert "The timer of OpenSSL ends at 4294 s" in text
    numbers = [int(digits) for digits in re.findall(r"(\d+)u\b", text)]
    assert numbers and max(numbers) < 2**32
    assert "1000000u;" in one("openssl", "c", timeout_s=1, max_timeout_s=2000)

    for timeout, ticks in ((5000, 5_000_000), (2.5, 2_500), (4_000.25, 4_000_250), (0.5, 500)):
        (tmp_path / "dtls.c").write_text("long ticks = 2 * CLOCK_SECOND;\n")
        script = one("tinydtls", "sh", timeout_s=timeout)
        subprocess.run(["sh", "-c", script], cwd=tmp_path, check=True)
        main = "#define CLOCK_SECOND 1000\n" + (tmp_path / "dtls.c").read_text()
        check = f'_Static_assert({{}} == {ticks}, "ticks");\n'
        expression = re.findall(r"= (.*);", main)[0]
        compiled({"ticks": main + check.format(expression)}, tmp_path)  # warns of an overflow


def test_a_server_of_mbedtls_has_its_cookies(tmp_path: Path) -> None:
    sessions = ROOT / "crates" / "slowhand-sessions"
    root = carrier("mbedtls-rs-sys") / "mbedtls"
    config = '-DMBEDTLS_CONFIG_FILE="csrc/mbedtls/config.h"'
    texts = {name: one("mbedtls", "c", cookie=is_on) for name, is_on in COOKIES.items()}
    assert "mbedtls_ssl_cookie_check, cookies);" in texts["cookie"]
    assert "mbedtls_ssl_cookie_ctx" not in texts["no cookie"]
    assert "conf_dtls_cookies(conf, NULL, NULL, NULL);" in texts["no cookie"]
    assert "mbedtls_ssl_cookie_check, cookies);" in one("mbedtls", "c")  # as mbedTLS does
    assert "cookie" not in one("mbedtls", "c", protocol="tls1.2")
    compiled(texts, tmp_path, config, "-I", sessions, "-I", root / "include")


COOKIES = {"cookie": True, "no cookie": False}


def test_wolfssl_without_tickets_takes_its_settings() -> None:
    lines = one("wolfssl", "c").splitlines()
    at = next(n for n, line in enumerate(lines) if "NoTicketTLSv12" in line)
    assert (lines[at - 1], lines[at + 2]) == ("#if defined(HAVE_SESSION_TICKET)", "#endif")


def test_every_line_fits_a_terminal_and_every_note_is_in_the_text() -> None:
    for session in SESSIONS:
        for snippet in made(session):
            assert snippet.text.endswith("\n")
            for line in snippet.text.splitlines():
                assert len(line) <= (120 if snippet.language == "rust" else 100), line
            words = " ".join(re.sub(r"^(/\*| \*|#|//!) ?", "", snippet.text, flags=re.M).split())
            for note in snippet.notes:
                assert note in words


def test_what_a_library_cannot_do_is_said() -> None:
    told = {
        (snippet.library, note)
        for session in SESSIONS
        for snippet in made(session)
        for note in snippet.notes
    }
    for library, note in (
        ("mbedtls", "mbedTLS has no DTLS 1.3: this is DTLS 1.2."),
        ("mbedtls", "mbedTLS has no raw public keys: this is certificates."),
        ("mbedtls", "mbedTLS does not cut a ClientHello, which may have 192 octets."),
        ("openssl", "OpenSSL has no connection IDs (RFC 9146)."),
        ("openssl", "below 228 octets over IPv4, or 208 over IPv6: prepare() takes that"),
        ("wolfssl", "Ends of wolfSSL need a ClientHello in one piece, which may have 192 octets."),
        ("wolfssl", "Ends of wolfSSL need a ClientHello in one piece, which may have 352 octets."),
        ("wolfssl", "The timer of wolfSSL counts whole seconds: 2.5 s become 3 s."),
        ("tinydtls", "tinyDTLS has no certificates: this is a raw public key."),
        ("tinydtls", "tinyDTLS has no TLS 1.2: this is DTLS 1.2."),
        ("californium", "Californium does not resume by ticket."),
        ("lean-dtls", "The calls in C do not have: the measured round trip, the lean profile."),
        (
            "openssl",
            "Certificates are not compressed (RFC 8879): rustls does it, OpenSSL not here.",
        ),
        ("zephyr", "At the server, the first timeout of the scenario is 3 s."),
    ):
        assert any(of == library and note in words for of, words in told), (library, note)


@pytest.mark.parametrize(
    ("changes", "notes"),
    [
        ({"session.carrier": "coap"}, ["CoAP carries the handshake (session.carrier)"]),
        ({"session.carrier": "dccp"}, ["DCCP carries the session (session.carrier, RFC 5238)"]),
        ({"session.trust_anchor": True}, ["A trust anchor gives the key (session.trust_anchor)"]),
        (
            {**RESUMED, "gateway.delegation": "internet"},
            ["A host on the Internet opens the session (gateway.delegation)"],
        ),
        (
            {**RESUMED, "gateway.delegation": "border-router"},
            ["The border router opens the session (gateway.delegation)"],
        ),
        (
            {"session.suite": ECDSA_8, "gateway.pre_validation": True},
            ["The border router verifies the server's certificates (gateway.pre_validation)"],
        ),
        (
            {"lowpan.payload_compression": "lithe", "session.carrier": "udp"},
            ["6LoWPAN compresses the headers of DTLS (lowpan.payload_compression)"],
        ),
        (
            {"lowpan.payload_compression": "ghc", "session.trust_anchor": True},
            ["A trust anchor gives the key", "6LoWPAN compresses payloads"],
        ),
        ({"lowpan.payload_compression": "none", "session.trust_anchor": False}, []),
    ],
)
def test_what_is_around_a_session_is_said_with_each_library(
    changes: dict[str, Setting], notes: list[str]
) -> None:
    around: dict[str, Setting] = {"session.stack": "mbedtls", "session.suite": PSK_8, **changes}
    told: dict[str, list[str]] = {}
    for snippet in snippets(slowhand.Scenario("minimal", around)):
        said = [note for note in snippet.notes if any(key in note for key in AROUND_KEYS)]
        comment = " ".join(re.sub(r"^(/\*| \*|#|//!) ?", "", snippet.text, flags=re.M).split())
        assert all(note in comment for note in said), snippet.library
        # Its first file has them; another may be a script, or a part.
        told.setdefault(snippet.library, said)
    assert set(told) == set(LIBRARIES)
    for library, said in told.items():
        assert len(said) == len(notes), (library, said)
        for note, begin in zip(said, notes, strict=True):
            assert note.startswith(begin)


@pytest.mark.parametrize("protocol", ["less", "quic"])
def test_protocols_that_no_library_of_dtls_has_are_refused(protocol: str) -> None:
    session = {"session.protocol": protocol, "session.stack": "rustls"}
    if protocol == "quic":
        session["session.suite"] = "TLS_AES_128_GCM_SHA256"
    with pytest.raises(
        ValueError, match=f"session.protocol: found {protocol}, allowed: a protocol that has"
    ):
        snippets(slowhand.Scenario("minimal", session))


def test_each_library_is_there_in_each_session() -> None:
    for session in SESSIONS:
        assert {snippet.library for snippet in made(session)} == set(LIBRARIES)


def test_the_names_of_the_suites_are_those_of_the_laboratory() -> None:
    known = {suite for stack in slowhand.stacks() for suite in stack["suites"]}
    for library in (mbedtls, wolfssl, tinydtls, californium, contiki_ng, openthread):
        assert set(library.OFFER.suites) <= known


def test_the_command_prints_them(cli: Cli) -> None:
    text = cli("settings", "lossy-line", "--library", "mbedtls").stdout
    assert text.startswith("== mbedtls: configure.c\n/* mbedTLS 3.6.5, both ends:")
    assert "mbedtls_ssl_conf_handshake_timeout(conf, 9000, 60000);" in text
    every = cli("settings", "lossy-line").stdout
    assert re.findall("^== ([a-z-]+):", every, re.M)[0] == "mbedtls"
    assert set(re.findall("^== ([a-z-]+):", every, re.M)) == set(LIBRARIES)
    replaced = ["--set", "session.timeout_s=15", "--json"]
    found = json.loads(cli("settings", "lossy-line", "--library", "openssl", *replaced).stdout)
    assert [snippet["file"] for snippet in found] == ["configure.c"]
    assert "15000000u" in found[0]["text"]


def test_bad_input_is_told(cli: Cli) -> None:
    done = cli("settings", "lossy-line", "--library", "gnutls", code=2)
    allowed = ", ".join(LIBRARIES)
    assert the_message(done) == f"slowhand: --library: found 'gnutls', allowed: {allowed}"
    with pytest.raises(ValueError, match="library: found 'gnutls'"):
        snippets("lossy-line", "gnutls")
    assert "nowhere.toml: found No such file" in the_message(
        cli("settings", "nowhere.toml", code=2)
    )


def test_a_name_of_a_file_stays_in_its_comment(tmp_path: Path) -> None:
    file = tmp_path / "x *\\ #error\n y.toml"
    file.write_text((ROOT / "scenarios" / "minimal.toml").read_text())
    (text,) = [snippet.text for snippet in snippets(file, "openssl")]
    assert "the session of x_____error__y.toml." in " ".join(text.split()).replace(" * ", " ")


def test_the_output_in_the_document_is_what_it_prints(cli: Cli) -> None:
    text = (ROOT / "docs" / "settings.md").read_text()
    ((arguments, printed),) = re.findall(r"\$ ./slowhand ([^\n]+)\n(.*?)```", text, re.S)
    assert cli(*arguments.split()).stdout == printed
    listed = re.findall(r"^\| `([a-z-]+)` \|", text, re.M)
    assert listed == list(LIBRARIES)
