"""Which programs run where, and for how long: those of the scenario, and what options add."""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from slowhand import _native
from slowhand._native import ScenarioError
from slowhand.api import Scenario
from slowhand.terminal import printable

Command = str | Sequence[str]
"""A command: a text whose words are quoted as in a shell, or its words."""

UNTIL = ("end", "established")
"""What ends a world."""

EPOCH = datetime.date(1970, 1, 1)

BLAMED = re.compile(r"programs\[(\d+)\]\.?(\w*)")
"""The entry, and its key, that an error is about."""


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

    def options(self) -> list[str]:
        """What differs from the defaults, as options of `slowhand exec`, in words for a shell."""
        own, usual = vars(self), vars(Limits())
        changed = [name for name in own if own[name] != usual[name]]
        return [f"--{name.removesuffix('_s')} {shlex.quote(f'{own[name]}')}" for name in changed]

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


def placed(
    scenario: Scenario,
    *,
    client: Command | None = None,
    server: Command | None = None,
    at: Mapping[int | str, Command] | None = None,
    compute: Mapping[str, float] | None = None,
    stdin: Mapping[str, Sequence[tuple[float, str]]] | None = None,
) -> Scenario:
    """The scenario with these programs, in place of those that it has at the same places.

    `compute` and `stdin` are about the programs of a place: `client`, `server`, `node 2`. Raises
    `ProgramError`.
    """
    commands: dict[int | str, Command] = {} if server is None else {"server": server}
    commands |= {_place(place): command for place, command in (at or {}).items()}
    if client is not None:
        commands["client"] = client
    own = scenario.value("programs") or []
    entries = [dict(each) for each in own if _place(each["at"]) not in [*commands]]
    entries += [{"at": place, "command": command} for place, command in commands.items()]
    options: list[dict[str, str]] = [{} for _ in entries]
    for key, option, given in (("compute_s", "compute", compute), ("stdin", "stdin", stdin)):
        for name, value in (given or {}).items():
            place = _place(name.removeprefix("node "))
            found = [number for number, each in enumerate(entries) if _place(each["at"]) == place]
            if not found:
                allowed = ", ".join(dict.fromkeys(_name(each["at"]) for each in entries))
                raise ProgramError(f"{option}: found {printable(name)}, allowed: {allowed}")
            for number in found:
                entries[number][key] = value
                options[number][key] = f"{option} {name}"
    if entries == own:
        return scenario
    try:
        return scenario.with_({"programs": entries})
    except ScenarioError as error:
        blamed = BLAMED.match(error.key or "")
        if blamed is None:
            raise
        number, key = int(blamed[1]), blamed[2]
        option = options[number].get(key, _name(entries[number]["at"]))
        raise ProgramError(f"{printable(option)}: {error.reason}") from None


def _place(at: Any) -> Any:
    """A place of a program, in one form: a node is its number."""
    if isinstance(at, list) and len(at) == 1:
        (at,) = at
    if at == "root":
        return 0
    return int(at) if isinstance(at, str) and at.isdecimal() else at


def _name(at: Any) -> str:
    """A place as options and results name it."""
    place = _place(at)
    if isinstance(place, list):
        return f"nodes {', '.join(map(str, place))}"
    return f"node {place}" if isinstance(place, int) else str(place)


def programs(scenario: Scenario) -> list[dict[str, Any]]:
    """The programs of a scenario, each at its host. Raises `ProgramError`."""
    told: list[dict[str, Any]] = json.loads(_native.exec_programs(scenario.native))
    if not told:
        allowed = "a program for the client or the server, or [[programs]] in the scenario"
        raise ProgramError(f"programs: found none, allowed: {allowed}")
    for each in told:
        program, path = each["argv"][0], each["environment"].get("PATH")
        if shutil.which(program, path=path) is None:
            allowed = "a program of PATH, or the path of one (a shell's commands: sh -c '...')"
            found = f"found no program {printable(program)}"
            raise ProgramError(f"{each['name']}: {found}, allowed: {allowed}")
    return told


def fingerprint(scenario: Scenario) -> list[str]:
    """The digests of the files that its commands name: of programs, scripts and certificates.

    With other files the results are others. What a program loads by itself is not known.
    """
    told: list[dict[str, Any]] = json.loads(_native.exec_programs(scenario.native))
    files = set()
    for each in told:
        program, *words = each["argv"]
        found = shutil.which(program, path=each["environment"].get("PATH"))
        files |= {found} if found else set()
        files |= {word for word in words if "\0" not in word and Path(word).is_file()}
    return [f"{file} {_digest(file, Path(file).stat().st_mtime_ns)}" for file in sorted(files)]


@cache
def _digest(path: str, _changed_ns: int) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
