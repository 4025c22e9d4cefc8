"""A network that runs, as HTML: `running.js` draws what the server of the page tells.

The server is in `slowhand.realtime.page`.
"""

from __future__ import annotations

from typing import Any

from slowhand.pages import skeleton

SCRIPTS = ("values.js", "events.js", "world.js", "mesh.js", "running.js")


def encoded(changes: list[dict[str, Any]]) -> bytes:
    """The page. `changes` is what the scenario has as `network.changes`: switched links join it."""
    body = skeleton.asset("running.html").format(data=skeleton.embedded({"changes": changes}))
    styles = skeleton.PLAYBACK_STYLES
    page = skeleton.page("A network that runs", body, scripts=SCRIPTS, styles=styles, asks=True)
    return page.encode()
