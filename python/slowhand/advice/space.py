"""The choices: keys, their values, and the configurations of these that are possible."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from slowhand import _native
from slowhand._native import LONGEST_POLL_MS, ScenarioError
from slowhand.advice import lookup
from slowhand.advice.lookup import AdviceError
from slowhand.api import Scenario
from slowhand.blame import blaming, moved
from slowhand.keys import Setting
from slowhand.lives.alternatives import (
    CONNECTION_ID,
    KEEP_ALIVES,
    OF_KEPT,
    RESUMPTIONS,
    SESSIONS,
)
from slowhand.sweeps.dataset import label
from slowhand.sweeps.following import followings
from slowhand.sweeps.vary import Axis, Plain, SweepError, Value
from slowhand.terminal import printable

MOST_COMBINATIONS = 20_000
"""The most combinations, possible or not. (Assumed: to check so many takes some seconds.)"""

Settings: TypeAlias = Mapping[str, Plain | None]
"""A value for each key that may be chosen; `None` where the scenario has none."""

Pair: TypeAlias = tuple[str, Plain | None]
"""A key and its value."""

Family: TypeAlias = tuple[Pair, ...]
"""The parts of configurations that a product decides between first."""


NAME = re.compile(r"[a-z][a-z0-9._-]*$")


class Option(NamedTuple):
    """A value of a key, or values of several keys that belong together."""

    settings: tuple[Pair, ...]
    overrides: tuple[str, ...]
    removed: tuple[str, ...] = ()
    """Keys that the scenario has and that do not go with it."""


class Choice(NamedTuple):
    """Options that are chosen together: one of them is taken."""

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
    """The fixed parts, for the options of a group."""

    scenario: Scenario
    protocols: tuple[str, ...]
    """The protocols that the session may have."""

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


def _able(fixed: Fixed) -> tuple[Any, Any, list[str]]:
    """The client's library, the server's, and all that have a protocol of the session.

    Of the user's own stacks only those that the scenario names: no other one is loaded.
    """
    own = fixed.scenario.value("session.stack")
    server = fixed.scenario.value("session.server_stack") or own
    protocols = {protocol.removeprefix("coap+") for protocol in fixed.protocols}
    names = dict.fromkeys([*_native.built_in_stacks(), *filter(None, (own, server))])
    able = [
        each["name"]
        for each in json.loads(_native.stacks_named([*names]))
        if protocols & {*each["protocols"]}
    ]
    return own, server, able


def _libraries(fixed: Fixed) -> Iterator[Option]:
    """Each library at the client, with the server's own, and at both ends."""
    own, server, able = _able(fixed)
    pairs = [(name, server) for name in able] + [(name, name) for name in able]
    for client, other in dict.fromkeys([(own, server), *pairs]):
        pair = (("session.stack", client), ("session.server_stack", other))
        yield Option(pair, tuple(f"{key}={name}" for key, name in pair))


def _stacks(fixed: Fixed) -> Iterator[Option]:
    own, server, able = _able(fixed)
    for name in [own, *(name for name in able if name != own)]:
        # The server is what it is: only the client's library is chosen.
        overrides = f"session.stack={name}", f"session.server_stack={server}"
        yield Option((("session.stack", name),), overrides)


def _sessions(fixed: Fixed) -> Iterator[Option]:
    """The uses of a session after a request, and the ways to resume one."""
    own = fixed.plain("application.session") or KEPT, fixed.plain("session.resumption")
    of_kept = tuple(key for key in OF_KEPT if fixed.plain(key) is not None)
    for use, kind in dict.fromkeys([own, *USES]):
        overrides = [f"application.session={use}"]
        if kind or own[1]:
            overrides.append(f"session.resumption={kind or ''}")
        yield Option(
            (("application.session", use), ("session.resumption", kind)),
            () if (use, kind) == own else tuple(overrides),
            () if use == KEPT else of_kept,
        )


def _keep_alives(fixed: Fixed) -> Iterator[Option]:
    """As it is, and a keep-alive just before a NAT forgets the session."""
    idle = fixed.scenario.value("application.idle_timeout_s")
    return _values("application.keep_alive_s", values=[] if idle is None else [KEEP_ALIVES * idle])(
        fixed
    )


