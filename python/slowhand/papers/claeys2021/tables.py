"""Tables 2 and 3, and what the text says of them."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from pathlib import Path

from slowhand.estimate import Estimate, least, most
from slowhand.papers.claeys2021.handshake import (
    LARGE_MFL,
    LARGE_MSS,
    NOTHING_DROPPED,
    SCENARIO,
    TABLE_2,
    TABLE_3,
    dtls_settings,
    tls_settings,
)
from slowhand.papers.part import Values, no_figure
from slowhand.papers.points import Laboratory, Point, Settings

QUANTITIES = {"latency": "duration_s", "bytes": "bytes_phy"}

IMPATIENT = Point.of(SCENARIO, {**tls_settings(LARGE_MSS, nagle=False), **NOTHING_DROPPED})
"""Without the proxy, and without a dropped SYN-ACK. The authors avoided this case."""

SERVER_3_S = Point.of(SCENARIO, {**dtls_settings(LARGE_MFL), "session.server_timeout_s": 3})
"""The fitted row, with the same timer at server and client."""

RETRIES: Settings = {"network.link_pdr": 0.97}
"""Links that lose 3 % of the frames, which the link layer repeats: as much deviation as the paper
has in its latencies."""

UNMERGED = Point.of(
    SCENARIO, {**tls_settings(LARGE_MSS, nagle=True), "transport.server.nagle": "off"}
)
"""Without the proxy: Nagle's algorithm at the client only."""


def points_of(rows: Mapping[str, Settings], more: Settings | None = None) -> dict[str, Point]:
    """The points of a table's rows, perhaps with more settings."""
    return {row: Point.of(SCENARIO, {**of_row, **(more or {})}) for row, of_row in rows.items()}


class Table:
    """A table of the paper: latency and bytes of each row, and their standard deviations."""

    def __init__(self, rows: Mapping[str, Settings]):
        self.rows = points_of(rows)

    def points(self) -> list[Point]:
        """The points to run."""
        return list(self.rows.values())

    def measure(self, laboratory: Laboratory) -> Values:
        """Means and deviations over the handshakes."""
        return dict(self._values(laboratory))

    def _values(self, laboratory: Laboratory) -> Iterator[tuple[str, Estimate | None]]:
        for row, point in self.rows.items():
            for quantity, column in QUANTITIES.items():
                yield f"{row}.{quantity}", laboratory.measure(point).estimate(column)
                yield f"{row}.{quantity}.deviation", deviation(laboratory, point, column)

    draw = staticmethod(no_figure)  # the part `text` draws both tables


def deviation(laboratory: Laboratory, point: Point, column: str) -> Estimate | None:
    """The standard deviation of a column; none of less than two handshakes."""
    values = laboratory.measure(point).samples[column]
    return Estimate(statistics.stdev(values)) if len(values) > 1 else None


class Text:
    """The statements of sections 1, 3.2, 5 and 8 about the tables: what is less, what is faster."""

    def points(self) -> list[Point]:
        """The points of both tables, the avoided case, and the points that explain differences."""
        tables = [*points_of(TABLE_2).values(), *points_of(TABLE_3).values()]
        retries = [*points_of(TABLE_2, RETRIES).values(), *points_of(TABLE_3, RETRIES).values()]
        return [*tables, *retries, IMPATIENT, SERVER_3_S, UNMERGED]

    def measure(self, laboratory: Laboratory) -> Values:
        """Differences of means, and what explains them."""
        table2, table3 = points_of(TABLE_2), points_of(TABLE_3)

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
            "proxy.saves": Estimate.mean_of([saved_by_proxy(row, "duration_s") for row in TABLE_3]),
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

    def draw(self, laboratory: Laboratory, folder: Path) -> list[Path]:
        """Draws both tables as bars."""
        from slowhand.papers.claeys2021 import figures

        rows = {f"table2.{name}": point for name, point in points_of(TABLE_2).items()}
        rows |= {f"table3.{name}": point for name, point in points_of(TABLE_3).items()}
        return figures.tables({name: laboratory.measure(p) for name, p in rows.items()}, folder)


def mean_deviation(
    laboratory: Laboratory, column: str, more: Settings | None = None
) -> Estimate | None:
    """The mean of the standard deviations of all rows of both tables."""
    points = [*points_of(TABLE_2, more).values(), *points_of(TABLE_3, more).values()]
    deviations = [deviation(laboratory, point, column) for point in points]
    known = [one for one in deviations if one is not None]
    return Estimate.mean_of(known) if len(known) == len(points) else None
