"""Measurements of links, and the trace that a network with a root makes of them."""

from __future__ import annotations

import csv
import json
import math
from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from slowhand.keys import TRACE_COLUMNS as COLUMNS
from slowhand.terminal import printable

CHANNELS = range(11, 27)
"""The channels of the 2.4 GHz band (IEEE 802.15.4)."""

Link = tuple[str, str]
"""The names of sender and receiver."""


class TraceError(Exception):
    """A file that is no trace. The message says where, what was found and what is allowed."""

    def __init__(self, reason: str, option: str | None = None, filename: Path | None = None):
        super().__init__(f"{option}: {reason}" if option else reason)
        self.option = option
        """The option that is wrong, if it is not the file."""
        self.filename = filename
        """The file that is wrong, if it is known."""


@dataclass(frozen=True)
class Row:
    """A measurement: the share of frames that arrived, on a channel or (`None`) on all."""

    time_s: float
    sender: str
    receiver: str
    channel: int | None
    pdr: float


@dataclass(frozen=True)
class Acknowledged:
    """The share of the transmissions from one node to another that were acknowledged.

    One is acknowledged if the frame arrives and then its acknowledgement does.
    """

    sender: str
    receiver: str
    share: float
    weight: float = 1.0
    """The number of transmissions that were counted, if that is known."""


def of_acknowledged(found: Iterable[Acknowledged]) -> list[Row]:
    """The delivery ratios behind these shares, the same in both directions of a link.

    A share says the product of both directions, and so does that of the other end. Equal ratios
    are assumed: each is the square root of the mean share.
    """
    sums: dict[Link, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for one in found:
        first, second = sorted((one.sender, one.receiver), key=_order)
        total = sums[first, second]
        total[0] += one.share * one.weight
        total[1] += one.weight
    rows = []
    for (first, second), (arrived, weight) in sums.items():
        pdr = math.sqrt(min(1.0, arrived / weight))
        rows += [Row(0.0, first, second, None, pdr), Row(0.0, second, first, None, pdr)]
    return rows


class Trace:
    """The measurements that a network with a root can use."""

    def __init__(self, rows: Iterable[Row], *, root: str | None = None, least_pdr: float = 0.0):
        """Numbers the nodes: `root` becomes node 0 (default: the first name).

        Links with a mean below `least_pdr` in either direction, or that nothing passes, are left
        out; so are nodes without a path to the root.
        """
        if not 0 <= least_pdr <= 1:
            raise TraceError(
                f"found {least_pdr}, allowed: a share from 0 to 1", option="--least-pdr"
            )
        rows = sorted(rows, key=lambda row: row.time_s)
        if not rows:
            raise TraceError("found no measurement of a link, allowed: at least one")
        first = rows[0].time_s
        ratios: dict[Link, list[float]] = defaultdict(list)
        for row in rows:
            ratios[row.sender, row.receiver].append(row.pdr)
        means = {link: sum(found) / len(found) for link, found in ratios.items()}
        names = sorted({name for link in means for name in link}, key=_order)
        if root is not None and root not in names:
            allowed = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
            reason = f"found {printable(root)}, allowed: a node: {allowed}"
            raise TraceError(reason, option="--root")
        both = {
            (a, b)
            for a, b in means
            if min(means[a, b], means.get((b, a), 0.0)) >= max(least_pdr, 1e-9)
        }
        reached = _reached(both, names[0] if root is None else root)
        self.nodes = {name: number for number, name in enumerate(reached)}
        """The number of each node, by its name."""
        self.left_out = [name for name in names if name not in self.nodes]
        """The nodes without a path to the root."""
        self.links = [
            (self.nodes[a], self.nodes[b], means[a, b], means[b, a])
            for a, b in sorted(both, key=lambda link: [self.nodes.get(n, -1) for n in link])
            if a in self.nodes and b in self.nodes and self.nodes[a] < self.nodes[b]
        ]
        """Both ends of each link, and the mean ratio in each direction."""
        self.length_s = rows[-1].time_s - first
        """The time from the first measurement to the last."""
        times = len({row.time_s for row in rows})
        self.repeat_s = max(1, math.ceil(self.length_s * times / max(1, times - 1)))
        """After this time the trace may begin again: the last measurement counts as long as the
        others on average."""
        kept = {frozenset(link[:2]) for link in self.links}
        self.rows = [
            (row.time_s - first, self.nodes[row.sender], self.nodes[row.receiver], row)
            for row in rows
            if row.sender in self.nodes
            and row.receiver in self.nodes
            and frozenset((self.nodes[row.sender], self.nodes[row.receiver])) in kept
        ]
        """The measurements of these links: time, sender, receiver."""
        if not self.links:
            raise TraceError("found no link that works in both directions, allowed: at least one")

    def csv(self) -> str:
        """The trace as the text of a CSV file."""
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        for time_s, sender, receiver, row in self.rows:
            time = f"{time_s:.6f}".rstrip("0").rstrip(".")
            writer.writerow([time, sender, receiver, row.channel, f"{row.pdr:.6g}"])
        return text.getvalue()

    def network(self, file: str | None) -> str:
        """The section of a scenario with these links, and with the trace in this file."""
        links = "".join(
            f"    {{ from = {a}, to = {b}, pdr = {pdr:.3g}, reverse_pdr = {reverse:.3g} }},\n"
            for a, b, pdr, reverse in self.links
        )
        topology = f'[network]\ntopology = {{ kind = "explicit", links = [\n{links}] }}\n'
        if file is None:
            return topology
        return f"{topology}trace = {{ file = {json.dumps(file)}, repeat_s = {self.repeat_s} }}\n"

    def about(self) -> dict[str, Any]:
        """The content of the trace."""
        return {
            "nodes": self.nodes,
            "left_out": self.left_out,
            "links": [
                {"from": a, "to": b, "pdr": pdr, "reverse_pdr": reverse}
                for a, b, pdr, reverse in self.links
            ],
            "rows": len(self.rows),
            "length_s": self.length_s,
            "repeat_s": self.repeat_s,
        }


def _order(name: str) -> tuple[int, int, str]:
    """Numbers in their order, before other names."""
    return (0, int(name), "") if name.isdecimal() and len(name) < 20 else (1, 0, name)


def _reached(links: Iterable[Link], root: str) -> list[str]:
    """The nodes with a path to the root: the root, then the others in the order of their names."""
    neighbours: dict[str, list[str]] = defaultdict(list)
    for sender, receiver in links:
        neighbours[sender].append(receiver)
    reached, waiting = {root}, deque([root])
    while waiting:
        found = set(neighbours[waiting.popleft()]) - reached
        reached |= found
        waiting.extend(found)
    return [root, *sorted(reached - {root}, key=_order)]
