"""The frame of every page: one file, which asks for nothing else and runs no code but its own."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

from slowhand import _native

HERE = Path(__file__).parent

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="slowhand {version}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
{body}
<script>{script}</script>
</body>
</html>
"""

TIMELINE = ("values.js", "events.js", "picture.js", "lanes.js")
"""The scripts of a timeline. All scripts of a page become one, in this order."""

PLAYBACK = ("world.js", "mesh.js", "sequence.js", "play.js")
"""The scripts of the network that moves, which stands above a timeline."""

START = "start.js"
"""The last script of a page."""

STYLES = ("page.css", "lanes.css")
"""The styles of a timeline."""

PLAYBACK_STYLES = (*STYLES, "play.css")
"""The styles of a page with a mesh."""

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{hash}'"
"""The browser loads nothing, and runs only the script with this hash (W3C, CSP Level 3)."""

ASKS = "; connect-src 'self'"
"""It may ask the server that the page is from."""


def page(
    title: str,
    body: str,
    *,
    scripts: Iterable[str] = (*TIMELINE, START),
    styles: Iterable[str] = STYLES,
    asks: bool = False,
) -> str:
    """A whole page. `body` is HTML, `title` is text. `asks`: it has a server, and asks it."""
    script = "".join(map(asset, scripts))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return PAGE.format(
        policy=POLICY.format(hash=digest) + (ASKS if asks else ""),
        version=text(_native.__version__),
        title=text(title),
        style="".join(map(asset, styles)),
        body=body,
        script=script,
    )


def asset(name: str) -> str:
    """The text of a file that stands beside this module."""
    return (HERE / name).read_text(encoding="utf-8")


def text(value: object) -> str:
    """A value as text in HTML, also in an attribute. Lone surrogates have no UTF-8: escaped."""
    return escape(str(value).encode("utf-8", "backslashreplace").decode())


def embedded(value: Any) -> str:
    """A value as JSON inside a script element: no text in it can end the element."""
    plain = json.dumps(value, separators=(",", ":"))  # in ASCII
    return plain.replace("<", "\\u003c")


def table(headings: Iterable[str], rows: Iterable[Iterable[str]], *, caption: str) -> str:
    """A table of cells that are HTML. The first cell of each row is its heading.

    On a narrow screen the cells of a row stand below each other, each after the heading of its
    column.
    """
    headings = [*headings]
    head = "".join(f'<th scope="col">{heading}</th>' for heading in headings)
    lines = []
    for row in rows:
        first, *others = row
        cells = "".join(
            f'<td data-label="{heading}">{cell}</td>'
            for heading, cell in zip(headings[1:], others, strict=True)
        )
        lines.append(f'<tr><th scope="row">{first}</th>{cells}</tr>')
    return (
        f'<table class="stacked"><caption>{text(caption)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>"
    )
