"""`slowhand live` when it is stopped for a while, and its programs are not."""

import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import COMMAND

PAUSE_S = 5.0 if os.environ.get("SLOWHAND_FULL") else 1.5


@pytest.fixture
def echo() -> Iterator[int]:
    """The port of a server that answers each datagram with the same."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def serve() -> None:
            while True:
                try:
                    server.sendto(*server.recvfrom(2048))
                except OSError:  # the end of the test
                    return

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """One hop, 30 ms to the next cell."""
    file = tmp_path / "one-hop.toml"
    file.write_text("""
        network = { topology = { kind = "line", hops = 1 } }
        mac = { kind = "tsch", slot_ms = 10, slotframe = 3, cells = { up = 1, down = 1 } }
        client = { device = "nrf52840" }
        session = { stack = "lean-dtls", auth = "psk" }
    """)
    return file


def test_a_network_that_was_suspended_counts_it_and_goes_on(echo: int, scenario: Path) -> None:
    network = subprocess.Popen(
        [*COMMAND, "live", scenario, "--udp", f"0={echo}", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert network.stdout
    with network, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        try:
            started = json.loads(network.stdout.readline())
            host, port = started["addresses"][0]["listen"].rsplit(":", 1)
            client.connect((host, int(port)))
            client.settimeout(20)
            client.send(b"before")
            assert client.recv(100) == b"before"
            network.send_signal(signal.SIGSTOP)
            client.send(b"during")  # it waits in the buffer of the socket
            time.sleep(PAUSE_S)
            network.send_signal(signal.SIGCONT)
            assert client.recv(100) == b"during"
            client.send(b"after")
            assert client.recv(100) == b"after"
        finally:
            network.terminate()
        events = [json.loads(line) for line in network.stdout]
    late = max((event["late_ms"] for event in events if event["event"] == "late"), default=0)
    assert late > 500 * PAUSE_S
    summary = events[-1]["summary"]
    assert summary["lateness_ms"]["max"] > 500 * PAUSE_S
    assert summary["datagrams"]["lost"] == {}
    assert summary["datagrams"]["delivered"] == 6
