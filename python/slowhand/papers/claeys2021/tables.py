"""Tables 2 and 3, and what the text says of them."""

from __future__ import annotations

import statistics
from pathlib import Path

from slowhand import plot
from slowhand.estimate import Estimate, least, most
from slowhand.papers import find
from slowhand.papers.claeys2021.handshake import (
    LARGE_DTLS,
    LARGE_TLS,
    NAGLE,
    NOTHING_DROPPED,
    TABLES,
    handshake,
    label,
)
from slowhand.papers.points import Laboratory, Part, Point, Settings, Values

QUANTITIES = {"latency": "duration_s", "bytes": "bytes_phy"}

IMPATIENT = handshake(LARGE_TLS, NOTHING_DROPPED)
"""Without the proxy, and without a dropped SYN-ACK. The authors avoided this case."""

SERVER_3_S = handshake(LARGE_DTLS, {"session.server_timeout_s": 3})
"""The fitted row, with the same timer at server and client."""

RETRIES: Settings = {"network.link_pdr": 0.97}
"""Links that lose 3 % of the frames, which the link layer repeats: as much deviation as the paper
has in its latencies."""

UNMERGED = handshake(NAGLE, {"transport.server.nagle": "off"})
"""Without the proxy: Nagle's algorithm at the client only."""


def points_of(table: str, more: Settings | None = None) -> dict[str, Point]:
    """The points of a table's rows, perhaps with more settings."""
    return {row: handshake(settings, more or {}) for row, settings in TABLES[table].items()}


def of_both(more: Settings | None = None) -> list[Point]:
    """The points of both tables."""
    return [point for table in TABLES for point in points_of(table, more).values()]


def table(name: str) -> Part:
    """A table of the paper: latency and bytes of each row, and their standard deviations."""
    points = points_of(name)

    def measure(laboratory: Laboratory) -> Values:
        values: dict[str, Estimate | None] = {}
        for row, point in points.items():
            for quantity, column in QUANTITIES.items():
                mean = laboratory.measure(point).estimate(column)
                values[f"{row}.{quantity}"] = mean
                values[f"{row}.{quantity}.deviation"] = deviation(laboratory, point, column)
        return values

    return Part(measure, list(points.values()))  # the part `text` draws both tables


def deviation(laboratory: Laboratory, point: Point, column: str) -> Estimate | None:
    """The standard deviation of a column; none of less than two handshakes."""
    values = laboratory.measure(point).samples[column]
    return Estimate(statistics.stdev(values)) if len(values) > 1 else None


