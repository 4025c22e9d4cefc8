"""A network that is worse than the scenario says: by how much is absolute, not a share of it.

"30 % more" of nothing is nothing: a scenario without losses would bear anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from slowhand.api import Scenario
from slowhand.keys import toml

POINTS = 0.10
"""Of 100 frames, 10 more are lost. (Assumed: a wall, or an antenna in another place.)"""

ACKNOWLEDGEMENT = 0.5
"""An acknowledgement is shorter than most frames: where a scenario has a delivery ratio of its own
for them, it becomes worse by this share of that. (Assumed, as in the questions without a file.)"""

FRAGMENTS = 0.02
"""Of 100 fragments, 2 more are lost. (Assumed: less than half of what Claeys et al. assume, Sensors
2021, section 3.3: 5 %.)"""

FARTHER_MS = 300.0
"""The server is farther by so much, in each direction. (Assumed: a satellite, or another
continent over a mobile network.)"""

INTERNET = 0.01
"""Of 100 datagrams, 1 more is lost on the Internet. (Assumed.)"""

LEAST_DELIVERY = 0.01
"""A worse network still delivers this share, where the scenario delivers as much: some keys do not
allow 0. (Assumed.)"""

LINKS = "network.topology.links"

# Parts that change with time, or are counted, stay as the scenario has them: traces, Wi-Fi,
# outages.


class Stress(NamedTuple):
    """A way in which a network becomes worse."""

    name: str
    asks: str
    """The question that a scenario without it leaves open."""
    keys: tuple[str, ...]
    """Where a scenario has it."""
    overrides: Callable[[Scenario], Iterator[str]]


def _links(scenario: Scenario) -> Iterator[str]:
    """The delivery ratio of every link, 10 points less."""
    yield f"network.link_pdr={_less(_or(scenario.value('network.link_pdr'), 1.0))}"
    if (acknowledged := scenario.value("network.ack_pdr")) is not None:
        yield f"network.ack_pdr={_less(acknowledged, POINTS * ACKNOWLEDGEMENT)}"
    links = scenario.value(LINKS) or []
    if any("pdr" in link or "reverse_pdr" in link for link in links):
        yield f"{LINKS}={toml([_link(link) for link in links])}"
    if states := scenario.value("network.gilbert_elliott"):
        ratios = {"good_pdr": 1.0, "bad_pdr": 0.0, **states}
        worse = {name: _less(ratios[name]) for name in ("good_pdr", "bad_pdr")}
        yield f"network.gilbert_elliott={toml({**states, **worse})}"


def _link(link: dict[str, Any]) -> dict[str, Any]:
    return link | {name: _less(link[name]) for name in ("pdr", "reverse_pdr") if name in link}


def _less(share: float, points: float = POINTS) -> float:
    return round(max(min(share, LEAST_DELIVERY), share - points), 6)


def _more(key: str, amount: float, most: float) -> Callable[[Scenario], Iterator[str]]:
    """The value of a key with something added."""

    def overrides(scenario: Scenario) -> Iterator[str]:
        yield f"{key}={round(min(most, _or(scenario.value(key), 0.0) + amount), 6)}"

    return overrides


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


STRESSES = (
    Stress(
        f"links {100 * POINTS:g} points worse",
        "how many frames each link loses",
        ("network.link_pdr", LINKS, "network.trace", "network.gilbert_elliott"),
        _links,
    ),
    Stress(
        f"{100 * FRAGMENTS:g} % more fragments lost",
        "how many 6LoWPAN fragments are lost",
        ("lowpan.fragment_loss", "lowpan.frame_loss"),
        _more("lowpan.fragment_loss", FRAGMENTS, 1.0),
    ),
    Stress(
        f"the server {FARTHER_MS:g} ms farther",
        "how far the server is",
        ("server.internet_delay_ms",),
        _more("server.internet_delay_ms", FARTHER_MS, float("inf")),
    ),
    Stress(
        f"{100 * INTERNET:g} % lost on the Internet",
        "how many datagrams the Internet loses",
        ("server.internet_loss",),
        _more("server.internet_loss", INTERNET, 1.0),
    ),
)
"""The worse networks."""

OF_INTERNET = STRESSES[2:]
"""The stresses that only a server on the Internet has."""


def applicable(scenario: Scenario) -> list[Stress]:
    """The worse networks of a scenario: without a server on the Internet it has less of them."""
    has_internet = scenario.value("server.at") in (None, "internet")
    found = [each for each in STRESSES if has_internet or each not in OF_INTERNET]

    def overrides(scenario: Scenario) -> Iterator[str]:
        for stress in found:
            yield from stress.overrides(scenario)

    return [*found, Stress("all of these", "", (), overrides)]


def missing(scenario: Scenario) -> list[Stress]:
    """The stresses of which a scenario says nothing."""
    *single, _ = applicable(scenario)
    return [each for each in single if not any(_says(scenario, key) for key in each.keys)]


def _says(scenario: Scenario, key: str) -> bool:
    found = scenario.value(key)
    if key == LINKS:
        return any("pdr" in link for link in found or [])
    return found is not None
