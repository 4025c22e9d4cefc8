"""Consoles of OpenThread and Contiki-NG, and what they print of the links of a node.

A file is what one node printed, or a log of several whose lines begin with the names of nodes.
All other lines of a log are left out, and so are colours and the times before lines.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import IPv6Address

from slowhand.links.rows import Acknowledged, TraceError


@dataclass
class Console:
    """The tables of a file."""

    like: str
    """The bundled scenario for this kind of network."""
    acknowledged: list[Acknowledged] = field(default_factory=list)
    naming: str = ""
    """The command that says a node's own name, if the output does not: others call it by that."""


def known(text: str, name: str) -> Console | None:
    """The links in the output of a console; `None` if it is none.

    `name` is that of the node, if the output does not say it. Raises `TraceError` if there is no
    measurement of losses in the output.
    """
    text = BEFORE.sub("", COLOUR.sub("", text))
    if OPENTHREAD.search(text):
        console = Console("thread", list(_OpenThread(text, name).links()))
        naming, address = "rloc16", r"0x[0-9a-f]{4}"
        wanted = "neighbor linkquality, meshdiag routerneighbortable or counters mac"
    elif CONTIKI.search(text):
        console = Console("csma", list(_contiki(text, name)))
        naming, address = "mac-addr", r"[0-9a-f]{4}(?:\.[0-9a-f]{4})*"
        wanted = "rpl-nbr, or the log of link-stats"
    else:
        return None
    if not console.acknowledged:
        raise TraceError(f"found no share of lost frames, allowed: the output of {wanted}")
    if not all(re.fullmatch(address, one.sender) for one in console.acknowledged):
        console.naming = naming
    return console


COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
"""Characters that a terminal does not print (ECMA-48, section 5.4): colours, cursor moves."""

_CLOCK = r"\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)*(?:Z|[+-]\d\d:?\d\d)?"
_DATE = r"\d{4}[-/.]\d\d[-/.]\d\d"
_TIME = rf"(?:{_DATE}(?:[T ]+{_CLOCK})?|(?:[A-Z][a-z]{{2}} +\d\d? +)?{_CLOCK}|\d+\.\d+)"

TIME = re.compile(rf"(?<!\S){_TIME}(?!\S)")
"""A date, a time or both, or seconds with a fraction."""

BEFORE = re.compile(rf"^[ \t]*(?:\[ *{_TIME} *\]|{_TIME}(?=[ \t]))[ \t]*", re.MULTILINE)
"""The words that a program that keeps a log writes before each line."""

OPENTHREAD = re.compile(
    r"^\| (?:Role \| |ID \| )?RLOC16 \||^rloc16:0x[0-9a-f]{4} ext-addr:|^\s*TxAckRequested: \d",
    re.MULTILINE,
)
"""The tables of `neighbor` and `router`, the lists of `meshdiag`, and `counters mac`."""

COMMAND = re.compile(
    r"(?:^|[>$]\s*)(?:ot )?(rloc16|meshdiag (?:routerneighbortable|childtable)"
    r" (?:0x)?([0-9a-fA-F]{4})|\w[\w ]*)\s*$"
)
"""A line on which a command was typed; before it may be a prompt."""


class _OpenThread:
    """The output of OpenThread's console (src/cli/README.md and the code beside it).

    Nodes have their RLOC16 as names. `Frame Error` is the share of transmissions of frames without
    an acknowledgement. A neighbour without one gets the mean of the node, from `counters mac`:
    there `TxAckRequested` and `TxAcked` count frames, and `TxRetry` their repetitions, also those
    after a busy channel (include/openthread/link.h, otMacCounters).
    """

    def __init__(self, text: str, name: str):
        self.own = name
        self.neighbours: set[str] = set()
        self.errors: dict[tuple[str, str], float] = {}
        self.counters: dict[str, int] = {}
        self._read(text.splitlines())

    def links(self) -> Iterator[Acknowledged]:
        """The share of acknowledged frames for each neighbour."""
        for (sender, receiver), error in self.errors.items():
            yield Acknowledged(sender or self.own, receiver, 1 - error)
        counters = self.counters
        sent = counters.get("TxAckRequested", 0) + counters.get("TxRetry", 0)
        for receiver in sorted(self.neighbours):
            if sent and ("", receiver) not in self.errors and receiver != self.own:
                share = min(1.0, counters.get("TxAcked", 0) / sent)
                yield Acknowledged(self.own, receiver, share)

    def _read(self, lines: list[str]) -> None:
        columns: list[str] = []
        command, sender, receiver = "", "", ""  # "" is the node itself
        for line in lines:
            if line.startswith("|"):
                cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
                if "RLOC16" in cells:
                    columns = cells
                else:
                    self._row(dict(zip(columns, cells, strict=False)))
            elif found := re.match(r"rloc16:(0x[0-9a-f]{4}) ", line):
                receiver = found[1]
            elif found := re.match(r"\s*err-rate - frame:\s*([\d.]+)\s*%", line):
                if sender and receiver:
                    self.errors[sender, receiver] = _share(found[1])
            elif found := re.match(r"\s*(Tx\w+): (\d{1,18})\s*$", line):
                self.counters[found[1]] = int(found[2])
            elif command == "rloc16" and (found := re.match(r"(?:0x)?([0-9a-f]{4})\s*$", line)):
                self.own = f"0x{found[1]}"
                command = ""
            elif found := COMMAND.search(line):
                command = found[1]
                sender = f"0x{found[2].lower()}" if found[2] else ""
                receiver = ""

    def _row(self, cells: dict[str, str]) -> None:
        """A line of `neighbor table`, `neighbor linkquality` or `router table`."""
        name = cells.get("RLOC16", "")
        if not re.fullmatch(r"0x[0-9a-f]{4}", name):
            return
        if found := re.fullmatch(r"([\d.]+) ?%", cells.get("Frame Error", "")):
            self.errors["", name] = _share(found[1])
        if "Role" in cells or cells.get("Link") == "1":
            self.neighbours.add(name)


