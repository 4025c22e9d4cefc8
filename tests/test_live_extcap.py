"""Networks that run as interfaces of Wireshark: what extcap(4) asks for, and tshark itself."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from conftest import COMMAND, Cli, the_message
from programs import PATIENCE_S
from slowhand.realtime import control

# Its nodes send readings all the time, also while no program does.
NETWORK = [*COMMAND, "live", "busy", "--udp", "9", "--json"]


@pytest.fixture(autouse=True)
def _sockets(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Lets networks have their control sockets in a folder of this test, with a short path."""
    with TemporaryDirectory(dir="/tmp") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield


@contextmanager
def running(*arguments: str | Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A network that runs, and its control socket."""
    command = [*NETWORK, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as network:
        try:
            assert network.stdout
            yield network, Path(json.loads(network.stdout.readline())["control"])
        finally:
            network.send_signal(signal.SIGINT)
            network.communicate(timeout=PATIENCE_S)


def test_what_wireshark_asks(cli: Cli) -> None:
    """The lines of extcap(4). Braces in a path would end a value."""
    assert re.fullmatch(
        r"extcap \{version=\d+\.\d+\.\d+\}\n",
        cli("live", "extcap", "--extcap-interfaces", "--extcap-version=4.0").stdout,
    )
    with running("--set", "mac.cells={shared=1,up=2,down=2}") as (network, _):
        lines = cli("live", "extcap", "--extcap-interfaces").stdout.splitlines()
        assert len(lines) == 2
        found = re.fullmatch(r"interface \{value=([\w-]+)\}\{display=([^{}]*)\}", lines[1])
        assert found and found[1] == f"slowhand-{network.pid}"
        assert "busy --udp 9 --json" in found[2]
        interface = f"--extcap-interface={found[1]}"
        dlts = cli("live", "extcap", interface, "--extcap-dlts").stdout
        assert re.fullmatch(r"dlt \{number=283\}\{name=\w+\}\{display=[^{}]+\}\n", dlts)
        assert cli("live", "extcap", interface, "--extcap-config").stdout == ""
    gone = cli("live", "extcap", interface, "--capture", "--fifo", "air", code=2)
    assert "no network with this interface runs" in the_message(gone)
    assert "--fifo" in the_message(cli("live", "extcap", interface, "--capture", code=2))
    assert "--install" in the_message(cli("live", "extcap", code=2))


def test_captures_come_and_go(tmp_path: Path) -> None:
    """The network does not mind a reader that leaves, and writes into nothing but FIFOs."""
    (tmp_path / "file").write_text("mine")
    with running("--speed", "50") as (_, path):
        for name in ("file", "none"):
            with pytest.raises(control.ControlError, match="found no FIFO"):
                control.ask(path, {"capture": str(tmp_path / name)})
        for name in ("first", "second"):
            air = tmp_path / name
            os.mkfifo(air)
            assert control.ask(path, {"capture": str(air)}) == {"ok": True}
            with air.open("rb") as reader:
                assert reader.read(4) == b"\n\r\r\n"  # a section of pcapng
                assert len(reader.read(4000)) == 4000
        time_s = control.ask(path, {"status": True})["time_s"]
        assert control.ask(path, {"status": True})["time_s"] > time_s
    assert (tmp_path / "file").read_text() == "mine"
    with running() as (_, path):  # whose FIFO nobody reads
        for _ in range(8):
            control.ask(path, {"capture": str(air)})
        with pytest.raises(control.ControlError, match="found 8 already"):
            control.ask(path, {"capture": str(air)})


def test_tshark_lists_the_network_and_captures_its_frames(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The frames are those in the capture of the network itself, with the same times and octets."""

    def tshark(*arguments: str | Path) -> str:
        return subprocess.run(
            ["tshark", *arguments], check=True, capture_output=True, text=True, timeout=PATIENCE_S
        ).stdout

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    written = cli("live", "extcap", "--install").stdout.splitlines()[:2]
    places = (".local/lib/wireshark/extcap/slowhand", ".config/wireshark/extcap/slowhand")
    assert written == [str(tmp_path / place) for place in places]
    assert all(sys.executable in Path(place).read_text() for place in written)
    whole = tmp_path / "whole.pcapng"
    fields = ["-T", "fields", "-e", "frame.time_epoch", "-e", "wpan.seq_no", "-e", "frame.len"]
    with running("--pcap", whole) as (network, _):
        interface = f"slowhand-{network.pid}"
        named = re.findall(r"^\d+\. (slowhand-\d+) \((.*)\)$", tshark("-D"), re.MULTILINE)
        assert [name for name, _ in named] == [interface]  # once, though in two folders
        assert named[0][1].startswith("slowhand live busy --udp 9")
        seen = tshark("-i", interface, "-c", "6", *fields).splitlines()
    assert len(seen) == 6
    assert "\n".join(seen) in tshark("-r", whole, *fields)
    mine = cli("live", "extcap", "--install", tmp_path / "mine").stdout.splitlines()[0]
    assert os.access(mine, os.X_OK) and Path(mine).parent == tmp_path / "mine"