def _helps(fixed: Fixed) -> Iterator[Option]:
    """As it is, a border router that validates, and delegates: servers stay the same."""
    keys = "gateway.pre_validation", "gateway.delegation", "session.resumption"
    own = tuple((key, fixed.plain(key)) for key in keys)
    yield Option(own, ())
    helps: list[tuple[Plain | None, ...]] = [(True, None, None)]
    helps += [(None, delegate, kind) for delegate in DELEGATES for kind in RESUMPTIONS]
    for values in helps:
        settings = tuple(zip(keys, values, strict=True))
        overrides = tuple(
            f"{key}={'' if value is None else str(value).lower()}"
            for (key, value), (_, before) in zip(settings, own, strict=True)
            if value != before
        )
        if overrides:
            yield Option(settings, overrides)


DELEGATES = ("border-router", "internet")
"""Who may open sessions in the name of clients (`gateway.delegation`)."""

TRUST: Mapping[str, str] = {
    "gateway.pre_validation": (
        "The clients verify no certificate: they trust the border router, which can let a false"
        " server in."
    ),
    "gateway.delegation": (
        "The delegate knows the master secret of every session, and the private key of each client"
        " that proves itself: it can read and forge all data."
    ),
}
"""Who must be trusted if a configuration has one of these keys (docs/gateway.md)."""

KEPT, RESUMED, ANEW = SESSIONS

USES = (
    *((KEPT, kind) for kind in (None, *RESUMPTIONS)),
    *((RESUMED, kind) for kind in RESUMPTIONS),
    (ANEW, None),
)
"""The uses of a session, and how it is resumed: one that is kept if it was lost."""

POLLS_MS = (500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, LONGEST_POLL_MS)
"""Poll periods, from that of a switch that answers at once to OpenThread's default. (Assumed.)"""

REKEYING_S = (3_600, 86_400, 604_800)
"""After how long a session gets new keys: an hour, a day, a week. (Assumed.)"""

TIMERS = (1, 2, 3, 4, 6, 9, 12, 15, 20, 30)
"""First timeouts in seconds, from that of RFC 6347 to half of the longest that it has. Those of all
libraries that are built in are among them."""

TCP_TIMERS = (1, 3, 6, 9, 15)
"""The timers of TCP: 1 s is that of RFC 6298, 3 s that of RFC 2988 before it."""

PROTOCOLS = ("dtls1.2", "dtls1.3", "tls1.2", "tls1.3")
CREDENTIALS = ("psk", "raw_public_key", "certificate")

WITHOUT_TLS = ("coap", "coap+tcp", "oscore", "edhoc", "less")
"""The protocols that have neither TLS nor DTLS."""

WITHOUT_TLS_TOO = {
    *("session.protocol", "session.mtu", "session.give_up_s"),
    *("session.server_port", "session.client_port"),
}
"""Keys that count with these protocols too, beside those of CoAP and EDHOC."""

OF_PSK = {"oscore": ("session.psk",), "less": ("session.psk", "session.psk_identity")}
"""The keys of the pre-shared key that protocols without TLS read."""

PROTECTIONS = ("oscore", "edhoc", "coap+dtls1.2", "coap+dtls1.3")
"""The protections of CoAP messages."""

FAMILY = ("session.stack", "session.server_stack", "session.protocol", "session.credential")
"""Configurations that have the same values of these keys are a family: what a product decides
first. Of each family the best is told."""

ONLY_DATAGRAMS = {
    *("session.timeout_s", "session.max_timeout_s", "session.server_timeout_s"),
    *("session.timeout_floor_s", "session.mtu", "session.datagram_packing", "session.cookie"),
    *("session.connection_id", "session.lean"),
}
"""Keys without effect on TLS over TCP. Those of `transport` have none on DTLS, but for `dccp`."""

