"""The content of a node's buffers over time, as Fig. 10 draws it."""

from __future__ import annotations

from typing import NamedTuple


class Level(NamedTuple):
    """The content of a node's buffers from a time on."""

    at_s: float
    fragments: int
    """Incoming: in reassembly."""
    frames: int
    """Outgoing: in the queue."""
