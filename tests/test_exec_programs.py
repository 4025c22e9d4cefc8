"""`slowhand exec`: what programs people have does the same each time, on a busy machine too."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import slowhand
from conftest import ROOT, load, needs_exec
from programs import self_signed

SOURCES = ROOT / "tests" / "exec"
FULL = "SLOWHAND_FULL" in os.environ
pytestmark = needs_exec()

JAVA = "java -XX:-UsePerfData -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""Without files of fixed names in /tmp, and with less to start."""


class Pair(NamedTuple):
    """A client and a server. `{folder}` is that of what was made for them."""

    client: str
    server: str
    made_by: str | None = None
    """The program that makes them, which a machine may not have."""

    is_secure: bool = True
    exits: bool = True
    """False: the client waits for the end of its standard input, which does not end."""


def openssl(options: str) -> Pair:
    """Both ends of OpenSSL."""
    client = f"openssl s_client -dtls1_2 -timeout -connect {{server}}:5684 {options}"
    server = "openssl s_server -dtls1_2 -timeout -accept 5684"
    if "-psk" in options:
        return Pair(client, f"{server} -nocert {options}", exits=False)
    return Pair(
        client, f"{server} -cert {{folder}}/certificate.pem -key {{folder}}/key.pem", exits=False
    )


def coap(kind: str) -> Pair:
    """A client of libcoap, with one of its libraries for DTLS.

    The server has OpenSSL: libcoap 4.3.1 with GnuTLS refuses clients that name it by an address.
    """
    secure = "-k secretPSK"
    return Pair(
        f"coap-client-{kind} -m get -B 60 {secure} -u user coaps://{{server}}/time",
        f"coap-server-openssl -A {{address}} {secure}",
    )


def script(start: str, *, is_secure: bool = False, made_by: str | None = None) -> Pair:
    """A program of ours that is both ends."""
    client, server = (f"{start} {role} {{address}}" for role in ("client", "server"))
    return Pair(client, server, made_by, is_secure)


PYTHON = f"{sys.executable} -S {SOURCES}"
EVERY_TIME = {
    "openssl-psk": openssl(f"-psk {16 * '00'} -cipher PSK-AES128-CCM8:@SECLEVEL=0"),
    "libcoap-openssl": coap("openssl"),
    "gnutls": Pair(
        "gnutls-cli --udp --insecure -p 5684 {address}",
        "gnutls-serv --udp -p 5684 --x509certfile {folder}/certificate.pem"
        " --x509keyfile {folder}/key.pem",
        exits=False,
    ),
    "asyncio": script(f"{PYTHON}/udp.py"),
}
IN_FULL = {
    "openssl-certificate": openssl(""),
    "libcoap-gnutls": coap("gnutls"),
    "libcoap": Pair(
        "coap-client-notls -m get -B 60 coap://{server}/time",
        "coap-server-notls -A {address}",
        is_secure=False,
    ),
    "aiocoap": script(f"{sys.executable} {SOURCES}/coap.py"),
    "node": script(f"node {SOURCES}/node.js", made_by="node"),
    "pion": script("{folder}/pion", is_secure=True, made_by="go"),
    "californium": script(
        f"{JAVA} -cp {{folder}}:{{folder}}/jars/* Peer", is_secure=True, made_by="mvn"
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate, and the programs that are compiled."""
    made = tmp_path_factory.mktemp("programs")

    def run(command: str, at: Path = made, **environment: str) -> None:
        subprocess.run(
            command.split(), cwd=at, check=True, capture_output=True, env=os.environ | environment
        )

    self_signed(made)
    if FULL and shutil.which("go"):
        run(f"go build -o {made}/pion .", SOURCES / "pion", CGO_ENABLED="0")
    if FULL and shutil.which("mvn"):
        pom = SOURCES / "californium" / "pom.xml"
        run(f"mvn -q -B -f {pom} dependency:copy-dependencies -DoutputDirectory={made}/jars")
        run(f"javac -cp jars/* -d . {SOURCES}/californium/Peer.java")
    return made


@pytest.mark.parametrize("name", EVERY_TIME)
def test_programs_are_the_same_five_times_under_load(name: str, folder: Path) -> None:
    repeat(EVERY_TIME[name], folder, 5)


@pytest.mark.skipif(not FULL, reason="an hour; ./test --full")
@pytest.mark.parametrize("name", [*EVERY_TIME, *IN_FULL])
def test_programs_are_the_same_two_hundred_times_under_load(name: str, folder: Path) -> None:
    repeat((EVERY_TIME | IN_FULL)[name], folder, 200)


def repeat(pair: Pair, folder: Path, times: int) -> None:
    if pair.made_by and not shutil.which(pair.made_by):
        pytest.skip(f"{pair.made_by} is not there")
    client, server = (each.replace("{folder}", str(folder)) for each in (pair.client, pair.server))
    with load():
        execution = slowhand.exec(
            "lossy-line",
            client=client,
            server=server,
            count=1,
            again=times - 1,
            until="end" if pair.exits else "established",
            wall_s=600,
        )
    assert execution.reproducible, (execution.failures, execution.notes)
    (row,) = execution.rows()
    assert (row["outcome"], row["secure"]) == ("completed", pair.is_secure)
    assert row["exit_client"] == (0 if pair.exits else None)


def test_retransmissions_are_counted_as_they_are_listed() -> None:
    pair = EVERY_TIME["openssl-psk"]
    execution = slowhand.exec(
        "lossy-line", client=pair.client, server=pair.server, count=3, again=0
    )
    frame = execution.frame()
    assert frame["secure"].all()
    assert frame["duration_s"].n_unique() > 1  # other seeds have other losses
    assert all(frames > 0 for frames in frame["frames_ack"])
    assert {world["ending"] for world in execution.worlds} == {"quiet"}
    for world in execution.worlds:
        (conversation,) = world["conversations"]
        row = conversation["record"]
        again = [sent["again"] for sent in conversation["datagrams"]][: row["datagrams"]]
        counts = (row["retransmissions_needed"], row["retransmissions_spurious"])
        assert sum(again) == sum(counts) > 0
