"""Measures the effect of the gateway: docs/gateway.png, the tables of its page and its reference.

Run it when results have changed: .venv/bin/python docs/gateway.py. It takes some minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from measured import ROOT, Measured, measure, number, save_picture, write

from slowhand import plot
from slowhand.keys import Setting

SCENARIO = ROOT / "scenarios" / "gateway.toml"
COUNT = 1000
HOPS = (1, 2, 3, 4)

CONDITIONS: dict[str, dict[str, Setting]] = {
    "no loss": {},
    "5 % of frames": {"network.link_pdr": 0.95},
    "5 % of fragments": {"lowpan.fragment_loss": 0.05},
    "5 % of fragments, recovered": {
        "lowpan.fragment_loss": 0.05,
        "lowpan.reassembly": "recovery",
        "lowpan.recovery.adaptive": True,
        "lowpan.recovery.retries": 5,
    },
}
"""Lost frames: the link layer repeats them. Lost fragments: DTLS and TCP do, or recovery.

With the default of 2 retries, recovery gives up 4 % of the datagrams over four hops.
"""

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

DECISIVE = ("completed [%]", "median [s]", "bytes [B]", "energy [mJ]", "spurious", LOST)
DECISIVE_HOPS = 3
"""The columns and the hops of the page that is read."""

PAGE = "docs/gateway.md"
REFERENCE = "docs/reference/gateway.md"

KEPT = tuple(
    dict.fromkeys(column for column in COLUMNS.values() if column not in ("completed", "median"))
)


def cell(measured: Measured, column: str) -> str:
    """A cell of the table."""
    match column:
        case "completed":
            return number(100 * measured.completed)
        case "median":
            return number(measured.percentile("duration_s", 0.5))
        case _:
            return number(measured.mean(column).mean)


def settings(variant: str, hops: int, condition: str) -> dict[str, Setting]:
    """The keys of a row of a table."""
    topology: Setting = {"kind": "line", "hops": hops}
    return {**VARIANTS[variant], **CONDITIONS[condition], "network.topology": topology}


def main(folder: Path) -> None:
    """Writes the tables and the figure."""
    measured = {
        (variant, hops, condition): measure(
            SCENARIO, settings(variant, hops, condition), KEPT, COUNT
        )
        for condition in CONDITIONS
        for hops in HOPS
        for variant in VARIANTS
    }
    write(REFERENCE, folder, {condition: table(measured, condition) for condition in CONDITIONS})
    write(PAGE, folder, {"three hops": decisive(measured)})
    draw(measured, folder / "docs")


def row(
    measured: Mapping[tuple[str, int, str], Measured], variant: str, hops: int, condition: str
) -> dict[str, str]:
    """The cells of a row, by column."""
    ours = measured[variant, hops, condition]
    cells = {name: cell(ours, column) for name, column in COLUMNS.items()}
    without = measured[variant.split(",")[0], hops, condition]
    lost = set(without.worlds) - set(ours.worlds)
    return {**cells, LOST: str(len(lost)) if "," in variant else ""}


def table(measured: Mapping[tuple[str, int, str], Measured], condition: str) -> str:
    """The table of a condition."""
    lines = [
        "| hops | | " + " | ".join([*COLUMNS, LOST]) + " |",
        "| ---: | :--- | " + " | ".join("---:" for _ in [*COLUMNS, LOST]) + " |",
    ]
    for hops in HOPS:
        for variant in VARIANTS:
            cells = row(measured, variant, hops, condition).values()
            lines.append(f"| {hops} | {variant} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def decisive(measured: Mapping[tuple[str, int, str], Measured]) -> str:
    """The columns that decide, over one number of hops."""
    lines = [
        "| lost | | " + " | ".join(DECISIVE) + " |",
        "| :--- | :--- | " + " | ".join("---:" for _ in DECISIVE) + " |",
    ]
    for condition in CONDITIONS:
        for variant in VARIANTS:
            cells = row(measured, variant, DECISIVE_HOPS, condition)
            shown = " | ".join(cells[name] for name in DECISIVE)
            lines.append(f"| {condition} | {variant} | {shown} |")
    return "\n".join(lines) + "\n"


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
                    variant: [measured[variant, hops, condition].mean(column) for hops in HOPS]
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
        save_picture(sheet, folder, "gateway")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
