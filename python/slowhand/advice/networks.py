"""The same network, but better or worse than the scenario says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from slowhand.advice.lookup import value
from slowhand.api import Scenario
from slowhand.keys import toml

WORSE, BETTER = 1.3, 0.7
"""Losses and delays are multiplied by these: 30 % more, 30 % less."""

DELIVERY = ("network.link_pdr", "network.ack_pdr")
"""Shares that arrive: what they lose is multiplied."""

LOSSES = (
    "lowpan.fragment_loss",
    "lowpan.frame_loss",
    "server.internet_loss",
)
DELAYS = ("server.internet_delay_ms", "server.internet_jitter_ms")

AS_IT_IS = (
    "network.channel_pdr",
    "network.trace",
    "network.wifi",
    "network.changes",
    "network.outages",
    "lowpan.dropped_frames",
    "server.internet_dropped",
)
"""What changes with time, or is counted, stays as the scenario has it."""


def varied(scenario: Scenario, factor: float) -> list[str]:
    """What makes the network of a scenario worse (above 1) or better, as overrides.

    Nothing if the scenario has neither losses nor delays: then the network is the same.
    """
    return list(_varied(scenario, factor))


def _varied(scenario: Scenario, factor: float) -> Iterator[str]:
    for key in DELIVERY:
        found = value(scenario, key)
        if found is not None and found < 1:
            yield f"{key}={_delivery(found, factor)}"
    for key in LOSSES:
        if found := value(scenario, key):
            yield f"{key}={_rounded(min(1.0, found * factor))}"
    for key in DELAYS:
        if found := value(scenario, key):
            yield f"{key}={_rounded(found * factor)}"
    links = value(scenario, "network.topology.links")
    if links and any("pdr" in link or "reverse_pdr" in link for link in links):
        yield f"network.topology.links={toml([_link(link, factor) for link in links])}"
    states = value(scenario, "network.gilbert_elliott")
    if states:
        both = {"good_pdr": 1.0, "bad_pdr": 0.0, **states}
        for name in ("good_pdr", "bad_pdr"):
            both[name] = _delivery(both[name], factor)
        yield f"network.gilbert_elliott={toml(both)}"


def _link(link: dict[str, Any], factor: float) -> dict[str, Any]:
    made = dict(link)
    for name in ("pdr", "reverse_pdr"):
        if name in link:
            made[name] = _delivery(link[name], factor)
    return made


def _delivery(share: float, factor: float) -> float:
    return _rounded(max(0.0, 1 - (1 - share) * factor))


def _rounded(number: float) -> float:
    return round(number, 6)
