"""A network that runs, for Prometheus: the text format, and the server on this computer."""

import http.client
import json
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from conftest import COMMAND, Cli, the_message
from programs import PATIENCE_S
from slowhand.realtime import metrics

# https://prometheus.io/docs/instrumenting/exposition_formats/: a comment, or a sample with labels.
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (-?\d[\d.e+-]*)")
COMMENT = re.compile(rf"# (HELP|TYPE) ({NAME}) (.+)")

Samples = dict[tuple[str, str], float]


def read(text: str) -> Samples:
    """The samples of a text, by name and labels. Each name has its help and its type before it."""
    assert text.endswith("\n")
    samples: Samples = {}
    said: list[tuple[str, str]] = []
    for line in text.splitlines():
        if comment := COMMENT.fullmatch(line):
            assert (comment[1], comment[2]) not in said
            said.append((comment[1], comment[2]))
            if comment[1] == "TYPE":
                assert comment[3] in ("counter", "gauge")
                assert (comment[3] == "counter") == comment[2].endswith("_total")
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample, line
        assert said[-2:] == [("HELP", sample[1]), ("TYPE", sample[1])], line
        assert (sample[1], sample[2] or "") not in samples
        samples[sample[1], sample[2] or ""] = float(sample[3])
    return samples


@pytest.fixture(autouse=True)
def _sockets(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Lets networks have their control sockets in a folder of this test, with a short path."""
    with TemporaryDirectory(dir="/tmp") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield


@pytest.fixture
def network() -> Iterator[subprocess.Popen[str]]:
    """A network whose nodes send all the time."""
    command = [*COMMAND, "live", "busy", "--udp", "9", "--json", "--speed", "20"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout and "started" in running.stdout.readline()
        yield running
        running.kill()


def test_the_metrics_are_what_the_status_says(cli: Cli, network: subprocess.Popen[str]) -> None:
    """Between two calls of status what only grows is between the two."""
    cli("live", "node", 5, "off")
    before: dict[str, Any] = {"frames": 0}
    until = time.monotonic() + PATIENCE_S
    while not before["frames"] and time.monotonic() < until:
        before = json.loads(cli("live", "status", "--json").stdout)
    samples = read(cli("live", "metrics").stdout)
    after = json.loads(cli("live", "status", "--json").stdout)
    for name, key in (("time_seconds", "time_s"), ("frames_total", "frames")):
        assert 0 < before[key] <= samples[f"slowhand_{name}", ""] <= after[key]
    assert samples["slowhand_up", ""] == 1 and samples["slowhand_speed", ""] == 20
    up = {labels: value for (name, labels), value in samples.items() if name == "slowhand_node_up"}
    assert up == {f'node="{node}"': float(node != 5) for node in range(len(before["nodes"]))}
    for link in before["links"]:
        to = "all" if link["to"] is None else link["to"]
        labels = f'from="{link["from"]}",to="{to}"'
        assert samples["slowhand_link_frames_total", labels] >= link["frames"]


def test_a_snapshot_by_hand() -> None:
    """Losses by reason, milliseconds as seconds, beacons to all, and a label with every escape."""
    reason = 'a "b"\\\nc'
    snapshot = {
        **{"time_s": 1.5, "speed": 1, "frames": 12, "bytes_phy": 1e9, "queued": 3},
        "sessions": {"open": 1, "established": 0, "completed": 2, "failed": 0, "refused": 0},
        "datagrams": {"sent": 9, "delivered": 4, "waiting": 1, "lost": {reason: 4}},
        "lateness_ms": {"p50": 0.5, "p99": 2.0, "max": 31.0, "count": 77},
        "nodes": [{"node": 0, "on": True, "queued": 3, "reassembly_bytes": 96, "sessions": 1}],
        "links": [{"from": 0, "to": None, "frames": 12, "received": 10}],
    }
    text = metrics.text(snapshot)
    samples = read(text)
    assert 'slowhand_datagrams_lost_total{reason="a \\"b\\"\\\\\\nc"} 4\n' in text
    assert samples["slowhand_lateness_seconds", 'quantile="0.99"'] == 0.002
    assert samples["slowhand_link_received_total", 'from="0",to="all"'] == 10
    assert samples["slowhand_frame_bytes_total", ""] == 1e9
    assert samples["slowhand_sessions_total", 'outcome="completed"'] == 2
    assert read(metrics.text(None)) == {("slowhand_up", ""): 0}


def answered(port: int, path: str = "/metrics", host: str = "127.0.0.1") -> tuple[int, str]:
    """The answer of the server."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    connection.request("GET", path, headers={"Host": f"{host}:{port}"})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_prometheus_asks_again_and_again(network: subprocess.Popen[str]) -> None:
    """Also a network that has ended, and beside a client that says nothing."""
    command = [*COMMAND, "live", "metrics", "--listen", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            line = server.stdout.readline()
            found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/metrics; .*\n", line)
            assert found, line
            port = int(found[1])
            with socket.create_connection(("127.0.0.1", port)):
                first, second = (read(answered(port)[1]) for _ in range(2))
            assert 0 < first["slowhand_time_seconds", ""] < second["slowhand_time_seconds", ""]
            assert answered(port, "/")[0] == 404
            for host in ("site.example", "127.evil.example", "127.0.0.1.evil.example", "[", ""):
                assert answered(port, host=host)[0] == 403, host
            assert answered(port, host="localhost")[0] == 200
            network.send_signal(signal.SIGINT)
            network.communicate(timeout=PATIENCE_S)
            assert read(answered(port)[1]) == {("slowhand_up", ""): 0}
        finally:
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=PATIENCE_S)


def test_wrong_places(cli: Cli, tmp_path: Path) -> None:
    assert "no network runs" in the_message(cli("live", "metrics", code=2))
    for place in ("0.0.0.0:9464", "[::]:9464", "192.0.2.1:9464"):
        said = the_message(cli("live", "metrics", "--listen", place, code=2))
        assert said.startswith("slowhand: --listen: found ") and "loopback" in said
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = the_message(cli("live", "metrics", "--listen", port, code=2))
        assert said == f"slowhand: --listen {port}: Address already in use"
