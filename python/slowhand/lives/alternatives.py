"""Alternatives with which a battery would last longer, or how much shorter it would last.

The candidates are about the session (kept, resumed, opened anew) and about the link layer (how
often a device listens). Which of them are possible says the scenario: the others are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from slowhand import known
from slowhand._native import LONGEST_POLL_MS, ScenarioError
from slowhand.api import Scenario

SESSION, LINK = "session", "link layer"
"""The subjects of alternatives."""

MOST = {SESSION: 3, LINK: 2}
"""The most alternatives of each. (Assumed: more than these nobody reads.)"""

POLLS = 5
"""A poll period is so many times as long or short. (Assumed: as far apart as RFC 7925's timer from
OpenSSL's, and still a period that somebody may choose.)"""

SLEEPY_POLL_MS = 5_000
"""The poll period of a device that could sleep, and does not. (Assumed.)"""

KEEP_ALIVES = 0.9
"""A keep-alive comes after this share of the time after which a NAT forgets. (Assumed.)"""

CONNECTION_ID = 8
"""The octets of a connection ID. (Assumed.)"""

SESSIONS = ("kept", "resumed", "anew")
"""The uses of a session after a request."""

NEVER_FORGOTTEN = ("coap", "oscore", "edhoc")
"""The protocols whose sessions are bound to no address: they go on behind a NAT that has forgotten
them."""

OF_KEPT = (
    "application.idle_timeout_s",
    "application.keep_alive_s",
    "application.rekey_after_s",
)
"""The keys that only sessions have which are kept."""

RESUMPTIONS = ("id", "ticket")
"""The ways to resume a session: the one that needs fewer octets first."""


INTERVALS = {
    "xmac": ("mac.check_interval_ms", "a check every"),
    "beacon": ("mac.beacon_interval_ms", "a beacon every"),
}
"""The keys of link layers that may be twice or half as long, and the words for them."""


class Alternative(NamedTuple):
    """A candidate. Where libraries differ it has several forms: the first possible one counts."""

    about: str
    name: str
    forms: Sequence[Sequence[str]]
    """The texts that replace keys in each form, as of `--set`."""


class Chosen(NamedTuple):
    """An alternative that is possible."""

    about: str
    name: str
    settings: list[str]
    scenario: Scenario


def chosen(scenario: Scenario) -> list[Chosen]:
    """The alternatives that are possible, a few of each kind."""
    found: list[Chosen] = []
    for candidate in (*_sessions(scenario), *_link_layer(scenario)):
        if sum(one.about == candidate.about for one in found) == MOST[candidate.about]:
            continue
        for form in candidate.forms:
            try:
                changed = scenario.with_(form)
            except ScenarioError:
                continue  # the library or the network cannot do it
            found.append(Chosen(candidate.about, candidate.name, [*form], changed))
            break
    return found


def time(seconds: float) -> str:
    """A time in words.

    >>> time(0.25), time(5), time(300), time(5400), time(86400)
    ('250 ms', '5 s', '5 min', '1.5 h', '1 day')
    """
    if seconds < 1:
        return f"{1000 * seconds:.3g} ms"
    if seconds < 120:
        return f"{seconds:.3g} s"
    if seconds < 3600:
        return f"{seconds / 60:.3g} min"
    if seconds < 86_400:
        return f"{seconds / 3600:.3g} h"
    days = seconds / 86_400
    return "1 day" if days == 1 else f"{days:.3g} days"


def with_session(scenario: Scenario, use: str) -> Scenario:
    """The scenario with sessions that are `kept`, `resumed` or opened `anew`.

    Raises `ScenarioError` if its library cannot do it.
    """
    *first, last = forms(scenario, use)
    for form in first:
        with suppress(ScenarioError):
            return scenario.with_(form)
    return scenario.with_(last)


def forms(scenario: Scenario, use: str) -> list[list[str]]:
    """The forms that make sessions `kept`, `resumed` or new each time, best first."""
    settings = [f"application.session={use}"]
    if use == "kept":
        return [settings]
    settings += [f"{key}=" for key in OF_KEPT if scenario.value(key) is not None]
    resumption = scenario.value("session.resumption")
    if use == "anew":
        return [[*settings, *(["session.resumption="] if resumption else [])]]
    if resumption:
        return [settings]
    return [[*settings, f"session.resumption={kind}"] for kind in RESUMPTIONS]


def _sessions(scenario: Scenario) -> Iterator[Alternative]:
    use = scenario.value("application.session") or "kept"
    if use == "kept":
        yield from _kept(scenario)
    else:
        yield Alternative(SESSION, "sessions kept, if no NAT forgets them", forms(scenario, "kept"))
    if use != "resumed":
        yield Alternative(SESSION, "sessions resumed each time", forms(scenario, "resumed"))
    if use != "anew":
        yield Alternative(SESSION, "a new session each time", forms(scenario, "anew"))


def _kept(scenario: Scenario) -> Iterator[Alternative]:
    """The alternatives where a session is kept, and a NAT may forget it."""
    idle = scenario.value("application.idle_timeout_s")
    keep_alive = scenario.value("application.keep_alive_s")
    if keep_alive is not None:
        yield Alternative(SESSION, "no keep-alives", [["application.keep_alive_s="]])
    if idle is None or scenario.value("session.connection_id") is not None:
        return
    if (scenario.value("session.protocol") or "") in NEVER_FORGOTTEN:
        return
    form = [f"session.connection_id={CONNECTION_ID}"]
    yield Alternative(SESSION, "a connection ID", [form])
    if scenario.value("session.resumption") is None:
        kinds = [[f"session.resumption={kind}"] for kind in RESUMPTIONS]
        yield Alternative(SESSION, "resumption when the NAT has forgotten", kinds)
    if keep_alive is None:
        seconds = KEEP_ALIVES * idle
        form = [f"application.keep_alive_s={seconds:g}"]
        yield Alternative(SESSION, f"keep-alives every {time(seconds)}", [form])


def _link_layer(scenario: Scenario) -> Iterator[Alternative]:
    def number(key: str) -> float:
        value = scenario.value(key)
        return float(known.default(scenario, key) if value is None else value)

    match scenario.value("mac.kind"):
        case "csma":
            yield from _csma(scenario)
        case "tsch":
            slots = int(number("mac.slotframe"))
            for other in (2 * slots + 1, (slots // 2) | 1):
                settings = [f"mac.slotframe={other}"]
                yield Alternative(LINK, f"a slotframe of {other:,} slots", [settings])
        case "xmac" | "beacon" as kind:
            key, words = INTERVALS[kind]
            yield from _twice_or_half(key, number(key), words)


def _csma(scenario: Scenario) -> Iterator[Alternative]:
    csl = scenario.value("mac.csl.period_ms")
    if (scenario.value("mac.sleepy") or "none") == "none":
        settings = ["mac.sleepy=leaves", f"mac.poll_period_ms={SLEEPY_POLL_MS}"]
        name = f"a device that sleeps, with a poll every {time(SLEEPY_POLL_MS / 1000)}"
        yield Alternative(LINK, name, [settings])
    elif csl is not None:
        yield from _twice_or_half("mac.csl.period_ms", float(csl), "a sample every")
    else:
        poll_ms = float(scenario.value("mac.poll_period_ms") or LONGEST_POLL_MS)
        for period in (poll_ms * POLLS, poll_ms / POLLS):
            if period <= LONGEST_POLL_MS:
                settings = [f"mac.poll_period_ms={period:g}"]
                yield Alternative(LINK, f"a poll every {time(period / 1000)}", [settings])


def _twice_or_half(key: str, value: float, words: str) -> Iterator[Alternative]:
    for other in (2 * value, value / 2):
        yield Alternative(LINK, f"{words} {time(other / 1000)}", [[f"{key}={other:g}"]])
