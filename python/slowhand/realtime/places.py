"""Where programs are, and where they reach the network: addresses and ports."""

from __future__ import annotations

import ipaddress
import re
import socket
from typing import NamedTuple, TypeAlias

from slowhand.terminal import printable

__tracebackhide__ = True
"""pytest leaves the functions of this module out of its tracebacks."""

LOOPBACK = "127.0.0.1"
"""Where we listen, and where a server is, if only a port is given. `localhost` means it too."""

MAX_PORT = 2**16 - 1
LONGEST_PORT = len(str(MAX_PORT))

NAME = re.compile(r"(?=.{1,253}$)([A-Za-z0-9_-]{1,63}\.)*[A-Za-z0-9_-]*[A-Za-z][A-Za-z0-9_-]*\.?")
"""The name of a host (RFC 1123 section 2.1). Its last label has a letter, unlike that of an IPv4
address."""

Server: TypeAlias = str | int
"""A port of this computer, `ADDRESS:PORT` or `NAME:PORT`; for a proxy also `LISTEN=SERVER`."""


class Address(NamedTuple):
    """A host and a port, as `socket.connect` takes them."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Proxy(NamedTuple):
    """Programs that connect to the one address meet the server at the other."""

    listen: Address
    server: Address


def address(text: Server, *, least: int = 1) -> Address:
    """The address of a text: a port, or an address or a name and a port. Raises `ValueError`.

    A name is looked up; of several addresses the first one that the system gives counts. `least` is
    the least port that is allowed: 0 where a free one will do.

    >>> str(address("5684")), str(address("localhost:5684")), str(address("[::1]:5684"))
    ('127.0.0.1:5684', '127.0.0.1:5684', '[::1]:5684')
    """
    host, colon, port = str(text).rpartition(":")
    host = host if colon and host != "localhost" else LOOPBACK
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    digits = port if len(port) <= LONGEST_PORT else ""
    if digits.isascii() and digits.isdecimal() and least <= int(digits) <= MAX_PORT:
        if NAME.fullmatch(host):
            return Address(_found(host), int(digits))
        try:
            ip = ipaddress.ip_address(bare)
        except ValueError:
            pass
        else:
            if (ip.version == 6) == (bare != host) and "%" not in bare:
                return Address(str(ip), int(port))
    allowed = f"a port from {least} to {MAX_PORT}, or such a port of an IP address or a name"
    example = f"{LOOPBACK}:5684, [::1]:5684 or server.example:5684"
    raise ValueError(f"found {printable(str(text)) or 'nothing'}, allowed: {allowed}: {example}")


def _found(name: str) -> str:
    """The address of a name. Raises `ValueError` if it has none."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ValueError(f"found {name}, which has no address: {reason}") from None
    return str(found[0][4][0])


def proxy(text: Server) -> Proxy:
    """The proxy of `LISTEN=SERVER`, or of the server alone: then it listens on a free port.

    >>> proxy("5684=192.0.2.1:5684")
    Proxy(listen=Address(host='127.0.0.1', port=5684), server=Address(host='192.0.2.1', port=5684))
    """
    listen, equals, server = str(text).rpartition("=")
    return Proxy(address(listen if equals else 0, least=0), address(server))
