"""Fits the constants that the paper does not give: `python -m slowhand.papers.claeys2021.fit`.

On one row of Table 2, DTLS with a maximum fragment length of 1024: the length of the certificates
by the bytes, and how long the client computes by the latency. On a second one, the latency of TLS
with MSS 844 and Nagle: which of the managed cells carry frames up. What it prints stands in
`papers/claeys2021/handshake.toml`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from slowhand import data
from slowhand.papers import find
from slowhand.papers.claeys2021.handshake import LARGE_DTLS, NAGLE, handshake
from slowhand.papers.points import Laboratory, Settings

ROW = "table2.dtls.1024"
"""DTLS with MFL 1024. The constants of the certificates and of the computing are fitted to it."""

SPLIT_ROW = "table2.tls.844.nagle"
"""TLS with MSS 844 and Nagle: the split of the managed cells is the one that brings us nearest."""

SPLITS = ((1, 2), (2, 1))
"""Table 1 has three managed cells. Cells up and down, at least one each."""

HANDSHAKES = 50
"""They differ in their place in the slotframe only."""


class Fitted(NamedTuple):
    """The constants that meet the row."""

    certificate_length: int
    compute_factor: float

    @property
    def settings(self) -> Settings:
        """The parameters as keys of the scenario."""
        return {
            "session.certificate_length": self.certificate_length,
            "client.compute_factor": self.compute_factor,
        }


def main() -> None:
    """Prints the constants."""
    wanted = find("claeys2021").number(f"{SPLIT_ROW}.latency")
    here = laboratory()
    found = []
    for up, down in SPLITS:
        cells: Settings = {"mac.cells": {"shared": 1, "up": up, "down": down}}
        fitted = fit(here, cells)
        latency = here.mean(handshake(NAGLE, cells, fitted.settings), "duration_s").mean
        found.append((abs(latency - wanted), up, down, fitted))
    _, up, down, fitted = min(found)
    print(f"cells: {up} up, {down} down")
    print(f"certificate_length = {fitted.certificate_length}")
    print(f"compute_factor = {fitted.compute_factor:.2f}")


def laboratory() -> Laboratory:
    """Runs the handshakes."""
    return Laboratory(data.PAPERS / "claeys2021", count=HANDSHAKES, update=lambda done: None)


def fit(laboratory: Laboratory, settings: Settings) -> Fitted:
    """The constants that meet the row if the scenario has these settings too."""
    paper = find("claeys2021")
    latency, octets = (paper.number(f"{ROW}.{quantity}") for quantity in ("latency", "bytes"))

    def mean(column: str, fitted: Fitted) -> float:
        return laboratory.mean(handshake(LARGE_DTLS, settings, fitted.settings), column).mean

    length = nearest(lambda length: mean("bytes_phy", Fitted(length, 1.0)), octets, 250, 900)
    hundredths = nearest(lambda x: mean("duration_s", Fitted(length, x / 100)), latency, 20, 800)
    return Fitted(length, hundredths / 100)


def nearest(value: Callable[[int], float], wanted: float, low: int, high: int) -> int:
    """The argument for which a function that grows, in steps, is nearest to the wanted value."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if value(middle) < wanted else (low, middle)
    return min(low, high, key=lambda x: abs(value(x) - wanted))


if __name__ == "__main__":
    main()
