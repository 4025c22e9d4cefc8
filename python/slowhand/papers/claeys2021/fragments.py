"""Section 4.2: how many frames a packet needs."""

from __future__ import annotations

import itertools

from slowhand.estimate import Estimate
from slowhand.papers.claeys2021.handshake import handshake, tls_settings
from slowhand.papers.claeys2021.levels import check, levels
from slowhand.papers.part import Values
from slowhand.papers.points import FIRST_SEED, Laboratory, Settings

CLIENT = 1
FULL_MSS = 1220
"""With headers of IPv6 (40 octets) and TCP (20) a packet of 1,280 octets, the least MTU of IPv6."""

OPENWSN = (96, 80)
"""Octets that OpenWSN puts into a frame (`MAX_FRAGMENT_SIZE`, frag.h): without, with security."""


def measure(laboratory: Laboratory) -> Values:
    """The frames of a packet of 1,280 octets, by the room in a frame.

    They are in the buffers of a single run, not in records.
    """
    return {
        "1280": frames(laboratory, FULL_MSS),
        **{
            f"1280.{room}": frames(laboratory, FULL_MSS, {"lowpan.max_frame_payload": room})
            for room in OPENWSN
        },
    }


def frames(laboratory: Laboratory, mss: int, more: Settings | None = None) -> Estimate:
    """The frames of a full segment: what it adds to the queue of a client, which has room."""
    settings: Settings = {
        "transport.client.single_segment": True,
        "transport.client.receive_buffer": 4 * mss,
        "mac.queue": 100,
        "session.certificate_length": 2000,  # more than a segment
    }
    full = handshake(tls_settings(mss, nagle=False), settings, more or {})
    check(laboratory, full)
    queued = [level.frames for level in levels(laboratory, full, node=CLIENT, seed=FIRST_SEED)]
    return Estimate(max(after - before for before, after in itertools.pairwise(queued)))