OF_FLIGHTS = {
    *("session.timeout_s", "session.max_timeout_s", "session.server_timeout_s"),
    *("session.timeout_floor_s", "session.backoff", "session.datagram_packing"),
}
"""Keys without effect where CoAP carries the flights of DTLS."""

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
    "library": Group(
        "the client's library, and the server's as it is or the same (session.server_stack)",
        _libraries,
    ),
    "recovery": Group(
        "who repeats 6LoWPAN fragments (lowpan.reassembly)",
        _values("lowpan.reassembly", values=("per-hop", "forwarding", "recovery")),
    ),
    "compression": Group(
        "if nodes and border router compress payloads (lowpan.payload_compression)",
        _values("lowpan.payload_compression", values=("none", "ghc")),
    ),
    "resumption": Group(
        "how an earlier session is resumed (session.resumption)",
        _values("session.resumption", values=("id", "ticket")),
    ),
    "protocol": Group(
        "DTLS or TLS, and its version (session.protocol; the suite follows)",
        _values("session.protocol", values=PROTOCOLS, unset=False),
    ),
    "protection": Group(
        "what protects CoAP messages: OSCORE, EDHOC or DTLS (session.protocol; the suite follows)",
        _values("session.protocol", values=PROTECTIONS, unset=False),
    ),
    "credential": Group(
        "with what the ends authenticate themselves (session.credential; the suite follows)",
        _values("session.credential", values=CREDENTIALS, unset=False),
    ),
    "gateway": Group(
        "if the border router helps (gateway.suppress_spurious_flights and tcp_proxy)",
        _values("gateway.suppress_spurious_flights", "gateway.tcp_proxy", values=(False, True)),
    ),
    "help": Group(
        "who does a part of the handshake (gateway.pre_validation; gateway.delegation with"
        " session.resumption)",
        _helps,
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
    "connection_id": Group(
        "if a session survives a NAT that forgets it (session.connection_id)",
        _values("session.connection_id", values=(CONNECTION_ID,)),
    ),
    "sessions": Group(
        "what becomes of a session after a request (application.session and session.resumption)",
        _sessions,
    ),
    "keep_alives": Group(
        "if a keep-alive comes before a NAT forgets (application.keep_alive_s)", _keep_alives
    ),
    "rekeying": Group(
        "after how long a session gets new keys (application.rekey_after_s)",
        _values("application.rekey_after_s", values=REKEYING_S),
    ),
    "polls": Group(
        "how often a sleepy device polls (mac.poll_period_ms)",
        _values("mac.poll_period_ms", values=POLLS_MS),
    ),
}
"""Names for what is often chosen, and the values that are tried."""

USUAL = ("timers", "mtu", "stack", "recovery")
"""The choices, if none are given: what the firmware of the nodes decides. (Without "fragments":
three times as many configurations would have too few worlds each in the usual budget.)"""

USUAL_TLS = ("tcp_timers", "segments", "stack", "recovery")
"""The choices for TLS over TCP."""

USUAL_LIFE = ("stack", "resumption", "connection_id")
"""The choices where the life of a battery counts: they do not change what the application does."""

OF_APPLICATION = ("application.", "mac.poll_period_ms")
"""Keys that begin so change what the application does, or when the server reaches it. None of them
may be chosen if not given."""


@dataclass
class Space:
    """The configurations that are possible, and why others are not."""

    scenario: Scenario
    """With all that is fixed."""
    choices: tuple[Choice, ...]
    configurations: list[Configuration] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    """The number of combinations that are not possible, by the reason."""
    refused_by_fixed: Counter[str] = field(default_factory=Counter)
    """The number by the key, where the scenario has a value that may not be chosen: without it they
    are perhaps possible."""

    @property
    def keys(self) -> list[str]:
        """All keys that may be chosen."""
        return [key for choice in self.choices for key in choice.keys]

    def family(self, settings: Settings) -> Family:
        """The family of a configuration: what it has of the keys that may be chosen."""
        return tuple((key, settings[key]) for key in FAMILY if key in settings)


@dataclass(frozen=True)
class Configuration:
    """A combination of options that is possible."""

    settings: Settings
    overrides: tuple[str, ...]
    scenario: Scenario

    @property
    def label(self) -> str:
        """The choice, as on the command line."""
        return label({key: value for key, value in self.settings.items() if value is not None})


def space(
    scenario: Scenario, choose: Iterable[str], fix: Iterable[str], *, lives: bool = False
) -> Space:
    """The choices, and the fixed parts, as on the command line. `lives`: a battery counts."""
    base, fixed = _fixed(scenario, fix)
    words = [word for text in choose for word in (text.split(",") if "=" not in text else [text])]
    choices = tuple(_choices(base, words, fixed, USUAL_LIFE if lives else USUAL))
    found = Space(base, choices)
    if not choices:
        allowed = f"{', '.join(GROUPS)}, or KEY=VALUES"
        raise AdviceError(f"--choose: found nothing that is not fixed, allowed: {allowed}")
    total = math.prod(len(choice.options) for choice in choices)
    if total > MOST_COMBINATIONS:
        allowed = f"at most {MOST_COMBINATIONS:,}; --fix KEY leaves a key as it is"
        raise AdviceError(f"--choose: found {total:,} combinations, allowed: {allowed}")
    _Search(found).run()
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


