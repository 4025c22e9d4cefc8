"""The time that a query takes over a session of DTLS that is open."""

from __future__ import annotations

from slowhand._native import DAY_S
from slowhand.estimate import Estimate
from slowhand.lives.life import battery
from slowhand.papers.lenders2023 import boards
from slowhand.papers.points import FIRST_SEED, Laboratory, Settings, Values

LIVES = 20
"""The most lives that are simulated: each is 50 queries."""

ASKS: Settings = {"application.pattern": "periodic", "application.period_s": 0.2}
"""50 queries, five a second: "50x5.0" of their file names. They draw the milliseconds between two
from a Poisson distribution with the mean 200, whose deviation is 14."""

SECONDS = 10

PAYLOADS = {"1.a": (28, 44), "1.aaaa": (28, 56), "2.a": (42, 58), "2.aaaa": (42, 70)}
"""By hops and record: octets of query and response. The names that are asked for differ."""


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part, in milliseconds. They come from lives."""
    values = {name: _query_ms(laboratory, name) for name in PAYLOADS}
    return {
        **values,
        "1.longer": values["1.aaaa"] - values["1.a"],
        "2.hop": values["2.a"] - values["1.a"],
    }


def _query_ms(laboratory: Laboratory, name: str) -> Estimate:
    """The mean over lives of their medians: a mean would have the handshake before the first."""
    query, response = PAYLOADS[name]
    settings: Settings = {
        **boards.NETWORKS[name[0]],
        **ASKS,
        "application.request_bytes": query,
        "application.response_bytes": response,
    }
    scenario = laboratory.folder / boards.SCENARIO
    lives = [
        battery(scenario, ["l91-pair"], days=SECONDS / DAY_S, full=True, seed=seed, set=settings)[
            "life"
        ]
        for seed in range(FIRST_SEED, FIRST_SEED + min(laboratory.count, LIVES))
    ]
    return Estimate.of([1000 * life["latency_s"]["p50"] for life in lives])
