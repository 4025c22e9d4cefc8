"""Changes of the scenario that may help where nothing completes; each of them is tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from slowhand._native import ScenarioError
from slowhand.api import Scenario
from slowhand.keys import toml
from slowhand.known import default
from slowhand.sweeps.following import SUITES, auth_of

PSK = {
    "session.credential": "psk",
    "session.auth": auth_of("psk"),
    "session.suite": SUITES["psk"],
}

CHANGES: tuple[Mapping[str, Any], ...] = (
    PSK,
    {"lowpan.reassembly": "recovery"},
    {"session.timeout_s": 9},
    {"session.timeout_s": 30},
    {"session.mtu": 256},
    {"mac.max_retries": 15},
    {"mac.cells.up": 3, "mac.cells.down": 3},
    {"mac.data_ack": True},
    {"gateway.suppress_spurious_flights": True},
)
"""The changes that are tried on every scenario. (Assumed: what helped in scenarios and papers of
slowhand.) A change that the scenario does not know, or has already, is left out."""

SCALED = {"mac.slotframe": 0.5, "mac.check_interval_ms": 0.5, "mac.beacon_interval_ms": 0.5}
"""Keys of link layers that are multiplied, where a scenario has them: what is sent waits less."""

MOST = 8
"""The number of the best changes that are also tried in pairs, if none is enough. (Assumed.)"""


def candidates(
    scenario: Scenario, losses: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[tuple[str, ...], Scenario]]:
    """Changes that are possible: overrides, and the scenario with them.

    `losses` is that of a summary: numbers that should be larger are doubled, others halved.
    """
    changes = [*CHANGES]
    scaled = [(key, factor) for key, factor in SCALED.items() if scenario.value(key)]
    advised = {"raise": 2.0, "lower": 0.5}
    scaled += [(x["key"], advised[x["advice"]]) for x in losses if x["advice"] in advised]
    for key, factor in scaled:
        found = scenario.value(key) or default(scenario, key)
        if isinstance(found, int | float):
            whole = isinstance(found, int)
            changes.append({key: max(1, round(found * factor)) if whole else found * factor})
    named = {loss["key"] for loss in losses}
    changes.sort(key=lambda change: named.isdisjoint(change))  # what the losses name comes first
    seen = []
    for change in changes:
        overrides = tuple(f"{key}={toml(new)}" for key, new in change.items())
        is_new = any(scenario.value(key) != new for key, new in change.items())
        if is_new and overrides not in seen and (made := changed(scenario, overrides)):
            seen.append(overrides)
            yield overrides, made


def pairs(changes: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Two of the changes together, but not two of the same key."""
    for one, other in combinations(changes[:MOST], 2):
        keys = [text.partition("=")[0] for text in (*one, *other)]
        if len(set(keys)) == len(keys):
            yield (*one, *other)


def changed(scenario: Scenario, overrides: Sequence[str]) -> Scenario | None:
    """The scenario with a change; none if it is not possible."""
    try:
        return scenario.with_(list(overrides))
    except ScenarioError:
        return None
