"""Pittoli, David and Noël, "DTLS improvements for constrained networks", 2016."""

from slowhand.papers.part import Part
from slowhand.papers.pittoli2016 import connection, memory, message

PARTS: dict[str, Part] = {
    "connection": connection,
    "message": message,
    "memory": memory,
}
"""The parts of the slides, by their names in `reported.toml`."""
