"""What may be chosen: keys, their values, and the configurations of these that are possible."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from slowhand import _native
from slowhand._native import ScenarioError
from slowhand.advice import lookup
from slowhand.advice.lookup import AdviceError
from slowhand.api import Scenario, stacks
from slowhand.keys import Setting as Given
from slowhand.sweeps.dataset import label
from slowhand.sweeps.vary import Axis, Plain, SweepError, Value
from slowhand.terminal import printable

MOST_COMBINATIONS = 20_000
"""The most combinations, possible or not. (Assumed: to check so many takes some seconds.)"""

Setting: TypeAlias = tuple[str, Plain | None]
"""A key and its value; `None` where the scenario has none."""


PLACE = re.compile(r"--set |[^:]+:\d+: ")
"""Where a value stands, before the key in a message: in an override, or in a line of a file."""


class Option(NamedTuple):
    """A value of a key, or values of several keys that belong together."""

    settings: tuple[Setting, ...]
    overrides: tuple[str, ...]


class Choice(NamedTuple):
    """What may be chosen together: the options, one of which is taken."""

    options: tuple[Option, ...]
    typed: bool
    """True if the user has typed the values."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that it decides on."""
        return tuple(key for key, _ in self.options[0].settings)


class Group(NamedTuple):
    """Keys that may be chosen by one name."""

    about: str
    options: Callable[[Scenario], Iterable[Option]]


def _values(
    key: str, values: Iterable[Given], *, unset: bool = True
) -> Callable[[Scenario], Iterator[Option]]:
    """The value that the scenario has, and others. `unset`: also none, if it has none."""

    def options(scenario: Scenario) -> Iterator[Option]:
        own = lookup.value(scenario, key)
        found = Value.of(own).plain if own is not None else None
        if unset or found is not None:
            yield Option(((key, found),), ())
        for value in map(Value.of, values):
            if value.plain != found:
                yield Option(((key, value.plain),), (f"{key}={value.text}",))

    return options


def _stacks(scenario: Scenario) -> Iterator[Option]:
    own = lookup.value(scenario, "session.stack")
    server = lookup.value(scenario, "session.server_stack") or own
    protocol = lookup.value(scenario, "session.protocol") or "dtls1.2"
    able = [stack["name"] for stack in stacks() if protocol in stack["protocols"]]
    for name in [own, *(name for name in able if name != own)]:
        # The server is what it is: only the client's library is chosen.
        overrides = f"session.stack={name}", f"session.server_stack={server}"
        yield Option((("session.stack", name),), overrides)


def _cells(scenario: Scenario) -> Iterator[Option]:
    up, down = "mac.cells.up", "mac.cells.down"
    yield Option(tuple((key, _number(lookup.value(scenario, key))) for key in (up, down)), ())
    for cells in (1, 2, 3):
        both = (up, float(cells)), (down, float(cells))
        yield Option(both, (f"{up}={cells}", f"{down}={cells}"))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


TIMERS = (1, 2, 3, 4, 6, 9, 12, 15, 20, 30)
"""First timeouts in seconds, from that of RFC 6347 to half of the longest that it has. Those of all
libraries that are built in are among them."""

GROUPS = {
    "timers": Group(
        "the first timeout of the sessions (session.timeout_s)",
        _values("session.timeout_s", TIMERS, unset=False),
    ),
    "mtu": Group(
        # 78: one frame of TSCH (docs/stacks.md). 96: what tinyDTLS needs. 208: what OpenSSL needs.
        "the largest datagram (session.mtu)",
        _values("session.mtu", (78, 96, 208, 256, 384, 512)),
    ),
    "fragments": Group(
        "the maximum fragment length (session.max_fragment_length)",
        _values("session.max_fragment_length", (512, 1024)),
    ),
    "stack": Group("the client's library (session.stack)", _stacks),
    "recovery": Group(
        "who repeats 6LoWPAN fragments (lowpan.reassembly)",
        _values("lowpan.reassembly", ("per-hop", "forwarding", "recovery")),
    ),
    "resumption": Group(
        "how an earlier session is resumed (session.resumption)",
        _values("session.resumption", ("id", "ticket")),
    ),
    "gateway": Group(
        "what the border router holds back (gateway.suppress_spurious_flights)",
        _values("gateway.suppress_spurious_flights", (False, True)),
    ),
    "cells": Group("the cells of each link of TSCH (mac.cells.up and down)", _cells),
}
"""Names for what is often chosen, and the values that are tried."""

USUAL = ("timers", "mtu", "fragments", "stack", "recovery")
"""What may be chosen, if not given: what the firmware of the nodes decides."""


@dataclass
class Space:
    """The configurations that are possible, and why others are not."""

    scenario: Scenario
    """With all that is fixed."""
    choices: tuple[Choice, ...]
    configurations: list[Configuration] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    """How many combinations are not possible, by the reason."""

    @property
    def keys(self) -> list[str]:
        """All keys that may be chosen."""
        return [key for choice in self.choices for key in choice.keys]

    @property
    def combinations(self) -> int:
        """How many there are, those that are not possible included."""
        return len(self.configurations) + self.refused.total()


