"""Pittoli, David and Noël, "DTLS improvements for constrained networks", 2016."""

from slowhand.papers.pittoli2016 import connection, memory, message
from slowhand.papers.points import Part

PARTS = {
    "connection": Part(connection.measure, connection.POINTS, connection.draw),
    "message": Part(message.measure, message.POINTS),
    "memory": Part(memory.measure),
}
