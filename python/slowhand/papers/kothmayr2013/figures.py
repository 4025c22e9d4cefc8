"""The paper's figures, drawn from our measurements."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from slowhand import plot
from slowhand.estimate import Estimate
from slowhand.papers.points import Measured

CONSUMERS = {
    "TPM": ("tpm",),
    "processor": ("cpu", "sleep"),
    "radio": ("tx", "rx"),
    "idle listening": ("listen",),
}
"""The consumers of energy in the figure, with their columns of a record."""

WIDTH = 0.7
"""The width of a bar."""

REPORTED = (
    ("RSA-2048\nboth ends", "488 mJ", 488.0),
    ("secp256r1\nboth ends", "100 mJ", 100.0),
)

PANELS = {
    "flight": "(a) a loss takes the rest of the flight with it",
    "fragment": "(b) a loss takes its fragment only",
}


def keys(
    durations: Mapping[tuple[int, str, int], Estimate],
    energies: Mapping[str, Measured],
    folder: Path,
) -> list[Path]:
    """Fig. 6: duration of a handshake by hops, and its energy over one hop."""
    sizes = sorted({bits for bits, _, _ in durations})
    hops = sorted({h for _, _, h in durations})
    title = "DTLS handshake with RSA and a TPM (Kothmayr et al. 2013, Fig. 6)"
    with plot.sheet(2, title=title, width=7.2) as sheet:
        duration, energy = sheet.axes
        for auth, dashed in (("mutual", False), ("server", True)):
            curves = {f"RSA-{bits}": [durations[bits, auth, h] for h in hops] for bits in sizes}
            sheet.curves(duration, hops, curves, dashed=dashed)
        duration.set_xticks(hops)
        duration.set_xlabel("hops; solid: both ends authenticated, dashed: the server alone")
        duration.set_ylabel("handshake [s]")
        duration.set_ylim(0, None)
        duration.set_title("(a) duration")
        bottoms = [0.0] * len(energies)
        for colour, (name, columns) in zip(plot.COLOURS, CONSUMERS.items(), strict=False):
            heights = [_energy(measured, columns) for measured in energies.values()]
            energy.bar(
                range(len(heights)), heights, WIDTH, bottom=bottoms, color=colour, label=name
            )
            bottoms = [bottom + height for bottom, height in zip(bottoms, heights, strict=True)]
        names = list(energies)
        energy.set_xticks(range(len(names)), names, fontsize=8)
        energy.grid(axis="x", visible=False)
        energy.set_ylabel("energy of the client [mJ]")
        sheet.note(energy, "stars: reported")
        energy.set_title("(b) energy, one hop")
        energy.legend(loc="upper right")
        energy.set_ylim(0, 1.25 * max(bottoms))
        energy.set_xlim(-0.6, len(names) + 0.3)
        for name, text, reported_mj in REPORTED:
            edge = names.index(name) + WIDTH / 2
            sheet.mark(energy, (edge, reported_mj), text)
        return sheet.save(folder, "fig6")


def fragments(
    durations: Mapping[tuple[str, float, int], Estimate],
    frames: Mapping[int, Estimate],
    folder: Path,
) -> list[Path]:
    """Fig. 7: duration of a handshake by MTU and loss, and its number of frames."""
    losses = sorted({loss for _, loss, _ in durations})
    mtus = sorted(frames)
    title = "MTU of the handshake where fragments are lost (Kothmayr et al. 2013, Fig. 7)"
    with plot.sheet(3, title=title) as sheet:
        for axes, (spread, heading) in zip(sheet.axes, PANELS.items(), strict=False):
            curves = {
                f"{100 * loss:g} %": [durations[spread, loss, mtu] for mtu in mtus]
                for loss in losses
            }
            sheet.curves(axes, mtus, curves)
            axes.set_ylabel("handshake [s]")
            axes.set_yscale("log")
            axes.set_ylim(3, 40)
            axes.set_yticks([4, 6, 10, 20, 30], ["4", "6", "10", "20", "30"])
            axes.set_title(heading)
        sheet.curves(sheet.axes[2], mtus, {"no loss": [frames[mtu] for mtu in mtus]})
        sheet.axes[2].set_ylabel("frames of a handshake")
        sheet.axes[2].set_ylim(0, 60)
        sheet.note(sheet.axes[2], "dotted: the paper's best")
        sheet.axes[2].set_title("(c) frames")
        for axes in sheet.axes:
            axes.set_xscale("log")
            axes.set_xticks(mtus, [str(mtu) for mtu in mtus], fontsize=9)
            axes.minorticks_off()
            axes.set_xlabel("MTU of the handshake [octets]")
            axes.axvline(512, color=plot.GREY, linestyle=":", linewidth=1)
        return sheet.save(folder, "fig7")


def _energy(measured: Measured, consumers: tuple[str, ...]) -> float:
    found = [measured.estimate(f"energy_client_{name}_mj") for name in consumers]
    return sum(estimate.mean for estimate in found if estimate)