def text(laboratory: Laboratory) -> Values:
    """The statements of sections 1, 3.2, 5 and 8 about the tables: what is less, what is faster.

    Differences of means, and what explains them.
    """
    table2, table3 = map(points_of, TABLES)

    def more(column: str, row: str, than: str) -> Estimate:
        return laboratory.mean(table2[row], column) - laboratory.mean(table2[than], column)

    def saved_by_proxy(row: str, column: str) -> Estimate:
        return laboratory.mean(table2[row], column) - laboratory.mean(table3[row], column)

    def ratio(row: str, than: str) -> Estimate:
        duration = [laboratory.mean(table2[name], "duration_s") for name in (row, than)]
        return duration[0] / duration[1]

    def alone(point: Point, column: str) -> Estimate | None:
        return laboratory.measure(point).estimate(column)

    against_dtls = [
        ("tls.844.nagle", "dtls.1024"),
        ("tls.844", "dtls.1024"),
        ("tls.336.nagle", "dtls.512"),
        ("tls.336", "dtls.512"),
    ]
    by_mtu = [
        ("tls.336.nagle", "tls.844.nagle"),
        ("tls.336", "tls.844"),
        ("dtls.512", "dtls.1024"),
    ]
    dtls_s = laboratory.mean(table2["dtls.1024"], "duration_s")
    return {
        "dtls.saves.least": more("bytes_phy", "tls.844.nagle", "dtls.1024"),
        "dtls.saves.most": more("bytes_phy", "tls.336", "dtls.512"),
        "dtls.saves": Estimate.mean_of([more("bytes_phy", *pair) for pair in against_dtls]),
        "dtls.faster": Estimate.mean_of([more("duration_s", *pair) for pair in against_dtls]),
        "small.mtu.tls": more("bytes_phy", "tls.336", "tls.844"),
        "small.mtu.tls.nagle": more("bytes_phy", "tls.336.nagle", "tls.844.nagle"),
        "small.mtu.dtls": more("bytes_phy", "dtls.512", "dtls.1024"),
        "small.mtu.duration": most(ratio(*pair) for pair in by_mtu),
        "nagle.bytes": more("bytes_phy", "tls.844", "tls.844.nagle"),
        "nagle.bytes.336": more("bytes_phy", "tls.336", "tls.336.nagle"),
        "nagle.time": more("duration_s", "tls.844.nagle", "tls.844"),
        "nagle.time.336": more("duration_s", "tls.336.nagle", "tls.336"),
        "proxy.saves": Estimate.mean_of([saved_by_proxy(row, "duration_s") for row in table3]),
        "proxy.saves.nagle": saved_by_proxy("tls.844.nagle", "duration_s"),
        "proxy.saves.plain": saved_by_proxy("tls.844", "duration_s"),
        "proxy.bytes.nagle": saved_by_proxy("tls.844.nagle", "bytes_phy"),
        "proxy.bytes.plain": saved_by_proxy("tls.844", "bytes_phy"),
        "proxy.bytes.unmerged": alone(UNMERGED, "bytes_phy"),
        "proxy.ahead": least(
            dtls_s - laboratory.mean(point, "duration_s") for point in table3.values()
        ),
        "proxy.spurious": alone(table3["tls.844"], "retransmissions_spurious"),
        "server.3s.bytes": alone(SERVER_3_S, "bytes_phy"),
        "impatient.latency": alone(IMPATIENT, "duration_s"),
        "impatient.spurious": alone(IMPATIENT, "retransmissions_spurious"),
        "deviation.latency": mean_deviation(laboratory, "duration_s"),
        "deviation.latency.retries": mean_deviation(laboratory, "duration_s", RETRIES),
        "deviation.bytes": mean_deviation(laboratory, "bytes_phy"),
        "deviation.bytes.retries": mean_deviation(laboratory, "bytes_phy", RETRIES),
    }


def mean_deviation(
    laboratory: Laboratory, column: str, more: Settings | None = None
) -> Estimate | None:
    """The mean of the standard deviations of all rows of both tables."""
    points = of_both(more)
    deviations = [deviation(laboratory, point, column) for point in points]
    known = [one for one in deviations if one is not None]
    return Estimate.mean_of(known) if len(known) == len(points) else None


def draw(laboratory: Laboratory, folder: Path) -> list[Path]:
    """Draws Tables 2 and 3 as bars, with the paper's numbers as stars."""
    rows = {f"{table}.{row}": at for table, of in TABLES.items() for row, at in of.items()}
    measured = [laboratory.measure(handshake(settings)) for settings in rows.values()]
    names = [
        label(row.removeprefix("table2.").removeprefix("table3."))
        + (", proxy" if row.startswith("table3") else "")
        for row in rows
    ]
    colours = [plot.COLOURS[0 if "DTLS" in name else 1] for name in names]
    places = range(len(names), 0, -1)
    paper = find("claeys2021")
    title = "TLS and DTLS over 6TiSCH, one hop (Claeys et al. 2021, Tables 2 and 3)"
    with plot.sheet(2, title=title) as sheet:
        for axes, (quantity, column) in zip(sheet.axes, QUANTITIES.items(), strict=True):
            ours = [each.estimate(column) for each in measured]
            axes.barh(
                places,
                [e.mean if e else 0 for e in ours],
                xerr=[e.half if e else 0 for e in ours],
                color=colours,
                height=0.62,
                alpha=0.85,
            )
            reported = [paper.number(f"{row}.{quantity}") for row in rows]
            axes.plot(reported, places, "*", color="black", markersize=10)
            axes.set_yticks(list(places), names)
            axes.grid(axis="y", visible=False)
            axes.set_title(quantity)
        sheet.axes[0].set_xlabel("handshake [s]; star: reported")
        sheet.axes[1].set_xlabel("PSDU octets on the air [B]; star: reported")
        return sheet.save(folder, "tables")


POINTS = [*of_both(), *of_both(RETRIES), IMPATIENT, SERVER_3_S, UNMERGED]
