"""The abstract, sections II and III-A: frames and octets of a handshake, and batteries."""

from __future__ import annotations

import math

from slowhand.estimate import Estimate
from slowhand.papers.capture import FINISHED, finished_octets
from slowhand.papers.devices import constant
from slowhand.papers.points import Laboratory, Point, Values
from slowhand.papers.vucinic2015 import xmac

CHECK_MS = 500
"""The check interval of the paper's 29.05 mJ. The number of frames does not depend on it."""

FAR = 4
"""The most hops of the paper."""

FRAME = 127
"""Octets of a frame: the paper's "available link-layer payload space"."""

PACKETS = 10
"""The abstract: "more than 10 signaling packets"."""

REPORTED_MJ = 29.05
GREENNET_MAH = 20
AA_MAH = 2200
HOURS_PER_DAY = 24


POINTS = [xmac.point(CHECK_MS, hops) for hops in (1, FAR)]


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part."""
    near, far = POINTS

    def fewest(at: Point, column: str) -> Estimate:
        """Without repetitions."""
        laboratory.mean(at, column)  # raises if no handshake completed
        return Estimate(min(laboratory.measure(at).samples[column]))

    ours_mj = laboratory.mean(near, "energy_client_mj")
    battery_mj = _battery_mj(GREENNET_MAH)
    overhead = finished_octets(laboratory.folder, near) - FINISHED
    return {
        "frames.1": fewest(near, "frames"),
        "frames.4": fewest(far, "frames") / Estimate(FAR),
        "packets": fewest(near, "datagrams") - Estimate(PACKETS),
        "overhead": Estimate(overhead),
        "overhead.share": Estimate(100 * overhead / FRAME),
        "share": Estimate(100 * REPORTED_MJ / battery_mj),
        "share.ours": ours_mj / Estimate(battery_mj / 100),
        "magnitude": Estimate(math.floor(math.log10(_battery_mj(AA_MAH) / REPORTED_MJ))),
        "week": Estimate(_days_of_listening("wismote")),
        "week.opal": Estimate(_days_of_listening("opal-tpm")),
    }


def _battery_mj(milliampere_hours: float) -> float:
    """The energy of a battery at the voltage of the paper's nodes."""
    return milliampere_hours * 3600 * constant("wismote", "supply_v")


def _days_of_listening(device: str) -> float:
    """The days that 2200 mAh feed the receiver of a device that is always on."""
    return AA_MAH / constant(device, "current", "radio_listen_ma") / HOURS_PER_DAY
