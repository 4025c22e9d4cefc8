"""What may be chosen: keys, their values, and the configurations of these that are possible."""

from __future__ import annotations

import itertools
import json
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
from slowhand.blame import blaming, moved
from slowhand.keys import Setting
from slowhand.sweeps.dataset import label
from slowhand.sweeps.vary import Axis, Plain, SweepError, Value
from slowhand.terminal import printable

MOST_COMBINATIONS = 20_000
"""The most combinations, possible or not. (Assumed: to check so many takes some seconds.)"""

Settings: TypeAlias = Mapping[str, Plain | None]
"""A value for each key that may be chosen; `None` where the scenario has none."""

Pair: TypeAlias = tuple[str, Plain | None]
"""A key and its value."""


NAME = re.compile(r"[a-z][a-z0-9._-]*$")


class Option(NamedTuple):
    """A value of a key, or values of several keys that belong together."""

    settings: tuple[Pair, ...]
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
    options: Callable[[Fixed], Iterable[Option]]


class Fixed(NamedTuple):
    """What is fixed, for the options of a group."""

    scenario: Scenario
    protocols: tuple[str, ...]
    """Those that the session may have."""

    def plain(self, key: str) -> Plain | None:
        """The value of a key."""
        found = self.scenario.value(key)
        return None if found is None else Value.of(found).plain


def _values(
    *keys: str, values: Iterable[Setting], unset: bool = True
) -> Callable[[Fixed], Iterator[Option]]:
    """The values that the scenario has for some keys, then each value for all of these keys.

    `unset`: also none, if it has none.
    """

    def options(fixed: Fixed) -> Iterator[Option]:
        own = tuple((key, fixed.plain(key)) for key in keys)
        if unset or any(found is not None for _, found in own):
            yield Option(own, ())
        for value in map(Value.of, values):
            option = Option(
                tuple((key, value.plain) for key in keys),
                tuple(f"{key}={_bare(value)}" for key in keys),
            )
            if option.settings != own:
                yield option

    return options


def _bare(value: Value) -> str:
    """A value as it is typed: a name without quotes."""
    return value.plain if isinstance(value.plain, str) and NAME.match(value.plain) else value.text


def _stacks(fixed: Fixed) -> Iterator[Option]:
    own = fixed.scenario.value("session.stack")
    server = fixed.scenario.value("session.server_stack") or own
    able = [each["name"] for each in stacks() if {*each["protocols"]} & {*fixed.protocols}]
    for name in [own, *(name for name in able if name != own)]:
        # The server is what it is: only the client's library is chosen.
        overrides = f"session.stack={name}", f"session.server_stack={server}"
        yield Option((("session.stack", name),), overrides)


TIMERS = (1, 2, 3, 4, 6, 9, 12, 15, 20, 30)
"""First timeouts in seconds, from that of RFC 6347 to half of the longest that it has. Those of all
libraries that are built in are among them."""

TCP_TIMERS = (1, 3, 6, 9, 15)
"""The same of TCP: 1 s is that of RFC 6298, 3 s that of RFC 2988 before it."""

PROTOCOLS = ("dtls1.2", "dtls1.3", "tls1.2", "tls1.3")
CREDENTIALS = ("psk", "raw_public_key", "certificate")

SUITES = {
    "psk": "TLS_PSK_WITH_AES_128_CCM_8",
    "raw_public_key": "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
    "certificate": "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
}
"""The suite that goes with a credential in version 1.2: RFC 7925 sections 4.2 to 4.4."""

SUITE_13 = "TLS_AES_128_CCM_8_SHA256"
"""The suite of version 1.3: as short on the air as those."""

FOLLOWED = ("session.protocol", "session.credential")
"""If one of these keys is chosen, the suite follows, unless it is chosen too."""

ONLY_DATAGRAMS = {
    *("session.timeout_s", "session.max_timeout_s", "session.server_timeout_s"),
    *("session.timeout_floor_s", "session.mtu", "session.datagram_packing", "session.cookie"),
    *("session.connection_id", "session.lean"),
}
"""Keys without effect on TLS over TCP. Those of `transport` have none on DTLS."""

