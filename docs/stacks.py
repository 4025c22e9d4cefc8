"""Compares all DTLS stacks on one network: writes the tables of docs/reference/stacks.md.

The few rows that decide go into docs/stacks.md, with its figure.

Run it when results have changed: .venv/bin/python docs/stacks.py. It takes some minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from measured import ROOT, Measured, Settings, cells, fill_pages, measure, save_picture

from slowhand import plot
from slowhand.keys import Setting

SCENARIO = ROOT / "scenarios" / "psk-tinydtls.toml"
COUNT = 1000

FRAME = 78
"""Octets of a datagram that fits into one frame, over any number of hops (docs/lean-profile.md)."""

TIMEOUT_S = 3
"""The first wait of the ends that have a timer here. Others wait as by default: lean-dtls 9 s."""

FLOOR_S = 1
"""The least wait of an end that measures round trips: longer than either computes (0.4 s)."""

BUT_FINISHED_FIRST = (
    "omit_messages",
    "short_nonce",
    "short_header",
    "acknowledge",
    "short_finished",
)

HOPS = (1, 3)

LINKS: dict[str, Settings] = {
    "TSCH": {},  # as in the scenario: a slotframe of 25 slots of 10 ms, one cell up and one down
    "X-MAC": {"mac": {"kind": "xmac", "check_interval_ms": 125}},
    "beacon": {"mac": {"kind": "beacon", "beacon_interval_ms": 245.76, "cap_ms": 61.44}},
}

CONDITIONS: dict[str, Settings] = {
    "no loss": {},
    "5 % of fragments": {"lowpan.fragment_loss": 0.05},
    "5 % of frames": {"lowpan.frame_loss": 0.05},
}
"""No layer below DTLS repeats what is lost here: it is lost after the link layer."""

LEAN: Settings = {"session.stack": "lean-dtls"}

DTLS13: Settings = {
    **LEAN,
    "session.protocol": "dtls1.3",
    "session.suite": "TLS_AES_128_CCM_8_SHA256",
    "session.auth": "psk",
}


def lean(*switches: str, **more: Setting) -> Settings:
    """lean-dtls with these switches of the lean profile, and other keys of the session."""
    return {**LEAN, "session.lean": list(switches), **{f"session.{k}": v for k, v in more.items()}}


VARIANTS: dict[str, Settings] = {
    "mbedTLS": {"session.stack": "mbedtls"},
    "OpenSSL": {"session.stack": "openssl"},
    "tinyDTLS": {},
    "lean-dtls, DTLS 1.2": LEAN,
    "one frame a datagram": {**LEAN, "session.mtu": FRAME},
    "no cookie": {**LEAN, "session.cookie": False},
    "omit_messages": lean("omit_messages"),
    "short_nonce": lean("short_nonce"),
    "short_header": lean("short_header"),
    "acknowledge": lean("acknowledge"),
    "slides": lean("slides"),
    "slides, server_finished_first": lean("slides", "server_finished_first"),
    "all": lean("all"),
    "all but server_finished_first": lean(*BUT_FINISHED_FIRST),
    "all, timer by round trip": lean("all", timeout_floor_s=FLOOR_S),
    "all, one frame, no cookie": lean("all", mtu=FRAME, cookie=False, timeout_s=TIMEOUT_S),
    "the same, timer by round trip": lean(
        "all", mtu=FRAME, cookie=False, timeout_s=TIMEOUT_S, timeout_floor_s=FLOOR_S
    ),
    "DTLS 1.3": DTLS13,
    "DTLS 1.3, one frame, no cookie": {
        **DTLS13,
        "session.mtu": FRAME,
        "session.cookie": False,
        "session.timeout_s": TIMEOUT_S,
    },
}

WANTED: dict[str, tuple[str, float | None]] = {
    "median [s]": ("duration_s", 0.5),
    "95 % [s]": ("duration_s", 0.95),
    "median [B]": ("bytes_phy", 0.5),
    "95 % [B]": ("bytes_phy", 0.95),
    "frames": ("frames", None),
    "energy [mJ]": ("energy_client_mj", None),
}
"""What stands in a row after the share that failed: a percentile or the mean of a column."""

COLUMNS = ("failed [%]", *WANTED)

KEPT = tuple(dict.fromkeys(column for column, _ in WANTED.values()))

DECISIVE = (
    "5 % of fragments",
    (
        *("mbedTLS", "OpenSSL", "tinyDTLS", "lean-dtls, DTLS 1.2", "one frame a datagram"),
        *("all, one frame, no cookie", "DTLS 1.3", "DTLS 1.3, one frame, no cookie"),
    ),
)
"""The rows of the page that is read, of the network of the figure."""

Results = Mapping[tuple[str, str, int, str], Measured]


def main(folder: Path) -> None:
    """Writes the tables and the figure."""
    measured = {
        (variant, link, hops, condition): run(variant, link, hops, condition)
        for link in LINKS
        for hops in HOPS
        for condition in CONDITIONS
        for variant in VARIANTS
    }
    tables = {
        f"{link}, {hops}": table(measured, link, hops, CONDITIONS, VARIANTS)
        for link in LINKS
        for hops in HOPS
    }
    ((link, hops),) = SHOWN.items()
    (condition, variants) = DECISIVE
    decisive = table(measured, link, hops, [condition], variants)
    fill_pages(folder, {"stacks.md": {"decisive": decisive}, "reference/stacks.md": tables})
    draw(measured, folder / "docs")


def run(variant: str, link: str, hops: int, condition: str) -> Measured:
    """The handshakes of a row of a table."""
    network: Settings = {"network.topology": {"kind": "line", "hops": hops}}
    settings = {**network, **LINKS[link], **CONDITIONS[condition], **VARIANTS[variant]}
    return measure(SCENARIO, settings, KEPT, COUNT)


def table(
    measured: Results,
    link: str,
    hops: int,
    conditions: Iterable[str],
    variants: Iterable[str],
) -> str:
    """The table of a link layer and a number of hops."""
    lines = [
        "| | stack | " + " | ".join(COLUMNS) + " |",
        "| :--- | :--- | " + " | ".join("---:" for _ in COLUMNS) + " |",
    ]
    for condition in conditions:
        for variant in variants:
            row = cells(measured[variant, link, hops, condition], [*WANTED.values()])
            lines.append(f"| {condition} | {variant} | " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


SHOWN = {"TSCH": 3}
"""The link layer and the hops of the figure, and of the rows that decide."""


def draw(measured: Results, folder: Path) -> None:
    """Octets, medians and 95th percentiles, a line a stack and a mark a condition."""
    panels = (
        ("(a) octets on the air", "bytes_phy", 0.5, "PSDU octets, median [B]"),
        ("(b) duration", "duration_s", 0.5, "handshake, median [s]"),
        ("(c) duration of the slowest", "duration_s", 0.95, "handshake, 95th percentile [s]"),
    )
    ((link, hops),) = SHOWN.items()
    title = f"A PSK handshake over {hops} hops of {link}, by stack and loss"
    heights = range(len(VARIANTS))
    with plot.sheet(len(panels), title=title, height=1.6 + 0.3 * len(VARIANTS)) as sheet:
        for axes, (name, column, share, label) in zip(sheet.axes, panels, strict=True):
            for (condition, _), colour, marker in zip(
                CONDITIONS.items(), plot.COLOURS, "osD", strict=False
            ):
                found = [measured[variant, link, hops, condition] for variant in VARIANTS]
                known = [
                    (m.percentile(column, share), y)
                    for m, y in zip(found, heights, strict=True)
                    if m.worlds
                ]
                axes.plot(
                    [x for x, _ in known],
                    [y for _, y in known],
                    marker,
                    color=colour,
                    alpha=0.8,
                    label=condition,
                )
            axes.set_yticks(
                heights, list(VARIANTS) if axes is sheet.axes[0] else [""] * len(VARIANTS)
            )
            axes.invert_yaxis()
            axes.set_xlim(0, None)
            axes.set_xlabel(label)
            axes.set_title(name)
        sheet.axes[-1].legend(loc="lower right", fontsize=9)
        save_picture(sheet, folder, "stacks")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
