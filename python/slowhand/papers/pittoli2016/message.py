"""Octets and delay of a message after the connection is established."""

from __future__ import annotations

from slowhand.estimate import Estimate
from slowhand.papers.capture import FINISHED, finished_octets
from slowhand.papers.pittoli2016 import measured, minimal
from slowhand.papers.points import Laboratory, Point, Values

FRAME = 127
"""Octets of the longest frame of IEEE 802.15.4 (aMaxPHYPacketSize)."""

SHORT_ADDRESSES = 11
"""Octets of a frame beside its payload with short addresses: frame control 2, sequence number 1,
PAN 2, addresses 4, checksum 2 (IEEE 802.15.4-2006, section 7.2)."""

OCTET_MS = 0.032
"""An octet at 250 kbit/s."""


POINTS = [
    place(settings)
    for settings in (minimal.ORIGINAL, minimal.OPTIMISED)
    for place in (minimal.point, minimal.link_alone)
]


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part."""

    def overhead(at: Point) -> int:
        laboratory.measure(at)
        return finished_octets(laboratory.folder, at) - FINISHED

    original = overhead(minimal.point(minimal.ORIGINAL))
    optimised = overhead(minimal.point(minimal.OPTIMISED))
    saved = original - optimised
    at = minimal.link_alone(minimal.OPTIMISED)
    frames, octets, payload, link_s = (
        laboratory.mean(at, column)
        for column in ("frames", "bytes_phy", "bytes_payload", "duration_s")
    )
    headers = (octets.mean - payload.mean) / frames.mean

    def delay_ms(variant: measured.Variant) -> Estimate:
        """A message of 32 octets: computing at both ends, and a frame on the link.

        The frame is one as those of a connection whose flights have one frame each.
        """
        record = measured.message_octets(variant)
        longer = record + headers - octets.mean / frames.mean
        frame = link_s / Estimate(frames.mean / 1000)
        computing_ms = 1000 * measured.message_s(variant)
        return Estimate(frame.mean + longer * OCTET_MS + computing_ms, frame.half)

    plain_ms = 1000 * measured.message_s("plain")
    slides_ms = 1000 * measured.message_s("slides")
    return {
        "overhead.original": Estimate(original),
        "overhead.optimised": Estimate(optimised),
        "overhead.saved": Estimate(saved),
        "share": Estimate(100 * saved / FRAME),
        "payload": Estimate(100 * saved / (FRAME - headers - original)),
        "payload.bare": Estimate(100 * saved / (FRAME - SHORT_ADDRESSES - original)),
        "delay.original": delay_ms("plain"),
        "delay.optimised": delay_ms("slides"),
        "delay.saved": Estimate(saved * OCTET_MS + plain_ms - slides_ms),
    }