def _choices(
    scenario: Scenario, choose: list[str], fixed: Mapping[str, str], usual: Sequence[str]
) -> Iterator[Choice]:
    seen: set[str] = set()
    protocols = _protocols(scenario, choose)
    usual = USUAL_TLS if all(map(_is_stream, protocols)) else usual
    for text in choose or usual:
        choice = _choice(Fixed(scenario, protocols), text)
        name = printable(text.partition("=")[0])
        if choose and all(has_no_effect(of, choice.keys) for of in _all_means(scenario, choose)):
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


def _typed(scenario: Scenario, choose: Iterable[str], key: str) -> tuple[str, ...]:
    """The values of a key that may be chosen, or the one of the scenario; none if it has none."""
    for name, _, values in (text.partition("=") for text in choose):
        if name == key:
            return tuple(value.strip().strip("\"'") for value in values.split(","))
    found = scenario.value(key)
    return () if found is None else (str(found),)


def _protocols(scenario: Scenario, choose: Sequence[str]) -> tuple[str, ...]:
    """The protocols that may be chosen."""
    for group, protocols in (("protocol", PROTOCOLS), ("protection", PROTECTIONS)):
        if group in choose:
            return protocols
    return _typed(scenario, choose, "session.protocol") or PROTOCOLS[:1]


def _all_means(scenario: Scenario, choose: Sequence[str]) -> list[Means]:
    """The means of which sessions may be made."""
    carriers = _typed(scenario, choose, "session.carrier") or ("udp",)
    anchors = _typed(scenario, choose, "session.trust_anchor") or ("false",)
    return [
        Means(protocol, carrier, asks_anchor.lower() == "true")
        for protocol in _protocols(scenario, choose)
        for carrier in carriers
        for asks_anchor in anchors
    ]


def _is_stream(protocol: str) -> bool:
    return protocol.removeprefix("coap+").startswith(("tls", "tcp"))


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
    is_there = fixed.scenario.value(axis.key) is not None
    options = (
        Option(
            ((axis.key, plain),),
            (f"{axis.key}={value.text}",) if plain is not None or is_there else (),
        )
        for value, plain in zip(axis.values, axis.columns(), strict=True)
    )
    return Choice(tuple(options), typed=True)


class _Search:
    """Finds out which combinations are possible."""

    def __init__(self, found: Space):
        self._found = found
        typed = [each for choice in found.choices if choice.typed for each in choice.options]
        # Typed values with which no combination is possible, and why not.
        self._wrong: dict[Option, ScenarioError | None] = dict.fromkeys(typed)
        self._first: ScenarioError | None = None
        self._hopeless: dict[Family, ScenarioError] = {}
        """Families of which no configuration is possible, whatever else is chosen."""
        self._optional: dict[str, bool] = {}

    def run(self) -> None:
        """Adds what is possible to the space, and counts what is not."""
        found = self._found
        for options in itertools.product(*(choice.options for choice in found.choices)):
            settings = dict(setting for option in options for setting in option.settings)
            settings |= {key: None for key in _removed(options) if key in settings}
            if _has_effect(found, options, settings):
                self._try(options, settings)
        wrong = [error for error in self._wrong.values() if error is not None]
        never = next((error for error in wrong if not error.together), None)
        if not found.configurations:
            never = never or next(iter(wrong), self._first)
        if never is not None:
            raise never

    def _try(self, options: Sequence[Option], settings: Settings) -> None:
        family = self._found.family(settings)
        try:
            if family in self._hopeless:
                raise self._hopeless[family]
            made = self._possible(options, settings)
        except ScenarioError as error:
            if error.key in FAMILY and len(family) > 1:
                self._hopeless[family] = error
            self._first = self._first or error
            self._found.refused[_reason(error)] += 1
            if (key := error.key) and key not in settings and self._may_be_left_out(key):
                self._found.refused_by_fixed[key] += 1
            for option in options:
                if option in self._wrong:
                    self._wrong[option] = self._wrong[option] or _blamed(error, option)
            return
        for option in options:
            self._wrong.pop(option, None)
        self._found.configurations.append(made)

    def _may_be_left_out(self, key: str) -> bool:
        """True if the scenario has a key, and is one without it too."""
        scenario = self._found.scenario
        if key not in self._optional:
            self._optional[key] = False
            if scenario.value(key) is not None:
                with suppress(ScenarioError):
                    scenario.with_([f"{key}="])
                    self._optional[key] = True
        return self._optional[key]

    def _possible(self, options: Sequence[Option], settings: Settings) -> Configuration:
        """A combination with what follows from it. Raises `ScenarioError` if it is not possible."""
        base = self._found.scenario
        own = [f"{key}=" for key in _removed(options)]  # first: what is chosen is not removed
        own += [text for option in options for text in option.overrides]
        ways = [(*own, *following) for following in followings(base, settings)]
        for way in ways[:-1]:
            with suppress(ScenarioError):
                return self._checked(settings, way)
        return self._checked(settings, ways[-1])

    def _checked(self, settings: Settings, overrides: tuple[str, ...]) -> Configuration:
        scenario = self._found.scenario.with_(overrides)
        _native.Run(scenario.native, 0, 1, 1, False).cancel()
        return Configuration(settings, overrides, scenario)


