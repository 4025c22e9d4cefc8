"""The handshakes that the paper compares, as settings of `handshake.toml`."""

from __future__ import annotations

from slowhand.api import Setting
from slowhand.papers.points import Point, Settings

SCENARIO = "handshake.toml"

LARGE_MSS, SMALL_MSS = 844, 336
"""In octets: MTU 864 and 356 of the paper, which counts 20 octets of TCP header and no more."""

LARGE_MFL, SMALL_MFL = 1024, 512
"""In octets: MTU 1041 and 529 of the paper: 13 of record header, 4 of compressed UDP header."""

DROPPED_SYN_ACK: Settings = {"server.internet_dropped": [1]}
"""Section 5: the first SYN-ACK is dropped; the server goes on with a timeout of 3 s, not 1 s."""

PROXY: Settings = {"gateway.tcp_proxy": True}
"""Section 5: the TCP proxy at the border router. With it no SYN-ACK has to be dropped."""


def dtls(mfl: int = LARGE_MFL, **more: Setting) -> Point:
    """A handshake of DTLS."""
    return Point.of(SCENARIO, {**dtls_settings(mfl), **_keys(more)})


def tls(mss: int = LARGE_MSS, *, nagle: bool, proxy: bool = False, **more: Setting) -> Point:
    """A handshake of TLS, with Nagle's algorithm at both ends or at neither end."""
    return Point.of(SCENARIO, {**tls_settings(mss, nagle=nagle, proxy=proxy), **_keys(more)})


def dtls_settings(mfl: int) -> Settings:
    """The settings for a handshake of DTLS."""
    return {"session.protocol": "dtls1.2", "session.max_fragment_length": mfl}


def tls_settings(mss: int, *, nagle: bool, proxy: bool = False) -> Settings:
    """The settings for a handshake of TLS."""
    return {
        "session.protocol": "tls1.2",
        "transport.client.mss": mss,
        "transport.server.mss": mss,
        "transport.client.nagle": "rfc896" if nagle else "off",
        "transport.server.nagle": "minshall" if nagle else "off",
        **(PROXY if proxy else DROPPED_SYN_ACK),
    }


TABLE_2: dict[str, Settings] = {
    "tls.844.nagle": tls_settings(LARGE_MSS, nagle=True),
    "tls.844": tls_settings(LARGE_MSS, nagle=False),
    "tls.336.nagle": tls_settings(SMALL_MSS, nagle=True),
    "tls.336": tls_settings(SMALL_MSS, nagle=False),
    "dtls.1024": dtls_settings(LARGE_MFL),
    "dtls.512": dtls_settings(SMALL_MFL),
}
"""The rows of Table 2, by their names in `reported.toml`."""

TABLE_3: dict[str, Settings] = {
    "tls.844.nagle": tls_settings(LARGE_MSS, nagle=True, proxy=True),
    "tls.844": tls_settings(LARGE_MSS, nagle=False, proxy=True),
}
"""The rows of Table 3."""

TABLES = {"table2": TABLE_2, "table3": TABLE_3}

BY_MTU: dict[str, Settings] = {
    "tls.864.nagle": tls_settings(LARGE_MSS, nagle=True),
    "tls.864": tls_settings(LARGE_MSS, nagle=False),
    "tls.356.nagle": tls_settings(SMALL_MSS, nagle=True),
    "tls.356": tls_settings(SMALL_MSS, nagle=False),
    "dtls.1041": dtls_settings(LARGE_MFL),
    "dtls.529": dtls_settings(SMALL_MFL),
}
"""The configurations of Fig. 6, 7 and 10, by their names there, which contain the MTU."""


def _keys(more: Settings) -> Settings:
    """Keys of a scenario from names of arguments, with two underscores instead of the dot."""
    return {name.replace("__", "."): value for name, value in more.items()}