def _share(percent: str) -> float:
    try:
        return min(1.0, float(percent) / 100)
    except ValueError:  # more than one point
        return 0.0


CONTIKI = re.compile(r"^RPL neighbors:|\bnum packets: tx=\d|\bnbr: own state, addr ", re.MULTILINE)
"""The command `rpl-nbr`, and the logs of the modules `link-stats` and `rpl`."""

ETX_DIVISOR = 128
"""A metric of 128 is an ETX of 1 (os/net/link-stats.h, LINK_STATS_ETX_DIVISOR)."""

OWN = re.compile(r"(?:Node MAC address|Link-layer address): ([0-9a-f.]{4,23})\s*$")
"""The command `mac-addr`, and what a node logs when it starts (contiki-main.c)."""

COUNTED = re.compile(
    r"num packets: tx=(\d{1,9}) ack=(\d{1,9}) rx=\d+ (?:queue_drops=\d+ )?to=([0-9a-f.]{4,23})\s*$"
)
"""os/net/link-stats.c, print_and_update_counters: what was sent and acknowledged in a period."""

NEIGHBOUR = re.compile(
    r"(?P<address>[0-9a-f:]*::[0-9a-f:]+?)[ \d]{5}, *(?P<metric>\d{1,5}) => *\d+ --"
    r" *\d+ [r ][b ][a ][f ][p ] \((?P<sent>last tx|no tx)"
)
"""os/net/routing/rpl-lite/rpl-neighbor.c, rpl_neighbor_snprint: address, rank, link metric."""


def _contiki(text: str, name: str) -> Iterator[Acknowledged]:
    """The output of Contiki-NG's shell, and of its logs.

    Nodes have their link-layer address as names. Counts are added up. The metric of `rpl-nbr` is
    1 / share, as the node estimates it: an expected number of transmissions (ETX). Without a
    transmission it is a first guess, which is left out.
    """
    own: dict[str, str] = {}
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    metrics: dict[tuple[str, str], int] = {}
    for line in text.splitlines():
        if found := OWN.search(line):
            own[_node(line, found.start())] = found[1]
        elif found := COUNTED.search(line):
            count = counts[_node(line, found.start()), found[3]]
            count[0] += int(found[1])
            count[1] += int(found[2])
        elif (found := NEIGHBOUR.search(line)) and found["sent"] == "last tx":
            link = _node(line, found.start()), _link_layer(found["address"])
            metrics[link] = int(found["metric"])
    for (node, receiver), (sent, acknowledged) in counts.items():
        if sent:
            share = min(1.0, acknowledged / sent)
            yield Acknowledged(own.get(node, node or name), receiver, share, sent)
    for (node, receiver), metric in metrics.items():
        if metric and not counts.get((node, receiver), (0, 0))[0]:
            share = min(1.0, ETX_DIVISOR / metric)
            yield Acknowledged(own.get(node, node or name), receiver, share)


def _node(line: str, end: int) -> str:
    """The name of a node, which is the last word before what it printed, if there is one.

    Times are no names.
    """
    words = TIME.sub("", line[:end].partition("[")[0]).split()
    return words[-1] if words and words[-1] not in ("#", ">") else ""


def _link_layer(address: str) -> str:
    """The link-layer address behind an IPv6 address with an identifier of it (RFC 4291, A)."""
    try:
        packed = bytearray(IPv6Address(address).packed[8:])
    except ValueError:
        return address
    packed[0] ^= 2  # the bit "universal/local"
    return ".".join(packed[at : at + 2].hex() for at in range(0, 8, 2))
