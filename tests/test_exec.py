"""`slowhand exec`: unmodified programs in virtual time.

What each system call has to do is in tests/exec/calls.c: times follow from what it asks for.
"""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars
import pytest

import slowhand
from conftest import (
    ASK_EXEC,
    COMMAND,
    ROOT,
    Cli,
    load,
    needs_exec,
    the_message,
    with_files_of_at_most,
)
from programs import Program, free_port, self_signed
from slowhand import cli as command_line
from slowhand.executing import Execution
from slowhand.executing.programs import Limits, placed
from slowhand.executing.report import silence
from slowhand.executing.workers import Failure, Refused

SOURCES = ROOT / "tests" / "exec"
PSK = "-psk 00112233445566778899aabbccddeeff -cipher PSK-AES128-CCM8:@SECLEVEL=0"
CLIENT = f"openssl s_client -dtls1_2 -timeout -connect {{server}}:5684 {PSK}"
SERVER = f"openssl s_server -dtls1_2 -timeout -accept 5684 -nocert {PSK}"

AWAKE = ["mac.sleepy=none", "mac.poll_period_ms=", "server.internet_jitter_ms=0"]
"""The keys that make of `csma` a network whose delays are those of its frames."""

pytestmark = needs_exec()

S = 1_000_000_000
EINTR, EAGAIN, EINVAL, ETIMEDOUT = -4, -11, -22, -110
SIGALRM = 14

# The name of each call, how long it takes in nanoseconds, and its result.
CALLS: dict[str, list[tuple[str, int, int] | str]] = {
    "clocks": [
        # A second after the beginning of 2030-01-01: then clients start.
        "realtime 1893456001 0 time 1893456001 gettimeofday 1893456001",
        "cpu 0 0 clock 0",
        "rdtsc 1000000000",  # one a nanosecond
        "times 200",
        "spin 50",
    ],
    "sleeping": [
        ("nanosleep", S + 500, 0),
        ("clock_nanosleep", 2 * S + 1, 0),
        ("clock_nanosleep_realtime", 750_000_000, 0),
        ("usleep", 250_000_000, 0),
        ("sleep", 3 * S, 0),
        ("nanosleep_invalid", 0, EINVAL),
        ("nanosleep_interrupted", 2 * S, EINTR),
        "rest 3000",  # of five seconds, in milliseconds
        ("nanosleep_ignored", 5 * S, 0),
    ],
    "polling": [
        ("poll", 1_234_000_000, 0),
        ("poll_now", 0, 0),
        ("ppoll", 1_250_000_000, 0),
        ("select", 2_500_000_000, 0),
        "left 0 isset 0",
        ("pselect", 1_250_000_000, 0),
        ("select_ready", 2 * S, 1),
        "left 8000000 isset 0 1",  # select(2): Linux writes what is left, here of ten seconds
        ("epoll_wait", 321_000_000, 0),
        ("epoll_pwait", 4_321_000_000, 0),
        ("epoll_pwait2", 1_250_000_000, 0),
        ("epoll_ready", 0, 1),
        ("ppoll_signal", 3 * S, EINTR),
        ("pselect_signal", 3 * S, EINTR),
        ("epoll_pwait_signal", 3 * S, EINTR),
        ("sigsuspend", 2 * S, EINTR),
        f"caught {SIGALRM}",
    ],
    "timers": [
        ("timerfd", 2_500_000_000, 1),
        "timerfd_left 1000",
        ("timerfd_interval", S, 1),
        ("timerfd_absolute", 4 * S, 1),
        ("alarm_pause", 4 * S, EINTR),
        ("setitimer", S, SIGALRM),
        ("setitimer_interval", 300_000_000, SIGALRM),
        ("timer_create", 1_750_000_000, 42),
        ("sigtimedwait", 2 * S, EAGAIN),
        # It is looked at every 0.1 s, and at 3.0 s the thread of the timer has not run yet.
        ("timer_thread", 3_100_000_000, 5),
        ("signalfd", 2 * S, SIGALRM),
    ],
    "threads": [
        ("cond_timedwait", 1_500_000_000, -ETIMEDOUT),
        ("cond_wait", 2_500_000_000, 1),
        ("join", 1_250_000_000, 0),
        ("sem_timedwait", 600_000_000, ETIMEDOUT),
        ("futex_wait", 333_000_000, ETIMEDOUT),
        ("barrier", 0, 0),
        ("sem_of_processes", 1_700_000_000, 0),
        ("wait", 0, 3),
        ("pause_killed", 1_500_000_000, EINTR),
        ("cancelled", 0, 0),
    ],
    "sockets": [
        ("recv", 1_500_000_000, EAGAIN),
        ("read", 1_500_000_000, EAGAIN),
        ("recvmmsg", 1_500_000_000, EAGAIN),
        ("recvmmsg_one", 1_500_000_000, 1),
        ("recvmmsg_two", 0, 2),
        ("recv_dontwait", 0, EAGAIN),
        "port 49154",  # the third socket of the host; RFC 6335 section 6: they begin at 49152
    ],
    "processes": [
        ("waitpid", 2 * S, 9),
        ("waitid", 2 * S, 4),
        ("vfork", 1_500_000_000, 0),
        ("system", 500_000_000, 6),
        ("killed", 0, 9),
        ("exit_with_threads", S, 8),
        ("first_thread_ends", 2 * S, 0),
        ("full_pipe", 3 * S, 200_000),
        "sum 200000",
        ("flock", S, 0),
    ],
}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the C programs."""
    folder = tmp_path_factory.mktemp("exec")
    for name, source, options in [
        ("dynamic", "calls.c", []),
        ("static", "calls.c", ["-static"]),
        ("hostile", "hostile.c", []),
        ("firmware", "firmware.c", []),
        ("streams", "streams.c", []),
    ]:
        command = ["cc", "-O1", "-w", "-pthread", *options, "-o", str(folder / name)]
        subprocess.run([*command, str(SOURCES / source)], check=True)
    return folder


def alone(command: str | list[str], **options: Any) -> slowhand.Execution:
    """A program at the client's node, with nobody to talk to."""
    return slowhand.exec("lossy-line", client=command, count=1, **options)


