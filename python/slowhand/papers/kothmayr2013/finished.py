"""Section 5.2: the server's last flight is lost, and the client repeats its own."""

from __future__ import annotations

from slowhand.estimate import Estimate
from slowhand.keys import Setting
from slowhand.papers.kothmayr2013 import opal
from slowhand.papers.points import Laboratory, Point, Values

LAST_FLIGHT = {"rsa": (36, 37), "psk": (10,), "tinydtls": (10, 11)}
"""The frames of the server's ChangeCipherSpec and Finished, the last ones of a handshake, counted
from 1 in both directions."""

SESSIONS: dict[str, dict[str, Setting]] = {
    "rsa": {"stack": "mbedtls"},
    "psk": {"stack": "mbedtls", "suite": opal.PSK},
    "tinydtls": {"stack": "tinydtls", "suite": opal.PSK},
}


def whole(handshake: str) -> Point:
    """A handshake that loses nothing."""
    return opal.point(**SESSIONS[handshake])


def without_last_flight(handshake: str) -> Point:
    """A handshake in which the server's last flight is lost once."""
    dropped = {"lowpan.dropped_frames": list(LAST_FLIGHT[handshake])}
    return opal.point(1, dropped, **SESSIONS[handshake])


POINTS = [whole("rsa"), *(without_last_flight(handshake) for handshake in LAST_FLIGHT)]


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part."""

    def completed(handshake: str) -> Estimate:
        return laboratory.completed(without_last_flight(handshake))

    def duration(at: Point) -> Estimate:
        return laboratory.mean(at, "duration_s")

    return {
        "dtls12": completed("rsa"),
        "dtls12.psk": completed("psk"),
        "dtls12.longer": duration(without_last_flight("rsa")) - duration(whole("rsa")),
        "dtls10.psk": completed("tinydtls"),
    }
