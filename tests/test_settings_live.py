"""The text of `slowhand settings` is run: both ends of a library have exactly that text.

They open a session across the emulated network, at the speed of the clock. What they send is
measured on its way: no datagram is longer than the scenario asks for, and when an answer is lost,
the first repetition comes when the scenario says. The programs around the text are in `ends/`.
"""

import base64
import math
import os
import re
import runpy
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Self

import pytest

import slowhand
from conftest import ROOT
from live_network import NETWORK
from programs import Program, at_once, free_port, run
from slowhand import Setting
from slowhand.settings.session import End, read
from test_settings import ECDSA_8, RAW, SESSIONS, carrier, made, of_session, tinydtls_options

ENDS = ROOT / "tests" / "ends"
LIBRARIES = ("mbedtls", "openssl", "wolfssl", "tinydtls", "lean-dtls")

IPV4_AND_UDP = 28

LEAST = {"mbedtls": 192, "openssl": 256 - IPV4_AND_UDP, "wolfssl": 192, "wolfssl 1.3": 352}
"""Octets of a datagram below which a library does not go; the text says so."""

EARLY_S = 0.05
"""So much before its time a repetition may come: ticks, and OpenSSL takes what is due within 15 ms
as due (ssl/d1_lib.c)."""

LATE_S = 5
"""So much after its time: the computer has other work. Each library has a session whose timeout
is later than its own (1 s, or 2 s of tinyDTLS), or earlier by more than this (9 s of lean-dtls)."""


class Case(NamedTuple):
    """The text in C of a library for a session of `SESSIONS`."""

    library: str
    session: str


QUICK = [
    *(Case(library, "certificates") for library in ("mbedtls", "openssl", "wolfssl")),
    *(Case(library, "psk") for library in ("mbedtls", "openssl", "wolfssl", "lean-dtls")),
    Case("tinydtls", "tinydtls"),
    Case("tinydtls", "raw public key"),
]

FULL = "SLOWHAND_FULL" in os.environ

MAKE = runpy.run_path(str(ROOT / "crates" / "lean-dtls" / "tests" / "settings" / "make.py"))
"""The script that writes the texts in Rust, which Cargo compiles: sessions and scenarios."""

IN_RUST = [*MAKE["SESSIONS"]] if FULL else ["raw_public_key"]


def text(case: Case, language: str = "c") -> str:
    """The text that is printed for a case."""
    found = [x for x in made(case.session) if (x.library, x.language) == (case.library, language)]
    return found[0].text if found else ""


def cases() -> list[Case]:
    """The texts that are run: some, or with --full all that differ."""
    if not FULL:
        return QUICK
    chosen = {text(case): case for case in QUICK}
    for case in (Case(library, session) for library in LIBRARIES for session in SESSIONS):
        chosen.setdefault(text(case), case)
    return [case for printed, case in chosen.items() if printed and can_run(case)]


def can_run(case: Case) -> bool:
    """False for what wolfSSL is compiled without here (csrc/wolfssl/user_settings.h)."""
    is_old = end(case).has_rsa or end(case).curve == "secp192r1"
    return case.library != "wolfssl" or not is_old


def end(case: Case) -> End:
    """The end that the session of a case asks for."""
    return read("", of_session(case.session).native).client


def is_stream(case: Case) -> bool:
    """True if the ends of a case speak over TCP."""
    return end(case).is_stream and case.library not in ("tinydtls", "lean-dtls")


def is_raw(code: str) -> bool:
    """True if a text has raw public keys."""
    return "own_key" in code or "expected_rpk" in code


def arguments(name: str, code: str) -> str | None:
    """The arguments of a function of the text behind its first one: variables of these names."""
    match = re.search(rf"^int {name}\(([^)]*)\)", code, re.MULTILINE)
    if match is None:
        return None
    names = [re.findall(r"\w+", re.sub(r"\[\d+\]", "", each))[-1] for each in match[1].split(",")]
    return "".join(f", {name}" for name in names[1:])