def output(execution: slowhand.Execution) -> str:
    assert not execution.failures
    text: str = execution.worlds[0]["programs"][-1]["stdout"]
    return text


@pytest.mark.parametrize("kind", ["dynamic", "static"])
def test_each_call_takes_as_long_as_it_says(compiled: Path, kind: str, tmp_path: Path) -> None:
    words = " && ".join(f"{compiled / kind} {name}" for name in CALLS)
    execution = alone(["sh", "-c", f"cd {tmp_path} && {words}"])
    lines = output(execution).splitlines()
    expected = [case for name in CALLS for case in CALLS[name]]
    wanted = [case if isinstance(case, str) else " ".join(map(str, case)) for case in expected]
    # A child that was forked has the buffer of its parent, and prints it too.
    assert list(dict.fromkeys(lines)) == list(dict.fromkeys(wanted))
    assert execution.reproducible


def test_programs_that_are_not_as_they_should_be(compiled: Path) -> None:
    hostile = compiled / "hostile"
    # The lines that each prints, and its exit code as a shell has it.
    cases = {
        "closes": ["3"],
        "yield_for_thread": ["set", "0"],
        "stops": ["goes on", "0"],
        "aborts": [str(128 + 6)],
        "segfault": [str(128 + 11)],
        "thread_executes": ["7"],
        "ends_with_thread": ["6"],
        "traces": ["-1", "0"],
        "untraced": ["5 5", "0"],  # children of five seconds each
        "sets_clock": ["5 0", "1 1 1", "0"],  # TIME_ERROR, as nobody has set it; EPERM
        "bad_signal": [str(-EINVAL), "0"],
        "urandom": ["0"],
    }
    script = "; ".join(f"{hostile} {name}; echo $?" for name in cases)
    execution = alone(["sh", "-c", script])
    lines = output(execution).splitlines()
    random = [line for line in lines if re.fullmatch("[0-9a-f]{16}", line)]
    assert len(set(random)) == 4
    told = [line for line in lines if line not in random and "0x" not in line]
    told = [line for line in told if not line.startswith("at ")]
    assert told == [*itertools.chain(*cases.values())]
    assert execution.reproducible
    what = " ".join(note["what"] for note in execution.notes)
    assert "was not allowed to set the clock" in what
    other = alone([str(hostile), "urandom"], seed=2)
    assert not set(random) & set(output(other).split())


@pytest.mark.parametrize(
    ("name", "bounds", "reason"),
    [
        ("spin", {"cpu_s": 0.2}, "a thread computes for more than 0.2 s"),
        ("spin_for_thread", {"cpu_s": 0.2}, "a thread computes for more than 0.2 s"),
        ("forks", {}, "more than 2000 threads and processes"),
        ("threads", {}, "more than 2000 threads and processes"),
        ("ticks", {"wall_s": 0.5}, "0.5 s of the clock are over"),
    ],
)
def test_nothing_hangs(compiled: Path, name: str, bounds: dict[str, float], reason: str) -> None:
    execution = alone([str(compiled / "hostile"), name], again=0, **bounds)
    (failure,) = execution.failures
    assert reason in failure.reason
    assert failure.reason.startswith("client: ") or name == "ticks"
    assert not _left(compiled)


