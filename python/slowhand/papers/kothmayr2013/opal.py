"""The scenario of all parts: an OPAL node and a server behind the border router."""

from __future__ import annotations

from slowhand.keys import Setting
from slowhand.papers.points import Point, Settings

SCENARIO = "opal.toml"

PSK = "TLS_PSK_WITH_AES_128_CCM_8"
ECC = "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA"


def point(hops: int = 1, /, **session: Setting) -> Point:
    """A handshake over this many hops, with keys of `[session]` replaced."""
    return _point(hops, session, {})


def faster(factor: float, /, **session: Setting) -> Point:
    """A handshake over one hop with a client whose computations take `factor` of their time."""
    return _point(1, session, {"client.compute_factor": factor})


def unhurried(hops: int, /, **session: Setting) -> Point:
    """A handshake with a client that computes in no time."""
    return _point(hops, session, {"client.compute_factor": 0})


def lossy(loss: float, spread: str, /, **session: Setting) -> Point:
    """A handshake over one hop on which fragments are lost.

    With `spread` of "flight" a loss takes the rest of the flight with it, the paper's model.
    """
    return _point(1, session, {"lowpan.frame_loss": loss, "lowpan.loss_spread": spread})


def dropping(frames: tuple[int, ...], /, **session: Setting) -> Point:
    """A handshake over one hop without these frames, counted from 1 in both directions."""
    return _point(1, session, {"lowpan.dropped_frames": list(frames)})


def _point(hops: int, session: Settings, others: Settings) -> Point:
    settings: dict[str, Setting] = {"network.topology": {"kind": "line", "hops": hops}, **others}
    return Point.of(SCENARIO, settings | {f"session.{key}": session[key] for key in session})
