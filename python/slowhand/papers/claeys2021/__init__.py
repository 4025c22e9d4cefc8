"""Claeys et al., "Performance of the TLS Handshake over 6TiSCH", Sensors 2021."""

from slowhand.papers.claeys2021 import buffers, computing, duty, loss, tables
from slowhand.papers.part import Part

PARTS: dict[str, Part] = {
    "table2": tables.Table(tables.TABLE_2),
    "table3": tables.Table(tables.TABLE_3),
    "text": tables.Text(),
    "fig5": duty,
    "fig6": loss.Boxes("fig6", loss.TLS),
    "fig7": loss.Boxes("fig7", loss.DTLS),
    "fig8": computing,
    "fig10": buffers,
}
"""The parts of the paper, by their names in `reported.toml`."""
