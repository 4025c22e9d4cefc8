"""A network that runs, as HTML: `running.js` draws what the server of the page tells.

The server is in `slowhand.realtime.page`.
"""

from __future__ import annotations

from slowhand.pages import skeleton

SCRIPTS = ("values.js", "events.js", "world.js", "mesh.js", "running.js")


def encoded() -> bytes:
    """The page."""
    body, styles = skeleton.asset("running.html"), skeleton.PLAYBACK_STYLES
    page = skeleton.page("A network that runs", body, scripts=SCRIPTS, styles=styles, asks=True)
    return page.encode()
