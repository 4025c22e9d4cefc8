"""Data sets of testbeds: K7, Mercator, and tables with the columns of a trace."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO, StringIO

from slowhand.keys import TRACE_COLUMNS as COLUMNS
from slowhand.links.rows import CHANNELS, Row, TraceError
from slowhand.results import parquet_errors
from slowhand.terminal import printable

PAUSE_S = 60.0
"""A node of Mercator that sends a series of the same number after such a pause sends a new one: its
counter of series has 8 bits. (Assumed: a series of 100 frames takes some seconds.)"""

PARQUET = b"PAR1"
"""The first octets of a file of Parquet."""

Line = tuple[int, dict[str, str]]
"""The number of a line, and its values by column."""


def known(octets: bytes, text: str) -> list[Row] | None:
    """The rows of a data set; `None` if it is none. Raises `TraceError` for a wrong line."""
    if octets.startswith(PARQUET):
        return list(_of_table(_parquet(octets)))
    first, _, rest = text.partition("\n")
    if first.startswith("{"):
        return list(_of_k7(_lines(rest, 2)))
    names = {name.strip() for name in first.split(",")}
    if {"srcmac", "transctr", "pkctr"} <= names:
        return _of_mercator(_lines(text, 1))
    if set(COLUMNS) <= names:
        return list(_of_table(_lines(text, 1)))
    return None


def _lines(text: str, first: int) -> Iterator[Line]:
    reader = csv.DictReader(StringIO(text), restval="")
    try:
        for values in reader:
            yield (
                first + reader.line_num - 1,
                {k.strip(): v for k, v in values.items() if k is not None},
            )
    except csv.Error as error:
        line = first + reader.line_num
        reason = f"line {line}: found what is no table: {error}, allowed: values between commas"
        raise TraceError(reason) from None


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
        time_s = _time(line, "timestamp")
        sender, receiver = _text(line, "srcmac"), _text(line, "mac")
        number = _number(line, "frequency")
        if number > 26:  # 11 to 26 in the files; megahertz in their description
            number = (number - 2405) / 5 + 11
        channel = _channel(line, "frequency", str(number))
        key = (sender, _text(line, "transctr"), channel)
        current = latest.get(key)
        if current is None or time_s - current.last_s > PAUSE_S:
            frames = int(_number(line, "txnumpk"))
            if frames < 1:
                raise _wrong(line, "txnumpk", "the number of frames of a series, 1 or more")
            current = Series(time_s, time_s, sender, channel, frames, defaultdict(set))
            latest[key] = current
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
        with parquet_errors():
            frame = polars.read_parquet(BytesIO(octets))
            rows = frame.select(COLUMNS).iter_rows(named=True)
    except ValueError as error:
        reason = f"found {printable(str(error), 100)}, allowed: the columns {', '.join(COLUMNS)}"
        raise TraceError(reason) from None
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
    except (TypeError, ValueError, OverflowError):
        raise _wrong(line, column, "a time, such as 2018-01-11 16:33:07") from None
    return whole.timestamp()
