"""Measures the effect of the gateway: writes the tables of docs/gateway.md, and docs/gateway.png.

Run it when results have changed: .venv/bin/python docs/gateway.py. It takes some minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slowhand import Run, Scenario, plot
from slowhand.api import Setting
from slowhand.estimate import Estimate, median

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "scenarios" / "gateway.toml"
COUNT = 1000
HOPS = (1, 2, 3, 4)

CONDITIONS: dict[str, dict[str, Setting]] = {
    "no loss": {},
    "5 % of frames": {"network.link_pdr": 0.95},
    "5 % of fragments": {"lowpan.fragment_loss": 0.05},
}
"""The link layer repeats lost frames. No layer below DTLS and TCP repeats lost fragments."""

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
    "of these the server's": "retransmissions_spurious_server",
}
LOST = "failed, but not without"
"""Handshakes that complete only without the help of the border router."""


@dataclass(frozen=True)
class Measured:
    """The results of a variant for a number of hops and a condition."""

    values: dict[str, Estimate]
    completed: frozenset[int]
    """The seeds of the handshakes that completed."""


def measure(variant: str, hops: int, condition: str, count: int = COUNT) -> Measured:
    """Runs `count` handshakes."""
    settings: dict[str, Setting] = {
        **VARIANTS[variant],
        **CONDITIONS[condition],
        "network.topology": {"kind": "line", "hops": hops},
    }
    run = Run(Scenario(SCENARIO, settings), count=count, seed=1)
    columns: Mapping[str, Any] = run.columns()
    done = [i for i, outcome in enumerate(columns["outcome"]) if outcome == "completed"]
    kept = {name: [columns[name][i] for i in done] for name in COLUMNS.values() if name in columns}
    worlds = [columns["seed"][i] for i in done]
    values = {name: Estimate.of(numbers, worlds) for name, numbers in kept.items()}
    values["completed"] = Estimate(100 * len(done) / count)
    values["median"] = Estimate(median(kept["duration_s"]))
    return Measured(values, frozenset(worlds))


def main(folder: Path) -> None:
    """Writes the tables and the figure."""
    measured = {
        (variant, hops, condition): measure(variant, hops, condition)
        for condition in CONDITIONS
        for hops in HOPS
        for variant in VARIANTS
    }
    text = (ROOT / "docs" / "gateway.md").read_text()
    for condition in CONDITIONS:
        begin, end = f"<!-- table: {condition} -->\n", "<!-- end -->"
        before, found, after = text.partition(begin)
        assert found, f"docs/gateway.md has lost its table: {condition}"
        text = before + begin + table(measured, condition) + end + after.partition(end)[2]
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs" / "gateway.md").write_text(text)
    draw(measured, folder / "docs")


def table(measured: Mapping[tuple[str, int, str], Measured], condition: str) -> str:
    """The table of a condition."""
    lines = [
        "| hops | | " + " | ".join([*COLUMNS, LOST]) + " |",
        "| ---: | :--- | " + " | ".join("---:" for _ in [*COLUMNS, LOST]) + " |",
    ]
    for hops in HOPS:
        for variant in VARIANTS:
            values = measured[variant, hops, condition].values
            cells = [number(values[column]) for column in COLUMNS.values()]
            without = measured[variant.split(",")[0], hops, condition]
            lost = without.completed - measured[variant, hops, condition].completed
            cells.append(str(len(lost)) if "," in variant else "")
            lines.append(f"| {hops} | {variant} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def number(estimate: Estimate) -> str:
    """A number with three digits or more."""
    digits = 0 if estimate.mean >= 1000 else 1 if estimate.mean >= 100 else 2
    return f"{estimate.mean:,.{digits}f}"


def draw(measured: Mapping[tuple[str, int, str], Measured], folder: Path) -> None:
    """Spurious retransmissions, bytes and durations, by hops."""
    with plot.sheet(3, title="What the gateway gains where frames are lost or not") as sheet:
        spurious, octets, duration = sheet.axes
        for axes, column in (
            (spurious, "retransmissions_spurious"),
            (octets, "bytes_phy"),
            (duration, "duration_s"),
        ):
            for condition, dashed in (("no loss", False), ("5 % of frames", True)):
                curves = {
                    variant: [measured[variant, hops, condition].values[column] for hops in HOPS]
                    for variant in VARIANTS
                }
                sheet.curves(axes, HOPS, curves, dashed=dashed)
            axes.set_xticks(HOPS)
            axes.set_xlabel("hops; solid: no loss, dashed: 5 % of frames lost")
            axes.set_ylim(0, None)
        spurious.set_title("(a) spurious retransmissions")
        octets.set_title("(b) octets on the air")
        duration.set_title("(c) duration")
        octets.set_ylabel("PSDU octets [B]")
        duration.set_ylabel("handshake [s]")
        for drawn in sheet.save(folder, "gateway"):
            if drawn.suffix == ".svg":
                drawn.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
