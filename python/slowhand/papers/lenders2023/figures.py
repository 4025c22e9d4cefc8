"""The figure, drawn from the captures and from ours."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from slowhand import plot

NAMES = {
    "ch-hvr": "HelloVerify-\nRequest",
    "hvr-ch2": "ClientHello,\ncookie",
    "ch2-sh": "ServerHello",
    "sh-shd": "ServerHello-\nDone",
    "shd-cke": "ClientKey-\nExchange",
    "cke-ccs": "Change-\nCipherSpec",
    "ccs-fin": "Finished",
    "fin-ccs2": "Change-\nCipherSpec\nof the server",
    "ccs2-fin2": "Finished\nof the server",
}
"""The event after each gap."""


def gaps(
    theirs: Mapping[str, tuple[float, float, float]], ours: Mapping[str, float], folder: Path
) -> list[Path]:
    """The gap before each message of a handshake, in milliseconds."""
    title = "A handshake over one hop: the gap before each message (Lenders et al. 2023)"
    with plot.sheet(1, title=title, width=9.0) as sheet:
        (axes,) = sheet.axes
        places = range(len(NAMES))
        medians = [theirs[pair][1] for pair in NAMES]
        spread = [
            [theirs[pair][1] - theirs[pair][0] for pair in NAMES],
            [theirs[pair][2] - theirs[pair][1] for pair in NAMES],
        ]
        axes.bar(
            [place - 0.18 for place in places],
            medians,
            0.34,
            yerr=spread,
            error_kw={"ecolor": plot.GREY, "elinewidth": 1},
            color=plot.COLOURS[0],
            label="captured: median, 5 % to 95 %",
        )
        axes.bar(
            [place + 0.18 for place in places],
            [ours[pair] for pair in NAMES],
            0.34,
            color=plot.COLOURS[1],
            label="here: median",
        )
        axes.set_xticks(places, list(NAMES.values()), fontsize=7)
        axes.grid(axis="x", visible=False)
        axes.set_ylabel("gap [ms]")
        axes.set_ylim(0, 80)
        axes.legend(loc="upper right", ncols=2)
        return sheet.save(folder, "gaps")
