"""Measurements of links in networks that exist, converted into what a scenario reads.

Files are known by their content, packed with gzip or not:

- Data sets of testbeds (`testbeds`): K7, the format of Brun-Laguna et al.
  (https://github.com/keomabrun/k7); the raw data sets of Mercator
  (https://github.com/openwsn-berkeley/mercator, datasets/); tables with the columns of a trace.
- The capture of a sniffer (`sniffer`): frames that were repeated.
- What the consoles of OpenThread and Contiki-NG print (`consoles`): what each node knows.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from slowhand.keys import TRACE_COLUMNS as COLUMNS
from slowhand.links import consoles, sniffer, testbeds
from slowhand.links.rows import Acknowledged, Row, Trace, TraceError, of_acknowledged
from slowhand.links.scenario import scenario
from slowhand.terminal import printable

__all__ = ["Found", "Trace", "TraceError", "read", "scenario"]

MOST_OCTETS = 1 << 31
"""A file may have so many octets, also when it is unpacked. (Assumed: more is a mistake.)"""

PART_OCTETS = 1 << 20
"""So many octets are read at a time."""

_ALLOWED = (
    "allowed: a K7 file, a raw data set of Mercator, a capture of IEEE 802.15.4, the output of"
    " OpenThread's or Contiki-NG's console, or a table with the columns " + ", ".join(COLUMNS)
)


@dataclass
class Found:
    """The measurements of one or more files."""

    rows: list[Row] = field(default_factory=list)
    like: str = "csma"
    """The bundled scenario whose other sections suit the network."""
    notes: list[str] = field(default_factory=list)
    """Sentences on the measurements that a reader should know."""


def read(paths: Sequence[Path]) -> Found:
    """The measurements in these files: several are those of several nodes, or times.

    Raises `TraceError` if one is of no known kind, and `OSError` if it cannot be read. Both have
    the file's name in `filename`.
    """
    found, acknowledged = Found(), list[Acknowledged]()
    for path in paths:
        try:
            with path.open("rb") as file:
                octets = _unpacked(_all(file))
            if (capture := sniffer.known(octets)) is not None:
                acknowledged += capture.acknowledged
                found.notes += capture.notes
                continue
            is_text = not octets.startswith(testbeds.PARQUET)
            # Noise on a serial line damages the line of a console that it is on, and no other.
            printed = octets.decode("utf-8-sig", errors="replace") if is_text else ""
            if (console := consoles.known(printed, path.stem)) is not None:
                acknowledged += console.acknowledged
                found.like = console.like
                found.notes += _unnamed(console, path, len(paths) > 1)
                continue
            text = octets.decode("utf-8-sig") if is_text else ""
            rows = testbeds.known(octets, text)
        except UnicodeDecodeError as error:
            reason = f"found what is no text: {printable(str(error))}, {_ALLOWED}"
            raise TraceError(reason, filename=path) from None
        except TraceError as error:
            error.filename = path
            raise
        if rows is None:
            first = printable(text.partition("\n")[0], 60) or "nothing"
            raise TraceError(f"line 1: found {first}, {_ALLOWED}", filename=path)
        found.rows += rows
    if acknowledged:
        found.rows += of_acknowledged(acknowledged)
        found.notes.append(
            "These are shares of acknowledged frames. A frame and its acknowledgement are taken to"
            " arrive equally often."
        )
    return found


def _unnamed(console: consoles.Console, path: Path, is_one_of_several: bool) -> Iterator[str]:
    """A note if a node does not say its name. Of several files each node would be there twice."""
    if not console.naming:
        return
    if is_one_of_several:
        raise TraceError(
            f"found no name of the node itself, allowed: also the output of {console.naming}, since"
            " the other files call it by that"
        )
    yield (
        f"{path.name} does not say the name by which others call its node: type"
        f" {console.naming} too. Else a node that is also a neighbour of another counts as two."
    )


def _all(file: BinaryIO | gzip.GzipFile) -> bytes:
    """The content of a file. Raises `TraceError` if that is too much, as it is of a device."""
    parts, count = list[bytes](), 0
    while part := file.read(PART_OCTETS):
        parts.append(part)
        count += len(part)
        if count > MOST_OCTETS:
            raise TraceError(f"found more than {MOST_OCTETS:,} octets, allowed: a smaller file")
    return b"".join(parts)


def _unpacked(octets: bytes) -> bytes:
    if not octets.startswith(b"\x1f\x8b"):  # RFC 1952
        return octets
    try:
        with gzip.GzipFile(fileobj=BytesIO(octets)) as file:
            return _all(file)
    except (OSError, EOFError, zlib.error) as error:
        raise TraceError(f"found what is no text: {printable(str(error))}, {_ALLOWED}") from None
