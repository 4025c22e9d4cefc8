"""The paper's figures, drawn from our measurements."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from slowhand import plot
from slowhand.papers import find
from slowhand.papers.claeys2021.levels import Level
from slowhand.papers.points import Measured

LABELS = {
    "tls": "TLS",
    "dtls": "DTLS",
    "nagle": "Nagle",
}


def label(row: str) -> str:
    """A readable form of `tls.844.nagle`."""
    return " ".join(LABELS.get(word, word) for word in row.split("."))


def tables(measured: Mapping[str, Measured], folder: Path) -> list[Path]:
    """Tables 2 and 3 as bars, with the paper's numbers as stars."""
    names = [label(row.removeprefix("table2.").replace("table3.", "")) for row in measured]
    names = [
        f"{name}, proxy" if row.startswith("table3") else name
        for name, row in zip(names, measured, strict=True)
    ]
    places = range(len(names), 0, -1)
    paper = find("claeys2021")
    title = "TLS and DTLS over 6TiSCH, one hop (Claeys et al. 2021, Tables 2 and 3)"
    with plot.sheet(2, title=title) as sheet:
        for axes, column, quantity in zip(
            sheet.axes, ("duration_s", "bytes_phy"), ("latency", "bytes"), strict=True
        ):
            ours = [m.estimate(column) for m in measured.values()]
            colours = [plot.COLOURS[0 if "DTLS" in name else 1] for name in names]
            axes.barh(
                places,
                [e.mean if e else 0 for e in ours],
                xerr=[e.half if e else 0 for e in ours],
                color=colours,
                height=0.62,
                alpha=0.85,
            )
            reported = [paper.number(f"{row}.{quantity}") for row in measured]
            axes.plot(reported, places, "*", color="black", markersize=10)
            axes.set_yticks(list(places), names)
            axes.grid(axis="y", visible=False)
        sheet.axes[0].set_xlabel("handshake [s]; star: reported")
        sheet.axes[1].set_xlabel("PSDU octets on the air [B]; star: reported")
        sheet.axes[0].set_title("latency")
        sheet.axes[1].set_title("bytes")
        return sheet.save(folder, "tables")


def duty(measured: Mapping[Any, Measured], folder: Path) -> list[Path]:
    """Fig. 5: the handshake's duration over the duty cycle."""
    title = "The duty cycle of the schedule (Claeys et al. 2021, Fig. 5)"
    with plot.sheet(2, title=title) as sheet:
        for axes, hops in zip(sheet.axes, (1, 2), strict=True):
            duties = sorted({d for _, h, d in measured if h == hops})
            curves = {
                protocol: [measured[protocol, hops, d].estimate("duration_s") for d in duties]
                for protocol in ("TLS", "DTLS")
            }
            sheet.curves(axes, duties, curves)
            axes.set_title("one hop" if hops == 1 else f"{hops} hops")
            axes.set_xlabel("duty cycle [%]")
            axes.set_ylabel("handshake [s]")
            axes.set_ylim(0, None)
            axes.set_xlim(0, None)
        return sheet.save(folder, "fig5")


def boxes(
    name: str, lossy: Mapping[str, Measured], without: Mapping[str, Measured], folder: Path
) -> list[Path]:
    """Fig. 6 and 7: bytes and duration with loss; a star for a handshake without loss."""
    title = f"5 % of fragments lost (Claeys et al. 2021, Fig. {name.removeprefix('fig')})"
    names = [label(row).replace(" Nagle", "\nNagle") for row in lossy]
    with plot.sheet(2, title=title) as sheet:
        for axes, column in zip(sheet.axes, ("bytes_phy", "duration_s"), strict=True):
            values = [measured.samples[column] for measured in lossy.values()]
            drawn = axes.boxplot(
                values, widths=0.5, whis=(5, 95), showfliers=False, patch_artist=True
            )
            for box in drawn["boxes"]:
                box.set(facecolor=plot.COLOURS[4], alpha=0.6)
            for median in drawn["medians"]:
                median.set(color="black", linewidth=2)
            places = range(1, len(names) + 1)
            for place, measured in zip(places, without.values(), strict=True):
                if estimate := measured.estimate(column):
                    axes.plot(place, estimate.mean, "*", color="black", markersize=9)
            axes.set_xticks(list(places), names)
            axes.set_xlabel("whiskers: 5 % and 95 %; star: no loss")
        sheet.axes[0].set_ylim(0, None)
        sheet.axes[1].set_yscale("log")
        seconds = [3, 5, 10, 20, 50, 100, 200]
        sheet.axes[1].set_yticks(seconds, [str(s) for s in seconds])
        sheet.axes[1].minorticks_off()
        sheet.axes[0].set_ylabel("PSDU octets on the air [B]")
        sheet.axes[1].set_ylabel("handshake [s]")
        sheet.axes[0].set_title("bytes")
        sheet.axes[1].set_title("duration")
        return sheet.save(folder, name)


def computing(measured: Mapping[Any, Measured], folder: Path) -> list[Path]:
    """Fig. 8 as numbers: spurious retransmissions over the time the client computes."""
    title = "The peer sends again while the node computes (Claeys et al. 2021, Fig. 8)"
    timers = sorted({timer for _, timer, _ in measured})
    factors = sorted({factor for _, _, factor in measured})
    with plot.sheet(2, title=title) as sheet:
        for axes, protocol in zip(sheet.axes, ("DTLS", "TLS"), strict=True):
            times = [
                measured[protocol, timers[0], factor].estimate("compute_client_s")
                for factor in factors
            ]
            curves = {
                f"{timer:.0f} s": [
                    measured[protocol, timer, factor].estimate("retransmissions_spurious")
                    for factor in factors
                ]
                for timer in timers
            }
            sheet.curves(axes, [e.mean if e else 0 for e in times], curves)
            axes.set_title(f"{protocol}, by the server's first timeout")
            axes.set_xlabel("the client computes [s]")
            axes.set_ylabel("spurious retransmissions")
        highest = max(axes.get_ylim()[1] for axes in sheet.axes)
        for axes in sheet.axes:  # the same scale, with room below for the names of curves at 0
            axes.set_ylim(-0.1 * highest, highest)
        return sheet.save(folder, "fig8")


def buffers(levels: Mapping[str, list[Level]], folder: Path) -> list[Path]:
    """Fig. 10: frames queued and fragments in reassembly at the client, over time."""
    title = "Packets in the node's buffers (Claeys et al. 2021, Fig. 10)"
    panels = (
        ("TLS, MTU 864", ("tls.864.nagle", "tls.864")),
        ("TLS, MTU 356", ("tls.356.nagle", "tls.356")),
        ("DTLS", ("dtls.1041", "dtls.529")),
    )
    with plot.sheet(3, title=title) as sheet:
        highest = max(level.fragments + level.frames for run in levels.values() for level in run)
        for axes, (heading, configurations) in zip(sheet.axes, panels, strict=True):
            for colour, name in zip(plot.COLOURS, configurations, strict=False):
                run = levels[name]
                axes.fill_between(
                    [level.at_s for level in run],
                    [level.fragments + level.frames for level in run],
                    step="post",
                    color=colour,
                    alpha=0.45,
                    linewidth=0,
                    label=label(name),
                )
            axes.set_title(heading)
            axes.set_xlabel("time [s]")
            axes.set_ylabel("frames queued + fragments held")
            axes.set_ylim(0, highest + 1)
            axes.legend(loc="upper left")
        return sheet.save(folder, "fig10")
