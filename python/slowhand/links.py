"""Traces of testbeds, converted into what `network.trace` of a scenario reads.

Three kinds of files are known by their content, packed with gzip or not:

- K7, the format of the data sets of Brun-Laguna et al. (https://github.com/keomabrun/k7): a line of
  JSON, then `datetime,src,dst,channel,mean_rssi,pdr,tx_count`, in older files with further columns.
- The raw data sets of Mercator (https://github.com/openwsn-berkeley/mercator, datasets/): a line
  for each frame that a node received. Here they become the share of each series of frames.
- A table with the columns of the trace itself, as CSV or Parquet, for data that you have prepared.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

from slowhand.terminal import printable

COLUMNS = ("time_s", "from", "to", "channel", "pdr")
"""The columns of a trace."""

CHANNELS = range(11, 27)
"""The channels of the 2.4 GHz band (IEEE 802.15.4)."""

PAUSE_S = 60.0
"""A node of Mercator that sends a series of the same number after such a pause sends a new one: its
counter of series has 8 bits. (Assumed: a series of 100 frames takes some seconds.)"""

Link = tuple[str, str]
"""The names of sender and receiver."""


class TraceError(Exception):
    """A file that is no trace. The message says where, what was found and what is allowed."""

    def __init__(self, reason: str, option: str | None = None):
        super().__init__(f"{option}: {reason}" if option else reason)
        self.option = option
        """The option that is wrong, if it is not the file."""


@dataclass(frozen=True)
class Row:
    """A measurement: the share of frames that arrived, on a channel or (`None`) on all."""

    time_s: float
    sender: str
    receiver: str
    channel: int | None
    pdr: float


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
            channel = "" if row.channel is None else row.channel
            writer.writerow(
                [
                    f"{time_s:.6f}".rstrip("0").rstrip("."),
                    sender,
                    receiver,
                    channel,
                    f"{row.pdr:.6g}",
                ]
            )
        return text.getvalue()

    def network(self, file: str) -> str:
        """The section of a scenario that uses the trace in this file."""
        links = "".join(
            f"    {{ from = {a}, to = {b}, pdr = {pdr:.3g}, reverse_pdr = {reverse:.3g} }},\n"
            for a, b, pdr, reverse in self.links
        )
        trace = f"{{ file = {json.dumps(file)}, repeat_s = {self.repeat_s} }}"
        topology = f'topology = {{ kind = "explicit", links = [\n{links}] }}'
        return f"[network]\n{topology}\ntrace = {trace}\n"

    def about(self) -> dict[str, Any]:
        """What is in the trace."""
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


def read(path: Path) -> list[Row]:
    """The measurements in a file.

    Raises `TraceError` if it is of no known kind, and `OSError` if it cannot be read.
    """
    octets = path.read_bytes()
    try:
        if octets.startswith(b"\x1f\x8b"):  # RFC 1952
            octets = gzip.decompress(octets)
        if octets.startswith(b"PAR1"):
            return list(_of_table(_parquet(octets)))
        text = octets.decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise TraceError(f"found what is no text: {printable(str(error))}, {_ALLOWED}") from None
    first, _, rest = text.partition("\n")
    if first.startswith("{"):
        return list(_of_k7(_lines(rest, 2)))
    names = {name.strip() for name in first.split(",")}
    if {"srcmac", "transctr", "pkctr"} <= names:
        return _of_mercator(_lines(text, 1))
    if set(COLUMNS) <= names:
        return list(_of_table(_lines(text, 1)))
    raise TraceError(f"line 1: found {printable(first, 60) or 'nothing'}, {_ALLOWED}")


_ALLOWED = (
    "allowed: a K7 file, a raw data set of Mercator, or a table with the columns "
    + ", ".join(COLUMNS)
)

Line = tuple[int, dict[str, str]]
"""The number of a line, and its values by column."""


def _lines(text: str, first: int) -> Iterator[Line]:
    reader = csv.DictReader(StringIO(text), restval="")
    for values in reader:
        yield (
            first + reader.line_num - 1,
            {k.strip(): v for k, v in values.items() if k is not None},
        )


def _of_k7(lines: Iterable[Line]) -> Iterator[Row]:
    found = list(lines)
    # Older files have percentages (`normalize` in k7.py).
    scale = 0.01 if any(_number(line, "pdr") > 1 for line in found) else 1.0
    for line in found:
        sender, receiver = _text(line, "src"), _text(line, "dst")
        if not (sender and receiver):
            continue  # measured over all neighbours of a node
        time_s, pdr = _time(line, "datetime"), _ratio(line, scale)
        column = "channel" if "channel" in line[1] else "channels"
        # Older files have a list, `[11;12]`. Without a channel the measurement is of all.
        found_channels = re.findall(r"[^\[\];\s]+", _text(line, column))
        channels: list[int | None] = [_channel(line, column, text) for text in found_channels]
        for channel in channels or [None]:
            yield Row(time_s, sender, receiver, channel, pdr)


def _of_mercator(lines: Iterable[Line]) -> list[Row]:
    """The share of each series of frames that each node received.

    A series has `txnumpk` frames with different `pkctr`. A node that received none of them has no
    line: its share is 0.
    """

    @dataclass
    class Series:
        begin_s: float
        last_s: float
        sender: str
        channel: int
        frames: int
        received: dict[str, set[str]]

    series: list[Series] = []
    latest: dict[tuple[str, str, int], Series] = {}
    names: set[str] = set()
    for line in lines:
        if _text(line, "crc") != "1" or _text(line, "expected") != "1":
            continue  # damaged, or of a node that takes no part: its source means nothing
        time_s, sender, receiver = (
            _time(line, "timestamp"),
            _text(line, "srcmac"),
            _text(line, "mac"),
        )
        number = _number(line, "frequency")
        # 11 to 26 in the files; megahertz in their description.
        channel = _channel(
            line, "frequency", str((number - 2405) / 5 + 11 if number > 26 else number)
        )
        key = (sender, _text(line, "transctr"), channel)
        current = latest.get(key)
        if current is None or time_s - current.last_s > PAUSE_S:
            frames = int(_number(line, "txnumpk"))
            if frames < 1:
                raise _wrong(line, "txnumpk", "the number of frames of a series, 1 or more")
            current = latest[key] = Series(
                time_s, time_s, sender, channel, frames, defaultdict(set)
            )
            series.append(current)
        current.last_s = time_s
        current.received[receiver].add(_text(line, "pkctr"))
        names |= {sender, receiver}
    return [
        Row(
            s.begin_s, s.sender, name, s.channel, min(1.0, len(s.received.get(name, ())) / s.frames)
        )
        for s in series
        for name in sorted(names - {s.sender})
    ]


def _of_table(lines: Iterable[Line]) -> Iterator[Row]:
    for line in lines:
        channel = _text(line, "channel")
        yield Row(
            _number(line, "time_s"),
            _text(line, "from"),
            _text(line, "to"),
            _channel(line, "channel", channel) if channel else None,
            _ratio(line, 1.0),
        )


def _parquet(octets: bytes) -> Iterator[Line]:
    import polars

    try:
        frame = polars.read_parquet(BytesIO(octets))
        rows = frame.select(COLUMNS).iter_rows(named=True)
    except polars.exceptions.PolarsError as error:
        raise TraceError(f"found {printable(str(error), 100)}, {_ALLOWED}") from None
    for number, row in enumerate(rows, 1):
        yield number, {name: "" if value is None else str(value) for name, value in row.items()}


def _text(line: Line, column: str) -> str:
    return (line[1].get(column) or "").strip()


def _wrong(line: Line, column: str, allowed: str) -> TraceError:
    found = printable(_text(line, column)) or "nothing"
    return TraceError(f"line {line[0]}: {column}: found {found}, allowed: {allowed}")


def _number(line: Line, column: str) -> float:
    try:
        number = float(_text(line, column))
    except ValueError:
        number = float("nan")
    if not 0 <= number < 1e12:
        raise _wrong(line, column, "a number, 0 or more")
    return number


def _ratio(line: Line, scale: float) -> float:
    ratio = _number(line, "pdr") * scale
    if ratio > 1:
        raise _wrong(line, "pdr", "a share from 0 to 1")
    return ratio


def _channel(line: Line, column: str, text: str) -> int:
    try:
        channel = float(text)
    except ValueError:
        channel = 0.0
    if channel not in CHANNELS:
        raise _wrong(line, column, "a channel from 11 to 26")
    return int(channel)


def _time(line: Line, column: str) -> float:
    """Seconds since 1970. The data sets separate year, month, ... in different ways."""
    parts = [int(part) for part in re.findall(r"\d+", _text(line, column))]
    try:
        whole = datetime(*parts[:6], tzinfo=UTC)  # type: ignore[misc,arg-type]
    except (TypeError, ValueError):
        raise _wrong(line, column, "a time, such as 2018-01-11 16:33:07") from None
    return whole.timestamp()


def _order(name: str) -> tuple[int, int, str]:
    """Numbers in their order, before other names."""
    return (0, int(name), "") if name.isdecimal() else (1, 0, name)


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