def settings_header(case: Case) -> str:
    """The text as it is, and what the program around it has to know of it."""
    code = text(case)
    lines = ["#include <string.h>", code]
    for name in ("configure", "prepare"):
        given = arguments(name, code)
        is_well = "0" if case.library == "mbedtls" else "1"
        call = is_well if given is None else f"{name}(to{given})"
        lines.append(f"#define {name.upper()}(to) {call}")
    values = {
        "IS_13": "WOLFSSL_TLS13" in code,
        "IS_SERVER_ONLY": "Only the server" in code,
        "HAS_TICKETS": "mbedtls_ssl_conf_session_tickets_cb" in code,
    }
    lines += [f"#define {name} {int(value)}" for name, value in values.items()]
    lines += ["#define HAS_RAW_PUBLIC_KEY"] if is_raw(code) else []
    lines += ["#define HAS_CERTIFICATE"] if "authority" in code else []
    return "\n".join(lines) + "\n"


def write_credentials(case: Case, folder: Path) -> None:
    """The files of both ends, if they have any."""
    session = SESSIONS[case.session]
    keys: dict[str, Setting] = {"suite": ECDSA_8}
    if is_raw(text(case)):
        keys = RAW
    elif end(case).credential == "certificate" and "stack" not in session:
        names = ("protocol", "suite", "curve", "rsa_bits")
        keys = {name: session[name] for name in names if name in session}
    changes = {"stack": "mbedtls", **keys, "auth": "mutual"}
    write_files(
        slowhand.Scenario("minimal", {f"session.{key}": v for key, v in changes.items()}), folder
    )


def write_files(scenario: slowhand.Scenario, folder: Path) -> None:
    """The credentials of a scenario: PEM, and the same as DER."""
    scenario.write_credentials(folder)
    suffixes = {".pem": "", ".key": "_key", ".pub": "_public"}
    for file in [file for file in folder.iterdir() if file.suffix in suffixes]:
        body = re.sub(r"-----.*?-----|\s", "", file.read_text())
        name = f"{file.stem}{suffixes[file.suffix]}.der"
        (folder / name).write_bytes(base64.b64decode(body))


def raw_keys(folder: Path) -> str:
    """The private and the public numbers of client and server, as an initialiser of C."""
    ends = []
    for name in ("client", "server"):
        private = (folder / f"{name}_key.der").read_bytes()[7:39]  # behind the version (RFC 5915)
        point = (folder / f"{name}_public.der").read_bytes()[-64:]  # RFC 5480
        numbers = [",".join(map(str, octets)) for octets in (private, point[:32], point[32:])]
        ends.append("{" + ",".join(f"{{{octets}}}" for octets in numbers) + "}")
    return "#define RAW_KEYS {" + ",".join(ends) + "}\n"


WOLFSSL = "build/slowhand-interop-*/out/slowhand_wolfssl.o"
"""wolfSSL, which only interop/ compiles: `./test` does where that has changed, `--full` always."""


def there(pattern: str) -> list[Path]:
    """The files that Cargo has built, of every time."""
    return list(ROOT.glob(f"target/*/{pattern}"))


def newest(pattern: str) -> Path:
    """The file that Cargo has built last."""
    return max(there(pattern), key=lambda path: path.stat().st_mtime)


class Parts(NamedTuple):
    """The parts of a program beside the files of `ends/`."""

    options: list[str | Path]
    sources: list[Path]
    library: Path | None
    """As it was built. A library of the laboratory keeps its functions to itself."""


def parts(library: str) -> Parts:
    """The parts of a program with a library."""
    sessions = "build/slowhand-sessions-*/out"
    options: list[str | Path]
    match library:
        case "mbedtls":
            root = carrier("mbedtls-rs-sys") / "mbedtls"
            crate = ROOT / "crates" / "slowhand-sessions"
            config = '-DMBEDTLS_CONFIG_FILE="csrc/mbedtls/config.h"'
            options = [config, "-I", crate, "-I", root / "include"]
            return Parts(options, [], newest(f"{sessions}/slowhand_mbedtls.o"))
        case "openssl":
            own = carrier("openssl-src") / "openssl" / "include"
            options = ["-I", newest(f"{sessions}/openssl/include"), "-I", own]
            return Parts(options, [], newest(f"{sessions}/slowhand_openssl.o"))
        case "wolfssl":
            root = carrier("wolfssl-sys") / "wolfssl-src"
            own = ROOT / "crates" / "slowhand-sessions" / "csrc" / "wolfssl"
            options = ["-DWOLFSSL_USER_SETTINGS", "-I", own, "-isystem", root]
            return Parts(options, [], newest(WOLFSSL))
        case "tinydtls":
            root = carrier("tinydtls-sys") / "src" / "tinydtls"
            names = ["netq", "peer", "session", "ccm", "hmac", "crypto", "dtls_debug", "dtls_time"]
            names += ["dtls_prng", "aes/rijndael", "aes/rijndael_wrap", "sha2/sha2", "ecc/ecc"]
            options = ["-DNDEBUG", "-DHAVE_GETRANDOM", "-I", root, *tinydtls_options()]
            return Parts(options, [root / f"{name}.c" for name in names], None)
    header = ROOT / "crates" / "lean-dtls-c" / "include"
    return Parts(["-I", header], [newest("liblean_dtls_c.a")], None)


