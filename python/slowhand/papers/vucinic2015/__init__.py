"""Vučinić et al., "DTLS Performance in Duty-Cycled Networks", PIMRC 2015."""

from slowhand.papers.part import Part
from slowhand.papers.vucinic2015 import beacon, counts, memory, tables, tsch, xmac

PARTS: dict[str, Part] = {
    "table1": tables.TABLE_1,
    "table2": tables.TABLE_2,
    "tsch": tsch,
    "fig2": xmac,
    "fig3": beacon,
    "memory": memory,
    "counts": counts,
}
"""The parts of the paper, by their names in `reported.toml`."""
