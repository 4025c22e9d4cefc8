"""The trace of one handshake in the Trace Event Format, which Perfetto and speedscope open.

The format: "Trace Event Format", the document of the Chromium project that
https://ui.perfetto.dev links. Lanes are threads, events are complete events, causes are flows.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from slowhand.output import Output
from slowhand.pages.lanes import Document, microseconds

if TYPE_CHECKING:
    from slowhand.explain import Explanation

PROCESS = 1
"""The only process: the handshake."""

PATH = 1
"""The thread of the critical path. Those of the lanes follow."""

Row = dict[str, Any]


def chrome_trace(explanation: Explanation, path: str | os.PathLike[str]) -> None:
    """Writes the trace of a handshake as JSON for https://ui.perfetto.dev or speedscope.

    `explanation` is that of `Scenario.explain`.
    """
    trace = encoded(explanation.document)
    Output("trace", os.fspath(path)).write(lambda file: file.write_bytes(trace))


def encoded(document: Document) -> bytes:
    """The octets of that file."""
    keys = ("version", "scenario", "seed", "client", "outcome", "reason", "summary")
    trace = {
        "displayTimeUnit": "ms",
        "otherData": {key: document[key] for key in keys},
        "traceEvents": trace_events(document),
    }
    return json.dumps(trace, separators=(",", ":")).encode()


def trace_events(document: Document) -> list[Row]:
    """Names first, then everything by its time."""
    threads = _threads(document)
    names = ["critical path", *(name for name, _ in threads)]
    rows = [_named("process_name", 0, name=f"handshake of seed {document['seed']}")]
    for thread, name in enumerate(names, PATH):
        rows.append(_named("thread_name", thread, name=name))
        rows.append(_named("thread_sort_index", thread, sort_index=thread))
    spans = [*_path(document), *_spans(document, threads)]
    flows = _flows(document, {row["args"]["id"]: row for row in spans if "id" in row["args"]})
    return rows + sorted([*spans, *flows], key=lambda row: row["ts"])  # stable: spans first


def _threads(document: Document) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Each lane with its events. The events of a thread may not overlap: some lanes need more."""
    threads = []
    for number, lane in enumerate(document["lanes"]):
        rows: list[list[Mapping[str, Any]]] = []
        for event in document["events"]:
            if event["lane"] == number:
                free = (row for row in rows if row[-1]["to_s"] <= event["from_s"])
                row = next(free, None)
                if row is None:
                    rows.append(row := [])
                row.append(event)
        for further, row in enumerate(rows, 1):
            name = f"{lane['layer']}: {lane['name']}"
            threads.append((name if further == 1 else f"{name} ({further})", row))
    return threads


def _path(document: Document) -> Iterator[Row]:
    for step in document["path"]:
        part = document["parts"][step["part"]]
        words = {"part": step["part"] + 1, "text": part["text"], "host": part["host"]}
        yield _complete(part["kind"], "critical path", step, PATH, words)


def _spans(
    document: Document, threads: Sequence[tuple[str, Sequence[Mapping[str, Any]]]]
) -> Iterator[Row]:
    for thread, (_, events) in enumerate(threads, PATH + 1):
        for event in events:
            category = event["kind"] + ("" if event["state"] == "ok" else f",{event['state']}")
            words = {
                "id": event["id"],
                "state": event["state"],
                "critical": event["critical"],
                **dict(event["detail"]),
            }
            yield _complete(event["name"], category, event, thread, words)


def _flows(document: Document, spans: Mapping[int, Row]) -> Iterator[Row]:
    """An arrow from each cause to its effect: a start and an end with the same number."""
    for event in document["events"]:
        cause, effect = spans.get(event["cause"]), spans[event["id"]]
        if cause is None or cause["ts"] > effect["ts"]:
            continue
        common = {"name": "cause", "cat": "cause", "id": event["id"], "pid": PROCESS}
        yield {**common, "ph": "s", "ts": cause["ts"], "tid": cause["tid"]}
        yield {**common, "ph": "f", "bp": "e", "ts": effect["ts"], "tid": effect["tid"]}


def _named(what: str, thread: int, **words: object) -> Row:
    return {"name": what, "ph": "M", "pid": PROCESS, "tid": thread, "ts": 0, "args": words}


def _complete(
    name: str, category: str, span: Mapping[str, Any], thread: int, words: Mapping[str, Any]
) -> Row:
    begin = microseconds(span["from_s"])
    return {
        "name": name,
        "cat": category,
        "ph": "X",
        "ts": begin,
        "dur": microseconds(span["to_s"]) - begin,
        "pid": PROCESS,
        "tid": thread,
        "args": dict(words),
    }
