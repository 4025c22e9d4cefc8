"""Pages of one handshake, and its trace for other viewers: what is in them, without a browser."""

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from explanations import made
from slowhand import Explanation, pages
from slowhand.output import OutputError
from slowhand.pages import lanes

HOSTILE = "</script><img src=x onerror=alert(1)>'\"&amp;\u2028\udcff"
"""A text that a scenario's name or a library's reason may have in it."""


class Tags(HTMLParser):
    """The elements of a page, and the text of its scripts by their attributes."""

    def __init__(self, page: str):
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keeps an element."""
        self.found.append((tag, dict(attrs)))


def written(explanation: Explanation, folder: Path) -> tuple[str, dict[str, Any]]:
    """The page and the trace of a handshake."""
    pages.timeline(explanation, folder / "a.html")
    pages.chrome_trace(explanation, folder / "a.json")
    return (folder / "a.html").read_text(), json.loads((folder / "a.json").read_text())


def test_the_page_asks_for_nothing_and_is_the_same_each_time(tmp_path: Path) -> None:
    page, _ = written(made(), tmp_path)
    assert page == written(made(), tmp_path)[0]
    links = [value for _, a in Tags(page).found for key, value in a.items() if key in LINKS]
    assert links == ["data:,"]
    assert not re.findall(r"@import|url\(|fetch\(|XMLHttpRequest|https?://", page)
    assert "default-src 'none'" in page


LINKS = {"src", "href", "srcset", "action", "data", "poster", "xlink:href"}


def test_no_text_becomes_markup(tmp_path: Path) -> None:
    plain, _ = written(made(40), tmp_path)
    page, trace = written(made(40, text=HOSTILE), tmp_path)
    assert Tags(page).found != []
    tags = [tag for tag, _ in Tags(page).found]
    assert tags == [tag for tag, _ in Tags(plain).found]
    assert "onerror=alert(1)&gt;" in page  # as text it is there
    assert trace["otherData"]["summary"].endswith(HOSTILE)


def test_the_words_are_in_the_page_without_a_script(tmp_path: Path) -> None:
    explanation = made()
    page, _ = written(explanation, tmp_path)
    before = page[: page.index("<script")]
    assert explanation.document["summary"] in before
    for part in explanation.document["parts"]:
        assert part["text"] in before
        assert f"{part['seconds']:.3f} s" in before
        assert (part["remedy"] or "") in before


def test_a_handshake_that_failed_says_so(tmp_path: Path) -> None:
    explanation = made()
    explanation.document.update(outcome="timed_out", reason="no answer <8 s", duration_s=None)
    page, _ = written(explanation, tmp_path)
    assert re.search(r"failed after [\d.]+ s, timed out: no answer &lt;8 s\.", page)


def test_ten_thousand_events_need_less_than_a_megabyte(tmp_path: Path) -> None:
    page, _ = written(made(10_000), tmp_path)
    assert len(page) < 1_000_000


def test_the_data_of_the_page_is_that_of_the_document(tmp_path: Path) -> None:
    document = made().document
    data = lanes.columns(document)
    texts, events = data["texts"], data["events"]
    now = 0
    for place, event in enumerate(document["events"]):
        now += events["after"][place]
        assert now == round(event["from_s"] * 1e6)
        assert now + events["length"][place] == round(event["to_s"] * 1e6)
        assert texts[events["name"][place]] == event["name"]
        words = [word for pair in event["detail"] for word in pair]
        assert [texts[number] for number in events["detail"][place]] == words
        assert lanes.STATES[events["state"][place]] == event["state"]
        cause = events["cause"][place]
        assert event["cause"] == (None if cause < 0 else document["events"][cause]["id"])
        assert (place in events["critical"]) == event["critical"]
    assert [sum(b - a for a, b in part["spans"]) for part in data["parts"]] == [
        part["microseconds"] for part in document["parts"]
    ]


REQUIRED = {
    "X": {"name", "cat", "ph", "ts", "dur", "pid", "tid"},
    "M": {"name", "ph", "pid", "tid", "args"},
    "s": {"name", "cat", "ph", "id", "ts", "pid", "tid"},
    "f": {"name", "cat", "ph", "id", "ts", "pid", "tid", "bp"},
}
"""The fields of complete, metadata and flow events ("Trace Event Format", Chromium project)."""


def test_the_trace_has_the_fields_of_its_format_in_the_order_of_time(tmp_path: Path) -> None:
    document = made().document
    _, trace = written(Explanation(document), tmp_path)
    rows = trace["traceEvents"]
    for row in rows:
        assert REQUIRED[row["ph"]] <= row.keys()
        assert all(isinstance(row[key], int) and row[key] >= 0 for key in ("ts", "pid", "tid"))
        assert row.get("dur", 0) >= 0
    assert [row["ts"] for row in rows] == sorted(row["ts"] for row in rows)
    names = {row["tid"]: row["args"]["name"] for row in rows if row["name"] == "thread_name"}
    spans = [row for row in rows if row["ph"] == "X"]
    assert {row["tid"] for row in spans} == names.keys()
    assert len(spans) == len(document["events"]) + len(document["path"])


def test_the_spans_of_a_thread_do_not_overlap(tmp_path: Path) -> None:
    _, trace = written(made(2000), tmp_path)
    threads: dict[int, list[tuple[int, int]]] = {}
    for row in trace["traceEvents"]:
        if row["ph"] == "X":
            threads.setdefault(row["tid"], []).append((row["ts"], row["ts"] + row["dur"]))
    for spans in threads.values():
        assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))


def test_flows_are_paired_and_each_end_is_in_a_span(tmp_path: Path) -> None:
    document = made().document
    _, trace = written(Explanation(document), tmp_path)
    rows = trace["traceEvents"]
    starts = {row["id"]: row for row in rows if row["ph"] == "s"}
    ends = {row["id"]: row for row in rows if row["ph"] == "f"}
    caused = [event["id"] for event in document["events"] if event["cause"] is not None]
    assert sorted(starts) == sorted(ends) == sorted(caused)
    spans = {(row["tid"], row["ts"]) for row in rows if row["ph"] == "X"}
    for number, start in starts.items():
        end = ends[number]
        assert (start["name"], start["cat"]) == (end["name"], end["cat"])
        assert start["ts"] <= end["ts"]
        assert {(row["tid"], row["ts"]) for row in (start, end)} <= spans


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"timeline .*/gone/a\.html: cannot be written: No such"):
        pages.timeline(made(40), tmp_path / "gone" / "a.html")
