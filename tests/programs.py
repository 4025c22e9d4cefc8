"""Programs of others, which a test starts, feeds and reads while they run.

Nothing here sleeps and hopes: a program that is waited for has so many seconds, and a test that
waits in vain fails with all that its programs have said.
"""

import atexit
import contextlib
import os
import random
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

import pytest

T = TypeVar("T")

# More than any of the tests takes on a slow computer that has other work.
PATIENCE_S = 120

Protocol = Literal["udp", "tcp"]

# In /proc/net: the state of a TCP socket that listens, and of a UDP socket without a peer.
LISTENS = {"tcp": "0A", "udp": "07"}


class Program:
    """A process whose output is read as it comes, stdout and stderr together."""

    def __init__(self, *command: str | Path | int, folder: Path | None = None) -> None:
        self.command = [str(part) for part in command]
        self.said = b""
        self._news = threading.Condition()
        self.process = subprocess.Popen(
            self.command,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        while octets := os.read(self.process.stdout.fileno(), 65_536):
            with self._news:
                self.said += octets
                self._news.notify_all()
        with self._news:
            self._news.notify_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()
        if error is not None:
            error.add_note(str(self))

    def __str__(self) -> str:
        said = self.said.decode(errors="replace").replace("\r", "")
        state = self.process.poll()
        state_text = "runs" if state is None else f"ended with {state}"
        return f"$ {' '.join(self.command)}\n{said}\n[{state_text}]"

    def write(self, octets: bytes) -> None:
        """Types this."""
        assert self.process.stdin
        self.process.stdin.write(octets)
        self.process.stdin.flush()

    def expect(self, *wanted: bytes) -> bytes:
        """Waits until the program has said all of this; what it has said until then."""
        until = time.monotonic() + PATIENCE_S
        with self._news:
            while missing := [octets for octets in wanted if octets not in self.said]:
                ended = not self._reader.is_alive()
                if ended or not self._news.wait(until - time.monotonic()):
                    why = "ended" if ended else f"had {PATIENCE_S} s"
                    raise AssertionError(f"it {why}, but has not said {missing[0][:200]!r}")
            return self.said

    def listens(self, protocol: Protocol, port: int) -> None:
        """Waits until the program has a socket on this port."""
        until = time.monotonic() + PATIENCE_S
        while not _is_open(protocol, port):
            assert self.process.poll() is None, f"it ended before {protocol} {port} was open"
            assert time.monotonic() < until, f"{protocol} {port} is not open after {PATIENCE_S} s"
            time.sleep(0.01)

    def end(self, code: int = 0) -> bytes:
        """Closes its input, and waits until it ends by itself; all that it has said."""
        assert self.process.stdin
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            assert self.process.wait(PATIENCE_S) == code, "it failed"
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it has not ended within {PATIENCE_S} s") from None
        self._reader.join(PATIENCE_S)
        return self.said

    def kill(self) -> None:
        """Ends it, whatever it does."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


def _is_open(protocol: Protocol, port: int) -> bool:
    for table in (protocol, f"{protocol}6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            _, local, _, state, *_ = line.split()
            if int(local.rpartition(":")[2], 16) == port and state == LISTENS[protocol]:
                return True
    return False


def free_port(count: int = 1) -> int:
    """The first of so many consecutive ports of this computer that are free for UDP and for TCP.

    No other test gets them while this process lives. They are below 32768, where Linux begins to
    choose ports for clients (ip_local_port_range): one of those might go to a client before the
    server takes it.
    """
    while True:
        first = RANDOM.randrange(10_000, 32_000)
        with contextlib.ExitStack() as claims:
            if all(_is_free(port, claims) for port in range(first, first + count)):
                CLAIMS.enter_context(claims.pop_all())
                return first


RANDOM = random.SystemRandom()  # other tests choose at the same time
CLAIMS = contextlib.ExitStack()
atexit.register(CLAIMS.close)


def _is_free(port: int, claims: contextlib.ExitStack) -> bool:
    """Claims the port among the tests of all processes, and says if nothing else has it.

    A claim is a socket with a name in Linux's abstract namespace (unix(7)): a name is bound once.
    """
    claim = claims.enter_context(socket.socket(socket.AF_UNIX))
    try:
        claim.bind(f"\0slowhand test port {port}")
        for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
            with socket.socket(socket.AF_INET, kind) as probe:
                probe.bind(("", port))
    except OSError:
        return False
    return True


@contextlib.contextmanager
def at_once(
    request: pytest.FixtureRequest, parameter: str, start: Callable[[Any, Path], T]
) -> Iterator[dict[Any, Future[T]]]:
    """The result of `start` for each value of a parameter that the chosen tests of a module have.

    It gets a folder of its own. All run at the same time: they mostly wait.
    """
    folders: pytest.TempPathFactory = request.getfixturevalue("tmp_path_factory")
    chosen = {
        item.callspec.params[parameter]
        for item in request.session.items
        if isinstance(item, pytest.Function)
        and item.module is request.module
        and parameter in item.callspec.params
    }
    with ThreadPoolExecutor(max(len(chosen), 1)) as threads:
        yield {value: threads.submit(start, value, folders.mktemp("work")) for value in chosen}


def lines(count: int, octets: int, name: str) -> list[bytes]:
    """Lines of so many octets each, that all differ."""
    return [f"{name} {number} ".encode().ljust(octets - 1, b".") + b"\n" for number in range(count)]


def run(*command: str | Path, folder: Path) -> None:
    """Runs a program to its end."""
    texts = [str(part) for part in command]
    done = subprocess.run(texts, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, f"{texts}: {done.stdout}{done.stderr}"


def make_certificates(folder: Path) -> None:
    """An authority (`ca.pem`), and what it gives `server` (for 127.0.0.1) and `client`."""
    new = ["openssl", "req", "-x509", "-days", "30", "-nodes"]
    new += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    run(*new, "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem", folder=folder)
    issue = [*new, "-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "basicConstraints=CA:FALSE"]
    for name in ("server", "client"):
        files = ("-keyout", f"{name}.key", "-out", f"{name}.pem")
        names = ("-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1")
        run(*issue, *names, *files, folder=folder)


def self_signed(folder: Path) -> tuple[Path, Path]:
    """A key (`key.pem`), and the certificate of `server` with it (`certificate.pem`)."""
    new = ["openssl", "req", "-x509", "-days", "7000", "-nodes"]
    new += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    names = ("-subj", "/CN=server", "-addext", "subjectAltName=DNS:server")
    run(*new, *names, "-keyout", "key.pem", "-out", "certificate.pem", folder=folder)
    return folder / "key.pem", folder / "certificate.pem"
