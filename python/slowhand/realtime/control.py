"""The control socket of a network that runs: where it is, and how it is asked.

One JSON object a line goes each way over a Unix socket. Only its user reaches it: the folder has
mode 0700, and is refused if it has another, or another owner.
"""

from __future__ import annotations

import json
import os
import socket
import stat
from pathlib import Path
from typing import Any

from slowhand.arguments import Complaint
from slowhand.terminal import printable

LONGEST_PATH = 107
"""The most octets of the path of a Unix socket on Linux (unix(7): 108 with a NUL)."""

PATIENCE_S = 10.0
"""The time that an answer may take. Assumed: the network answers between two of its events."""

LONGEST_ANSWER = 2**24
"""The most octets of an answer. Assumed: a snapshot has some hundred octets for each node."""

LONGEST_ERROR = 400
"""The most characters of the network's words that are shown."""


class ControlError(Complaint):
    """A network that cannot be asked, or refuses. The message says why."""


def folder() -> Path:
    """The folder of this user's control sockets."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/"):
        return Path(runtime) / "slowhand"
    return Path(f"/tmp/slowhand-{os.getuid()}")


def prepare(path: str | None) -> Path:
    """The path for the socket of this process, whose folder is made and checked.

    What a process that was killed has left there is removed.
    """
    if path is None:
        chosen = folder() / f"live-{os.getpid()}.sock"
        try:
            chosen.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            reason = f"cannot be made: {error.strerror}; name another path with --control"
            raise _refused(chosen.parent, reason) from None
        _check(chosen.parent)
    else:
        chosen = Path(path)
    if "\0" in str(chosen):
        raise _refused(chosen, "a path has no NUL")
    if len(os.fsencode(chosen)) > LONGEST_PATH:
        raise _refused(chosen, f"found a longer path, allowed: {LONGEST_PATH} octets")
    if os.path.lexists(chosen):
        if not stat.S_ISSOCK(chosen.lstat().st_mode):
            raise _refused(chosen, "found a file, allowed: a path where nothing is")
        if answers(chosen):
            raise _refused(chosen, "another network is there")
        chosen.unlink(missing_ok=True)
    return chosen


def running() -> list[Path]:
    """The sockets of this user's networks that run. What others have left is removed."""
    place = folder()
    if not place.is_dir():
        return []
    _check(place)
    found = []
    for path in sorted(place.glob("live-*.sock")):
        if answers(path):
            found.append(path)
        elif not Path("/proc", process(path)).exists():  # else it may be just starting
            path.unlink(missing_ok=True)
    return found


def find(path: str | None) -> Path:
    """The socket at this path, or the only one that there is."""
    if path is not None:
        return Path(path)
    found = running()
    if not found:
        raise ControlError("no network runs: start one with slowhand live, or name its --control")
    if len(found) > 1:
        networks = "; ".join(_named(path) for path in found)
        raise ControlError(f"--control: found {len(found)} networks, allowed: one of {networks}")
    return found[0]


def _named(path: Path) -> str:
    """A network in a message: its socket, and how it was started."""
    words = started_as(path)
    return printable(str(path)) + (f" ({words})" if words else "")


def started_as(path: Path) -> str:
    """The scenario and the ways in of a network, from the command of its process (proc(5)).

    Empty if it was started otherwise, as by Python, or is somebody else's.
    """
    try:
        octets = Path("/proc", process(path), "cmdline").read_bytes()
    except OSError:
        return ""
    words = os.fsdecode(octets).rstrip("\0").split("\0")
    if "live" not in words:
        return ""
    return printable(" ".join(words[words.index("live") + 1 :]))


def process(path: Path) -> str:
    """The number of the process that has this socket, if it is at its default place."""
    return path.stem.removeprefix("live-")


def ask(path: Path, request: dict[str, Any]) -> dict[str, Any]:
    """Sends a request and returns the answer. Raises `ControlError` if it is an error."""
    expected = "nodes" if {"status", "frames"} & {*request} else "ok"
    try:
        answer = _answer(path, request)
    except TimeoutError:
        raise _refused(path, f"no answer within {PATIENCE_S:.0f} s") from None
    except OSError as error:
        raise _refused(path, f"nothing answers: {error.strerror or error}") from None
    if isinstance(answer, dict) and "error" in answer:
        raise ControlError(printable(str(answer["error"]), LONGEST_ERROR))
    if not isinstance(answer, dict) or expected not in answer:
        raise _refused(path, "found an answer that is none of slowhand live")
    return answer


def _answer(path: Path, request: dict[str, Any]) -> Any:
    """The answer to a request. None: it is not JSON."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE_S)
        connection.connect(os.fspath(path))
        connection.sendall(json.dumps(request).encode() + b"\n")
        octets = bytearray()
        while not octets.endswith(b"\n") and len(octets) <= LONGEST_ANSWER:
            more = connection.recv(2**16)
            if not more:
                break
            octets += more
    try:
        return json.loads(octets)
    except (ValueError, RecursionError):
        return None


def answers(path: Path) -> bool:
    """True if a process listens there."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE_S)
        try:
            connection.connect(os.fspath(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:  # its queue is full, or it belongs to another user
            return True
    return True


def _check(place: Path) -> None:
    """Raises an error if another user could be at this folder."""
    found = place.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise _refused(place, "found a file, allowed: a folder of your own with mode 0700")
    if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        mode = f"owner {found.st_uid} and mode {stat.S_IMODE(found.st_mode):04o}"
        raise _refused(place, f"found {mode}, allowed: owner {os.getuid()} and mode 0700")


def _refused(path: Path, reason: str) -> ControlError:
    return ControlError(f"--control {printable(str(path))}: {reason}")
