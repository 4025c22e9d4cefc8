"""Claeys et al., "Performance of the TLS Handshake over 6TiSCH", Sensors 2021."""

from slowhand.papers.claeys2021 import (
    acknowledgments,
    buffers,
    burst,
    computing,
    duty,
    fragments,
    loss,
    resumption,
    tables,
    tls13,
)
from slowhand.papers.claeys2021.handshake import TABLE_2, TABLE_3
from slowhand.papers.part import Part

PARTS: dict[str, Part] = {
    "table2": tables.Table(TABLE_2),
    "table3": tables.Table(TABLE_3),
    "text": tables.Text(),
    "fig5": duty,
    "fig6": loss.Fig6("fig6", loss.TLS),
    "fig7": loss.Fig7("fig7", loss.DTLS),
    "sack": acknowledgments,
    "fig8": computing,
    "fig10": buffers,
    "fragments": fragments,
    "burst": burst,
    "tls13": tls13,
    "resumption": resumption,
}
"""The parts of the paper, by their names in `reported.toml`."""
