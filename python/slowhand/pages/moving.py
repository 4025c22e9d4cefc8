"""The network that moves, as HTML: the mesh and the flights of one handshake over its timeline.

`play.js` draws it from the data of the page.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from slowhand.output import Output
from slowhand.pages import lanes, skeleton
from slowhand.pages.skeleton import embedded, text

if TYPE_CHECKING:
    from slowhand.playback import Playback

EXPLAINED = ("start_s", "end_s", "client", "outcome", "reason", "summary", "path")
"""The parts of the explanation that the picture needs; the timeline has the rest."""


def playback(
    playback: Playback, path: str | os.PathLike[str], *, decoded: Mapping[str, Any] | None = None
) -> None:
    """Writes a world as an HTML file in which it can be played. The file needs no other.

    `playback` is that of `Scenario.play`. `decoded` has the frames as tshark shows them
    (`slowhand.pages.decoded`); without it the page has slowhand's own, shorter words.
    """
    page = encoded(playback, decoded)
    Output("playback", os.fspath(path)).write(lambda file: file.write_bytes(page), private=True)


def encoded(playback: Playback, decoded: Mapping[str, Any] | None = None) -> bytes:
    """The octets of that file."""
    document = playback.document
    explanation = document["explanation"]
    title = f"Seed {document['seed']}: {document['scenario']}"
    body = (
        f"<header><h1>{text(title)}</h1><p>One world from its begin to the end of its last "
        f"handshake. Client {explanation['client']} is explained. slowhand "
        f"{text(document['version'])}</p></header>\n<main>{section(document, decoded)}\n"
        f"{lanes.section(explanation, 'handshake', level=2)}</main>"
    )
    scripts = (*skeleton.TIMELINE, *skeleton.PLAYBACK, skeleton.START)
    styles = skeleton.PLAYBACK_STYLES
    return skeleton.page(f"{title}, played", body, scripts=scripts, styles=styles).encode()


def section(document: Mapping[str, Any], decoded: Mapping[str, Any] | None) -> str:
    """The part of the page that moves."""
    explanation = document["explanation"]
    needed = {key: explanation[key] for key in EXPLAINED}
    needed["parts"] = [
        {key: part[key] for key in ("text", "seconds")} for part in explanation["parts"]
    ]
    data = {**document, "explanation": needed}
    if decoded is not None:
        data["decoded"] = decoded
    return skeleton.asset("play.html").format(name="play", h="h2", data=embedded(data))
