"""The picture that `slowhand live --watch` draws: a snapshot of the network as lines of text.

It is drawn for the size that a terminal has: what does not fit is left out, and counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from slowhand.realtime import status
from slowhand.realtime.status import Snapshot

if TYPE_CHECKING:
    from slowhand.terminal import Terminal

SIDE_BY_SIDE = 76
"""From so many columns on, links stand beside nodes. Assumed: both are legible then."""

GAP = 3
"""The columns between what stands side by side."""

LINKS = 27
"""The columns that the row of a link needs."""

BAR = 10
"""The most frames that a bar shows. OpenWSN has room for ten packets (its QUEUELENGTH)."""

LONGEST_BRANCH = 14
"""The most columns of a node with the lines of the tree. Assumed: six hops are seen."""

WEAK, LOSSY = 0.8, 0.5
"""Delivery ratios below which a link is yellow, or red. Assumed: a fifth and half are lost."""


class Span(NamedTuple):
    """Text of one style, a key of `slowhand.terminal.STYLES`."""

    text: str
    style: str = ""


Row: TypeAlias = tuple[Span, ...]


class Block(NamedTuple):
    """A heading and rows. If there is no room for all, those of the highest rank are shown."""

    heading: str
    rows: Sequence[Row]
    ranks: Sequence[int] = ()
    """The rank of each row. Without, the first rows have the highest."""


class Size(NamedTuple):
    """The columns and lines of a terminal."""

    columns: int
    lines: int


ENDLESS = 10**9
"""The lines of a terminal that scrolls."""


class Glyphs(NamedTuple):
    """Characters that ASCII does not have."""

    full: str
    empty: str
    branch: str
    last: str
    through: str
    arrow: str


UNICODE = Glyphs("█", "·", "├─ ", "└─ ", "│  ", "→")
ASCII = Glyphs("#", ".", "|- ", "`- ", "|  ", "->")


def glyphs(out: Terminal) -> Glyphs:
    """The characters that a terminal has."""
    drawn = "".join(UNICODE)
    return UNICODE if out.plain(drawn) == drawn else ASCII


def framed(picture: Sequence[Row], latest: str, size: Size) -> list[Row]:
    """A picture as large as the terminal; the last line says how to end it, and what was latest."""
    rows = list(picture[: max(0, size.lines - 1)])
    rows += [()] * (size.lines - 1 - len(rows))
    footer = (Span("q ends", "bold"), Span("   "), Span(latest, "dim"))
    return [*rows, _clipped(footer, size.columns)]


def picture(
    snapshot: Snapshot, title: str, places: Sequence[str], size: Size, glyphs: Glyphs
) -> list[Row]:
    """The lines of a picture that is no larger than this."""
    rows = [*_head(snapshot, title, places, size.columns), ()]
    room = size.lines - len(rows)
    left = [_nodes(snapshot, glyphs), _open(snapshot)]
    right = [_links(snapshot, glyphs), _losses(snapshot)]
    if size.columns < SIDE_BY_SIDE:
        rows += _stacked([*left, *right], room)
    else:
        wide = size.columns - GAP - max(LINKS, size.columns // 3)
        rows += [
            (*_fitted(one or (), wide), Span(" " * GAP), *(other or ()))
            for one, other in zip_longest(_stacked(left, room), _stacked(right, room))
        ]
    return [_clipped(row, size.columns) for row in rows]


def _head(snapshot: Snapshot, title: str, places: Sequence[str], columns: int) -> Iterator[Row]:
    speed = "" if snapshot["speed"] == 1 else f", speed {snapshot['speed']:g}"
    time = f"{status.clock(snapshot['time_s'])}{speed}"
    lateness = f"late {snapshot['lateness_ms']['p99']:.1f} ms (p99)"
    pad = columns - len(title) - len(time) - len(lateness) - 3
    style = "red" if status.is_late(snapshot) else "dim"
    yield (
        Span(f"{title} ", "bold"),
        Span(" " * max(0, pad)),
        Span(f"{time}  "),
        Span(lateness, style),
    )
    for place in places:
        yield (Span(f"{'programs':11}", "dim"), Span(place))
    datagrams = snapshot["datagrams"]
    yield (Span(f"{'sessions':11}", "dim"), Span(status.sessions(snapshot)))
    yield (
        Span(f"{'datagrams':11}", "dim"),
        Span(f"{datagrams['sent']:,} sent, {datagrams['delivered']:,} delivered, "),
        Span(f"{status.lost(snapshot):,} lost", "yellow" if datagrams["lost"] else ""),
        Span(f", {datagrams['waiting']:,} waiting"),
    )
    yield (
        Span(f"{'on the air':11}", "dim"),
        Span(f"{snapshot['frames']:,} frames, {snapshot['bytes_phy']:,} B; "),
        Span(f"{snapshot['queued']:,} frames queued"),
    )


def _nodes(snapshot: Snapshot, glyphs: Glyphs) -> Block:
    """The tree of the nodes, each with its radio, its queue and its reassembly."""
    rows = []
    for branch, node in _tree(snapshot["nodes"], glyphs):
        queued = node["queued"]
        full = min(queued, BAR)
        rows.append(
            (
                Span(
                    f"{branch[1 - LONGEST_BRANCH :]:{LONGEST_BRANCH}}", "" if node["on"] else "dim"
                ),
                Span("on     ") if node["on"] else Span("off    ", "red"),
                Span(glyphs.full * full, "yellow" if queued >= BAR else "green"),
                Span(glyphs.empty * (BAR - full), "dim"),
                Span(f"{queued:4,}"),
                Span(f"{node['reassembly_bytes']:9,} B" if node["reassembly_bytes"] else ""),
            )
        )
    return Block(f"{'Node':{LONGEST_BRANCH}}Radio  {'Queue, frames':14} Reassembly", rows)


def _tree(
    nodes: Iterable[Mapping[str, Any]], glyphs: Glyphs
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each node after its parent, with the lines that lead to it. A node may have no parent."""
    children: dict[int | None, list[Mapping[str, Any]]] = defaultdict(list)
    known = {node["node"] for node in nodes}
    for node in nodes:
        parent = node["parent"]
        children[parent if parent in known and parent != node["node"] else None].append(node)
    # A stack, because a line of nodes may be deeper than Python's.
    left = [("", "", node) for node in reversed(children[None])]
    while left:
        lines, branch, node = left.pop()
        yield f"{lines}{branch}{node['node']}", node
        below = children.pop(node["node"], [])
        lines += "" if not branch else glyphs.through if branch == glyphs.branch else "   "
        left += [
            (lines, glyphs.branch if place else glyphs.last, child)
            for place, child in enumerate(reversed(below))
        ]


