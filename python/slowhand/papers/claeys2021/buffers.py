"""Section 4.2, Fig. 10: the content of the buffers of the constrained end."""

from __future__ import annotations

from pathlib import Path

from slowhand import plot
from slowhand.estimate import Estimate
from slowhand.papers.claeys2021.handshake import BY_MTU, handshake, label
from slowhand.papers.claeys2021.levels import Level, check, levels
from slowhand.papers.part import Values
from slowhand.papers.points import Laboratory

CLIENT = 1
SEEDS = range(1, 21)
"""Each seed starts at another place in the slotframe. Nothing else is random here."""

CONFIGURATIONS = {name: handshake(settings) for name, settings in BY_MTU.items()}


def measure(laboratory: Laboratory) -> Values:
    """The peaks of incoming fragments (the figure's first) and outgoing frames (its second)."""
    first: dict[str, Estimate] = {}
    second: dict[str, Estimate] = {}
    for name, point in CONFIGURATIONS.items():
        check(laboratory, point)
        runs = [at_client(laboratory, name, seed) for seed in SEEDS]
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


def draw(laboratory: Laboratory, folder: Path) -> list[Path]:
    """Draws Fig. 10: frames queued and fragments in reassembly at the client, over time."""
    title = "Packets in the node's buffers (Claeys et al. 2021, Fig. 10)"
    panels = (
        ("TLS, MTU 864", ("tls.864.nagle", "tls.864")),
        ("TLS, MTU 356", ("tls.356.nagle", "tls.356")),
        ("DTLS", ("dtls.1041", "dtls.529")),
    )
    runs = {name: at_client(laboratory, name, SEEDS[0]) for name in CONFIGURATIONS}
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


def at_client(laboratory: Laboratory, name: str, seed: int) -> list[Level]:
    """The content of the client's buffers over time."""
    return levels(laboratory, CONFIGURATIONS[name], node=CLIENT, seed=seed)
