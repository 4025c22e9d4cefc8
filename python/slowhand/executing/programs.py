"""Which programs run where, and for how long: what a worker is told."""

from __future__ import annotations

import datetime
import math
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slowhand import _native
from slowhand.api import Scenario
from slowhand.terminal import printable

Command = str | Sequence[str]
"""A command: a text whose words are quoted as in a shell, or its words."""

CLIENT_STARTS_S = 1.0
"""When the clients start, in seconds. Assumed: until then a server listens."""

UNTIL = ("end", "established")
"""What ends a world."""

KEY_LOG = "/proc/self/fd/3"
"""Where a program writes the secrets of its sessions: a descriptor that each has."""

EPOCH = datetime.date(1970, 1, 1)


class ProgramError(ValueError):
    """A program that cannot be run. The message names it, what was found and what is allowed."""


@dataclass(frozen=True)
class Limits:
    """How long a world may take."""

    duration_s: float = 300.0
    """In seconds of the network. Assumed: five retransmissions of DTLS, 1 s to 60 s, take 63 s."""

    until: str = "end"
    date: str | None = None
    wall_s: float = 60.0
    """By the clock. Assumed: a hundred times what a handshake takes."""

    cpu_s: float = 10.0
    """Of the processor between two calls. Assumed: a key of RSA takes less."""

    def told(self) -> dict[str, Any]:
        """The same for a worker. Raises `ProgramError`."""
        for name in ("duration_s", "wall_s", "cpu_s"):
            value = getattr(self, name)
            if not 0 < value < math.inf:
                raise ProgramError(f"{name}: found {value}, allowed: a number of seconds above 0")
        if self.until not in UNTIL:
            allowed = " or ".join(UNTIL)
            raise ProgramError(f"until: found {printable(self.until)}, allowed: {allowed}")
        return {
            "duration_s": self.duration_s,
            "until_established": self.until == "established",
            "wall_s": self.wall_s,
            "cpu_s": self.cpu_s,
            "date_s": self._date_s(),
        }

    def _date_s(self) -> int | None:
        if self.date is None:
            return None
        try:
            day = datetime.date.fromisoformat(self.date)
        except ValueError:
            found = printable(self.date)
            raise ProgramError(f"date: found {found}, allowed: a day as 2026-12-31") from None
        if day < EPOCH:
            raise ProgramError(f"date: found {self.date}, allowed: a day from 1970 on")
        return (day - EPOCH).days * 86_400


def programs(
    scenario: Scenario,
    *,
    client: Command | None,
    server: Command | None,
    at: Mapping[int, Command],
    compute: Mapping[str, float],
    stdin: Mapping[str, Sequence[tuple[float, str]]],
) -> list[dict[str, Any]]:
    """What a worker is told of each program, the server first. Raises `ProgramError`."""
    clients, place, address, port, nodes = _native.exec_hosts(scenario.native)
    told: list[dict[str, Any]] = []

    def add(name: str, node: int | None, command: Command, *, is_client: bool) -> None:
        kind = "client" if is_client else name
        told.append(
            {
                "name": name,
                "kind": kind,
                "node": node,
                "argv": _words(name, command, address, port, node),
                "start_s": CLIENT_STARTS_S if is_client else 0.0,
                "is_client": is_client,
                "compute_s": compute.get(name, compute.get(kind, 0.0)),
                "input": [list(each) for each in stdin.get(name, stdin.get(kind, ()))],
            }
        )

    if server is not None:
        add("server", place, server, is_client=False)
    for node, command in at.items():
        if node not in range(nodes):
            raise ProgramError(f"at: found node {node}, allowed: nodes 0 to {nodes - 1}")
        add(f"node {node}", node, command, is_client=False)
    if client is not None:
        for node in clients:
            name = "client" if len(clients) == 1 else f"client {node}"
            add(name, node, client, is_client=True)
    if not told:
        raise ProgramError("client, server: found none, allowed: at least one program")
    names = {each[key] for each in told for key in ("name", "kind")}
    for given in (compute, stdin):
        for name in given:
            if name not in names:
                allowed = ", ".join(sorted(names))
                raise ProgramError(f"program: found {printable(name)}, allowed: {allowed}")
    for name, seconds in compute.items():
        if not 0 <= seconds < math.inf:
            raise ProgramError(f"compute {name}: found {seconds}, allowed: seconds from 0 on")
    return told


def _words(name: str, command: Command, address: str, port: int, node: int | None) -> list[str]:
    """The words of a command. `{seed}` is put in later."""
    try:
        words = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as error:
        raise ProgramError(f"{name}: {printable(str(command))}: {error}") from None
    if not words or not words[0]:
        raise ProgramError(f"{name}: found an empty command, allowed: a program and its arguments")
    if shutil.which(words[0]) is None:
        allowed = "a program of PATH, or the path of one (a shell's commands: sh -c '...')"
        raise ProgramError(f"{name}: found no program {printable(words[0])}, allowed: {allowed}")
    known = {"{server}": f"[{address}]", "{address}": address, "{port}": str(port)}
    known["{keylog}"] = KEY_LOG
    known["{node}"] = "" if node is None else str(node)
    for key, value in known.items():
        words = [word.replace(key, value) for word in words]
    if "\0" in "".join(words):
        raise ProgramError(f"{name}: found a zero in an argument, allowed: none")
    return [os.fspath(word) for word in words]
