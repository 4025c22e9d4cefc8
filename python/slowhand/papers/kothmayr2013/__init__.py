"""Kothmayr et al., "DTLS based security and two-way authentication", Ad Hoc Networks 2013."""

from slowhand.papers.kothmayr2013 import finished, fragments, keys, round_trip
from slowhand.papers.points import Part

PARTS = {
    "rtt": Part(round_trip.measure, round_trip.POINTS),
    "fig6": Part(keys.measure, keys.POINTS, keys.draw),
    "finished": Part(finished.measure, finished.POINTS),
    "fig7": Part(fragments.measure, fragments.POINTS, fragments.draw),
}