def build(case: Case, folder: Path) -> Path:
    """A program that is either end."""
    write_credentials(case, folder)
    options, sources, library = parts(case.library)
    if case.library == "tinydtls":
        root = carrier("tinydtls-sys") / "src" / "tinydtls"
        (folder / "dtls.c").write_text((root / "dtls.c").read_text())
        if script := text(case, "sh"):
            run("sh", "-c", script, folder=folder)
        sources = [folder / "dtls.c", *sources]
        if is_raw(text(case)):
            (folder / "keys.h").write_text(raw_keys(folder))
            sources.append(ENDS / "tinydtls_keys.c")
    (folder / "settings.h").write_text(settings_header(case))
    own: list[str | Path] = [*options, "-I", folder, "-I", ENDS]
    own += ["-w", "-O1", "-std=gnu11", f"-DIS_STREAM={int(is_stream(case))}"]
    part, program = folder / "end.o", folder / "end"
    run("cc", "-c", *own, "-o", part, ENDS / f"{case.library}.c", folder=folder)
    if library:
        sources = [with_global_symbols(library, part, folder), *sources]
    sources = [part, ENDS / "end.c", ENDS / "world.c", *sources]
    run("cc", *own, "-o", program, *sources, "-Wl,--gc-sections", *LINKED, folder=folder)
    return program


LINKED = ("-lpthread", "-ldl", "-lm")


def with_global_symbols(library: Path, part: Path, folder: Path) -> Path:
    """A copy of a library in which what an object needs of it is for all."""
    command = ["nm", "--undefined-only", "--format=just-symbols", str(part)]
    undefined = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    own = set(re.findall(r"\w+", (ENDS / "end.h").read_text()))
    needed = [name for name in undefined.split() if name not in own]
    needed += [f"slowhand_host_of_{name}" for name in ("mbedtls", "openssl", "wolfssl")]  # world.c
    (folder / "symbols").write_text("\n".join(needed) + "\n")
    copy = folder / library.name
    run("objcopy", f"--globalize-symbols={folder / 'symbols'}", library, copy, folder=folder)
    return copy


SO_TIMESTAMPNS = 35
"""Of Linux (asm-generic/socket.h), for which Python has no name: when the kernel had a datagram."""


@dataclass
class Tap:
    """A socket between a client and the network. It loses the first answer, and keeps the rest."""

    to: tuple[str, int]
    sent: list[tuple[float, bytes]] = field(default_factory=list)
    """When the client has sent each datagram, in seconds."""
    answered: list[bytes] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._client, self._network = (socket.socket(type=socket.SOCK_DGRAM) for _ in range(2))
        self._client.bind(("127.0.0.1", 0))
        self._client.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self._network.connect(self.to)
        self._peer: tuple[str, int] | None = None
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=way) for way in (self._up, self._down)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()
        self._client.close()
        self._network.close()

    @property
    def port(self) -> int:
        """Where the client finds it."""
        return int(self._client.getsockname()[1])

    def _up(self) -> None:
        for octets, at, peer in self._from(self._client):
            self._peer = peer
            self.sent.append((at, octets))
            self._network.send(octets)

    def _down(self) -> None:
        for octets, _, _ in self._from(self._network):
            self.answered.append(octets)
            if len(self.answered) > 1 and self._peer:
                self._client.sendto(octets, self._peer)

    def _from(self, of: socket.socket) -> Iterator[tuple[bytes, float, tuple[str, int] | None]]:
        of.settimeout(0.1)
        while not self._ended.is_set():
            try:
                octets, stamps, _, peer = of.recvmsg(65_536, 64)
            except TimeoutError:
                continue
            at = 0.0
            for *_, stamp in stamps:
                seconds, nanoseconds = struct.unpack("qq", stamp)
                at = seconds + nanoseconds / 1e9
            yield octets, at, peer

    def repeated_after_s(self) -> float:
        """When the client sent its first message again: the same octets behind the record."""
        (first, octets), *later = self.sent
        return next((at for at, again in later if again[13:] == octets[13:]), math.inf) - first

    def longest(self) -> int:
        """The octets of the longest datagram."""
        return max(len(octets) for octets in [*self.answered, *(sent for _, sent in self.sent)])


