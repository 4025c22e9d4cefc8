"""The timeline of one handshake as HTML: where the time went in words, and every layer as a lane.

What is here is text and a table, which need no script. `lanes.js` draws the lanes from the data.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from slowhand.output import Output
from slowhand.pages import skeleton
from slowhand.pages.skeleton import embedded, text

if TYPE_CHECKING:
    from slowhand.explain import Explanation

Document = Mapping[str, Any]
"""The explanation of one handshake (docs/explain.md says what it has)."""

Part = Mapping[str, Any]
"""A part of the time, as `parts` of the explanation has it."""

STATES = ("ok", "lost", "needed", "spurious")
"""The outcomes of an event, by the number that the data has."""

COLOURS = 7
"""So many kinds of parts have a colour of their own. The next ones have these with stripes."""


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
        bar=_bar(document["parts"]),
        parts=_rows(document),
        data=embedded(columns(document)),
    )


def columns(document: Document) -> dict[str, Any]:
    """The events in columns of numbers. Times are in microseconds, texts are in a list."""
    events: Sequence[Mapping[str, Any]] = document["events"]
    places = {event["id"]: place for place, event in enumerate(events)}
    numbers: dict[Any, int] = {}
    colours = _colours(document["parts"])

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
            {
                "kind": part["kind"],
                "colour": colours[part["kind"]],
                "causes": [places[cause] for cause in part["causes"]],
                "spans": [[*map(microseconds, span)] for span in part["spans"]],
            }
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


def _share(part: Part, parts: Sequence[Part]) -> float:
    total: int = sum(other["microseconds"] for other in parts)
    return 100 * int(part["microseconds"]) / (total or 1)


def _colours(parts: Sequence[Part]) -> dict[str, int]:
    """A number for each kind of part. Those of the largest parts come first."""
    kinds = dict.fromkeys(part["kind"] for part in parts)
    return {kind: number for number, kind in enumerate(kinds)}


def _class(part: Part, parts: Sequence[Part]) -> str:
    """The class that has the colour of a part; beyond the colours, stripes."""
    number = _colours(parts)[part["kind"]]
    return f"part{number % COLOURS}" + (" striped" if number >= COLOURS else "")


def _bar(parts: Sequence[Part]) -> str:
    """The parts as one bar. The table below it has the same, so it is hidden from readers."""
    drawn, left = [], 0.0
    for number, part in enumerate(parts):
        width = _share(part, parts)
        drawn.append(
            f'<rect class="{_class(part, parts)}" x="{left:.3f}%" width="{width:.3f}%" height="22"'
            f' data-part="{number}"><title>{text(part["text"])}</title></rect>'
        )
        if width > 2:
            drawn.append(f'<text x="{left + width / 2:.3f}%" y="15">{number + 1}</text>')
        left += width
    return f'<svg class="bar" height="22" aria-hidden="true">{"".join(drawn)}</svg>'


def _rows(document: Document) -> str:
    """A row for each part."""
    parts: Sequence[Part] = document["parts"]
    roles = {host["name"]: f"{host['name']}, {host['role']}" for host in document["hosts"]}
    lines = []
    for number, part in enumerate(parts):
        cells = [
            f'<th scope="row"><button type="button" aria-pressed="false">'
            f'<i class="{_class(part, parts)}"></i>{number + 1} {text(part["kind"])}</button></th>',
            f"<td>{text(roles.get(part['host'], part['host']))}</td>",
            f'<td class="number">{seconds(part["seconds"])}</td>',
            f'<td class="number">{_share(part, parts):.1f} %</td>',
            f"<td>{text(part['text'])}</td>",
            f"<td>{text(part['remedy'] or '')}</td>",
        ]
        lines.append(f'<tr data-part="{number}">{"".join(cells)}</tr>')
    return "\n".join(lines)
