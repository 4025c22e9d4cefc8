"""The product under test: a server of a firmware team, here a TLS server of Python's library.

It takes readings of sensors over TLS 1.2, one a line, and answers each with the number of readings
that it has. It prints the port on which it listens.

    python server.py CREDENTIALS
"""

from __future__ import annotations

import socketserver
import ssl
import sys
from pathlib import Path


class Readings(socketserver.StreamRequestHandler):
    """The readings of one connection."""

    def handle(self) -> None:
        """Counts readings until the sensor closes the connection."""
        for number, _ in enumerate(self.rfile, start=1):
            self.wfile.write(f"{number}\n".encode())


class Server(socketserver.ThreadingTCPServer):
    """A server that does the handshake of each connection in a thread of its own."""

    daemon_threads = True

    def __init__(self, credentials: Path):
        super().__init__(("127.0.0.1", 0), Readings)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(credentials / "server.pem", credentials / "server.key")

    def finish_request(self, request: object, client_address: object) -> None:
        """Speaks TLS before the first line is read."""
        secured = self.tls.wrap_socket(request, server_side=True)  # type: ignore[arg-type]
        super().finish_request(secured, client_address)


if __name__ == "__main__":
    with Server(Path(sys.argv[1])) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()
