"""Vučinić et al., "DTLS Performance in Duty-Cycled Networks", PIMRC 2015."""

from slowhand.papers.points import Part
from slowhand.papers.vucinic2015 import beacon, counts, memory, tables, tsch, xmac

PARTS = {
    "table1": Part(tables.table1),
    "table2": Part(tables.table2),
    "tsch": Part(tsch.measure, tsch.POINTS, tsch.draw),
    "fig2": Part(xmac.measure, xmac.POINTS, xmac.draw),
    "fig3": Part(beacon.measure, beacon.POINTS, beacon.draw),
    "memory": Part(memory.measure, draw=memory.draw),
    "counts": Part(counts.measure, counts.POINTS),
}