def _has_effect(found: Space, options: Iterable[Option], settings: Settings) -> bool:
    """False if the same session comes from other options: DTLS does not read the keys of TCP.

    Nor does a session that is not kept read the keys of one that is. Of several values without
    effect only the first one is left.
    """
    of = means(found.scenario, settings)
    kept = settings.get("application.session", KEPT) == KEPT
    return not any(
        option != choice.options[0]
        and (
            has_no_effect(of, choice.keys)
            or (not kept and all(key in OF_KEPT for key in choice.keys))
        )
        for choice, option in zip(found.choices, options, strict=True)
    )


def _removed(options: Iterable[Option]) -> list[str]:
    """The keys of the scenario that do not go with some options."""
    return [key for option in options for key in option.removed]


@dataclass(frozen=True)
class Means:
    """The means of a session, as far as they decide which keys count."""

    protocol: str
    carrier: str = "udp"
    asks_anchor: bool = False

    @property
    def has_messages(self) -> bool:
        """True if an end sends messages of CoAP."""
        has_coap = self.protocol in WITHOUT_TLS or self.protocol.startswith("coap+")
        return has_coap or self.carrier == "coap" or self.asks_anchor


def means(scenario: Scenario, settings: Settings | None = None) -> Means:
    """That of a scenario, with these settings in place of its own."""

    def value(key: str) -> Any:
        chosen = (settings or {}).get(key)
        return scenario.value(key) if chosen is None else chosen

    return Means(
        str(value("session.protocol") or PROTOCOLS[0]),
        str(value("session.carrier") or "udp"),
        bool(value("session.trust_anchor")),
    )


def has_no_effect(of: Means, keys: Iterable[str]) -> bool:
    """True if a session reads none of these keys: TLS has other timers than DTLS."""
    return not any(_reads(of, key) for key in keys)


def _reads(of: Means, key: str) -> bool:
    """True if a key counts with a session."""
    protocol = of.protocol
    if key.startswith("session.edhoc."):
        return protocol == "edhoc"
    if key.startswith("session.coap."):
        return of.has_messages and (not _is_stream(protocol) or key == "session.coap.block_bytes")
    if protocol in WITHOUT_TLS and key.startswith("session.") and key not in WITHOUT_TLS_TOO:
        # The master secret of the one, the key of the other.
        return key in OF_PSK.get(protocol, ())
    if _is_stream(protocol):
        return key not in ONLY_DATAGRAMS and not key.startswith("transport.dccp.")
    if of.carrier == "coap" and key in OF_FLIGHTS:
        return False
    if key.startswith("transport.dccp."):
        return of.carrier == "dccp"
    return not key.startswith("transport.")


def _blamed(error: ScenarioError, option: Option) -> ScenarioError:
    """An error about a value that was chosen, not set."""
    typed = option.overrides[0] if option.overrides else f"{option.settings[0][0]}="
    key = typed.partition("=")[0]
    if error.override == key:
        return moved(error, f"--choose {printable(key)}")
    place = f"--choose {printable(typed)}"
    return moved(error, f"{place}: {error.place}" if error.place else place)


def _reason(error: ScenarioError) -> str:
    """Why a combination is not possible: a key, what was found, what is allowed."""
    return ": ".join(filter(None, (error.key, error.reason)))
