"""Measures what the gateway gains, for docs/gateway.md: its tables, and docs/gateway.png and .svg.

Run it when results have changed: .venv/bin/python docs/gateway.py. It takes about a minute.
"""

from __future__ import annotations

import re
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

from slowhand import Run, Scenario, plot
from slowhand.api import Setting
from slowhand.estimate import Estimate

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "scenarios" / "gateway.toml"
COUNT = 1000
HOPS = (1, 2, 3, 4)
LOSSES = (0.0, 0.05)

DTLS: dict[str, Setting] = {"session.protocol": "dtls1.2"}
TLS: dict[str, Setting] = {"session.protocol": "tls1.2"}
VARIANTS: dict[str, dict[str, Setting]] = {
    "DTLS": DTLS,
    "DTLS, suppression": {**DTLS, "gateway.suppress_spurious_flights": True},
    "TLS": TLS,
    "TLS, proxy": {**TLS, "gateway.tcp_proxy": True},
}

COLUMNS = {
    "completed [%]": "completed",
    "duration, mean [s]": "duration_s",
    "median [s]": "median",
    "bytes [B]": "bytes_phy",
    "energy [mJ]": "energy_client_mj",
    "needed": "retransmissions_needed",
    "spurious": "retransmissions_spurious",
    "by the server": "retransmissions_spurious_server",
}


@dataclass(frozen=True)
class Measured:
    """A variant over some hops under some loss."""

    values: dict[str, Estimate]
    completed: frozenset[int]
    """The seeds of the handshakes that completed."""


def measure(variant: str, hops: int, loss: float, count: int = COUNT) -> Measured:
    """Runs `count` handshakes."""
    settings: dict[str, Setting] = {
        **VARIANTS[variant],
        "network.topology": {"kind": "line", "hops": hops},
        "lowpan.fragment_loss": loss,
    }
    run = Run(Scenario(SCENARIO, settings), count=count, seed=1)
    while not run.wait(0.1)[1]:
        pass
    columns = run.finish().columns()
    done = [i for i, outcome in enumerate(columns["outcome"]) if outcome == "completed"]
    kept = {name: [columns[name][i] for i in done] for name in COLUMNS.values() if name in columns}
    values = {name: Estimate.of(numbers) for name, numbers in kept.items()}
    values["completed"] = Estimate(100 * len(done) / count)
    values["median"] = Estimate(statistics.median(kept["duration_s"]))
    return Measured(values, frozenset(columns["seed"][i] for i in done))


def main(folder: Path) -> None:
    """Writes the tables and the picture."""
    measured = {
        (variant, hops, loss): measure(variant, hops, loss)
        for loss in LOSSES
        for hops in HOPS
        for variant in VARIANTS
    }
    text = (ROOT / "docs" / "gateway.md").read_text()
    for loss in LOSSES:
        name = f"{loss:.0%}".replace("%", " %")
        block = re.compile(rf"(?<=<!-- table {name} -->\n).*?(?=<!-- end -->)", re.DOTALL)
        text, found = block.subn(lambda _, loss=loss: table(measured, loss), text)  # type: ignore[misc]
        assert found == 1, f"docs/gateway.md has lost its table for {name}"
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs" / "gateway.md").write_text(text)
    draw(measured, folder / "docs")


def table(measured: dict[tuple[str, int, float], Measured], loss: float) -> str:
    """The table of a loss rate."""
    lines = [
        "| hops | | " + " | ".join(COLUMNS) + " |",
        "| ---: | :--- | " + " | ".join("---:" for _ in COLUMNS) + " |",
    ]
    for hops in HOPS:
        for variant in VARIANTS:
            values = measured[variant, hops, loss].values
            cells = [number(values[column]) for column in COLUMNS.values()]
            lines.append(f"| {hops} | {variant} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def number(estimate: Estimate) -> str:
    """A number with three digits or more."""
    digits = 0 if estimate.mean >= 1000 else 1 if estimate.mean >= 100 else 2
    return f"{estimate.mean:,.{digits}f}"


def draw(measured: dict[tuple[str, int, float], Measured], folder: Path) -> None:
    """Spurious retransmissions and durations, by hops."""
    with plot.sheet(3, title="What the gateway gains: three hops of help for either end") as sheet:
        spurious, duration, energy = sheet.axes
        for axes, column in (
            (spurious, "retransmissions_spurious"),
            (duration, "median"),
            (energy, "energy_client_mj"),
        ):
            for loss in LOSSES:
                curves = {
                    variant: [measured[variant, hops, loss].values[column] for hops in HOPS]
                    for variant in VARIANTS
                }
                sheet.curves(axes, HOPS, curves, dashed=loss > 0)
            axes.set_xticks(HOPS)
            axes.set_xlabel("hops; solid: no loss, dashed: 5 % of fragments")
            axes.set_ylim(0, None)
        spurious.set_title("(a) spurious retransmissions")
        duration.set_title("(b) duration, median")
        energy.set_title("(c) energy of the client, mean")
        duration.set_ylabel("handshake [s]")
        energy.set_ylabel("energy [mJ]")
        sheet.save(folder, "gateway")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