@dataclass(frozen=True)
class Configuration:
    """A combination of options that is possible."""

    settings: Mapping[str, Plain | None]
    overrides: tuple[str, ...]
    scenario: Scenario

    @property
    def label(self) -> str:
        """What was chosen, as on the command line."""
        return label({key: value for key, value in self.settings.items() if value is not None})


def space(scenario: Scenario, choose: Iterable[str], fix: Iterable[str]) -> Space:
    """What may be chosen, and what not, as on the command line."""
    base, fixed = _fixed(scenario, fix)
    choices = tuple(_choices(base, list(choose), fixed))
    found = Space(base, choices)
    if not choices:
        allowed = f"{', '.join(GROUPS)}, or KEY=VALUES"
        raise AdviceError(f"--choose: found nothing that is not fixed, allowed: {allowed}")
    _combine(found)
    return found


def _fixed(scenario: Scenario, fix: Iterable[str]) -> tuple[Scenario, dict[str, str]]:
    """The scenario with what is fixed, and the name by which each key was."""
    fixed: dict[str, str] = {}
    overrides = []
    for text in fix:
        name, equals, _ = text.partition("=")
        if not equals and name in GROUPS:
            names = Choice(tuple(GROUPS[name].options(scenario)), typed=False).keys
        else:
            lookup.check_known("--fix", name)
            names = (name,)
        overrides += [text] if equals else []
        for key in names:
            if key in fixed:
                raise AdviceError(f"--fix {printable(name)}: found twice, allowed: once")
            fixed[key] = name
    with lookup.blaming({key: f"--fix {key}" for key in fixed}):
        return scenario.with_(overrides), fixed


def _choices(scenario: Scenario, choose: list[str], fixed: Mapping[str, str]) -> Iterator[Choice]:
    seen: set[str] = set()
    for text in choose or USUAL:
        choice = _choice(scenario, text)
        name = printable(text.partition("=")[0])
        clash = next((fixed[key] for key in choice.keys if key in fixed), None)
        if clash and not choose:
            continue
        if clash:
            found = f"--choose {name} and --fix {clash}"
            raise AdviceError(f"{found}: found both, allowed: one of them")
        for key in choice.keys:
            if key in seen:
                raise AdviceError(f"--choose {name}: found {key} twice, allowed: once")
            seen.add(key)
        yield choice


def _choice(scenario: Scenario, text: str) -> Choice:
    """A group by its name, or `KEY=VALUES`."""
    if "=" not in text:
        if text not in GROUPS:
            allowed = f"{', '.join(GROUPS)}, or KEY=VALUES such as session.timeout_s=1:16:*2"
            raise AdviceError(f"--choose: found '{printable(text)}', allowed: {allowed}")
        return Choice(tuple(GROUPS[text].options(scenario)), typed=False)
    try:
        axis = Axis.read(text)
    except SweepError as error:
        raise AdviceError(str(error).replace("--vary", "--choose", 1)) from error
    lookup.check_known("--choose", axis.key)
    options = (
        Option(((axis.key, plain),), (f"{axis.key}={value.text}",))
        for value, plain in zip(axis.values, axis.columns(), strict=True)
    )
    return Choice(tuple(options), typed=True)


def _combine(found: Space) -> None:
    """Finds out which combinations are possible."""
    total = 1
    for choice in found.choices:
        total *= len(choice.options)
    if total > MOST_COMBINATIONS:
        allowed = f"at most {MOST_COMBINATIONS:,}; --fix KEY leaves a key as it is"
        raise AdviceError(f"--choose: found {total:,} combinations, allowed: {allowed}")
    # Typed values with which no combination is possible, and why not.
    wrong = {option: "" for choice in found.choices if choice.typed for option in choice.options}
    first = ""
    for options in itertools.product(*(choice.options for choice in found.choices)):
        overrides = tuple(text for option in options for text in option.overrides)
        try:
            scenario = found.scenario.with_(overrides)
            _native.Run(scenario.native, 0, 1, 1, False).cancel()
        except ScenarioError as error:
            message = str(error)
            first = first or message
            found.refused[_reason(message)] += 1
            for option in options:
                if option in wrong:
                    wrong[option] = wrong[option] or _blamed(message, option)
            continue
        for option in options:
            wrong.pop(option, None)
        settings = dict(setting for option in options for setting in option.settings)
        found.configurations.append(Configuration(settings, overrides, scenario))
    if never := next((message for message in wrong.values() if message), ""):
        raise ScenarioError(never)
    if not found.configurations:
        raise ScenarioError(first)


def _blamed(message: str, option: Option) -> str:
    """A message about a value that was chosen, not set."""
    typed = option.overrides[0]
    key = typed.partition("=")[0]
    if message.startswith(f"--set {key}: "):
        return message.replace("--set", "--choose", 1)
    return f"--choose {printable(typed)}: {message}"


def _reason(message: str) -> str:
    """Why a combination is not possible: a key, what was found, what is allowed."""
    return PLACE.sub("", message, count=1)
