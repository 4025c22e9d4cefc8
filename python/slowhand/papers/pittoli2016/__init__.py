"""Pittoli, David and Noël, "DTLS improvements for constrained networks", 2016."""

from slowhand.papers.part import Part
from slowhand.papers.pittoli2016 import connection, memory, message

PARTS = {
    "connection": Part(connection.measure, connection.POINTS, connection.draw),
    "message": Part(message.measure, message.POINTS),
    "memory": Part(memory.measure),
}
"""The parts of the slides, by their names in `reported.toml`."""