def opened(case: Case, folder: Path) -> Tap | None:
    """Opens a session between two ends that have the text of the case. Over TCP there is no tap."""
    program = build(case, folder)
    with Program(program, "server", folder=folder) as server:
        ready = re.search(rb"port (\d+)\.", server.expect(b"port ", b"."))
        assert ready
        at = int(ready[1])
        if is_stream(case):
            with slowhand.live(NETWORK, tcp=at, set={"session.protocol": "tls1.2"}) as net:
                connect(folder, program, "client", net.tcp[0][1])
            return None
        with slowhand.live(NETWORK, udp=at) as net, Tap(net.udp[0]) as tap:
            connect(folder, program, "client", tap.port)
        return tap


def opened_in_rust(name: str, folder: Path) -> Tap:
    """A session of both ends with one of the texts in Rust."""
    write_files(MAKE["scenario"](name), folder)
    program, at = newest("examples/settings"), free_port()
    with Program(program, name, "server", f"127.0.0.1:{at}", folder=folder) as server:
        server.listens("udp", at)
        with slowhand.live(NETWORK, udp=at) as net, Tap(net.udp[0]) as tap:
            connect(folder, program, name, "client", f"127.0.0.1:{tap.port}")
        return tap


def connect(folder: Path, *command: str | Path | int) -> None:
    """Runs a client until the server has sent back what it was sent."""
    with Program(*command, folder=folder) as client:
        client.expect(b"data: 22.5 C\n")
        client.end()


def judge(tap: Tap, asked: End, library: str) -> None:
    """Compares what the ends have sent with what the scenario asks for."""
    if asked.timer:  # a library without TLS has DTLS in its place
        timeout_s = asked.timer.first_ms / 1000
        if library == "wolfssl":
            timeout_s = math.ceil(timeout_s)  # as its text says
        assert -EARLY_S < tap.repeated_after_s() - timeout_s < LATE_S
    if asked.mtu and library != "tinydtls":  # which cuts no messages, as its text says
        version = " 1.3" if library == "wolfssl" and asked.is_13 else ""
        assert tap.longest() <= max(asked.mtu, LEAST.get(library + version, 0))


@pytest.fixture(scope="module")
def outcomes(request: pytest.FixtureRequest) -> Iterator[dict[Case, Future[Tap | None]]]:
    with at_once(request, "case", opened) as started:
        yield started


@pytest.fixture(scope="module")
def outcomes_in_rust(request: pytest.FixtureRequest) -> Iterator[dict[str, Future[Tap]]]:
    with at_once(request, "name", opened_in_rust) as started:
        yield started


@pytest.mark.parametrize("case", cases(), ids=", ".join)
def test_both_ends_open_a_session_with_what_is_printed(
    case: Case, outcomes: dict[Case, Future[Tap | None]]
) -> None:
    if case.library == "wolfssl" and not there(WOLFSSL):
        pytest.skip("interop/ is not built: its inputs are those with which it has passed")
    tap = outcomes[case].result()
    if tap is not None:
        judge(tap, end(case), case.library)


@pytest.mark.parametrize("name", IN_RUST)
def test_both_ends_open_a_session_with_what_is_printed_in_rust(
    name: str, outcomes_in_rust: dict[str, Future[Tap]]
) -> None:
    asked = read("", MAKE["scenario"](name).native).client
    judge(outcomes_in_rust[name].result(), asked, "lean-dtls")
