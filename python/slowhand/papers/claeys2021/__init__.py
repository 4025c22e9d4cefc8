"""Claeys et al., "Performance of the TLS Handshake over 6TiSCH", Sensors 2021."""

from slowhand.papers.claeys2021 import (
    acknowledgements,
    buffers,
    burst,
    computing,
    duty,
    loss,
    resumption,
    tables,
    tls13,
)
from slowhand.papers.points import Part

PARTS = {
    "table2": tables.table("table2"),
    "table3": tables.table("table3"),
    "text": Part(tables.text, tables.POINTS, tables.draw),
    "fig5": Part(duty.measure, duty.POINTS, duty.draw),
    "fig6": loss.FIG_6,
    "fig7": loss.FIG_7,
    "sack": Part(acknowledgements.measure, acknowledgements.POINTS),
    "fig8": Part(computing.measure, computing.POINTS, computing.draw),
    "fig10": Part(buffers.measure, draw=buffers.draw),
    "fragments": Part(buffers.fragments),
    "burst": Part(burst.measure, burst.POINTS),
    "tls13": Part(tls13.measure, tls13.POINTS),
    "resumption": Part(resumption.measure, resumption.POINTS),
}
