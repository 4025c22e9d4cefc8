"""Which programs run where, and for how long: those of the scenario, and what options add."""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Self, TypeAlias, TypeVar

from slowhand import _native
from slowhand._native import ScenarioError
from slowhand.api import Scenario
from slowhand.arguments import Complaint
from slowhand.terminal import printable

Command = str | Sequence[str]
"""A command: a text whose words are quoted as in a shell, or its words."""

Value = TypeVar("Value")

ByPlace: TypeAlias = Mapping[int, Value] | Mapping[str, Value] | Mapping[int | str, Value]
"""Something for the programs of places."""

COUNT = 20
"""The number of worlds, if not given."""

UNTIL = ("end", "established")
"""The events that end a world."""

EPOCH = datetime.date(1970, 1, 1)

BLAMED = re.compile(r"programs\[(\d+)\]\.?(\w*)")
"""The entry, and its key, that an error is about."""


class ProgramError(Complaint, ValueError):
    """A program that cannot be run. The message names it, what was found and what is allowed."""


@dataclass(frozen=True)
class Limits:
    """The bounds of a world."""

    duration_s: float = 300.0
    """In seconds of the network. Assumed: five retransmissions of DTLS, 1 s to 60 s, take 63 s."""

    until: str = "end"
    date: str | None = None
    wall_s: float = 60.0
    """By the clock. Assumed: a hundred times what a handshake takes."""

    cpu_s: float = 10.0
    """Of the processor between two calls. Assumed: a key of RSA takes less."""

    @classmethod
    def of(cls, scenario: Scenario, **given: Any) -> Self:
        """The limits that are given (not None), else those of the result of the scenario."""
        names = [each.name for each in fields(cls)]
        own = {name: value for name, value in scenario.limits.items() if name in names}
        return cls(**own | {name: value for name, value in given.items() if value is not None})

    def told(self) -> dict[str, Any]:
        """The limits for a worker. Raises `ProgramError`."""
        for name in ("duration_s", "wall_s", "cpu_s"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 < value < math.inf:
                found = printable(str(value))
                raise ProgramError(f"{name}: found {found}, allowed: a number of seconds above 0")
        if self.until not in UNTIL:
            allowed = " or ".join(UNTIL)
            raise ProgramError(f"until: found {printable(str(self.until))}, allowed: {allowed}")
        return {
            "duration_s": self.duration_s,
            "until_established": self.until == "established",
            "wall_s": self.wall_s,
            "cpu_s": self.cpu_s,
            "date_s": self._date_s(),
        }

    def options(self, usual: Limits) -> list[str]:
        """The limits that differ from the usual, as options of `slowhand exec`, for a shell."""
        own, usual_values = vars(self), vars(usual)
        changed = [name for name in own if own[name] != usual_values[name]]
        return [f"--{name.removesuffix('_s')} {shlex.quote(f'{own[name]}')}" for name in changed]

    def _date_s(self) -> int | None:
        if self.date is None:
            return None
        try:
            day = datetime.date.fromisoformat(self.date)
        except (TypeError, ValueError):
            found = printable(str(self.date))
            raise ProgramError(f"date: found {found}, allowed: a day as 2026-12-31") from None
        if day < EPOCH:
            raise ProgramError(f"date: found {self.date}, allowed: a day from 1970 on")
        return (day - EPOCH).days * 86_400


def counted(scenario: Scenario, count: int | None) -> int:
    """The number of worlds: the one that is given, else that of a result."""
    if count is not None:
        return count
    return scenario.count if scenario.is_result else COUNT


def placed(
    scenario: Scenario,
    *,
    client: Command | None = None,
    server: Command | None = None,
    at: Mapping[int | str, Command] | None = None,
    compute: ByPlace[float] | None = None,
    stdin: ByPlace[Sequence[tuple[float, str]]] | None = None,
) -> Scenario:
    """The scenario with these programs, in place of those that it has at the same places.

    If it has one program at a place, only its command is replaced; several are replaced as a whole.
    `compute` and `stdin` are about the programs of a place: `client`, `server`, `node 2`, 2. Raises
    `ProgramError`.
    """
    given_at = [("server", server), *(at or {}).items(), ("client", client)]
    commands: dict[int | str, Command] = {}
    for at_place, command in given_at:
        if command is None:
            continue
        if (place := place_of(at_place)) in commands:
            raise ProgramError(f"at: found {_name(place)} twice, allowed: once")
        commands[place] = command
    own = scenario.value("programs") or []
    entries = _replaced(own, commands)
    options: list[dict[str, str]] = [{} for _ in entries]
    for key, option, given in (("compute_s", "compute", compute), ("stdin", "stdin", stdin)):
        for name, value in (given or {}).items():
            place = place_of(name.removeprefix("node ") if isinstance(name, str) else name)
            found = [number for number, each in enumerate(entries) if place_of(each["at"]) == place]
            if not found:
                allowed = ", ".join(dict.fromkeys(_name(each["at"]) for each in entries))
                raise ProgramError(f"{option}: found {printable(str(name))}, allowed: {allowed}")
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


def _replaced(
    own: list[dict[str, Any]], commands: Mapping[int | str, Command]
) -> list[dict[str, Any]]:
    """The entries of a scenario with these commands in place of its own at the same places."""
    places = [place_of(each["at"]) for each in own]
    entries = [
        dict(each)
        for place, each in zip(places, own, strict=True)
        if place not in [*commands] or places.count(place) == 1
    ]
    for place, command in commands.items():
        single = [each for each in entries if place_of(each["at"]) == place]
        if single:
            single[0]["command"] = command
        else:
            entries.append({"at": place, "command": command})
    return entries


def place_of(at: Any) -> Any:
    """A place of a program, in one form: a node is its number."""
    if isinstance(at, list) and len(at) == 1:
        (at,) = at
    if at == "root":
        return 0
    return int(at) if isinstance(at, str) and is_node(at) else at


def is_node(text: str) -> bool:
    """True for the number of a node, as options have it: a short address has 16 bits."""
    return text.isascii() and text.isdecimal() and len(text) <= 5


def _name(at: Any) -> str:
    """A place as options and results name it."""
    place = place_of(at)
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

    Also within a word, as of `sh -c`, and in variables of the environment.
    With other files the results are others. What a program loads by itself is not known.
    """
    told: list[dict[str, Any]] = json.loads(_native.exec_programs(scenario.native))
    files = set()
    for each in told:
        program, *words = each["argv"]
        found = shutil.which(program, path=each["environment"].get("PATH"))
        files |= {found} if found else set()
        texts = [*words, *each["environment"].values()]
        files |= {part for text in texts for part in _parts(text) if _is_file(part)}
    return [f"{file} {_digest(file, Path(file).stat().st_mtime_ns)}" for file in sorted(files)]


def _parts(text: str) -> Iterator[str]:
    """A word of a command and what is in it: words for a shell, the value of an option."""
    yield text
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = [*lexer]
    except ValueError:  # a quote without its end
        words = text.split()
    if words != [text]:
        for word in words:
            yield from _parts(word)
    elif "=" in text:
        yield from _parts(text.partition("=")[2])


def _is_file(text: str) -> bool:
    """True for the path of a file. A text may be no path: it is too long, or has a zero."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


@cache
def _digest(path: str, _changed_ns: int) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
