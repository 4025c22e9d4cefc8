"""Kothmayr et al., "DTLS based security and two-way authentication", Ad Hoc Networks 2013."""

from slowhand.papers.kothmayr2013 import finished, fragments, keys, round_trip
from slowhand.papers.part import Part

PARTS: dict[str, Part] = {
    "rtt": round_trip,
    "fig6": keys,
    "finished": finished,
    "fig7": fragments,
}
"""The parts of the paper, by their names in `reported.toml`."""
