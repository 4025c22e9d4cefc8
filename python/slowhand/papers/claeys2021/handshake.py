"""The handshakes that the paper compares, as settings of `handshake.toml`."""

from __future__ import annotations

from collections.abc import Sequence

from slowhand.papers.points import Point, Settings

SCENARIO = "handshake.toml"

LARGE_MSS, SMALL_MSS = 844, 336
"""In octets."""

LARGE_MFL, SMALL_MFL = 1024, 512
"""In octets."""

HEADERS = {"tls": 20, "dtls": 13 + 4}
"""The octets of the paper's MTU beyond MSS and MFL: the header of TCP and no more; with DTLS
the headers of the record and of compressed UDP."""

DROPPED_SYN_ACK: Settings = {"server.internet_dropped": [1]}
"""Section 5: the first SYN-ACK is dropped; the server goes on with a timeout of 3 s, not 1 s."""

NOTHING_DROPPED: Settings = {"server.internet_dropped": []}
"""Without that remedy the server goes on with a timeout of 1 s, if the point has no other."""

PROXY: Settings = {"gateway.tcp_proxy": True}
"""Section 5: the TCP proxy at the border router. With it no SYN-ACK has to be dropped."""


def handshake(*settings: Settings) -> Point:
    """A handshake with these settings. Of a key that is set twice, the later value counts."""
    return Point.of(SCENARIO, {key: value for each in settings for key, value in each.items()})


def dtls_settings(mfl: int) -> Settings:
    """The settings for a handshake of DTLS."""
    return {"session.protocol": "dtls1.2", "session.max_fragment_length": mfl}


def tls_settings(mss: int, *, nagle: bool, proxy: bool = False) -> Settings:
    """The settings for a handshake of TLS, with Nagle's algorithm at both ends or at neither."""
    return {
        "session.protocol": "tls1.2",
        "transport.client.mss": mss,
        "transport.server.mss": mss,
        "transport.client.nagle": "rfc896" if nagle else "off",
        "transport.server.nagle": "minshall" if nagle else "off",
        **(PROXY if proxy else DROPPED_SYN_ACK),
    }


def dtls_timers(timer_s: int) -> Settings:
    """The first timeout of both ends of DTLS. It doubles once."""
    return {
        "session.timeout_s": timer_s,
        "session.server_timeout_s": timer_s,
        "session.max_timeout_s": 2 * timer_s,
    }


def tcp_timers(timer_s: float, ends: Sequence[str] = ("client", "server")) -> Settings:
    """The first timeout of these ends of TCP, which is also the least."""
    return {
        f"transport.{end}.{timer}": timer_s
        for end in ends
        for timer in ("initial_rto_s", "min_rto_s")
    }


LARGE_DTLS = dtls_settings(LARGE_MFL)
LARGE_TLS = tls_settings(LARGE_MSS, nagle=False)
NAGLE = tls_settings(LARGE_MSS, nagle=True)
"""The handshakes with the largest messages: DTLS; TLS without and with Nagle's algorithm."""

TABLE_2 = {
    "tls.844.nagle": NAGLE,
    "tls.844": LARGE_TLS,
    "tls.336.nagle": tls_settings(SMALL_MSS, nagle=True),
    "tls.336": tls_settings(SMALL_MSS, nagle=False),
    "dtls.1024": LARGE_DTLS,
    "dtls.512": dtls_settings(SMALL_MFL),
}
"""The rows of Table 2, by their names in `reported.toml`."""

TABLE_3 = {
    "tls.844.nagle": tls_settings(LARGE_MSS, nagle=True, proxy=True),
    "tls.844": tls_settings(LARGE_MSS, nagle=False, proxy=True),
}
"""The rows of Table 3."""

TABLES = {"table2": TABLE_2, "table3": TABLE_3}


def _with_mtu(row: str) -> str:
    """The name of a row of Table 2, with the MTU instead of MSS or MFL."""
    protocol, octets, *nagle = row.split(".")
    return ".".join([protocol, str(int(octets) + HEADERS[protocol]), *nagle])


BY_MTU = {_with_mtu(row): settings for row, settings in TABLE_2.items()}
"""The configurations of Fig. 6, 7 and 10: those of Table 2, named `tls.864.nagle` to `dtls.529`."""


def label(row: str) -> str:
    """A readable form of `tls.844.nagle`, for figures."""
    words = {"tls": "TLS", "dtls": "DTLS", "nagle": "Nagle"}
    return " ".join(words.get(word, word) for word in row.split("."))
