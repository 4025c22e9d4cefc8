"""On the air: a session and its first request over one to four hops, which the draft leaves out."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from slowhand import plot
from slowhand.estimate import Estimate
from slowhand.papers.iotops_comparison.dtls13 import CREDENTIALS
from slowhand.papers.points import Laboratory, Point, Settings, Values

HOPS = (1, 2, 3, 4)

LOSSES = (0, 5)
"""Frames that a link loses, in per cent."""

MOST = {0: 50, 5: 200}
"""The most worlds, by loss: without one only the phases of the link layers differ."""

MACS: dict[str, Settings] = {
    "tsch": {
        "kind": "tsch",
        "slot_ms": 10,
        "slotframe": 11,
        "cells": {"shared": 1, "up": 1, "down": 1},
    },
    "xmac": {"kind": "xmac", "check_interval_ms": 125},
    "beacon": {"kind": "beacon", "beacon_interval_ms": 245.76, "cap_ms": 61.44},
    "csma": {"kind": "csma"},
}
"""The link layers, as the examples in scenarios/ have them."""

_EDHOC: Settings = {"session.protocol": "edhoc"}

SESSIONS: dict[str, Settings] = {
    "combined": {**_EDHOC, "session.edhoc.combined": True},
    "edhoc": _EDHOC,
    **{
        name: {"session.protocol": "coap+dtls1.3", **CREDENTIALS[name]}
        for name in ("psk", "psk_ecdhe", "rpk")
    },
}
"""The sessions: EDHOC with kid and static keys, DTLS 1.3."""

NAMES = {
    "combined": "EDHOC, combined",
    "edhoc": "EDHOC",
    "psk": "DTLS 1.3, PSK",
    "psk_ecdhe": "DTLS 1.3, PSK + ECDHE",
    "rpk": "DTLS 1.3, RPK",
}
"""Their names in the figure."""

LINK_LAYERS = {"tsch": "TSCH", "xmac": "X-MAC", "beacon": "beacons", "csma": "CSMA"}

QUANTITIES = {"time": "time until a response [s]", "energy": "energy of the client [mJ]"}

FARTHEST = HOPS[-1]


def point(
    mac: str,
    session: str,
    hops: int = FARTHEST,
    loss: int = 5,
    more: Settings | None = None,
) -> Point:
    """Sessions and their first requests over a line."""
    settings: Settings = {
        "mac": MACS[mac],
        "network.topology.hops": hops,
        "network.link_pdr": 1 - loss / 100,
        **SESSIONS[session],
        **(more or {}),
    }
    return Point.of("air.toml", settings, most=MOST[loss])


COAP_TIMER_S = 2
"""The shortest first timeout of CoAP (RFC 7252 section 4.8)."""


def with_timer_of_coap(session: str) -> Point:
    """A session of DTLS over X-MAC whose timer is as short as that of EDHOC."""
    return point("xmac", session, more={"session.timeout_s": COAP_TIMER_S})


POINTS = [
    *(with_timer_of_coap(session) for session in ("psk", "rpk")),
    *(point(*where) for where in product(MACS, SESSIONS, HOPS, LOSSES)),
]
"""The points of the figure, and those with another timer."""

TOTALS = {
    "time": ("duration_s", "data_s"),
    "energy": ("energy_client_mj", "energy_client_data_mj"),
    "frames": ("frames", "data_frames"),
}
"""Columns for the handshake and for the request."""


def total(laboratory: Laboratory, at: Point, quantity: str) -> Estimate | None:
    """The mean of a handshake and its request together; none if no request was answered."""
    measured = laboratory.measure(at)
    parts = zip(*(measured.samples[column] for column in TOTALS[quantity]), strict=True)
    sums = [handshake + request for handshake, request in parts]
    return Estimate.of(sums, measured.clusters) if sums else None


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part."""
    for at in POINTS:
        laboratory.measure(at)
    values: dict[str, Estimate | None] = {}
    for session in SESSIONS:
        values[f"frames.{session}"] = total(laboratory, point("tsch", session, loss=0), "frames")
    for mac in MACS:
        for session in SESSIONS:
            at = point(mac, session)
            values[f"{mac}.{session}.time"] = total(laboratory, at, "time")
            values[f"{mac}.{session}.energy"] = total(laboratory, at, "energy")
        for smaller, larger in (("edhoc", "rpk"), ("edhoc", "psk")):
            for quantity in ("time", "energy"):
                name = f"{mac}.{larger}.more.{quantity}"
                values[name] = _more(laboratory, mac, smaller, larger, quantity)
        values[f"{mac}.superlinear"] = _superlinear(laboratory, mac)
        values[f"{mac}.computing"] = _computing(laboratory, mac)
    for session in ("psk", "rpk"):
        at = with_timer_of_coap(session)
        values[f"xmac.{session}.timer.time"] = total(laboratory, at, "time")
    values["xmac.rpk.completed"] = laboratory.completed(point("xmac", "rpk"))
    values["xmac.edhoc.completed"] = laboratory.completed(point("xmac", "edhoc"))
    return values


def _more(
    laboratory: Laboratory, mac: str, smaller: str, larger: str, quantity: str
) -> Estimate | None:
    """By how much the session with more octets takes more, at 5 % loss."""
    one, other = (total(laboratory, point(mac, each), quantity) for each in (larger, smaller))
    return one - other if one and other else None


def _superlinear(laboratory: Laboratory, mac: str) -> Estimate | None:
    """By how much larger a share of its octets losses add to a long handshake, in per cent."""
    shares = []
    for session in ("rpk", "psk"):
        with_loss, without = (
            laboratory.measure(point(mac, session, loss=loss)).estimate("bytes_phy")
            for loss in (5, 0)
        )
        if not with_loss or not without:
            return None
        share = with_loss / without
        shares.append(Estimate(100 * share.mean, 100 * share.half))
    return shares[0] - shares[1]


def _computing(laboratory: Laboratory, mac: str) -> Estimate | None:
    """The share of the CPU in the client's energy for EDHOC without loss, in per cent."""
    measured = laboratory.measure(point(mac, "edhoc", loss=0))
    cpu, whole = (measured.estimate(f"energy_client{name}_mj") for name in ("_cpu", ""))
    if not cpu or not whole:
        return None
    share = cpu / whole
    return Estimate(100 * share.mean, 100 * share.half)


def draw(laboratory: Laboratory, folder: Path) -> list[Path]:
    """Draws time and energy of a session and its first request, by hops and link layer."""
    with plot.sheet(
        len(LINK_LAYERS), rows=len(QUANTITIES), width=3.6, height=3.0, alike=False
    ) as sheet:
        panels = product(QUANTITIES.items(), LINK_LAYERS.items())
        for axes, ((quantity, label), (mac, name)) in zip(sheet.axes, panels, strict=True):
            for loss in LOSSES:
                curves = {
                    session: [
                        total(laboratory, point(mac, session, hops, loss), quantity)
                        for hops in HOPS
                    ]
                    for session in SESSIONS
                }
                sheet.curves(axes, HOPS, curves, dashed=loss > 0, named=False)
            axes.set(ylim=(0, None), xticks=HOPS, title=name, ylabel=label)
            axes.set_xlabel("hops; solid: no loss, dashed: 5 %")
        sheet.key([NAMES[session] for session in SESSIONS])
        return sheet.save(folder, "air")
