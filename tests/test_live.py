"""`slowhand live`: what its user sees. The network runs for real, faster than the clock."""

import codecs
import fcntl
import json
import os
import pickle
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import polars
import pytest
from polars.testing import assert_frame_equal

import slowhand
from conftest import COMMAND, ROOT, Cli, the_message, until_signals_are_handled
from programs import PATIENCE_S, Program, free_port
from slowhand import signals
from slowhand._native import CHANGEABLE_KEYS
from slowhand.keys import Setting, Settings
from slowhand.realtime import control, sides, status
from slowhand.realtime.dashboard import ASCII, UNICODE, Size, framed, picture
from slowhand.realtime.places import Address, Proxy, address, proxy
from slowhand.realtime.screen import ENTER, HOME, LEAVE

FAST = 50
"""Seconds of the network in a second of the clock, where both ends are ours."""

SLOW = re.compile(
    r"slowhand: (warning: the network (was late|stood still).*\n(  .*\n)*|\d+:\d\d:\d\d  .*\n)"
)
"""The words of a network on a busy computer: it was late, and how it is after a second."""


def quiet(errors: str) -> str:
    """The lines on stderr, but for those that other work on this computer causes."""
    return SLOW.sub("", errors)


@pytest.fixture
def sockets(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Lets networks have their control sockets in a folder of this test, with a short path."""
    with TemporaryDirectory(dir="/tmp") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder, "slowhand")


class Network(subprocess.Popen[str]):
    """A network that has started."""

    started: dict[str, Any]
    """Its first event."""


@contextmanager
def running(
    *arguments: str | int | Path, ways: tuple[str, ...] = ("--udp", "9")
) -> Iterator[Network]:
    """A network that waits for programs; or in other ways."""
    words = ["live", "lossy-line", *ways, "--json", *arguments]
    network = Network(
        [*COMMAND, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert network.stdout
        assert network.stderr
        first = network.stdout.readline()
        network.started = json.loads(first) if first else pytest.fail(network.stderr.read())
        yield network
    finally:
        network.kill()
        network.communicate()


def events(text: str) -> list[dict[str, Any]]:
    """The events of lines of JSON."""
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--udp", "99999"], "--udp: found 99999, allowed: a port from 1 to 65535"),
        (["--udp", "5684=no.invalid:1"], "--udp: found no.invalid, which has no address: "),
        (["--udp", "5684=256.1.1.1:1"], "--udp: found 256.1.1.1:1, allowed: a port from 1"),
        (["--udp", "a name:1"], "--udp: found a name:1, allowed: a port from 1"),
        (["--udp", "=1"], "--udp: found nothing, allowed: a port from 0"),
        (["--tcp", "1=0"], "--tcp: found 0, allowed: a port from 1"),
        (["--tcp", "::1:5"], "--tcp: found ::1:5, allowed: a port from 1"),
        (["--server", "[::1%1]:5"], "--server: found [::1%1]:5, allowed: a port from 1"),
        (["--listen", "x"], "--listen: found x, allowed: a port from 0"),
        (["--udp", "5", "--server", "5"], "--udp: found --server too, allowed: one way"),
        (
            ["--listen", "5", "--device-tun", "a"],
            "--listen: found --device-tun too, allowed: one way",
        ),
        (["--device-tun", "a", "--device-netns", "b"], "--device-netns: found --device-tun too"),
        (["--internet-tun", "a\udcff"], r"--internet-tun: found a\udcff, allowed: a name in UTF-8"),
        (["--speed", "0"], "--speed: found 0, allowed: from 0.001 to 1000000"),
        (["--speed", "nan"], "--speed: found NaN, allowed: from 0.001 to 1000000"),
        (["--speed", "1e9"], "--speed: found 1000000000, allowed: from 0.001 to 1000000"),
        (["--duration", "-1"], "--duration: found -1, allowed: a number above 0"),
        (["--handshakes", "0"], "--handshakes: found 0, allowed: a whole number from 1"),
        (["--records", "x.csv"], "--records x.csv: the name must end in .parquet"),
        (["--pcap", "/"], "--pcap /: cannot be written: this is a folder"),
        (["--watch"], "--watch: found a stdout that cannot be drawn on, allowed: a terminal"),
        (["--watch", "--json"], "--watch: found --json too, allowed: one of the two"),
        (["--control", "x" * 200], "found a longer path, allowed: 107 octets"),
        (["--control", "."], "--control .: found a file, allowed: a path where nothing is"),
        (["--tcp", "5"], "session.protocol"),
    ],
)
def test_wrong_options_get_one_message(cli: Cli, options: list[str], said: str) -> None:
    assert said in the_message(cli("live", "quickstart", *options, code=2))


def test_a_name_is_the_first_address_that_the_system_has_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = {"server.example": ["192.0.2.1", "192.0.2.2"], "x": ["::1"]}

    def lookup(name: str, *_: object, **__: object) -> list[Any]:
        if name not in found:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(0, 0, 0, "", (one, 0)) for one in found[name]]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    assert str(address("server.example:5684")) == "192.0.2.1:5684"
    assert str(address("x:1")) == "[::1]:1"
    assert str(proxy("x:0=server.example:7")) == str(
        Proxy(Address("::1", 0), Address("192.0.2.1", 7))
    )
    said = "found no.such, which has no address: name or service not known"
    with pytest.raises(ValueError, match=said):
        address("no.such:5684")
    # No name, so nothing is looked up: an address that is none, and what no label may have.
    for text in ("1.2.3:5", "256.0.0.1:5", "a b:5", ".:5", "a..b:5", "a" * 64 + ".b:5", "x.1:5"):
        with pytest.raises(ValueError, match="allowed: a port from 1"):
            address(text)


def test_a_name_is_looked_up() -> None:
    assert address("LOCALHOST:5684").host in ("127.0.0.1", "::1")


def test_addresses_are_read_as_they_are_written() -> None:
    assert address("5684") == address(5684) == Address("127.0.0.1", 5684)
    assert str(address("[2001:db8::1]:5684")) == "[2001:db8::1]:5684"
    assert proxy("5685") == proxy("0=5685") == proxy("127.0.0.1:0=127.0.0.1:5685")
    assert proxy("192.0.2.1:1=[::1]:2") == (("192.0.2.1", 1), ("::1", 2))


@pytest.mark.parametrize("scenario", ["quickstart", "gateway"])
def test_both_ends_emulated_give_the_record_of_a_run(
    cli: Cli, scenario: str, tmp_path: Path
) -> None:
    """All columns have the same bits: live is the same world, woken by a clock."""
    path = tmp_path / "live.parquet"
    options = ("--speed", FAST, "--seed", 5, "--json", "--records", path)
    happened = events(cli("live", scenario, *options).stdout)
    kinds = [event["event"] for event in happened if event["event"] != "late"]
    assert kinds == ["started", "opened", "established", "closed", "ended"]
    closed = next(event for event in happened if event["event"] == "closed")
    expected = slowhand.run(scenario, count=1, seed=5)
    assert_frame_equal(polars.read_parquet(path), expected, check_exact=True)
    assert closed["record"] == expected.to_dicts()[0]
    assert happened[-1]["reason"] == "finished"
    assert happened[-1]["summary"]["sessions"]["completed"] == 1


def test_the_report_is_that_of_a_run(cli: Cli) -> None:
    done = cli("live", "quickstart", "--speed", FAST, "--seed", 5)
    expected = cli("run", "quickstart", "--count", 1, "--seed", 5).stdout
    table, rest = expected.split("\n\n" + str(ROOT), 1)
    assert quiet(done.stderr) == ""
    assert table in done.stdout
    assert "mbedtls, dtls1.2, TLS_ECDHE_ECDSA_WITH_AES_128_CCM\n" in done.stdout
    assert "seed 5" in done.stdout.rpartition("\n\n")[2]
    assert re.search(r"^late by the clock: p50 .* ms, p99 .* events$", done.stdout, re.M)
    assert rest


def test_a_failed_handshake_of_ours_is_exit_code_1(cli: Cli) -> None:
    gives_up = ("--set", "session.give_up_s=1", "--speed", FAST)
    said = cli("live", "quickstart", *gives_up, code=1).stdout
    assert "1 gave up: not complete when session.give_up_s was over" in said


def test_a_session_that_the_user_ended_did_not_give_up_by_itself(cli: Cli) -> None:
    said = cli("live", "quickstart", "--speed", 0.05, "--duration", 0.3, code=1).stdout
    assert "1 gave up: not complete when the network ended" in said


def test_records_of_a_live_run_cannot_be_repeated(cli: Cli, tmp_path: Path) -> None:
    cli("live", "quickstart", "--speed", FAST, "--records", tmp_path / "live.parquet")
    message = the_message(cli("run", "live.parquet", code=2))
    assert "live.parquet: is of `slowhand live`: a live run cannot be repeated" in message
    assert "quickstart.toml" in message


def test_a_network_that_was_suspended_says_so() -> None:
    with running("--duration", 20) as network:
        assert network.stdout
        for _ in range(2):  # nothing happens in the network between them
            time.sleep(0.3)
            network.send_signal(signal.SIGSTOP)
            time.sleep(0.5)
            network.send_signal(signal.SIGCONT)
            while json.loads(network.stdout.readline())["event"] != "late":
                pass
        network.send_signal(signal.SIGINT)
        _, errors = network.communicate(timeout=PATIENCE_S)
    assert re.search(
        r"warning: the network stood still for \d+\.\d s, by the clock, at \d+\.\d s\n", errors
    )
    assert "warning: the network stood still for up to " in errors
    assert max(map(len, errors.splitlines())) <= 80


def test_the_report_lists_what_was_changed(tmp_path: Path) -> None:
    path = tmp_path / "control"
    with Program(*COMMAND, "live", "lossy-line", "--udp", 9, "--control", path) as network:
        network.expect(b"control socket")
        control.ask(path, {"set": "network.link_pdr=0.7"})
        control.ask(path, {"node": 2, "on": False})
        network.process.send_signal(signal.SIGINT)
        output = network.end(130).decode()
    assert re.search(
        r"\nChanged while it ran\n  at \d+\.\d s: network\.link_pdr=0\.7\n"
        r"  at \d+\.\d s: node 2 off\n",
        output,
    )


def test_a_server_that_does_not_run_is_one_warning(cli: Cli) -> None:
    options = ("--server", free_port(), "--speed", 20, "--duration", 2)
    done = cli("live", "quickstart", *options, code=1)
    timers, absent = re.sub(r"\n  +", " ", quiet(done.stderr)).splitlines()
    assert timers.startswith("slowhand: warning: --speed 20: the timers of programs run by")
    assert absent.startswith("slowhand: warning: nothing listens at 127.0.0.1:")
    assert "client computes" in done.stdout
    assert "server computes" not in done.stdout
    assert "without what the programs compute (server)\n" in done.stdout


def test_a_warning_that_comes_again_is_counted() -> None:
    with running("--speed", 10, ways=("--udp", f"{free_port()}")) as network:
        host, port = address(network.started["addresses"][0]["listen"])
        with ExitStack() as clients:  # open together: three ports
            for _ in range(3):
                client = clients.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
                client.sendto(b"hello", (host, port))
        assert network.stdout
        for _ in range(3):
            while json.loads(network.stdout.readline())["event"] != "warning":
                pass
        network.send_signal(signal.SIGINT)
        _, errors = network.communicate(timeout=PATIENCE_S)
    lines = re.sub(r"\n  +", " ", errors)
    first, again = re.findall(r"warning: (.*nothing listens.*)\n", lines)
    assert again == f"2 times more: {first}"


def test_wireshark_is_told_what_to_read_before_a_fifo_is_open(tmp_path: Path) -> None:
    fifo = tmp_path / "air"
    os.mkfifo(fifo)
    words = ["live", "lossy-line", "--udp", "9", "--pcap", "air"]
    with subprocess.Popen(
        [*COMMAND, *words], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    ) as network:
        assert network.stdout
        assert network.stdout.readline() == "Wireshark shows the capture as it is with:\n"
        assert network.stdout.readline().startswith("  wireshark -k -i air -o 6lowpan.context0:")
        with fifo.open("rb") as air:
            assert air.read(4) == b"\x0a\x0d\x0d\x0a"  # of pcapng
            network.terminate()
            air.read()
        assert "wireshark" not in network.stdout.read()


def test_the_sides_of_interfaces_have_names_and_addresses() -> None:
    given = sides.sides({"device_netns": "no such name", "internet_netns": "/proc/self/ns/net"})
    assert list(sides.places(given, 13)) == [
        "devices: namespace no such name, made now",
        "  node 1: 2001:db8::12:7400:0:1",
        "  node 2: 2001:db8::12:7400:0:2",
        "  node 3: 2001:db8::12:7400:0:3",
        "  ...",
        "  a program that binds no address is at node 1",
        "Internet: namespace /proc/self/ns/net, existing",
        "  2001:db8:1::1",
    ]
    assert list(sides.places(sides.sides({"device_tun": "mesh"}), 2)) == [
        "devices: interface mesh, which has to have these addresses",
        "  node 1: 2001:db8::12:7400:0:1",
        "  a program that binds no address is at node 1",
        "Internet: the server of the scenario",
        "  2001:db8:1::1",
    ]
    assert list(sides.places({}, 13)) == []


def test_programs_that_never_came_are_no_failure(cli: Cli) -> None:
    done = cli("live", "quickstart", "--udp", 9, "--duration", 0.2)
    assert re.match(r"udp 127\.0\.0\.1:\d+ to 127\.0\.0\.1:9\n", done.stdout)
    assert "no session has ended" in done.stdout


def test_the_credentials_are_written_for_the_program(cli: Cli, tmp_path: Path) -> None:
    cli("live", "quickstart", "--udp", 9, "--duration", 0.1, "--credentials", "keys")
    assert {"ca.pem", "server.pem", "server.key"} <= {
        file.name for file in (tmp_path / "keys").iterdir()
    }


def test_a_network_is_changed_and_asked_while_it_runs(cli: Cli, sockets: Path) -> None:
    with running() as network:
        assert network.started["control"] == str(sockets / f"live-{network.pid}.sock")
        assert (sockets.stat().st_mode & 0o777) == 0o700
        changed = cli("live", "set", "network.link_pdr=0.7").stdout
        assert changed == "changed: network.link_pdr=0.7\n"
        assert json.loads(cli("live", "node", 1, "off", "--json").stdout) == {"ok": True}
        status = json.loads(cli("live", "status", "--json").stdout)
        assert {node["node"]: node["on"] for node in status["nodes"]}[1] is False
        assert cli("live", "node", 1, "on").stdout == "node 1 is on\n"
        text = cli("live", "status").stdout
        assert re.search(r"^└─ 1 +on ", text, re.M)
        assert max(map(len, text.splitlines())) <= 80
        refused = the_message(cli("live", "set", "mac.kind=csma", code=2))
        assert "mac.kind" in refused
        assert f"allowed: {', '.join(CHANGEABLE_KEYS)}" in refused
        assert "node" in the_message(cli("live", "node", 99, "off", code=2))
        network.send_signal(signal.SIGINT)
        output, _ = network.communicate(timeout=PATIENCE_S)
    changes = [event["change"] for event in events(output) if event["event"] == "changed"]
    assert changes[0] == "network.link_pdr=0.7"
    assert len(changes) == 3
    assert list(sockets.iterdir()) == []


def test_which_network_is_meant_must_be_clear(cli: Cli, sockets: Path, tmp_path: Path) -> None:
    assert "no network runs" in the_message(cli("live", "status", code=2))
    with running() as one, running("--control", tmp_path / "mine") as other:
        cli("live", "status")  # the one at its default place
        with running() as third:
            message = the_message(cli("live", "status", code=2))
            assert f"found 2 networks, allowed: one of {sockets}/live-" in message
            assert message.count(".sock (lossy-line --udp 9 --json") == 2
            for network in (one, third):
                cli("live", "status", "--control", network.started["control"])
        cli("live", "status", "--control", tmp_path / "mine")
        busy = cli("live", "quickstart", "--udp", 9, "--control", tmp_path / "mine", code=2)
        assert "another network is there" in the_message(busy)
        other.kill()
        other.wait()
        message = the_message(cli("live", "status", "--control", tmp_path / "mine", code=2))
        assert message.endswith("mine: nothing answers: Connection refused")
        one.kill()
        one.wait()
    # Sockets that killed processes have left are in nobody's way.
    assert list(sockets.iterdir())
    assert "no network runs" in the_message(cli("live", "status", code=2))
    assert list(sockets.iterdir()) == []
    cli("live", "quickstart", "--udp", 9, "--duration", 0.1, "--control", tmp_path / "mine")


def test_a_folder_that_others_can_reach_is_refused(cli: Cli, sockets: Path) -> None:
    sockets.mkdir(mode=0o755)
    for command in (("status",), ("quickstart", "--udp", 9)):
        message = the_message(cli("live", *command, code=2))
        assert re.search(
            r"found owner \d+ and mode 0755, allowed: owner \d+ and mode 0700", message
        )


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"HTTP/1.1 400\r\n\r\n", "found an answer that is none of slowhand live"),
        (b'"yes"\n', "found an answer that is none of slowhand live"),
        (b"{}\n", "found an answer that is none of slowhand live"),
        (b"", "found an answer that is none of slowhand live"),
        (b'{"error": "no\\u001b[2Jnot so"}\n', r"no\x1b[2Jnot so"),
    ],
)
def test_a_socket_of_somebody_else_gets_one_message(
    cli: Cli, tmp_path: Path, answer: bytes, said: str
) -> None:
    with socket.socket(socket.AF_UNIX) as foreign:
        foreign.bind(str(tmp_path / "foreign"))
        foreign.listen()

        def serve() -> None:
            connection, _ = foreign.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        message = the_message(cli("live", "status", "--control", tmp_path / "foreign", code=2))
        thread.join()
    assert message.endswith(said)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_with_the_report(number: signal.Signals, tmp_path: Path) -> None:
    files = ("--records", tmp_path / "r.parquet", "--pcap", tmp_path / "c.pcapng")
    with running(*files, ways=("--speed", "1")) as network:
        network.send_signal(number)
        output, errors = network.communicate(timeout=PATIENCE_S)
    last = events(output)[-1]
    assert (last["event"], last["reason"]) == ("ended", "stopped")
    assert network.returncode == 128 + number
    assert quiet(errors) == ""
    assert polars.read_parquet(tmp_path / "r.parquet").columns[0] == "seed"
    assert {file.name for file in tmp_path.iterdir()} == {"r.parquet", "c.pcapng"}


def test_an_impatient_user_leaves_no_traceback(sockets: Path) -> None:
    with running() as network:
        for _ in range(20):
            network.send_signal(signal.SIGINT)
            time.sleep(0.002)
        output, errors = network.communicate(timeout=PATIENCE_S)
    assert quiet(errors) in ("", "slowhand: interrupted\n")
    assert network.returncode == 130
    assert list(sockets.iterdir()) == []
    assert output


def test_a_reader_that_has_enough_ends_it(sockets: Path, tmp_path: Path) -> None:
    with running("--records", tmp_path / "r.parquet") as network:
        assert network.stdout
        network.stdout.close()
        with suppress(control.ControlError):  # it is late, and that was an event too
            path = Path(network.started["control"])
            control.ask(path, {"node": 1, "on": False})  # an event, which nobody reads
        assert network.wait(timeout=PATIENCE_S) == 141
        assert network.stderr
        assert quiet(network.stderr.read()) == ""
    assert (tmp_path / "r.parquet").exists()


def test_a_reader_that_reads_nothing_keeps_nobody() -> None:
    with running() as network:
        path, request = Path(network.started["control"]), {"node": 1, "on": False}
        for on in [False, True] * 1_000:  # more events than a pipe takes
            control.ask(path, {**request, "on": on})
        began = time.monotonic()
        network.send_signal(signal.SIGTERM)
        while network.poll() is None:
            assert time.monotonic() < began + PATIENCE_S
            time.sleep(0.2)
            network.send_signal(signal.SIGTERM)
        assert time.monotonic() > began + signals.PATIENCE_S
        assert network.returncode == 128 + signal.SIGTERM
        assert not path.exists()
        assert network.stderr
        assert "Traceback" not in network.stderr.read()


def test_a_full_disk_under_the_capture_is_a_warning_and_exit_code_1(cli: Cli) -> None:
    done = cli("live", "quickstart", "--speed", FAST, "--pcap", "/dev/full", code=1)
    assert "1 of 1 handshakes completed" in done.stdout
    assert quiet(done.stderr).startswith(
        "slowhand: warning: /dev/full: cannot write the capture: No"
    )


def test_a_line_says_how_it_is_where_there_is_no_terminal() -> None:
    with running() as network:
        assert network.stderr
        while (line := network.stderr.readline()).startswith(("slowhand: warning:", "  ")):
            pass  # it stood still
    assert re.fullmatch(r"slowhand: \d:\d\d:\d\d  (late .*, )?no sessions\n", line)


def test_the_line_fits_and_has_what_counts_first() -> None:
    lost = {"queue_full": 1_900, "reassembly_full": 99}
    snapshot: dict[str, Any] = {
        "time_s": 40_000,
        "sessions": {"open": 1_200, "completed": 20_500, "failed": 9_300, "refused": 0},
        "datagrams": {"sent": 20_000, "lost": lost},
        "bytes_phy": 10**9,
        "queued": 300,
        "lateness_ms": {"p99": 12.3},
    }
    line = status.line(snapshot, 70)
    assert line == "11:06:40  late 12.3 ms (p99), 1,200 open, 20,500 completed"
    snapshot["lateness_ms"]["p99"] = 0.1
    snapshot["sessions"] = {"open": 1, "completed": 0, "failed": 0, "refused": 0}
    assert (
        status.line(snapshot, 70) == "11:06:40  1 open, 1,999 of 20,000 datagrams lost, 300 queued"
    )


class Watched:
    """A network with a dashboard, on a terminal of this size."""

    def __init__(self, *arguments: str, columns: int = 80, lines: int = 24, term: str = "xterm"):
        self._ours, theirs = pty.openpty()
        self.resize(columns, lines)
        self.modes = termios.tcgetattr(self._ours)
        self.process = subprocess.Popen(
            [*COMMAND, "live", *arguments, "--watch"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": term, "COLUMNS": ""},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self._theirs = theirs  # open, so that its modes can be asked for at the end
        self.drawn = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)
        os.close(self._theirs)

    def resize(self, columns: int, lines: int) -> None:
        """Gives the terminal another size."""
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def press(self, keys: str) -> None:
        """Types keys."""
        os.write(self._ours, keys.encode())

    def until(self, is_there: Callable[[list[str]], bool]) -> list[str]:
        """Waits for a picture of which this holds; its lines, without styles."""
        end = time.monotonic() + PATIENCE_S
        while True:
            *_, before, _ = ["", "", *self.drawn.split(HOME)]
            lines = re.sub(r"\x1b\[[\d;]*[mK]", "", before).split("\r\n")
            if is_there(lines):
                return lines
            assert time.monotonic() < end, lines
            self.read()

    def finish(self) -> str:
        """Waits for the end; what was printed after the dashboard."""
        end = time.monotonic() + PATIENCE_S
        while self.process.poll() is None or self.read():
            assert time.monotonic() < end, self.drawn[-1_000:]
            self.read()
        assert termios.tcgetattr(self._ours) == self.modes
        assert self.drawn.count(ENTER) == self.drawn.count(LEAVE) <= 1
        return self.drawn.rpartition(LEAVE)[2]

    def read(self, patience_s: float = 0.05) -> bool:
        """Reads what has been drawn; False if there is nothing."""
        is_there = bool(select.select([self._ours], [], [], patience_s)[0])
        if is_there:
            self.drawn += self._decoder.decode(os.read(self._ours, 65_536))
        return is_there


def has(lines: list[str], row: str) -> bool:
    """True if a line has this."""
    return any(re.search(row, line) for line in lines)


def test_the_dashboard_shows_nodes_links_and_sessions_and_leaves_no_trace() -> None:
    with Watched("busy", "--set", "client.start_s=1") as watched:
        node = r"│  ├─ 4 +on +[█·]{10} +\d"
        link = r"\d+ → \d+ +\d+ +\d+\.\d %"
        session = r"1 +12 +handshake +\d+\.\d s"
        lines = watched.until(lambda lines: all(has(lines, row) for row in (node, link, session)))
        assert len(lines) == 24
        assert lines[0].startswith("slowhand live: busy")
        assert lines[-1].startswith("q ends")
        assert max(map(len, lines)) <= 80
        watched.resize(40, 12)
        narrow = watched.until(lambda lines: len(lines) == 12)
        assert max(map(len, narrow)) <= 40
        watched.press("q")
        after = watched.finish()
        assert watched.process.returncode == 1  # the handshake was not complete
        assert "busy.toml, seed 1" in after
        assert "\x1b[?" not in after


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_the_terminal_as_it_was(number: signal.Signals) -> None:
    with Watched("lossy-line", "--udp", "9") as watched:
        place = r"programs +udp 127\.0\.0\.1:\d+ to 127\.0\.0\.1:9$"
        watched.until(lambda lines: has(lines, r"└─ 3 +on") and has(lines, place))
        watched.process.send_signal(number)
        assert "no session has ended" in watched.finish()
        assert watched.process.returncode == 128 + number


def test_ctrl_c_ends_the_dashboard_and_ctrl_z_does_not_stop_it() -> None:
    with Watched("lossy-line", "--udp", "9") as watched:
        watched.until(lambda lines: len(lines) == 24)
        watched.press("\x1a")
        seen = watched.drawn.count(HOME)
        watched.until(lambda lines: watched.drawn.count(HOME) > seen + 1)
        watched.press("\x03")
        watched.finish()
        assert watched.process.returncode == 130


def test_an_impatient_user_has_the_terminal_back() -> None:
    for after_s in (0, 0.1, 0.2, 0.3):
        with Watched("lossy-line", "--udp", "9") as watched:
            until_signals_are_handled(watched.process)
            time.sleep(after_s)
            for _ in range(300):
                if LEAVE in watched.drawn or watched.process.poll() is not None:
                    break
                watched.press("\x03")
                watched.read(0.002)
            watched.finish()
            assert "Traceback" not in watched.drawn


def test_a_picture_fits_every_terminal() -> None:
    clients: dict[str, Setting] = {"client.nodes": list(range(1, 13)), "client.start_s": 5}
    with slowhand.live("busy", set=clients, speed=100) as net:
        snapshot = net.status()
        while (status := net.status()) and not status["sessions"]["completed"]:
            snapshot = status
            time.sleep(0.01)
    assert snapshot
    for glyphs in (ASCII, UNICODE):
        for columns in (0, 1, 10, 75, 76, 80, 200):
            for lines in (0, 1, 5, 24, 60):
                size = Size(columns, lines)
                rows = framed(picture(snapshot, "title", ["place"], size, glyphs), "latest", size)
                assert len(rows) == max(1, lines)
                assert max(sum(len(span.text) for span in row) for row in rows) <= columns
    small = picture(snapshot, "title", [], Size(80, 12), UNICODE)
    text = ["".join(span.text for span in row) for row in small]
    worst = max(snapshot["links"], key=lambda link: link["frames"] - link["received"])
    assert has(text, rf" {worst['from']} → {worst['to']} +{worst['frames']:,} ")
    others = re.findall(r"and (\d+) others", "".join(line[50:] for line in text))[0]
    shown = sum("→" in line for line in text)
    assert int(others) + shown == len(snapshot["links"])


def test_the_context_manager_changes_and_reports_the_network() -> None:
    with slowhand.live("lossy-line", udp=9, seed=7) as net:
        assert net.udp[0].host == "127.0.0.1"
        assert net.udp[0].port > 0
        net.set({"network.link_pdr": 0.7})
        net.node(2).off()
        status = net.status()
        assert status
        assert [node["on"] for node in status["nodes"]] == [True, True, False, True]
        net.node(2).on()
        with pytest.raises(ValueError, match="node"):
            net.node(99).off()
        with pytest.raises(ValueError, match=r"mac\.kind"):
            net.set(["mac.kind=csma"])
        with pytest.raises(RuntimeError, match="records are there when it is closed"):
            net.records  # noqa: B018
        with pytest.raises(TimeoutError):
            net.wait(timeout_s=0.01)
    assert net.status() is None
    assert net.records.is_empty()
    assert net.records.columns == slowhand.run("quickstart", count=1).columns
    assert [event["event"] for event in net.events if event["event"] != "late"] == [
        *("started", "changed", "changed", "changed", "ended")
    ]


def test_a_failed_session_is_counted_while_others_go_on() -> None:
    late: Settings = {
        "client.nodes": [4, 5, 6, 7],
        "client.start_s": 0,
        "client.start_spread_s": 400,
        "session.give_up_s": 1,
    }
    with slowhand.live("busy", set=late, speed=40) as net:
        while (status := net.status()) and not status["sessions"]["failed"]:
            time.sleep(0.01)
    assert status
    assert status["sessions"]["open"] > 0
    assert sum(node["sessions"] for node in status["nodes"]) == status["sessions"]["open"]
    assert net.summary()["failed"] == {"gave_up": 4}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"udp": 0}, "udp: found 0, allowed: a port from 1"),
        ({"udp": [5, "x"]}, "udp: found x, allowed: a port from 1"),
        ({"server": 5, "listen": 5}, "server: found listen too, allowed: one way in"),
        ({"speed": float("nan")}, "speed: found NaN, allowed: from 0.001 to 1000000"),
        ({"seed": -1}, "seed: found -1, allowed: from 0"),
        ({"device_netns": "\udcff"}, r"device_netns: found \udcff, allowed: a name in UTF-8"),
        ({"udp": [5] * 101}, "udp: found 101 proxies, allowed: at most 100"),
        ({"tcp": 5}, "tcp: found a proxy for tcp, allowed: udp"),
        ({"duration_s": float("inf")}, "duration_s: found inf, allowed: a number of seconds"),
        ({"set": {"network.link_pdr": 2}}, r"network.link_pdr: found 2, allowed: "),
    ],
)
def test_wrong_arguments_name_the_argument(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        slowhand.live("quickstart", **arguments)
    again = pickle.loads(pickle.dumps(caught.value))  # as from another process
    assert (str(again), vars(again)) == (str(caught.value), vars(caught.value))
    error = caught.value
    if not isinstance(error, slowhand.ScenarioError):
        assert isinstance(error, slowhand.ArgumentError)
        assert error.argument in arguments
        assert str(error) == f"{error.argument}: {error.reason}"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"udp": 1.5}, "udp: found 1.5 of type float, allowed: a port, a text, or several of them"),
        ({"device_tun": 3}, "device_tun: found 3 of type int, allowed: a name"),
        ({"duration_s": "x"}, "duration_s: found 'x' of type str, allowed: a number"),
        ({"speed": None}, "speed: found None of type NoneType, allowed: a number"),
    ],
)
def test_arguments_of_another_type_are_named(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError, match=re.escape(said)):
        slowhand.live("quickstart", **arguments)


def test_the_socket_may_have_a_path_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "\udcff.sock"
    with slowhand.live("quickstart", control=path) as net:
        assert control.ask(path, {"status": True})["time_s"] >= 0
    assert net.events[0]["control"] == str(tmp_path / "\ufffd.sock")


def test_the_mesh_carries_packets_of_1280_octets_and_no_longer_ones() -> None:
    """As docs/reference/live.md says: IPv6 and UDP have headers of 48 (RFC 8200, RFC 768)."""
    lossless: Settings = {"network.link_pdr": 1, "network.profile": "rfc", "mac.queue": 100}
    server, client = (socket.socket(type=socket.SOCK_DGRAM) for _ in range(2))
    with server, client:
        server.bind(("127.0.0.1", 0))
        server.settimeout(PATIENCE_S)
        port = server.getsockname()[1]
        with slowhand.live("quickstart", udp=port, speed=20, set=lossless) as net:
            client.sendto(bytes(1280 - 48 + 1), net.udp[0])
            client.sendto(bytes(1280 - 48), net.udp[0])
            assert len(server.recv(2000)) == 1232
    datagrams = net.report()["datagrams"]
    assert (datagrams["sent"], datagrams["lost"]) == (2, {"reassembly_too_long": 1})


def test_a_beacon_is_for_all_and_for_no_node_with_a_number() -> None:
    load: Settings = {"mac.load": {"beacon_period_s": 1}}
    with slowhand.live("lossy-line", udp=9, speed=50, set=load) as net:
        until = time.monotonic() + PATIENCE_S
        while True:
            snapshot = net.status() or {"links": []}
            if any(link["to"] is None and link["from"] == 0 for link in snapshot["links"]):
                break
            assert time.monotonic() < until
    assert {link["to"] for link in snapshot["links"]} <= {None, 0, 1, 2, 3}
    rows = framed(picture(snapshot, "title", [], Size(100, 40), UNICODE), "", Size(100, 40))
    assert any("0 → all" in "".join(span.text for span in row) for row in rows)


def test_what_a_block_raises_closes_the_network() -> None:
    with pytest.raises(ZeroDivisionError), slowhand.live("quickstart", udp=9) as net:
        raise ZeroDivisionError
    assert net.status() is None


def test_a_network_is_entered_once() -> None:
    with slowhand.live("quickstart", udp=9) as net:
        with pytest.raises(RuntimeError, match=r"^live: found a network that was in a `with`"), net:
            pass
        assert net.status()
    with pytest.raises(RuntimeError, match=r"^live: found a network that was in a `with`"), net:
        pass
    closed = slowhand.live("quickstart", udp=9)
    closed.close()
    with pytest.raises(RuntimeError, match=r"or is closed, allowed: a new one"), closed:
        pass


FORKED = """
import os, sys, warnings, slowhand
warnings.simplefilter("ignore")  # Python 3.12 warns of forks with threads
net = slowhand.live("quickstart", speed=50, udp=sys.argv[1:])
closed = slowhand.live("quickstart", udp=9)
closed.close()
try:
    with net:
        if not sys.argv[1:]:
            net.wait()
        child = os.fork()
        if not child:
            assert closed.records.is_empty()
            for ask in (net.wait, net.status, net.stop, lambda: net.node(1)):
                try:
                    ask()
                except RuntimeError as error:
                    print(error)
except RuntimeError as error:
    assert not child
    print(error)
else:
    assert child and os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.parametrize("way", [["9"], []])
def test_a_network_in_a_forked_process_is_an_error_and_no_hang(way: list[str]) -> None:
    """Threads do not live on in a fork (POSIX, fork): neither those of a network that has ended."""
    done = subprocess.run(
        [sys.executable, "-c", FORKED, *way], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.splitlines()
    assert len(said) == 5
    assert all(line.startswith("live: found a process forked from ") for line in said)


def test_a_close_that_was_interrupted_is_made_again(tmp_path: Path) -> None:
    """Its end waits two seconds for a capture that nobody reads any more."""
    fifo = tmp_path / "air.pcapng"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
    net = slowhand.live("busy", speed=50, capture=str(fifo))
    while (status := net.status()) and status["sessions"]["completed"] < 1:
        time.sleep(0.1)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        net.close()
    assert not net.is_closed
    with pytest.raises(RuntimeError, match="there when it is closed"):
        net.summary()
    net.stop()
    net.close()
    os.close(reader)
    assert net.is_closed
    assert "completed" in net.records["outcome"].to_list()
    assert net.summary()["completed"] == net.records["outcome"].to_list().count("completed")


def test_the_example_for_continuous_integration_passes(tmp_path: Path) -> None:
    """As a firmware team runs it: pytest finds the fixture by itself."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull]
    folder = ROOT / "docs" / "live-ci"
    done = subprocess.run(
        [*command, "--rootdir", tmp_path, folder], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


def test_the_plugin_costs_nothing_where_it_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text(
        "import sys\n"
        "def test_nothing_is_imported(request):\n"
        "    assert request.config.pluginmanager.has_plugin('slowhand')\n"
        "    assert 'slowhand._native' not in sys.modules and 'polars' not in sys.modules\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 0, done.stdout