GROUPS = {
    "timers": Group(
        "the first timeout of the sessions (session.timeout_s)",
        _values("session.timeout_s", values=TIMERS, unset=False),
    ),
    "mtu": Group(
        # 78: one frame of TSCH (docs/stacks.md). 96: what tinyDTLS needs. 208: what OpenSSL needs.
        "the largest datagram (session.mtu)",
        _values("session.mtu", values=(78, 96, 208, 256, 384, 512)),
    ),
    "fragments": Group(
        "the maximum fragment length (session.max_fragment_length)",
        _values("session.max_fragment_length", values=(512, 1024)),
    ),
    "stack": Group("the client's library (session.stack)", _stacks),
    "recovery": Group(
        "who repeats 6LoWPAN fragments (lowpan.reassembly)",
        _values("lowpan.reassembly", values=("per-hop", "forwarding", "recovery")),
    ),
    "resumption": Group(
        "how an earlier session is resumed (session.resumption)",
        _values("session.resumption", values=("id", "ticket")),
    ),
    "protocol": Group(
        "DTLS or TLS, and its version (session.protocol; the suite follows)",
        _values("session.protocol", values=PROTOCOLS, unset=False),
    ),
    "credential": Group(
        "with what the ends authenticate themselves (session.credential; the suite follows)",
        _values("session.credential", values=CREDENTIALS, unset=False),
    ),
    "gateway": Group(
        "if the border router helps (gateway.suppress_spurious_flights and tcp_proxy)",
        _values("gateway.suppress_spurious_flights", "gateway.tcp_proxy", values=(False, True)),
    ),
    "cells": Group(
        "the cells of each link of TSCH (mac.cells.up and down)",
        _values("mac.cells.up", "mac.cells.down", values=(1, 2, 3)),
    ),
    "tcp_timers": Group(
        "the first timeout of TCP (transport.client.initial_rto_s and server)",
        _values(
            "transport.client.initial_rto_s", "transport.server.initial_rto_s", values=TCP_TIMERS
        ),
    ),
    "segments": Group(
        "the longest segments of TCP (transport.client.mss and server)",
        _values("transport.client.mss", "transport.server.mss", values=(128, 256, 512, 1024)),
    ),
}
"""Names for what is often chosen, and the values that are tried."""

USUAL = ("timers", "mtu", "stack", "recovery")
"""What may be chosen, if not given: what the firmware of the nodes decides. (Without "fragments":
three times as many configurations would have too few worlds each in the usual budget.)"""

USUAL_TLS = ("tcp_timers", "segments", "stack", "recovery")
"""The same for TLS over TCP."""


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

    settings: Settings
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
            names = Choice(tuple(GROUPS[name].options(Fixed(scenario, ()))), typed=False).keys
        else:
            lookup.check_known("--fix", name)
            names = (name,)
        overrides += [text] if equals else []
        for key in names:
            if key in fixed:
                raise AdviceError(f"--fix {printable(name)}: found twice, allowed: once")
            fixed[key] = name
    with blaming({key: f"--fix {key}" for key in fixed}):
        return scenario.with_(overrides), fixed


def _choices(scenario: Scenario, choose: list[str], fixed: Mapping[str, str]) -> Iterator[Choice]:
    seen: set[str] = set()
    protocols = _protocols(scenario, choose)
    usual = USUAL_TLS if all(map(_is_stream, protocols)) else USUAL
    for text in choose or usual:
        choice = _choice(Fixed(scenario, protocols), text)
        name = printable(text.partition("=")[0])
        if choose and all(_has_no_effect(protocol, choice.keys) for protocol in protocols):
            raise AdviceError(f"--choose {name}: has no effect on {' and '.join(protocols)}")
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


