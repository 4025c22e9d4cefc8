"""Fits the two constants that the paper does not give: `python -m slowhand.papers.claeys2021.fit`.

On one row of Table 2 alone, DTLS with a maximum fragment length of 1024: the length of the
certificates by the bytes, and how long the client computes by the latency. What it prints stands
in `papers/claeys2021/handshake.toml`.
"""

from __future__ import annotations

from collections.abc import Callable

from slowhand import data
from slowhand.api import Setting
from slowhand.papers import find
from slowhand.papers.claeys2021.handshake import LARGE_MFL, dtls
from slowhand.papers.points import Laboratory

ROW = "table2.dtls.1024"
"""DTLS with MFL 1024."""

WAIT_S = 3.0
"""Table 1: the timer."""

HANDSHAKES = 200


def main() -> None:
    """Prints both constants."""
    paper = find("claeys2021")
    latency, octets = (paper.number(f"{ROW}.{quantity}") for quantity in ("latency", "bytes"))
    laboratory = Laboratory(data.PAPERS / "claeys2021", count=HANDSHAKES, update=lambda done: None)

    def mean(column: str, **settings: Setting) -> float:
        return laboratory.mean(dtls(LARGE_MFL, **settings), column).mean

    length = round(
        root(
            lambda x: mean("bytes_phy", session__certificate_length=round(x)), octets, 300, 900, 0.5
        )
    )
    # The timer's 3 s must not fire while the client computes: it does not in the paper.
    factor = root(
        lambda x: mean(
            "duration_s", session__certificate_length=length, client__compute_factor=round(x, 3)
        ),
        latency,
        0.5,
        8,
        0.001,
    )
    # The factor if the server's timer is the same as the client's.
    twice = root(
        lambda x: mean(
            "bytes_phy",
            session__certificate_length=length,
            session__server_timeout_s=WAIT_S,
            client__compute_factor=round(x, 3),
        ),
        1.01 * octets,
        0.5,
        factor,
        0.01,
    )
    print(f"certificate_length = {length}\ncompute_factor = {factor:.2f}")
    print(f"with a server's timer of {WAIT_S:.0f} s, and no flight sent twice: up to {twice:.1f}")


def root(
    value: Callable[[float], float], wanted: float, low: float, high: float, step: float
) -> float:
    """The argument, to a step, for which a growing function has the wanted value."""
    while high - low > step:
        middle = (low + high) / 2
        low, high = (middle, high) if value(middle) < wanted else (low, middle)
    return (low + high) / 2


if __name__ == "__main__":
    main()