def test_nothing_hangs_where_the_signal_of_timers_is_blocked(compiled: Path) -> None:
    """Whoever starts slowhand may have blocked it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    try:
        execution = alone([str(compiled / "hostile"), "spin"], again=0, cpu_s=0.2)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    (failure,) = execution.failures
    assert "a thread computes for more than 0.2 s" in failure.reason


def test_what_waits_outside_of_virtual_time_is_said(compiled: Path) -> None:
    for name, call, code in [("semop", "sem", 5), ("message", "msgrcv", 3)]:
        execution = alone([str(compiled / "hostile"), name])
        assert execution.worlds[0]["programs"][0]["exit"] == {"code": code}
        (note,) = execution.notes
        assert note["what"].startswith(f"waits in {call}")
        assert execution.reproducible is False
    ends = alone([str(compiled / "hostile"), "kills_all"])
    assert output(ends) == "alive\n"  # kill(2): all but the one that calls, and the first one
    endless = alone([str(compiled / "hostile"), "sleeps"], duration_s=100)
    assert endless.worlds[0]["ending"] == "duration"
    assert endless.worlds[0]["virtual_s"] == 100
    assert not _left(compiled)


def test_streams_of_one_host(compiled: Path) -> None:
    execution = alone([str(compiled / "streams"), "local"])
    assert output(execution).splitlines() == [
        *("refused 0 -111", "in_use 0 -98", "in_use_not_listening 0 -98", "in_use_closed 0 1"),
        *("connect 0 0", "accept 0 1", "address 28 1 1", "ports 4000 4000"),
        "socket 10 6 1",  # AF_INET6, IPPROTO_TCP, SOCK_STREAM
        *("connect_again 0 -106", f"recv_timeout {3 * S // 2} {EAGAIN}"),
        "recvfrom 0 550",  # 5 octets, 5 were there, and no address
        *("oob 0 -95", "half_closed 0 0", "write_after_shutdown 0 -32", "other_half 0 3"),
        *("end 0 0", "write_after_end 0 -32", "reset 0 -104"),
        *(f"full {3 * S} 400000", "sum 400000", f"sendfile {3 * S} 400000"),
        "unconnected 14",  # EPOLLOUT, EPOLLHUP
        *("connect_nonblocking 0 -115", "connected 4 0", "accept_nonblocking 0 1"),
        *(f"accept_waits {2 * S} 1", "connect_4_to_6 0 0", "mapped 1 28", "unreachable 0 -101"),
        *("mptcp 0 -93", "not_connected 0 -107", "refused_when_closed 0 -111"),
    ]
    assert execution.reproducible


STREAMS: list[tuple[str, int | None, int] | str] = [
    ("refused", None, -111),
    ("same_socket", None, 0),
    "ports 4000 1",
    "options 0 536",  # the preset `constrained`
    ("echo", None, 5),
    ("recv_timeout", 3 * S // 2, EAGAIN),
    ("half_closed", None, 6),
    ("end", None, 0),
    ("timeout", 123 * S, -110),  # 1, 2, 4, 8, 16, 32 and 60 s, the longest
    ("connect_timeout", 2 * S, -115),
    ("still_opening", S, 0),
    ("connect_interrupted", 3 * S, EINTR),
    "unconnected 14",
    ("connect_nonblocking", 0, -115),
    f"opening 0 -114 {EAGAIN}",  # EALREADY
    ("opened_before", None, 4),
    "error 0",
    ("connect_now", 0, 0),
    ("readable", None, 1),
    ("opened_after", None, 4),
    ("refused_nonblocking", None, 0x1C),  # EPOLLOUT, EPOLLERR, EPOLLHUP
    "errors 111 0",
    ("closed", None, 0),
    ("reset", None, -104),
    ("write_after_reset", 0, -32),
    "buffers 10000",
    "waited 1 9000",
    "all 1",
    ("from_child", None, 5),
    ("end_of_child", None, 0),
]
"""The lines of `streams client`. A time follows from the call; None: it is that of the network."""


def test_streams_between_hosts(compiled: Path) -> None:
    streams = compiled / "streams"
    execution = slowhand.exec(
        "csma",
        client=f"{streams} client {{address}}",
        server=f"{streams} server",
        count=1,
        set=[*AWAKE, "transport.server.receive_buffer=4880"],
    )
    lines = output(execution).splitlines()
    assert len(lines) == len(STREAMS)
    for line, expected in zip(lines, STREAMS, strict=True):
        if isinstance(expected, str):
            assert line == expected
            continue
        name, took, result = expected
        found = line.split()
        assert (found[0], int(found[2])) == (name, result), line
        assert int(found[1]) == took if took is not None else 0 < int(found[1]) < 6 * S, line
    assert execution.reproducible, execution.notes
    outcomes = [row["outcome"] for row in execution.rows()]
    # Of the connections to the server. One that is closed with no octets, or refused, gave up.
    assert outcomes.count("completed") == 4 and outcomes.count("gave_up") == 5


def test_timers_whose_file_is_closed_end(compiled: Path) -> None:
    execution = alone([str(compiled / "hostile"), "closed_timers"])
    (world,) = execution.worlds
    assert (world["ending"], execution.reproducible) == ("quiet", True)


def test_nobody_answers(compiled: Path) -> None:
    """More datagrams than a kernel's queue has room for by default (500) reach the network."""
    execution = alone([str(compiled / "hostile"), "bursts"])
    assert output(execution) == "900\n"
    (row,) = execution.rows()
    assert (row["outcome"], row["duration_s"], row["secure"]) == ("gave_up", None, False)
    assert row["datagrams"] == 900
    assert row["compute_client_s"] is None
    assert not execution.notes


ECHO = """
import socket, struct, sys
raw = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
raw.sendto(struct.pack("!BBHHH", 128, 0, 0, 77, 1), (sys.argv[1], 0))
print(raw.recvfrom(1000)[0][0])
"""


