"""The scenario of all parts: an OPAL node and a server behind the border router."""

from __future__ import annotations

from slowhand.keys import Setting
from slowhand.papers.points import Point, Settings

SCENARIO = "opal.toml"

PSK = "TLS_PSK_WITH_AES_128_CCM_8"
ECC = "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA"


def point(hops: int = 1, others: Settings | None = None, /, **session: Setting) -> Point:
    """A handshake over this many hops, with keys of `[session]` and others replaced."""
    settings: dict[str, Setting] = {"network.topology": {"kind": "line", "hops": hops}}
    of_session = {f"session.{key}": value for key, value in session.items()}
    return Point.of(SCENARIO, {**settings, **(others or {}), **of_session})


def lossy(loss: float, spread: str, /, **session: Setting) -> Point:
    """A handshake over one hop on which fragments are lost.

    With `spread` of "flight" a loss takes the rest of the flight with it, the paper's model.
    """
    return point(1, {"lowpan.frame_loss": loss, "lowpan.loss_spread": spread}, **session)
