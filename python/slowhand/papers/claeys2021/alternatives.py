"""Other assumptions, and what they would do: `python -m slowhand.papers.claeys2021.alternatives`.

Each alternative is fitted to the same row of Table 2. The table that it prints is in
`papers/claeys2021/README.md`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from slowhand.estimate import Estimate
from slowhand.papers import find
from slowhand.papers.claeys2021 import fit
from slowhand.papers.claeys2021.handshake import TABLES, handshake
from slowhand.papers.claeys2021.tables import QUANTITIES
from slowhand.papers.comparison import Paper
from slowhand.papers.points import Laboratory, Settings


def cells(up: int, down: int) -> Settings:
    """Dedicated cells."""
    return {"mac.cells": {"shared": 1, "up": up, "down": down}}


ALTERNATIVES: dict[str, Settings] = {
    "as assumed": {},
    "cells: 2 up, 1 down": cells(2, 1),
    "cells: 2 up, 2 down": cells(2, 2),
    "cells: 3 up, 1 down, 6 slots": {**cells(3, 1), "mac.slotframe": 6},
    "slots of 10 ms": {"mac.slot_ms": 10},
    "client acknowledges at once": {"transport.client.delayed_ack_ms": 0},
    "client's delayed ACK: 40 ms": {"transport.client.delayed_ack_ms": 40},
    "client's delayed ACK: 100 ms": {"transport.client.delayed_ack_ms": 100},
    "client's delayed ACK: 200 ms": {"transport.client.delayed_ack_ms": 200},
    "client's delayed ACK: 500 ms": {"transport.client.delayed_ack_ms": 500},
    "server's delayed ACK: 200 ms": {"transport.server.delayed_ack_ms": 200},
    "client's SYN again after 3 s": {"transport.client.syn_timeout_s": 3},
    "server's timer: 3 s": {"session.server_timeout_s": 3},
    "RPL's headers, storing": {"lowpan.rpl": "storing", "lowpan.rpl_encoding": "6lorh"},
    "RPL's headers, non-storing": {"lowpan.rpl": "non-storing", "lowpan.rpl_encoding": "6lorh"},
    "frames of 96 octets": {"lowpan.max_frame_payload": 96},
    "frames of 80 octets": {"lowpan.max_frame_payload": 80},
}


def main() -> None:
    """Prints the table."""
    paper = find("claeys2021")
    print("| assumed | certificates | computing | latencies | bytes | rows outside |")
    print("| --- | ---: | ---: | ---: | ---: | --- |")
    laboratory = fit.laboratory()
    for name, settings in ALTERNATIVES.items():
        fitted = fit.fit(laboratory, settings)
        ours = measure(laboratory, {**settings, **fitted.settings})
        means = [f"{100 * spread(paper, ours, quantity):.1f} %" for quantity in QUANTITIES]
        missed = ", ".join(outside(paper, ours)) or "none"
        print(
            f"| {name} | {fitted.certificate_length} B | {fitted.compute_factor:.2f} "
            f"| {means[0]} | {means[1]} | {missed} |",
            flush=True,
        )


def measure(laboratory: Laboratory, settings: Settings) -> dict[str, Estimate]:
    """Ours for the rows of Tables 2 and 3, without the one that is fitted to."""
    return {
        id: laboratory.mean(handshake(of_row, settings), column)
        for table, rows in TABLES.items()
        for row, of_row in rows.items()
        for quantity, column in QUANTITIES.items()
        if not (id := f"{table}.{row}.{quantity}").startswith(fit.ROW)
    }


def spread(paper: Paper, ours: Mapping[str, Estimate], quantity: str) -> float:
    """The root of the mean square of the deviations of ours, as shares of the paper's."""
    deviations = [
        value.mean / paper.number(id) - 1 for id, value in ours.items() if id.endswith(quantity)
    ]
    return math.sqrt(sum(d * d for d in deviations) / len(deviations))


def outside(paper: Paper, ours: Mapping[str, Estimate]) -> list[str]:
    """The judged rows that do not agree."""
    rows = [row for row in paper.rows if row.id in ours]
    return [row.id.replace("table", "") for row in rows if row.judge(ours[row.id]).verdict == "no"]


if __name__ == "__main__":
    main()
