"""Lenders et al., "Securing Name Resolution in the IoT: DNS over CoAP", CoNEXT 2023."""

from slowhand.papers.lenders2023 import gaps, handshake, octets, query
from slowhand.papers.part import Part

PARTS: dict[str, Part] = {
    "octets": octets,
    "gaps": gaps,
    "handshake": handshake,
    "query": query,
}
"""The parts, by their names in `reported.toml`."""
