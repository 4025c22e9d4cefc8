"""The paper's figures, drawn from our measurements."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slowhand import plot
from slowhand.estimate import Estimate, of_metric
from slowhand.papers.points import Measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Where = tuple[float, float, float]

EQUIVALENT = ((1, 983.04, 5.15), (2, 491.52, 3.467), (3, 491.52, 2.625))
"""The equivalent TSCH networks of the paper: cells, beacon interval in ms, duration in s."""


def xmac(measured: Mapping[Any, Measured], folder: Path) -> list[Path]:
    """Fig. 2: duration and energy of a handshake over X-MAC."""
    checks = sorted({check for check, _, _ in measured})
    hops = sorted({h for _, h, _ in measured})
    deliveries = sorted({pdr for _, _, pdr in measured}, reverse=True)

    def estimates(column: str, points: list[Where]) -> list[Estimate | None]:
        return [measured[point].estimate(column) for point in points]

    with plot.sheet(3, title="DTLS handshake over X-MAC (Vučinić et al. 2015, Fig. 2)") as sheet:
        single, multi, energy = sheet.axes
        for axes, column in ((single, "duration_s"), (energy, "energy_client_mj")):
            curves = {
                f"PDR {pdr:.0%}": estimates(column, [(check, 1, pdr) for check in checks])
                for pdr in deliveries
            }
            sheet.curves(axes, [check / 1000 for check in checks], curves)
            axes.set_xlabel("check interval [s]")
        at_best = {
            f"CI {check} ms": estimates("duration_s", [(check, h, deliveries[0]) for h in hops])
            for check in checks
        }
        at_worst = {
            f"CI {check} ms": estimates("duration_s", [(check, h, deliveries[-1]) for h in hops])
            for check in checks
        }
        multi.set_yscale("log")
        sheet.curves(multi, hops, at_best)
        sheet.curves(multi, hops, at_worst, dashed=True)
        multi.set_xticks(hops)
        multi.set_yticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
        multi.minorticks_off()
        multi.set_xlabel(f"hops; solid: PDR {deliveries[0]:.0%}, dashed: {deliveries[-1]:.0%}")
        _name(single, multi, energy)
        sheet.mark(energy, (0.5, 29.05), "29.05 mJ reported")
        for axes in (single, energy):
            axes.set_xlim(0, None)
            axes.set_ylim(0, None)
        return sheet.save(folder, "fig2")


def beacon(
    measured: Mapping[Any, Measured], at_once: Mapping[Any, Measured], folder: Path
) -> list[Path]:
    """Fig. 3: duration and energy of a handshake in a beacon-enabled network."""
    intervals = sorted({bi for bi, _, h in measured if h == 1})
    caps = sorted({cap for _, cap, h in measured if h == 1})

    def curves(by: Mapping[Any, Measured], column: str) -> dict[str, list[Estimate | None]]:
        return {
            f"CAP {cap:.1f} ms": [
                by[bi, cap, 1].estimate(column) if (bi, cap, 1) in by else None for bi in intervals
            ]
            for cap in caps
        }

    title = "DTLS handshake over beacon-enabled 802.15.4 (Vučinić et al. 2015, Fig. 3)"
    with plot.sheet(3, title=title) as sheet:
        single, multi, energy = sheet.axes
        for axes, column in ((single, "duration_s"), (energy, "energy_client_mj")):
            axes.set_xscale("log")
            sheet.curves(axes, intervals, curves(measured, column))
            sheet.curves(axes, intervals, curves(at_once, column), dashed=True)
            axes.set_xticks(intervals, [f"{bi:.0f}" for bi in intervals], fontsize=9)
            axes.minorticks_off()
            axes.set_xlabel("beacon interval [ms]")
            sheet.note(axes, "dashed: answering at once")
        several = sorted({bi for bi, _, h in measured if h > 1})
        hops = sorted({h for _, _, h in measured})
        by_interval = {
            f"BI {bi:.0f} ms": [measured[bi, caps[0], h].estimate("duration_s") for h in hops]
            for bi in several
        }
        sheet.curves(multi, hops, by_interval)
        multi.set_xticks(hops)
        multi.set_xlabel(f"hops; CAP {caps[0]:.1f} ms")
        multi.set_ylim(0, None)
        single.set_yscale("log")
        single.set_yticks([0.2, 0.5, 1, 2, 5, 10, 20], ["0.2", "0.5", "1", "2", "5", "10", "20"])
        single.minorticks_off()
        for cells, bi_ms, reported_s in EQUIVALENT:
            sheet.mark(single, (bi_ms, reported_s), f"TSCH, C = {cells}", left=True)
        sheet.mark(single, (3932.16, 35.0), "35 s reported", left=True)
        energy.set_ylim(0, 1.2 * energy.get_ylim()[1])
        _name(single, multi, energy)
        return sheet.save(folder, "fig3")


def _name(single: Axes, multi: Axes, energy: Axes) -> None:
    """The titles and the units of the three panels, which Fig. 2 and 3 both have."""
    single.set_title("(a) duration, single hop")
    multi.set_title("(b) duration, multi-hop")
    energy.set_title("(c) energy of the client, single hop")
    for axes in (single, multi):
        axes.set_ylabel("handshake [s]")
    energy.set_ylabel("energy [mJ]")


def tsch(rows: Mapping[Any, tuple[float, float, Estimate | None]], folder: Path) -> list[Path]:
    """Equations (1) and (2), the same in flights, and the simulation."""
    slotframes = sorted({slotframe for slotframe, _, _ in rows})
    title = "DTLS handshake over TSCH: the paper's equations beside the network they describe"
    with plot.sheet(len(slotframes), title=title, width=6.4) as sheet:
        for axes, slotframe in zip(sheet.axes, slotframes, strict=True):
            columns = [where for where in rows if where[0] == slotframe]
            for offset, (colour, label) in enumerate(
                zip(plot.COLOURS, ("equation", "in flights", "simulated"), strict=False)
            ):
                heights = [_height(rows[where], offset) for where in columns]
                axes.bar(
                    [number + (offset - 1) * 0.27 for number in range(len(columns))],
                    [height.mean for height in heights],
                    0.25,
                    yerr=[height.half for height in heights] if offset == 2 else None,
                    color=colour,
                    label=label,
                    error_kw={"elinewidth": 1.2, "capsize": 3},
                )
            names = [f"C = {c}\n{h} hop{'s' if h > 1 else ''}" for _, c, h in columns]
            axes.set_xticks(range(len(columns)), names)
            axes.grid(axis="x", visible=False)
            axes.set_title(f"{slotframe} slots of 10 ms")
            axes.set_ylabel("handshake [s]")
        sheet.axes[0].legend(loc="upper left")
        return sheet.save(folder, "tsch")


def capacity(swept: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Refused requests, and the handshakes that other policies cost."""
    rho = [result["rho"] for result in swept]
    policies = list(swept[0]["policies"])
    names = [policy.replace("-", " ") for policy in policies]
    title = f"A server with {swept[0]['slots']} session slots for {swept[0]['clients']} clients"
    with plot.sheet(2, title=title, width=6.4) as sheet:
        refused, handshakes = sheet.axes
        for axes, key, scale in (
            (refused, "call_congestion", 100),
            (handshakes, "handshakes_per_session", 1),
        ):
            curves = {
                name: [of_metric(result["policies"][policy][key], scale) for result in swept]
                for policy, name in zip(policies, names, strict=True)
            }
            sheet.curves(axes, rho, curves)
            axes.set_xlabel("traffic of a client without session [Erlang]")
            axes.set_xlim(0, None)
        refused.plot(rho, [100 * r["call_congestion"] for r in swept], ":", color=plot.GREY)
        refused.plot(rho, [100 * r["time_congestion"] for r in swept], "--", color=plot.GREY)
        refused.plot([], [], "--", color=plot.GREY, label="Engset: time all slots are taken")
        refused.plot([], [], ":", color=plot.GREY, label="Engset: requests refused")
        refused.legend(loc="upper left")
        refused.set_title("requests refused")
        refused.set_ylabel("share [%]")
        refused.set_ylim(-3, 80)
        handshakes.set_title("handshakes for each session that ends of itself")
        handshakes.set_ylabel("handshakes")
        return sheet.save(folder, "capacity")


def _height(row: tuple[float, float, Estimate | None], offset: int) -> Estimate:
    equation, flights, simulated = row
    return (Estimate(equation), Estimate(flights), simulated or Estimate(0))[offset]