def _links(snapshot: Snapshot, glyphs: Glyphs) -> Block:
    """The fates of the frames of each link. Links that have lost most have the highest rank."""
    rows = []
    for link in snapshot["links"]:
        frames, received = link["frames"], link["received"]
        ratio = received / frames if frames else 1.0
        style = "red" if ratio < LOSSY else "yellow" if ratio < WEAK else ""
        to = "all" if link["to"] is None else link["to"]
        ends = f"{link['from']} {glyphs.arrow} {to}"
        rows.append(
            (
                Span(f"{ends:10}{frames:7,}"),
                Span(f"{100 * ratio:7.1f} %" if frames else "", style),
            )
        )
    lost = [link["frames"] - link["received"] for link in snapshot["links"]]
    return Block(f"{'Link':10}{'Frames':>7} Delivered", rows, lost)


def _open(snapshot: Snapshot) -> Block:
    """The sessions under way, the oldest first."""
    now = snapshot["time_s"]
    rows = [
        (
            Span(f"{session['session']:<8}{session['node']:<5}{session['state']:12}"),
            Span(f"{now - session['time_s']:6.1f} s"),
            Span(f"  {session['client']}" if session.get("client") else "", "dim"),
        )
        for session in sorted(snapshot["open"], key=lambda session: float(session["time_s"]))
    ]
    return Block(f"{'Session':8}{'Node':5}{'State':12}{'Age':>8}  Client", rows)


def _losses(snapshot: Snapshot) -> Block:
    lost = snapshot["datagrams"]["lost"]
    rows = [
        (Span(f"{count:6,}  "), Span(reason.replace("_", " ")))
        for reason, count in sorted(lost.items(), key=lambda item: -item[1])
    ]
    return Block("Datagrams lost", rows)


def _stacked(blocks: Sequence[Block], room: int) -> list[Row]:
    """Blocks below each other. What one does not need, the others have."""
    shown = [block for block in blocks if block.rows]
    heights: dict[int, int] = {}
    left = max(0, room)
    for rank, place in enumerate(sorted(range(len(shown)), key=lambda i: len(shown[i].rows))):
        fair = left // (len(shown) - rank)
        heights[place] = min(len(shown[place].rows) + 2, fair)  # a heading, and a line below
        left -= heights[place]
    rows: list[Row] = []
    for place, block in enumerate(shown):
        rows += _cut(block, heights[place])
    return rows


def _cut(block: Block, height: int) -> list[Row]:
    """A block in so many lines, of which the last one is empty."""
    room = height - 2
    if room < 1:
        return []
    rows = list(block.rows)
    if len(rows) > room:
        places = list(range(len(rows)))
        if block.ranks:
            places.sort(key=lambda place: -block.ranks[place])
        rows = [rows[place] for place in sorted(places[: room - 1])]  # in their order
        rows.append((Span(f"and {len(block.rows) - len(rows):,} others", "dim"),))
    return [(Span(block.heading, "bold cyan"),), *rows, ()]


def _fitted(row: Row, columns: int) -> Row:
    """A row that is exactly so wide."""
    clipped = _clipped(row, columns)
    return (*clipped, Span(" " * (columns - sum(len(span.text) for span in clipped))))


def _clipped(row: Row, columns: int) -> Row:
    """A row that is at most so wide."""
    spans, left = [], columns
    for span in row:
        if left > 0 and span.text:
            spans.append(Span(span.text[:left], span.style))
            left -= len(span.text)
    return tuple(spans)
