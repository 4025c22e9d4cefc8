"""Lenders et al., "Securing Name Resolution in the IoT: DNS over CoAP", CoNEXT 2023."""

from slowhand.papers.lenders2023 import gaps, handshake, octets, query
from slowhand.papers.points import Part

PARTS = {
    "octets": Part(octets.measure),
    "gaps": Part(gaps.measure),
    "handshake": Part(handshake.measure, handshake.POINTS, handshake.draw),
    "query": Part(query.measure),
}
