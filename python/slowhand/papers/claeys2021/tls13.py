"""Section 6: TLS 1.3 takes a round trip less."""

from __future__ import annotations

from slowhand.estimate import Estimate
from slowhand.papers.claeys2021.handshake import LARGE_TLS, NOTHING_DROPPED, handshake, tcp_timers
from slowhand.papers.points import Laboratory, Point, Settings, Values

SUITES = {
    "tls1.2": "TLS_ECDHE_ECDSA_WITH_AES_128_CCM",
    "tls1.3": "TLS_AES_128_CCM_SHA256",
}

DELAY_S = 1.0
"""Of each packet between border router and server: how much longer a handshake then takes says how
many round trips it has."""

OF_TCP = 1.0
"""Round trips before the first octet of TLS."""

TO_THE_SERVER = 0.5
"""Of the last message, in round trips. In TLS 1.3 it is the client's Finished: the client may send
application data together with it. In TLS 1.2 it is the server's."""


def point(protocol: str, delay_s: float) -> Point:
    """A handshake with a curve that both versions have, and timers that do not fire."""
    session: Settings = {
        "session.protocol": protocol,
        "session.suite": SUITES[protocol],
        "session.curve": "secp256r1",
    }
    path: Settings = {
        "server.internet_delay_ms": 1000 * delay_s,
        "transport.server.tail_loss_probe": False,
    }
    return handshake(LARGE_TLS, session, NOTHING_DROPPED, path, tcp_timers(10))


POINTS = [point(protocol, delay_s) for protocol in SUITES for delay_s in (0.0, DELAY_S)]


def measure(laboratory: Laboratory) -> Values:
    """Round trips and durations."""

    def duration(protocol: str, delay_s: float = 0.0) -> Estimate:
        return laboratory.mean(point(protocol, delay_s), "duration_s")

    def round_trips(protocol: str) -> Estimate:
        longer = duration(protocol, DELAY_S) - duration(protocol)
        return longer / Estimate(2 * DELAY_S)

    whole = {protocol: round_trips(protocol) - Estimate(OF_TCP) for protocol in SUITES}
    data = whole["tls1.3"] - Estimate(TO_THE_SERVER)
    return {
        "round.trips.12": whole["tls1.2"],
        "round.trips.13": data,
        "less": whole["tls1.2"] - data,
        "less.both": whole["tls1.2"] - whole["tls1.3"],
        "faster": duration("tls1.2") - duration("tls1.3"),
        "duration.12": duration("tls1.2"),
        "duration.13": duration("tls1.3"),
    }
