"""The timers that are common: what standards recommend, and what libraries take by themselves."""

from __future__ import annotations

from typing import NamedTuple

from slowhand.api import Scenario


class Default(NamedTuple):
    """A first timeout that somebody takes by default."""

    name: str
    timeout_s: float
    source: str
    stack: str | None = None
    """The client's library, if it is the default of one that is built in."""


STANDARDS = (
    Default("RFC 6347, RFC 9147", 1.0, "RFC 6347 section 4.2.4.1; RFC 9147 section 5.8.2"),
    Default("Californium", 2.0, "DTLS_RETRANSMISSION_TIMEOUT in DtlsConfig.java of Scandium"),
    Default("OpenThread", 8.0, "mbedtls_ssl_conf_handshake_timeout in src/core/meshcop"),
    Default("RFC 7925, Contiki-NG", 9.0, "RFC 7925 section 11; dtls-support-config.h"),
)

LIBRARIES = (
    Default("mbedTLS", 1.0, "MBEDTLS_SSL_DTLS_TIMEOUT_DFL_MIN in ssl.h", "mbedtls"),
    Default("OpenSSL", 1.0, "dtls1_start_timer in d1_lib.c", "openssl"),
    Default("tinyDTLS", 2.0, "dtls_send_multi in dtls.c", "tinydtls"),
    Default("lean-dtls", 9.0, "RFC 7925 section 11, which it follows", "lean-dtls"),
)
"""The timers of the libraries that are built in, as their adapters have them."""


class Row(NamedTuple):
    """Defaults that give the same configuration, and what makes it."""

    names: list[str]
    sources: list[str]
    timeout_s: float
    stack: str
    overrides: list[str]


def rows(scenario: Scenario, *, stack_is_chosen: bool) -> list[Row]:
    """The configurations of the defaults. Everything else is as the scenario has it.

    The timer of a standard goes with the library of the scenario. That of a library goes with this
    library, if it may be chosen.
    """
    own = scenario.value("session.stack")
    server = scenario.value("session.server_stack") or own
    found: dict[tuple[float, str], Row] = {}
    for default in (*STANDARDS, *LIBRARIES):
        stack = default.stack or own
        if stack != own and not stack_is_chosen:
            continue
        overrides = [f"session.timeout_s={default.timeout_s:g}"]
        if stack != own:
            overrides += [f"session.stack={stack}", f"session.server_stack={server}"]
        row = Row([], [], default.timeout_s, stack, overrides)
        row = found.setdefault((default.timeout_s, stack), row)
        row.names.append(default.name)
        row.sources.append(default.source)
    return list(found.values())
