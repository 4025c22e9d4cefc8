"""Mbed TLS in other versions, and as Contiki-NG, OpenThread and Zephyr have it; tinyDTLS too."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import polars
import pytest

import slowhand
from conftest import Cli
from slowhand import own_stacks
from slowhand.own_stacks import StackError, building
from slowhand.own_stacks.recipes import KNOWN, LIBRARIES, mbedtls

CONFIG = mbedtls.ADAPTER / "config.h"
PROFILES = {name: known.config for name, known in KNOWN.items() if known.config is not None}
"""The configurations of projects, by the name of the stack."""
NAMES = ("mbedtls-2.28", *PROFILES)

full = pytest.mark.skipif(
    "SLOWHAND_FULL" not in os.environ, reason="compilations of libraries; ./test --full"
)

PSK = ["session.suite=TLS_PSK_WITH_AES_128_CCM_8"]
OTHER_PSK = ["session.suite=TLS_PSK_WITH_AES_256_CCM_8"]
ECDSA = ["session.suite=TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8", "session.auth=mutual"]
ECJPAKE = ["session.credential=ecjpake", "session.suite=TLS_ECJPAKE_WITH_AES_128_CCM_8"]

# A ClientHello of DTLS 1.2 with a suite and the SCSV of RFC 5746, without extensions: headers of
# the record and of the message, version, random, no session, no cookie, two suites, no compression.
BARE = 13 + 12 + 2 + 32 + 1 + 1 + (2 + 2 * 2) + (1 + 1)
# The ServerHello that answers it has a session of 32 octets, one suite, and renegotiation_info.
ANSWER = 13 + 12 + 2 + 32 + (1 + 32) + 2 + 1 + 2 + 5
DONE = 13 + 12
COOKIE = 32
EMS, ETM, LENGTH = (23, 4), (22, 4), (1, 4 + 1)  # RFC 7627, RFC 7366, RFC 6066 section 4
GROUP, POINTS = (10, 4 + 2 + 2), (11, 4 + 1 + 1)  # RFC 8422: one group, uncompressed points
# Two points with their proofs, each a point and a scalar (draft-cragie-tls-ecjpake-01).
KEYS = (256, 4 + 2 * ((1 + 65) + (1 + 65) + (1 + 32)))


def signatures(count: int) -> tuple[int, int]:
    """signature_algorithms (RFC 5246 section 7.4.1.4.1): its number, its octets."""
    return 13, 4 + 2 + 2 * count


CURVE = (GROUP, POINTS)
HELLOS = [
    # mbedTLS 3.6 by default: three hashes with RSA and ECDSA. Also measured elsewhere: 97 and 445.
    ("mbedtls", PSK, (signatures(6), ETM, EMS)),
    ("mbedtls", ECJPAKE, (*CURVE, signatures(6), KEYS, ETM, EMS)),
    # 2.28 has SHA-224 too, and names a hash with both kinds of keys.
    ("mbedtls-2.28", PSK, (signatures(8), ETM, EMS)),
    ("mbedtls-2.28", ECDSA, (signatures(2), *CURVE, ETM, EMS)),
    # Neither option, no certificates in a firmware with keys alone.
    ("mbedtls-contiki-ng", OTHER_PSK, ()),
    ("mbedtls-contiki-ng", ECDSA, (*CURVE, signatures(1))),
    ("mbedtls-openthread", PSK, ()),
    ("mbedtls-openthread", ECJPAKE, (*CURVE, KEYS)),
    ("mbedtls-openthread", ECDSA, (*CURVE, signatures(1))),
    # Neither option; RSA is always there; a maximum fragment length.
    ("mbedtls-zephyr", PSK, (signatures(1), LENGTH)),
    ("mbedtls-zephyr", ECDSA, (*CURVE, signatures(2), LENGTH)),
]


@pytest.fixture(scope="module")
def stacks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The stacks that a name alone makes, each once for all tests."""
    folder = tmp_path_factory.mktemp("stacks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLOWHAND_STACKS", str(folder))
        for name in NAMES:
            own_stacks.add(name)
        yield folder


def ends(client: str, server: str) -> list[str]:
    return [f"session.stack={client}", f"session.server_stack={server}"]


