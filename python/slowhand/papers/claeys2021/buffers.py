"""Section 4.2: how many frames a packet needs; Fig. 10: the buffers of the constrained end."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import NamedTuple

from slowhand import plot
from slowhand.estimate import Estimate
from slowhand.papers.claeys2021.handshake import BY_MTU, handshake, label, tls_settings
from slowhand.papers.points import FIRST_SEED, Laboratory, Point, Settings, Values


class Level(NamedTuple):
    """The content of a node's buffers from a time on."""

    at_s: float
    fragments: int
    """Incoming: in reassembly."""
    frames: int
    """Outgoing: in the queue."""


CLIENT = 1


def levels(laboratory: Laboratory, point: Point, seed: int) -> list[Level]:
    """The content of the client's buffers over time in one handshake."""
    rows = point.made(laboratory.folder).inspect(seed=seed).buffers.iter_rows(named=True)
    return [
        Level(row["from_s"], row["reassembly_fragments"], row["queued_frames"])
        for row in rows
        if row["node"] == CLIENT
    ]


def check(laboratory: Laboratory, point: Point) -> None:
    """Raises `NoneCompleted` if not even one handshake completes: buffers alone do not say it."""
    one = Laboratory(laboratory.folder, count=1, update=lambda done: None)
    one.mean(point, "duration_s")


FULL_MSS = 1220
"""With headers of IPv6 (40 octets) and TCP (20) a packet of 1,280 octets, the least MTU of IPv6."""

OPENWSN = (96, 80)
"""Octets that OpenWSN puts into a frame (`MAX_FRAGMENT_SIZE`, frag.h): without, with security."""

SEEDS = range(1, 21)
"""Each seed starts at another place in the slotframe. Nothing else is random here."""

CONFIGURATIONS = {name: handshake(settings) for name, settings in BY_MTU.items()}


def measure(laboratory: Laboratory) -> Values:
    """The peaks of incoming fragments (the figure's first) and outgoing frames (its second)."""
    first: dict[str, Estimate] = {}
    second: dict[str, Estimate] = {}
    for name, point in CONFIGURATIONS.items():
        check(laboratory, point)
        runs = [levels(laboratory, point, seed) for seed in SEEDS]
        first[name] = Estimate.of([max(level.fragments for level in run) for run in runs])
        second[name] = Estimate.of([max(level.frames for level in run) for run in runs])
    return {
        "dtls.1041.first": first["dtls.1041"],
        "dtls.1041.second": second["dtls.1041"],
        "dtls.529.lower": first["dtls.1041"] - first["dtls.529"],
        "dtls.529.outgoing": second["dtls.529"] - second["dtls.1041"],
        "tls.864.nagle.first": first["tls.864.nagle"],
        "nagle.raises": first["tls.864.nagle"] - first["tls.864"],
        "tls.356.gone": first["tls.864.nagle"] - first["tls.356.nagle"],
        "tls.356.nagle.fewer": second["tls.356"] - second["tls.356.nagle"],
    }


def fragments(laboratory: Laboratory) -> Values:
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
    queued = [level.frames for level in levels(laboratory, full, FIRST_SEED)]
    return Estimate(max(after - before for before, after in itertools.pairwise(queued)))


def draw(laboratory: Laboratory, folder: Path) -> list[Path]:
    """Draws Fig. 10: frames queued and fragments in reassembly at the client, over time."""
    title = "Packets in the node's buffers (Claeys et al. 2021, Fig. 10)"
    panels = (
        ("TLS, MTU 864", ("tls.864.nagle", "tls.864")),
        ("TLS, MTU 356", ("tls.356.nagle", "tls.356")),
        ("DTLS", ("dtls.1041", "dtls.529")),
    )
    runs = {name: levels(laboratory, at, SEEDS[0]) for name, at in CONFIGURATIONS.items()}
    held = {name: [level.fragments + level.frames for level in run] for name, run in runs.items()}
    with plot.sheet(3, title=title) as sheet:
        highest = max(map(max, held.values()))
        for axes, (heading, configurations) in zip(sheet.axes, panels, strict=True):
            for colour, name in zip(plot.COLOURS, configurations, strict=False):
                axes.fill_between(
                    [level.at_s for level in runs[name]],
                    held[name],
                    step="post",
                    color=colour,
                    alpha=0.45,
                    linewidth=0,
                    label=label(name),
                )
            axes.set(title=heading, xlabel="time [s]", ylabel="frames queued + fragments held")
            axes.set_ylim(0, highest + 1)
            axes.legend(loc="upper left")
        return sheet.save(folder, "fig10")
