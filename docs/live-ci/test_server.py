"""The tests of a firmware team: their server, reached over an emulated 6TiSCH network."""

from __future__ import annotations

import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import slowhand

HERE = Path(__file__).parent

HOPS = slowhand.Scenario(HERE / "bad-hops.toml")

Start = Callable[..., slowhand.Live]


@pytest.fixture
def credentials(tmp_path: Path) -> Path:
    """The keys and certificates of both ends."""
    HOPS.write_credentials(tmp_path)
    return tmp_path


@pytest.fixture
def port(credentials: Path) -> Iterator[int]:
    """Our server, and the port on which it listens."""
    command = [sys.executable, str(HERE / "server.py"), str(credentials)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        yield int(server.stdout.readline())
        server.terminate()


def test_our_server_over_three_bad_hops(port: int, slowhand_live: Start) -> None:
    """A sensor, which is emulated, opens a session with our server."""
    net = slowhand_live(HOPS, server=port, speed=2)
    net.wait(timeout_s=60)
    net.close()
    assert net.records["outcome"].to_list() == ["completed"]
    assert net.records["duration_s"].item() < 30
    assert net.records["energy_client_mj"].item() < 150


def test_readings_survive_an_outage(port: int, credentials: Path, slowhand_live: Start) -> None:
    """Our client, a program too, sends readings across the network while a router fails."""
    net = slowhand_live(HOPS, tcp=port, speed=20)
    tls = ssl.create_default_context(cafile=credentials / "ca.pem")
    tls.check_hostname = False  # it is "s"
    with (
        socket.create_connection(net.tcp[0], timeout=60) as connection,
        tls.wrap_socket(connection) as session,
    ):
        session.sendall(b"21.5\n")
        assert session.recv(100) == b"1\n"
        net.node(1).off()
        session.sendall(b"21.6\n")
        net.node(1).on()
        assert session.recv(100) == b"2\n"
    net.close()
    assert net.records["outcome"].to_list() == ["completed"]