def datagrams(capture: Path) -> tuple[list[int], list[set[int]]]:
    """The octets of each datagram of a handshake over one hop, and the extensions of hellos."""
    command = ["tshark", "-r", str(capture), "-Y", "dtls", "-T", "fields", "-e", "udp.length"]
    command += ["-e", "tls.handshake.extension.type", "-e", "dtls.handshake.extension.type"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    named = [{*map(int, filter(None, f"{row[1]},{row[2]}".split(",")))} for row in rows]
    return [int(row[0]) - 8 for row in rows], named


@full
def test_it_keeps_the_key_that_the_suite_of_the_scenario_implies(cli: Cli, stacks: Path) -> None:
    vary = ["--vary", "session.stack=mbedtls,mbedtls-contiki-ng", "--count", 1, "--json"]
    found = json.loads(cli("sweep", "psk-tinydtls", *vary).stdout)["configurations"]
    assert found[1]["followed"] == {"session.suite": "TLS_PSK_WITH_AES_256_CCM_8"}


@full
@pytest.mark.parametrize(("stack", "session", "extensions"), HELLOS)
def test_its_hello_is_that_of_its_project(
    cli: Cli,
    stacks: Path,
    tmp_path: Path,
    stack: str,
    session: list[str],
    extensions: tuple[tuple[int, int], ...],
) -> None:
    capture = tmp_path / "one.pcapng"
    settings = [*ends(stack, stack), "network.topology.hops=1", *session]
    overrides = [word for setting in settings for word in ("--set", setting)]
    cli("run", "csma", "--count", 1, "--pcap", capture, *overrides)
    octets, named = datagrams(capture)
    assert named[0] == {number for number, _ in extensions}
    hello = BARE + (2 if extensions else 0) + sum(length for _, length in extensions)
    assert octets[0] == hello
    assert octets[2] == hello + COOKIE
    if "PSK" in session[0]:
        agreed = sum(each[1] for each in extensions if each in (EMS, LENGTH))
        # The other flights of every version: a cookie; identity, ChangeCipherSpec and Finished.
        assert octets == [hello, 60, hello + COOKIE, ANSWER + DONE + agreed, 109, 67]


@full
@pytest.mark.parametrize("name", NAMES)
def test_it_passes_its_check(stacks: Path, name: str) -> None:
    found = own_stacks.check(name)
    assert found.problems == []
    assert found.trial is not None


@full
def test_what_is_not_compiled_is_refused(cli: Cli, stacks: Path) -> None:
    listed = {each["name"]: each for each in json.loads(cli("stacks", "--json").stdout)}
    assert listed["mbedtls-2.28"]["version"] == "2.28.10"
    assert listed["mbedtls-2.28"]["protocols"] == ["dtls1.2", "tls1.2"]
    asked = ["--set", "session.stack=mbedtls-2.28", "--set", "session.connection_id=4"]
    assert "session.connection_id" in cli("run", "csma", *asked, code=2).stderr
    asked = ["--set", "session.stack=mbedtls-contiki-ng"]
    said = cli("run", "csma", *asked, code=2).stderr
    assert "session.suite: found TLS_PSK_WITH_AES_128_CCM_8, allowed: " in said


@full
def test_versions_stand_side_by_side(stacks: Path) -> None:
    # Nothing but the one symbol can be seen, and none of the library is looked for elsewhere.
    for name in NAMES:
        made = str(stacks / name / "stack.so")
        defined = building._run(["nm", "-D", "--defined-only", made]).stdout.split()
        assert defined[2::3] == ["slowhand_stack"]
        sought = building._run(["nm", "-D", "--undefined-only", made]).stdout
        assert not re.search("mbedtls|psa_|slowhand", sought)

    def run(client: str, server: str, session: list[str]) -> polars.DataFrame:
        return slowhand.run("csma", count=2, set=[*ends(client, server), *session])

    two = ("mbedtls", "mbedtls-2.28")
    for session in (PSK, ECDSA):
        alone = {name: run(name, name, session) for name in two}
        for client, server in product(two, repeat=2):
            assert list(run(client, server, session)["outcome"]) == ["completed", "completed"]
        for name in two:
            assert run(name, name, session).equals(alone[name])
    # A profile speaks with the library as it is by default.
    for name in PROFILES:
        session = OTHER_PSK if "contiki" in name else PSK
        for pair in ((name, "mbedtls"), ("mbedtls", name)):
            assert list(run(*pair, session)["outcome"]) == ["completed", "completed"]


@full
def test_the_versions_compute_the_same(stacks: Path) -> None:
    def computed(stack: str, session: list[str]) -> float:
        frame = slowhand.run("csma", count=1, set=[*ends(stack, stack), *session])
        return float(frame["compute_client_s"][0])

    # Blinding of a multiplication is part of it: 2.28 hashes for it. Longer hellos add no blocks.
    for session in (PSK, ECDSA):
        assert computed("mbedtls-2.28", session) == computed("mbedtls", session)
    # Without the extended master secret, and with shorter hellos, fewer blocks.
    assert computed("mbedtls-openthread", PSK) < computed("mbedtls", PSK)


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_changes_only_what_differs(name: str) -> None:
    text = PROFILES[name].read_text()
    defined = {*re.findall(r"^#define (MBEDTLS_\w+)", CONFIG.read_text(), re.MULTILINE)}
    undefined = re.findall(r"^#undef (MBEDTLS_\w+)", text, re.MULTILINE)
    assert len(undefined) == len({*undefined})
    assert {*undefined} <= defined
    assert not {*re.findall(r"^#define (MBEDTLS_\w+)", text, re.MULTILINE)} & defined
    # The origin of the header: the project's files, at a commit.
    assert re.search(r"\bat\s+(?:\*\s*)?[0-9a-f]{12}\b", text)


@pytest.mark.parametrize(
    ("name", "lengths"),
    [
        ("mbedtls-contiki-ng", [512, 1024]),
        ("mbedtls-openthread", [512]),
        ("mbedtls-zephyr", [512, 1024]),
        ("mbedtls", [512, 1024, 2048, 4096]),
    ],
)
def test_a_stack_has_the_fragment_lengths_that_its_buffers_have(
    name: str, lengths: list[int]
) -> None:
    stack = mbedtls.ADAPTER / "stack.c"
    parts = mbedtls.parts(LIBRARIES["mbedtls"].carried(), PROFILES.get(name))
    flags = next(part.flags for part in parts if stack in part.files)
    read = building._run([*building._compile(stack), *flags, "-E", "-P", str(stack)]).stdout
    found = re.search(r"FRAGMENT_LENGTHS\[\] = \{([\d,\s]*)\}", read)
    assert found is not None
    assert [int(word) for word in found[1].split(",")] == [*lengths, 0]


def sources(folder: Path, version: str, header: str = "build_info.h") -> Path:
    """A folder with as much of a version of Mbed TLS as a recipe reads."""
    include = folder / "include" / "mbedtls"
    include.mkdir(parents=True)
    (folder / "library").mkdir()
    (folder / "library" / "ssl_msg.c").touch()
    (include / "ssl.h").touch()
    (include / header).write_text(f'#define MBEDTLS_VERSION_STRING         "{version}"\n')
    return folder


@pytest.mark.parametrize(
    ("version", "header", "said"),
    [
        ("4.0.0", "build_info.h", "found Mbed TLS 4.0.0 in .* another repository"),
        ("3.5.2", "build_info.h", "found Mbed TLS 3.5.2 in .* allowed: the folder of Mbed TLS 3.6"),
        ("2.16.12", "version.h", "found Mbed TLS 2.16.12 in "),
        ("3.6.7", "build_info.h", "3.6.7 in .* without library/error.c.* `make generated_files`"),
    ],
)
def test_versions_without_an_adapter_are_refused(
    tmp_path: Path, version: str, header: str, said: str
) -> None:
    with pytest.raises(StackError, match=said):
        LIBRARIES["mbedtls"].parts(sources(tmp_path / "library", version, header), None)


@full
def test_a_build_of_tinydtls_gives_the_same_and_may_have_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWHAND_STACKS", str(tmp_path / "stacks"))
    own_stacks.add("tiny", ["tinydtls"], source=LIBRARIES["tinydtls"].carried())
    for suite in ("TLS_PSK_WITH_AES_128_CCM_8", "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8"):
        rows = [
            slowhand.run("csma", count=2, set=[*ends(*pair), f"session.suite={suite}"])
            for pair in (("tinydtls", "tinydtls"), ("tiny", "tinydtls"), ("tiny", "tiny"))
        ]
        assert list(rows[0]["outcome"]) == ["completed", "completed"]
        assert all(frame.equals(rows[0]) for frame in rows)
    header = tmp_path / "without.h"
    header.write_text("#undef DTLS_ECC\n")
    own_stacks.add("tiny-psk", ["tinydtls"], config=header)
    with pytest.raises(slowhand.ScenarioError, match=r"TLS_ECDHE_ECDSA\w+, allowed: TLS_PSK"):
        slowhand.run("csma", count=1, set=[*ends("tiny-psk", "tiny-psk"), f"session.suite={suite}"])
    with pytest.raises(StackError, match=r"without hmac\.c, allowed: the folder of tinyDTLS"):
        own_stacks.add("other", ["tinydtls"], source=tmp_path)
