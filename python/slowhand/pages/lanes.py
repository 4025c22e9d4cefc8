"""The timeline of one handshake as HTML: where the time went in words, and every layer as a lane.

What is here is text and a table, which need no script. `lanes.js` draws the lanes from the data.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Protocol

from slowhand.output import Output
from slowhand.pages import skeleton
from slowhand.pages.skeleton import embedded, text

Document = Mapping[str, Any]
"""The explanation of one handshake (docs/explain.md says what it has)."""


class Explanation(Protocol):
    """What `Scenario.explain` returns."""

    @property
    def document(self) -> Document:
        """All that there is to show."""


STATES = ("ok", "lost", "needed", "spurious")
"""What became of an event, by the number that the data has."""

COLOURS = 7
"""How many parts have a colour of their own. The next ones have the same colours with stripes."""


def timeline(explanation: Explanation, path: str | os.PathLike[str]) -> None:
    """Writes the timeline of a handshake as an HTML file.

    `explanation` is that of `Scenario.explain`. The file needs no network and no other file.
    """
    page = encoded(explanation.document)
    Output("timeline", os.fspath(path)).write(lambda file: file.write_bytes(page))


def encoded(document: Document) -> bytes:
    """The octets of that file."""
    title = f"Handshake of seed {document['seed']}, client {document['client']}"
    body = (
        f"<header><h1>{text(title)}</h1><p>{text(document['scenario'])}, "
        f"slowhand {text(document['version'])}</p></header>\n"
        f"<main>{section(document, 'handshake', level=2)}</main>"
    )
    return skeleton.page(f"{title}: {document['scenario']}", body).encode()


def section(document: Document, name: str, *, level: int) -> str:
    """The part of a page that shows one handshake. `name` is unique in the page."""
    return skeleton.asset("lanes.html").format(
        name=text(name),
        h=f"h{level}",
        outcome=text(_outcome(document)),
        failed="" if document["outcome"] == "completed" else " failed",
        summary=text(document["summary"]),
        bar=_bar(document["parts"], name),
        parts=_parts(document["parts"]),
        data=embedded(columns(document)),
    )


def columns(document: Document) -> dict[str, Any]:
    """The events in columns of numbers. Times are in microseconds, texts are in a list."""
    events: Sequence[Mapping[str, Any]] = document["events"]
    places = {event["id"]: place for place, event in enumerate(events)}
    numbers: dict[Any, int] = {}

    def number(value: Any) -> int:
        return numbers.setdefault(value, len(numbers))

    begins = [microseconds(event["from_s"]) for event in events]
    packed = {
        "lane": [event["lane"] for event in events],
        "kind": [number(event["kind"]) for event in events],
        "name": [number(event["name"]) for event in events],
        "after": [b - a for a, b in pairwise([0, *begins])],
        "length": [
            microseconds(event["to_s"]) - begin for event, begin in zip(events, begins, strict=True)
        ],
        "state": [STATES.index(event["state"]) for event in events],
        "cause": [places.get(event["cause"], -1) for event in events],
        "critical": [place for place, event in enumerate(events) if event["critical"]],
        "detail": [[number(word) for pair in event["detail"] for word in pair] for event in events],
    }
    return {
        "from": microseconds(document["start_s"]),
        "to": microseconds(document["end_s"]),
        "lanes": [[lane["name"], lane["host"], lane["layer"]] for lane in document["lanes"]],
        "parts": [
            {"kind": part["kind"], "spans": [[*map(microseconds, span)] for span in part["spans"]]}
            for part in document["parts"]
        ],
        "path": [
            [
                microseconds(step["from_s"]),
                microseconds(step["to_s"]),
                step["part"],
                places.get(step["event"], -1),
            ]
            for step in document["path"]
        ],
        "events": packed,
        "texts": list(numbers),
    }


def microseconds(seconds: float) -> int:
    """A time of the document: it is exact to the microsecond."""
    return round(seconds * 1e6)


def _outcome(document: Document) -> str:
    duration = seconds(document["end_s"] - document["start_s"])
    if document["outcome"] == "completed":
        return f"The handshake completed in {duration}."
    outcome = str(document["outcome"]).replace("_", " ")
    reason = f": {document['reason']}" if document["reason"] else ""
    return f"The handshake failed after {duration}, {outcome}{reason}."


def seconds(value: float) -> str:
    """A time for reading, with its unit.

    >>> seconds(4.31), seconds(0.0123456), seconds(0.000326), seconds(0)
    ('4.310 s', '0.012 s', '326 µs', '0 s')
    """
    if value >= 0.01:
        return f"{value:,.3f} s"
    return f"{value * 1e6:,.0f} µs" if value else "0 s"


def _share(part: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]) -> float:
    total: int = sum(other["microseconds"] for other in parts)
    return 100 * int(part["microseconds"]) / (total or 1)


def colour(number: int) -> str:
    """The class that has the colour of a part; beyond the colours, stripes."""
    return f"part{number % COLOURS}" + (" striped" if number >= COLOURS else "")


def _bar(parts: Sequence[Mapping[str, Any]], name: str) -> str:
    """The parts as one bar. The table below it has the same, so it is hidden from readers."""
    drawn, left = [], 0.0
    for number, part in enumerate(parts):
        width = _share(part, parts)
        drawn.append(
            f'<rect class="{colour(number)}" x="{left:.3f}%" width="{width:.3f}%" height="22"'
            f' data-part="{number}"><title>{text(part["text"])}</title></rect>'
        )
        if width > 2:
            drawn.append(f'<text x="{left + width / 2:.3f}%" y="15">{number + 1}</text>')
        left += width
    return f'<svg class="bar" height="22" aria-hidden="true">{"".join(drawn)}</svg>'


def _parts(parts: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(map("".join, map(partial(_part, parts=parts), range(len(parts)))))


def _part(number: int, parts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    part = parts[number]
    remedy = f"<p class=remedy>{text(part['remedy'])}</p>" if part["remedy"] else ""
    yield f'<tr data-part="{number}"><th scope="row">'
    yield f'<button type="button" aria-pressed="false"><i class="{colour(number)}"></i>'
    yield f"{number + 1} {text(part['kind'])}</button></th>"
    yield f'<td>{text(part["host"])}</td><td class="number">{seconds(part["seconds"])}</td>'
    yield f'<td class="number">{_share(part, parts):.1f} %</td>'
    yield f"<td>{text(part['text'])}{remedy}</td></tr>"