def _protocols(scenario: Scenario, choose: Iterable[str]) -> tuple[str, ...]:
    """The protocols that may be chosen."""
    if any(text.partition("=")[0] in ("protocol", "session.protocol") for text in choose):
        return PROTOCOLS
    return (scenario.value("session.protocol") or PROTOCOLS[0],)


def _is_stream(protocol: str) -> bool:
    return protocol.startswith("tls")


def _choice(fixed: Fixed, text: str) -> Choice:
    """A group by its name, or `KEY=VALUES`."""
    if "=" not in text:
        if text not in GROUPS:
            allowed = f"{', '.join(GROUPS)}, or KEY=VALUES such as session.timeout_s=1:16:*2"
            raise AdviceError(f"--choose: found '{printable(text)}', allowed: {allowed}")
        return Choice(tuple(GROUPS[text].options(fixed)), typed=False)
    try:
        axis = Axis.read(text, option="--choose")
    except SweepError as error:
        raise AdviceError(str(error)) from error
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
    typed = [option for choice in found.choices if choice.typed for option in choice.options]
    wrong: dict[Option, ScenarioError | None] = dict.fromkeys(typed)
    first: ScenarioError | None = None
    for options in itertools.product(*(choice.options for choice in found.choices)):
        settings = dict(setting for option in options for setting in option.settings)
        if not _has_effect(found, options, settings):
            continue
        overrides = tuple(text for option in options for text in option.overrides)
        overrides += tuple(_following(found.scenario, settings))
        try:
            scenario = found.scenario.with_(overrides)
            _native.Run(scenario.native, 0, 1, 1, False).cancel()
        except ScenarioError as error:
            first = first or error
            found.refused[_reason(error)] += 1
            for option in options:
                if option in wrong:
                    wrong[option] = wrong[option] or _blamed(error, option)
            continue
        for option in options:
            wrong.pop(option, None)
        found.configurations.append(Configuration(settings, overrides, scenario))
    never = next(filter(None, wrong.values()), None if found.configurations else first)
    if never is not None:
        raise never


def _has_effect(found: Space, options: Iterable[Option], settings: Settings) -> bool:
    """False if the same session comes from other options: DTLS does not read the keys of TCP.

    Of several values without effect only the first one is left.
    """
    protocol = settings.get("session.protocol") or found.scenario.value("session.protocol")
    return not any(
        option != choice.options[0] and _has_no_effect(str(protocol or PROTOCOLS[0]), choice.keys)
        for choice, option in zip(found.choices, options, strict=True)
    )


def _has_no_effect(protocol: str, keys: Iterable[str]) -> bool:
    if _is_stream(protocol):
        return all(key in ONLY_DATAGRAMS for key in keys)
    return all(key.startswith("transport.") for key in keys)


def _following(scenario: Scenario, settings: Settings) -> Iterator[str]:
    """The suite and who authenticates, which follow from a protocol or credential."""
    if "session.suite" in settings or not settings.keys() & {*FOLLOWED}:
        return
    end = json.loads(scenario.native.settings())["client"]
    protocol = settings.get("session.protocol") or end["protocol"]
    credential = str(settings.get("session.credential") or end["credential"])
    if "session.credential" not in settings:
        yield f"session.credential={credential}"
    suite = SUITE_13 if str(protocol).endswith("1.3") else SUITES.get(credential, end["suite"])
    yield f"session.suite={suite}"
    mutual = "server" if end["auth"] == "server" else "mutual"
    yield f"session.auth={'psk' if credential == 'psk' else mutual}"


def _blamed(error: ScenarioError, option: Option) -> ScenarioError:
    """An error about a value that was chosen, not set."""
    typed = option.overrides[0]
    key = typed.partition("=")[0]
    if error.override == key:
        return moved(error, f"--choose {printable(key)}")
    place = f"--choose {printable(typed)}"
    return moved(error, f"{place}: {error.place}" if error.place else place)


def _reason(error: ScenarioError) -> str:
    """Why a combination is not possible: a key, what was found, what is allowed."""
    return ": ".join(filter(None, (error.key, error.reason)))
