"""Tables 2 and 3, and what the text says of them."""

from __future__ import annotations

from pathlib import Path

from slowhand.estimate import Estimate, least, most
from slowhand.papers.claeys2021.handshake import (
    LARGE_MFL,
    LARGE_MSS,
    SMALL_MFL,
    SMALL_MSS,
    dtls,
    tls,
)
from slowhand.papers.part import Values
from slowhand.papers.points import Laboratory, Point

TABLE_2: dict[str, Point] = {
    "tls.844.nagle": tls(LARGE_MSS, nagle=True),
    "tls.844": tls(LARGE_MSS, nagle=False),
    "tls.336.nagle": tls(SMALL_MSS, nagle=True),
    "tls.336": tls(SMALL_MSS, nagle=False),
    "dtls.1024": dtls(LARGE_MFL),
    "dtls.512": dtls(SMALL_MFL),
}

TABLE_3: dict[str, Point] = {
    "tls.844.nagle": tls(LARGE_MSS, nagle=True, proxy=True),
    "tls.844": tls(LARGE_MSS, nagle=False, proxy=True),
}

IMPATIENT = tls(LARGE_MSS, nagle=False, server__internet_dropped=[])
"""Without the proxy, and without a dropped SYN-ACK. The authors avoided this case."""

LESS_COMPUTING = 2.1
"""The largest factor of the computing time with which the client answers within 3 s."""

LESS: dict[str, Point] = {
    "tls.844.nagle": tls(LARGE_MSS, nagle=True, client__compute_factor=LESS_COMPUTING),
    "tls.844": tls(LARGE_MSS, nagle=False, client__compute_factor=LESS_COMPUTING),
    "tls.336.nagle": tls(SMALL_MSS, nagle=True, client__compute_factor=LESS_COMPUTING),
    "tls.336": tls(SMALL_MSS, nagle=False, client__compute_factor=LESS_COMPUTING),
    "dtls.1024": dtls(LARGE_MFL, client__compute_factor=LESS_COMPUTING),
}
"""Rows of Table 2 with this factor. They show what the fit of the fitted row means."""

SERVER_3_S = dtls(LARGE_MFL, session__server_timeout_s=3)
"""The fitted row, with the same timer at server and client."""


class Table:
    """A table of the paper: latency and bytes of each row."""

    def __init__(self, rows: dict[str, Point]):
        self.rows = rows

    def points(self) -> list[Point]:
        """The points to run."""
        return list(self.rows.values())

    def measure(self, laboratory: Laboratory) -> Values:
        """Means over the handshakes."""
        return {
            f"{row}.{quantity}": laboratory.measure(point).estimate(column)
            for row, point in self.rows.items()
            for quantity, column in (("latency", "duration_s"), ("bytes", "bytes_phy"))
        }

    def draw(self, laboratory: Laboratory, folder: Path) -> list[Path]:
        """Draws nothing: the part `text` draws both tables."""
        return []


class Text:
    """The statements of sections 3.2, 5 and 8 about the tables: which is less, which is faster."""

    def points(self) -> list[Point]:
        """The points of both tables, the avoided case, and the points that explain differences."""
        tables = [*TABLE_2.values(), *TABLE_3.values()]
        return [*tables, *LESS.values(), IMPATIENT, SERVER_3_S]

    def measure(self, laboratory: Laboratory) -> Values:
        """Differences of means."""
        mean = laboratory.mean

        def more(column: str, row: str, than: str) -> Estimate:
            return mean(TABLE_2[row], column) - mean(TABLE_2[than], column)

        saved = [
            mean(TABLE_2[row], "duration_s") - mean(TABLE_3[row], "duration_s") for row in TABLE_3
        ]
        ahead = [
            mean(TABLE_2["dtls.1024"], "duration_s") - mean(point, "duration_s")
            for point in TABLE_3.values()
        ]
        tls_rows = [row for row in TABLE_2 if row.startswith("tls")]

        def saved_by_dtls(column: str) -> list[Estimate]:
            """What DTLS saves compared with TLS of similar size, with and without Nagle."""
            return [
                more(column, row, "dtls.1024" if "844" in row else "dtls.512") for row in tls_rows
            ]

        savings = saved_by_dtls("bytes_phy")
        return {
            "dtls.saves.least": least(savings),
            "dtls.saves.most": most(savings),
            "dtls.faster": Estimate.mean_of(saved_by_dtls("duration_s")),
            "small.mtu.tls": more("bytes_phy", "tls.336", "tls.844"),
            "small.mtu.tls.nagle": more("bytes_phy", "tls.336.nagle", "tls.844.nagle"),
            "small.mtu.dtls": more("bytes_phy", "dtls.512", "dtls.1024"),
            "nagle.bytes": more("bytes_phy", "tls.844", "tls.844.nagle"),
            "nagle.bytes.336": more("bytes_phy", "tls.336", "tls.336.nagle"),
            "nagle.time": more("duration_s", "tls.844.nagle", "tls.844"),
            "nagle.time.336": more("duration_s", "tls.336.nagle", "tls.336"),
            "proxy.saves": Estimate.mean_of(saved),
            "proxy.ahead": least(ahead),
            "proxy.spurious": laboratory.measure(TABLE_3["tls.844"]).estimate(
                "retransmissions_spurious"
            ),
            **{
                f"less.{row}": laboratory.measure(point).estimate("duration_s")
                for row, point in LESS.items()
            },
            "server.3s.bytes": laboratory.measure(SERVER_3_S).estimate("bytes_phy"),
            "impatient.latency": laboratory.measure(IMPATIENT).estimate("duration_s"),
            "impatient.spurious": laboratory.measure(IMPATIENT).estimate(
                "retransmissions_spurious"
            ),
        }

    def draw(self, laboratory: Laboratory, folder: Path) -> list[Path]:
        """Draws both tables as bars."""
        from slowhand.papers.claeys2021 import figures

        rows = {f"table2.{name}": point for name, point in TABLE_2.items()}
        rows |= {f"table3.{name}": point for name, point in TABLE_3.items()}
        return figures.tables({name: laboratory.measure(p) for name, p in rows.items()}, folder)