def test_raw_icmpv6_crosses_the_network(tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    echo = [sys.executable, "-S", str(tmp_path / "echo.py"), "{address}"]
    execution = slowhand.exec("csma", client=echo, server="sleep 100", count=1)
    assert output(execution) == "129\n"  # RFC 4443 section 4.2
    assert execution.reproducible


@pytest.mark.parametrize("kind", ["tap", "tun"])
def test_firmware_has_an_interface_of_its_own(compiled: Path, kind: str) -> None:
    echo = [sys.executable, "-S", str(SOURCES / "udp.py"), "server", "{address}"]
    firmware = [str(compiled / "firmware"), kind, "{address}"]
    execution = slowhand.exec("csma", client=firmware, server=echo, count=1, set=AWAKE)
    # RFC 4861 sections 4.2 and 4.4; RFC 4944 section 4.
    router = ["router: type 134, hop limit 255, lifetime 9000 s", "mtu 1280"]
    router += ["neighbour: type 136, the router"]
    said = ["re: one. for it", "re: two. for it", "signals came"]
    assert output(execution).splitlines() == (router if kind == "tap" else []) + said
    assert execution.reproducible
    (conversation,) = execution.worlds[0]["conversations"]
    sent = [(each["from"], each["octets"]) for each in conversation["datagrams"]]
    assert sent == [("client", 4), ("server", 8)] * 2
    assert not any(each["again"] for each in conversation["datagrams"])


def test_long_inputs_and_outputs(compiled: Path) -> None:
    text = "x" * 100_000  # a pipe has room for 65,536
    execution = alone(["sleep", "5"], stdin={"client": [(2, text)]})
    assert (execution.worlds[0]["ending"], execution.reproducible) == ("finished", True)
    read = alone(["sh", "-c", "sleep 9; wc -c"], stdin={"client": [(2, text), (3, "")]})
    assert output(read) == "100000\n"
    written = output(alone([str(compiled / "hostile"), "writes"], again=0))
    assert len(written.splitlines()) == 3
    assert "octets are left out here" in written.splitlines()[1]
    assert len(written) < 2**20 + 100


def _left(folder: Path) -> list[str]:
    """The programs of a folder that still run."""
    found = []
    for process in Path("/proc").glob("[0-9]*/exe"):
        try:
            target = process.readlink()
        except OSError:
            continue
        if target.parent == folder:
            found.append(target.name)
    return found


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has what is taken away here")
def test_what_is_missing_is_said_first_and_what_to_do() -> None:
    """A container of root without CAP_SYS_ADMIN (21) in its bounding set (PR_CAPBSET_DROP, 24)."""
    again = f"os.execv(sys.executable, [sys.executable, '-P', '-c', {ASK_EXEC!r}])"
    less = f"import ctypes, os, sys; ctypes.CDLL(None).prctl(24, 21); {again}"
    done = subprocess.run(
        [sys.executable, "-P", "-c", less], capture_output=True, text=True, check=False
    )
    said = done.stderr.splitlines()[-1]
    assert "cannot make namespaces of mounts and processes: Operation not permitted" in said
    assert "--cap-add SYS_ADMIN" in said


TLS_PSK = "-tls1_3 -psk 00112233445566778899aabbccddeeff -ciphersuites TLS_AES_128_GCM_SHA256"
TLS_CLIENT = f"openssl s_client -connect {{server}}:5684 {TLS_PSK}"
TLS_SERVER = f"openssl s_server -accept 5684 -nocert {TLS_PSK}"

ASYNCIO_TLS = """
import asyncio, secrets, ssl, sys
what, address, certificate, key = sys.argv[1:]
async def serve(reader, writer):
    while line := await reader.readline():
        writer.write(b"re: " + line)
        await writer.drain()
    writer.close()
async def main():
    if what == "server":
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate, key)
        await (await asyncio.start_server(serve, None, 9999, ssl=context)).serve_forever()
    context = ssl.create_default_context(cafile=certificate)
    async def one(n):
        named = {"ssl": context, "server_hostname": "server"}
        reader, writer = await asyncio.open_connection(address, 9999, **named)
        writer.write(secrets.token_hex(8).encode() + b"\\n")
        print(n, asyncio.get_running_loop().time(), await reader.readline(), flush=True)
        writer.close()
        await writer.wait_closed()
    await asyncio.gather(one(0), one(1))
asyncio.run(main())
"""


def test_tls_over_tcp_is_the_same_five_times_under_load(tmp_path: Path) -> None:
    key, certificate = self_signed(tmp_path)
    script = tmp_path / "tls.py"
    script.write_text(ASYNCIO_TLS)
    python = [sys.executable, "-S", str(script)]
    files = [str(certificate), str(key)]
    pairs: dict[str, tuple[str | list[str], str | list[str]]] = {
        "openssl": (TLS_CLIENT, TLS_SERVER),
        "gnutls": (
            "gnutls-cli --insecure -p 5684 {address}",
            f"gnutls-serv -p 5684 --x509certfile {certificate} --x509keyfile {key}",
        ),
        "asyncio": (
            [*python, "client", "{address}", *files],
            [*python, "server", "{address}", *files],
        ),
    }
    with load():
        for name, (client, server) in pairs.items():
            execution = slowhand.exec("lossy-line", client=client, server=server, count=1, again=4)
            assert execution.reproducible, (name, execution.failures, execution.notes)
            rows = execution.rows()
            assert len(rows) == (2 if name == "asyncio" else 1)
            for row, conversation in zip(rows, _conversations(execution), strict=True):
                assert (row["outcome"], row["secure"]) == ("completed", True)
                sent = conversation["datagrams"][: row["datagrams"]]
                # The list has what a run counts: the segments up to the end of the handshake.
                assert sum(each["octets"] for each in sent) == row["bytes_payload"]
                counts = (row["retransmissions_needed"], row["retransmissions_spurious"])
                assert sum(each["again"] for each in sent) == sum(counts)
                messages = [each["messages"] for each in sent]
                assert messages[:2] == ["SYN", "SYN-ACK"]
                assert any(message.endswith("ClientHello") for message in messages)
            if name == "asyncio":
                assert rows[0]["exit_client"] == 0


def _conversations(execution: Execution) -> list[dict[str, Any]]:
    return [each for world in execution.worlds for each in world["conversations"]]


def test_a_program_is_as_the_library_that_is_built_in(tmp_path: Path) -> None:
    """OpenSSL in slowhand, whose computing takes no time, and Debian's: the same messages.

    The hellos of the program have more extensions.
    """
    scenario = slowhand.Scenario("csma", AWAKE)
    built_in = scenario.with_(
        {"session.stack": "openssl", "client.compute_factor": 0, "session.timeout_s": 9}
    )
    library, program = tmp_path / "library.pcapng", tmp_path / "program.pcapng"
    built_in.capture(library, seed=1)
    server = f"{SERVER} -no_ticket"
    execution = slowhand.exec(scenario, client=CLIENT, server=server, count=1, capture=program)
    _compare(library, program)
    assert execution.worlds[0]["programs"][1]["exit"] is None


def test_against_the_clock_and_in_virtual_time(tmp_path: Path) -> None:
    """The programs and the scenario run with `slowhand live` too: it is late, but not on the way.

    No ticket: OpenSSL assumes 20 octets less for a datagram over IPv6 than over IPv4, as here.
    """
    program, live = tmp_path / "program.pcapng", tmp_path / "live.pcapng"
    server = f"{SERVER} -no_ticket"
    slowhand.exec(
        "csma", set=AWAKE, client=CLIENT, server=server, count=1, again=0, capture=program
    )
    port = free_port(2)
    options = [word for setting in AWAKE for word in ("--set", setting)]
    options += ["--udp", f"{port}=127.0.0.1:{port + 1}", "--pcap", str(live), "--handshakes", "1"]
    with (
        Program(*server.replace("5684", f"{port + 1}").split()) as server_program,
        Program(*COMMAND, "live", "csma", *options) as network,
    ):
        server_program.listens("udp", port + 1)
        network.listens("udp", port)
        with Program(*CLIENT.replace("{server}:5684", f"127.0.0.1:{port}").split()):
            assert b"1 of 1 handshakes completed" in network.end()
    _compare(program, live)


def _compare(one: Path, other: Path) -> None:
    """Two captures have the same messages, and those of one length take the same time over a hop.

    But for the back-off of CSMA: at most 7 periods of 320 us (IEEE 802.15.4 section 6.2.5.1, with
    macMinBE 3).
    """
    ours, theirs = _messages(one), _messages(other)
    assert [frame[1:3] for frame in ours] == [frame[1:3] for frame in theirs]
    compared = 0
    for before, frame, after, with_it in zip(ours, ours[1:], theirs, theirs[1:], strict=False):
        if before[3] == frame[3] == after[3] == with_it[3] and before[1] != frame[1]:
            assert abs((frame[0] - before[0]) - (with_it[0] - after[0])) < 2 * 7 * 320e-6
            compared += 1
    assert compared >= 6  # three datagrams over two hops each


def test_tcp_of_programs_is_that_of_runs(tmp_path: Path) -> None:
    """The frames of the segments that open a connection, over three hops: at the same time."""
    library, program = tmp_path / "library.pcapng", tmp_path / "program.pcapng"
    suite = "TLS_AES_128_GCM_SHA256"
    keys = ["session.protocol=tls1.3", "session.stack=openssl", f"session.suite={suite}"]
    scenario = slowhand.Scenario("csma", [*AWAKE, *keys])
    scenario.capture(library, seed=1)
    slowhand.exec(scenario, client=TLS_CLIENT, server=TLS_SERVER, count=1, again=0, capture=program)
    fields = ("frame.time_relative", "wpan.src64", "tcp.flags", "tcp.len", "tcp.window_size_value")
    ours, theirs = (_fields(capture, "tcp", *fields)[:9] for capture in (library, program))
    assert ours == theirs
    opens = ["0x0002", "0x0012", "0x0010"]  # SYN, SYN-ACK, ACK
    assert [line.split("\t")[2] for line in ours] == [flags for flags in opens for _ in range(3)]


def _messages(capture: Path) -> list[tuple[float, str, str, str]]:
    """The frames that end a datagram of DTLS: time, sender, types of records, length."""
    fields = ("frame.time_relative", "wpan.src64", "dtls.record.content_type", "udp.length")
    rows = [line.split("\t") for line in _fields(capture, "dtls", *fields)]
    return [(float(time), sender, types, length) for time, sender, types, length in rows]


def _fields(capture: Path, shown: str, *fields: str) -> list[str]:
    """The fields of the frames of a capture that a filter shows, by tshark."""
    contexts = [f"6lowpan.context{n}:2001:db8:{p}:/64" for n, p in ((0, ""), (1, "1:"))]
    command = ["tshark", "-r", str(capture), "-Y", shown, "-T", "fields"]
    command += ["-d", "udp.port==5684,dtls"]
    command += [word for context in contexts for word in ("-o", context)]
    command += [word for field in fields for word in ("-e", field)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_a_fatal_alert_is_why_a_session_fails() -> None:
    server = SERVER.replace("PSK-AES128-CCM8", "PSK-AES256-GCM-SHA384")
    (row,) = slowhand.exec("csma", client=CLIENT, server=server, count=1, again=0).rows()
    # RFC 5246 section 7.2: handshake_failure is 40.
    said = ("alert", "client", "the peer sent the fatal alert 40")
    assert (row["outcome"], row["failure_end"], row["failure_reason"]) == said


def test_computing_delays_each_answer() -> None:
    def took(compute: dict[str, float]) -> float:
        execution = slowhand.exec(
            "csma", client=CLIENT, server=SERVER, count=1, again=0, set=AWAKE, compute=compute
        )
        return float(execution.rows()[0]["duration_s"])

    # Two of the client's three flights are answers; the rest is the back-off of other frames.
    assert took({"client": 0.25}) - took({}) == pytest.approx(0.5, abs=0.02)


def test_input_comes_when_it_is_said() -> None:
    script = 'while read -r line; do echo "$(date +%s) $line"; done'
    execution = alone(
        ["sh", "-c", script], stdin={"client": [(5, "five\n"), (70, "seventy\n"), (71, "")]}
    )
    assert output(execution) == "1893456005 five\n1893456070 seventy\n"
    assert execution.worlds[0]["virtual_s"] == 71


def test_a_capture_has_the_secrets_that_programs_write(tmp_path: Path) -> None:
    with_them, without = tmp_path / "with.pcapng", tmp_path / "without.pcapng"
    for client, capture in [(f"{CLIENT} -keylogfile {{keylog}}", with_them), (CLIENT, without)]:
        slowhand.exec("csma", client=client, server=SERVER, count=1, again=0, capture=capture)
    finished = "dtls.handshake.type == 20"  # RFC 5246 section 7.4: it is encrypted
    assert _fields(with_them, finished, "frame.number")
    assert not _fields(without, finished, "frame.number")


def test_what_was_lost_is_not_on_its_way() -> None:
    sent: list[dict[str, Any]] = [
        {"sent_s": 1.0, "arrived_s": 2.0},
        {"sent_s": 3.0, "arrived_s": 5.0},
        {"sent_s": 4.0, "arrived_s": None},
        {"sent_s": 4.5, "arrived_s": 4.75},
    ]
    assert silence(sent, 0.5, 6.0) == 0.5 + 1.0 + 1.0


def test_a_world_that_fails_when_it_runs_again_is_told() -> None:
    scenario = placed(slowhand.Scenario("lossy-line"), client="true")
    execution = Execution(scenario, Limits(), count=1, seed=1, again=1)
    execution.add(-1, Failure(1, "why"))
    assert execution.failures == [Failure(1, "why")]
    assert execution.summary()["completed"] == 0 and execution.reproducible is None


def test_command_line(cli: Cli, tmp_path: Path) -> None:
    given = ["exec", "lossy-line", "--client", CLIENT, "--server", SERVER, "--count", 2]
    done = cli(*given, "--pcap", "air.pcapng", "--records", "rows.parquet").stdout
    assert "2 of 2 handshakes completed" in done
    assert "reproducible: yes; seed 1 ran twice" in done
    assert all(len(line) <= 80 for line in done.splitlines())
    assert (tmp_path / "air.pcapng").stat().st_mode & 0o077 == 0
    assert polars.read_parquet(tmp_path / "rows.parquet")["seed"].to_list() == [1, 2]
    slowest = cli(*given, "--again", 0, "--slowest").stdout
    assert re.search(r"The slowest: seed \d, client 3, [0-9.]+ s", slowest)
    assert re.search(r"0\.000 +client +ClientHello", slowest)
    assert "reproducible: not known" in slowest
    assert all(len(line) <= 80 for line in slowest.splitlines())
    found = json.loads(cli(*given, "--json", "--threads", 1).stdout)
    again = slowhand.exec("lossy-line", client=CLIENT, server=SERVER, count=2, threads=2)
    assert [w["digest"] for w in found["worlds"]] == [w["digest"] for w in again.worlds]
    assert found["reproducible"] is True


def test_a_capture_that_is_cut_leaves_the_old_file(tmp_path: Path) -> None:
    air, begun = tmp_path / "air.pcapng", tmp_path / "begun"
    air.write_text("old")
    endless = f"sh -c 'touch {begun}; while :; do :; done'"
    given = ["exec", "lossy-line", "--client", endless, "--count", "2", "--threads", "1", "--json"]
    process = subprocess.Popen(
        [*COMMAND, *given, "--pcap", air, "--report", tmp_path / "page.html"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not begun.exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stderr.splitlines() == [
        f"slowhand: --pcap {air}: not written: interrupted",
        f"slowhand: --report {tmp_path / 'page.html'}: not written: interrupted",
    ]
    found = json.loads(stdout)
    assert found["interrupted"] and "wireshark" not in found
    assert air.read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"air.pcapng", "begun"}


def test_a_first_world_that_fails_leaves_the_old_capture(cli: Cli, tmp_path: Path) -> None:
    air = tmp_path / "air.pcapng"
    air.write_text("old")
    endless = "sh -c 'while :; do :; done'"
    given = ["exec", "lossy-line", "--client", endless, "--count", 1, "--again", 0, "--cpu", 0.2]
    done = cli(*given, "--pcap", air, code=1)
    reason = "not written: seed 1 was not run to its end"
    assert done.stderr == f"slowhand: --pcap {air}: {reason}\n"
    assert "wireshark" not in done.stdout.lower()
    assert air.read_text() == "old" and [*tmp_path.iterdir()] == [air]


def test_a_full_disk_costs_the_capture_but_not_its_world(tmp_path: Path) -> None:
    air = tmp_path / "air.pcapng"
    air.write_text("old")
    given = ["exec", "programs", "--count", "2", "--again", "0", "--json"]
    done = with_files_of_at_most(10240, *given, "--pcap", air)
    message = f"slowhand: --pcap {air}: cannot be written: File too large\n"
    assert (done.returncode, done.stderr) == (1, message)
    found = json.loads(done.stdout)
    assert found["failures"] == [] and len(found["worlds"]) == 2 and "wireshark" not in found
    assert air.read_text() == "old" and [*tmp_path.iterdir()] == [air]
    with pytest.warns(match="capture: cannot be written: Not a directory"):
        made = slowhand.exec("lossy-line", client="true", count=1, again=0, capture=air / "x")
    assert made.complete == 1


def test_what_is_missing_is_not_the_fault_of_a_file(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    handlers: None,
) -> None:
    def refuse(self: Execution, *arguments: Any, **options: Any) -> None:
        raise Refused("the kernel is too old")

    monkeypatch.setattr(Execution, "watch", refuse)
    given = ["exec", "lossy-line", "--client", "true", "--pcap", str(tmp_path / "air.pcapng")]
    assert command_line.execute(given) == 2
    assert capfd.readouterr() == ("", "slowhand: the kernel is too old\n")


def test_a_worker_whose_pipes_close_ends_silently() -> None:
    worker = [sys.executable, "-P", "-m", "slowhand.executing.worker"]
    run = {**Limits().told(), "explain": None, "threads": 1}
    scenario = placed(slowhand.Scenario("lossy-line"), client="true")
    told = json.dumps({"sources": scenario.sources, "folder": "", "run": run}) + "\n"
    reading, writing = os.pipe()
    os.close(reading)
    for given in ("", told):
        done = subprocess.run(
            worker, input=given, stdout=writing, stderr=subprocess.PIPE, text=True
        )
        assert done.stderr == ""
    os.close(writing)


FILE = """
network = {{ topology = {{ kind = "star", leaves = 2 }} }}
mac = {{ kind = "csma" }}
client = {{ device = "nrf52840" }}
session = {{ stack = "tinydtls", suite = "TLS_PSK_WITH_AES_128_CCM_8" }}

[[programs]]
at = "client"
command = ["sh", "-c", "read line; echo $WHERE $(date +%s) $line"]
stdin = [[2, "seed {{seed}}\\n"]]
environment = {{ WHERE = "node {{node}}" }}
success = {{ exit = 0, output = "seed {seed}" }}

[[programs]]
at = ["NODES"]
command = "sleep 1"
start_s = 0.5
success = {{ exit = 1 }}
"""
"""Clients that see one seed succeed, and programs that never do."""


def test_programs_of_a_scenario(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(FILE.format(seed=1).replace('["NODES"]', "[0, 1]"))
    execution = slowhand.exec(file, count=2)
    assert execution.reproducible and execution.successes == 0
    table = execution.programs().filter(seed=1)
    assert table["program"].to_list() == ["client 1", "client 2", "node 0", "node 1"]
    assert table["success"].to_list() == [True, True, False, False]
    assert table["ended_s"].to_list() == [2, 2, 1.5, 1.5]
    assert table["stdout"][1] == "node 2 1893456002 seed 1\n"
    assert execution.programs().filter(seed=2, program="client 1")["success"].to_list() == [False]
    # Options replace the command at the same place: this one has still no success.
    given = ["exec", file, "--count", 1, "--at", "1=true", "--at", "root=true"]
    other = json.loads(cli(*given, "--set", "programs.1.at=1", "--json", code=1).stdout)
    names = [each["name"] for each in other["programs"]]
    assert names == ["client 1", "client 2", "node 1", "node 0"]
    assert other["successes"] == 0
    assert [each["has_success"] for each in other["programs"]] == [True, True, True, False]
    # A new command of the clients has the input and the environment of the old one.
    new = 'sh -c "read line; echo new $WHERE $line"'
    kept = slowhand.exec(file, client=new, count=1, again=0).programs()
    assert kept["stdout"][1] == "new node 2 seed 1\n" and kept["success"][1]
    failed = cli("exec", file, "--count", 2, code=1).stdout
    assert "success in 0 of 2 worlds" in failed
    assert "client 1 at node 1: exit code 0 in 2; did what it was to do in 1 of 2" in failed
    only = cli("exec", file, "--count", 2, "--set", "programs.1.success=", code=1).stdout
    assert "success in 1 of 2 worlds" in only
    cli("exec", file, "--count", 1, "--set", "programs.1.success=")


def test_the_scenario_that_comes_along_and_its_sweep(cli: Cli, tmp_path: Path) -> None:
    execution = slowhand.exec("programs", count=2)
    assert execution.reproducible and execution.successes == 2
    rows = execution.frame()
    assert rows["success"].to_list() == [True, True] and rows["secure"].all()
    without = slowhand.exec("programs", count=1, client="sleep 1").programs()
    assert without["success"].to_list() == [None, False]
    # Nothing of what `finished` asks for has happened.
    silent = slowhand.exec("programs", count=1, set={"programs.1.command": "sleep 1"})
    assert silent.successes == 0 and not silent.rows()
    key = "programs.1.compute_s"
    given = ["sweep", "programs", "--vary", "programs.1.compute_s=0,0.5"]
    said = cli(*given, "--count", 2, "--out", "rows").stdout
    assert f"{key}=0 (the first)" in " ".join(said.split())
    kept = polars.read_parquet(tmp_path / "rows").sort(key, "seed")
    assert kept["duration_s"].to_list()[:2] == rows["duration_s"].to_list()
    table = slowhand.sweep("programs", {key: [0, 0.5]}, count=2)
    assert table["completed"].to_list() == [2, 2]
    assert table["duration_s_mean"][0] == pytest.approx(rows["duration_s"].mean())
    # A result repeats its programs too, its seeds and its limits.
    cli(
        "exec",
        "programs",
        "--count",
        1,
        "--client",
        "true",
        "--seed",
        7,
        "--duration",
        9,
        "--records",
        "one.parquet",
        code=1,
    )
    again = json.loads(cli("exec", "one.parquet", "--json", code=1).stdout)
    assert [each["argv"][0] for each in again["programs"]] == ["openssl", "true"]
    assert (again["seed"], again["count"], again["limits"]["duration_s"]) == (7, 1, 9)
    other = slowhand.exec(tmp_path / "one.parquet", seed=8, until="established", again=0)
    assert (other.seed, other.count, other.limits) == (8, 1, Limits(9, "established"))
    said = cli("run", "programs", "--count", 1).stderr
    assert "its programs do not run, its libraries do" in said


def test_the_page_has_the_programs_of_the_scenario() -> None:
    (shown,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "exec.md").read_text(), re.S)
    assert (ROOT / "scenarios" / "programs.toml").read_text().endswith(shown)


def test_where_the_time_of_programs_went(cli: Cli, tmp_path: Path) -> None:
    computing = {"client": 0.5, "server": 0.25}
    execution = slowhand.exec("programs", count=1, again=0, compute=computing)
    (row,) = execution.rows()
    explanation = execution.explain()
    assert explanation
    assert sum(part["seconds"] for part in explanation.parts) == pytest.approx(row["duration_s"])
    assert explanation.document["client"] == 3
    programs = [each for each in explanation.parts if each["kind"] == "program"]
    waits = {each["host"]: each["seconds"] for each in programs}
    # Two of the three flights of the client are answers, and all of the server.
    assert waits == pytest.approx({"node 3": 2 * 0.5, "Internet": 3 * 0.25})
    without = slowhand.exec("programs", count=2, again=0)
    slowest = without.slowest()
    assert slowest
    told = without.explain(seed=slowest[0]["seed"])
    assert told and not [part for part in told.parts if part["kind"] == "program"]
    assert {"air", "cells", "internet", "retries"} <= {part["kind"] for part in told.parts}
    given = ["exec", "programs", "--count", 2, "--again", 0, "--explain", "--slowest"]
    said = cli(*given, "--report", "page.html").stdout
    assert f"Seed {slowest[0]['seed']}, client 3: {told.document['duration_s']:.2f} s" in said
    page = (tmp_path / "page.html").read_text()
    titles = re.findall("<h2 id.*?>(.*?)</h2>", page)
    parts = ["Summary", "Programs", "Distributions", "Median handshake", "Worst handshake"]
    assert titles == [*parts, "Scenario", "Assumptions", "Repeat"]
    assert "success in 2 of 2 worlds, as the scenario asks" in page
    assert "slowhand exec programs --seed 1 --count 2" in page
    found = json.loads(cli(*given, "--json").stdout)
    assert found["explanation"]["duration_s"] == told.document["duration_s"]
    nothing = cli("exec", "programs", "--count", 1, "--client", "sleep 1", "--explain", code=1)
    assert "seed 1 has no handshake of DTLS: nothing is explained" in nothing.stderr


def test_a_client_of_yesterday_and_one_of_today(cli: Cli, tmp_path: Path) -> None:
    """They are compared by their rows. A program that has changed gets rows of its own."""
    yesterday, today, script = (tmp_path / name for name in ("a.toml", "b.toml", "client.sh"))
    text = (ROOT / "scenarios" / "programs.toml").read_text()
    yesterday.write_text(text)
    today.write_text(text.replace("openssl s_client", f"sh {script}"))
    other = "-no_ticket -sigalgs ECDSA+SHA256"
    script.write_text(f'exec openssl s_client {other} "$@"')
    out = tmp_path / "out"
    table = slowhand.compare([yesterday, today], count=2, metric="bytes_payload", out=out)
    assert table["completed"].to_list() == [2, 2]
    assert table["difference_mean"][1] < 0
    # A shorter hello is no reason to fail, a client that does not succeed is one.
    given = ["compare", yesterday, today, "--count", 2, "--metric", "bytes_payload"]
    cli(*given, "--fail-if", "0%", "--out", out)
    code = "programs.1.success.exit=0,7"
    worse = cli("sweep", yesterday, "--vary", code, "--count", 2, "--fail-if", "0%", code=1)
    said = "success.exit=7: clearly fewer worlds succeed: 0.0%, and 100.0% of the baseline"
    assert said in " ".join(worse.stdout.split())
    script.write_text(f'exec openssl s_client {other}  "$@"')
    with pytest.raises(slowhand.SweepError, match="has a configuration that this sweep does not"):
        slowhand.compare([yesterday, today], count=2, metric="bytes_payload", out=out)


FIXTURE = """
def test_client(slowhand_exec):
    done = slowhand_exec("programs", count=2)
    assert done.successes == 2
    assert done.frame()["duration_s"].max() < 5


def test_refused(slowhand_exec):
    slowhand_exec("quickstart", client="no-such-program")
"""


def test_the_fixture_of_pytest(tmp_path: Path) -> None:
    """The example of the documentation passes, and two tests that fail say why."""
    page = (ROOT / "docs" / "exec.md").read_text()
    codes = re.findall(r"```python\n(.*?)```", page, re.S)
    (example,) = [code for code in codes if "def test" in code]
    (tmp_path / "test_it.py").write_text(f"{FIXTURE}\n\n{example}")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull]
    kept = tmp_path / "kept"
    done = subprocess.run(
        [*command, "--rootdir", tmp_path, "--basetemp", kept, tmp_path],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert "2 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    section = re.search(r"-+ slowhand exec -+\n(.*?)\n(?=_|=|-)", done.stdout, re.S)
    assert section
    lines = section[1].splitlines()
    assert lines[0].endswith("programs.toml, seeds 1 to 2")
    assert lines[1:3] == [
        "2 of 2 handshakes completed",
        "success in 2 of 2 worlds, as the scenario asks",
    ]
    assert "reproducible: yes; seed 1 ran twice" in lines[-2]
    capture = Path(lines[-1].removeprefix("capture  "))
    assert capture.read_bytes().startswith(b"\x0a\x0d\x0d\x0a")  # pcapng: a section header block
    assert [*kept.rglob("*.pcapng")] == [capture]
    assert "slowhand.executing.programs.ProgramError: client: found no program" in done.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("sweep --vary programs.1.command=none", "programs.1.command=none: client: found no"),
        ("sweep --vary programs.2.start_s=1", "found 2, where the list has 2 entries"),
        ("sweep --vary programs.1.compute_s=-1", "--vary programs.1.compute_s: "),
        ("exec --set programs.1.at=9", "--set programs.1.at: programs[1].at: found 9"),
    ],
)
def test_what_is_said_of_programs_of_a_scenario(cli: Cli, options: str, said: str) -> None:
    command, *words = options.split()
    assert said in the_message(cli(command, "programs", *words, code=2))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "programs: found none, allowed: a program for the client or the server"),
        (["--client", "no-such-program x"], "client: found no program no-such-program"),
        (["--client", "sh 'x"], 'client: found "sh \'x", allowed: a program and its arguments'),
        (["--client", "true", "--compute", "client"], "--compute: found client, allowed:"),
        (["--client", "true", "--compute", "server=1"], "compute: found server, allowed: client"),
        (["--client", "true", "--compute", "client=-1"], "compute client: found -1.0, allowed:"),
        (["--client", "true", "--at", "x=true"], "--at: found x=true, allowed:"),
        (["--client", "true", "--at", "9=true"], "node 9: found 9, allowed: nodes of the"),
        (["--client", "true", "--date", "soon"], "date: found soon, allowed:"),
        (["--client", "true", "--duration", "nan"], "--duration: found nan, allowed:"),
        (["--at", f"{5000 * '9'}=true"], "--at: found 9999"),
        (["--at", "\u0662=true"], "--at: found \u0662=true, allowed:"),
        (["--at", "2=true", "--at", "02=true"], "--at: found 02 twice, allowed:"),
        (["--at", "root=true", "--at", "0=true"], "--at: found 0 twice, allowed:"),
    ],
)
def test_bad_input(cli: Cli, options: list[str], said: str) -> None:
    assert said in the_message(cli("exec", "lossy-line", *options, code=2))
