"""A network that runs, as a page: a server for one browser on this computer.

The page asks for what happens as long as it is open; the network then keeps its last frames. A page
that is closed costs the network nothing. The server listens on a loopback address alone. Every
path begins with a token that nobody can guess, and a request with the name of another host, or from
a page of another origin, is refused.
"""

from __future__ import annotations

import hmac
import json
import secrets
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from slowhand.pages import running
from slowhand.realtime import control

EVERY_S = 0.1
"""How often an open page is told what happened. *Assumed*: it looks smooth."""

LONGEST_BODY = 10_000
"""The most octets of a command of the page. *Assumed*: a list of switched links."""

MOST_READERS = 8
"""The most pages that are open at a time. *Assumed*."""

HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Of every answer. None lets another origin read it."""


class Page:
    """Serves the page of the network with this control socket, until the end of its block."""

    def __init__(self, path: Path, port: int = 0, changes: list[dict[str, Any]] | None = None):
        self.token = secrets.token_urlsafe(24)
        self._stopped = threading.Event()
        self._readers = threading.BoundedSemaphore(MOST_READERS)
        page = running.encoded(changes or [])
        owner = self

        class Handler(_Handler):
            """The requests of this page."""

            def __init__(self, *given: Any):
                self.page, self.control, self.owner = page, path, owner
                super().__init__(*given)

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    @property
    def address(self) -> str:
        """The address for a browser. Who has it can change the network."""
        return f"http://127.0.0.1:{self.port}/{self.token}/"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopped.set()
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    timeout = 30  # seconds for a request; one that stops in its middle holds a thread
    page: bytes
    control: Path
    owner: Page

    def do_GET(self) -> None:
        """The page, or what happens."""
        name = self._name()
        if name == "":
            self._answer(HTTPStatus.OK, "text/html; charset=utf-8", self.page)
        elif name == "events":
            self._events()
        elif name is not None:
            self._refuse(HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """A command."""
        if (name := self._name()) is None:
            return
        if refusal := self._refusal(name):
            self._refuse(refusal)
            return
        try:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = control.ask(self.control, _command(request))
        except (ValueError, RecursionError):
            answer = {"error": "found no command"}
        except control.ControlError as error:
            answer = {"error": str(error)}
        except OSError:
            return  # the reader has gone
        self._answer(HTTPStatus.OK, "application/json", json.dumps(answer).encode())

    def _refusal(self, name: str) -> HTTPStatus | None:
        """Why a command is not read."""
        if name != "command":
            return HTTPStatus.NOT_FOUND
        # A form of another page cannot send this type without asking first.
        is_json = self.headers.get("Content-Type") == "application/json"
        if self.headers.get("Origin") != f"http://{self.headers['Host']}" or not is_json:
            return HTTPStatus.FORBIDDEN
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit() or int(length) > LONGEST_BODY:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        return None

    def log_message(self, *_: Any) -> None:
        """Says nothing."""

    def _name(self) -> str | None:
        """What is asked for. None, after an answer: it is not for us."""
        token, _, name = self.path.removeprefix("/").partition("/")
        port = self.owner.port
        # A name of somebody else's may lead here (DNS rebinding).
        is_ours = self.headers.get("Host") in (f"127.0.0.1:{port}", f"localhost:{port}")
        if not is_ours or not hmac.compare_digest(token.encode(), self.owner.token.encode()):
            self._refuse(HTTPStatus.FORBIDDEN)
            return None
        return name

    def _events(self) -> None:
        """What happens, until the reader or the network has gone."""
        if not self.owner._readers.acquire(blocking=False):
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE)
            return
        try:
            self._begin(HTTPStatus.OK, "text/event-stream")
            while not self.owner._stopped.is_set():
                began = time.monotonic()
                try:
                    told = control.ask(self.control, {"frames": True})
                except control.ControlError as error:
                    told = {"ended": str(error)}
                self.wfile.write(f"data: {json.dumps(told)}\n\n".encode())
                self.wfile.flush()
                if "ended" in told:
                    return
                self.owner._stopped.wait(max(0.0, EVERY_S - (time.monotonic() - began)))
        except OSError:
            pass  # the page is closed
        finally:
            self.owner._readers.release()

    def _begin(self, status: HTTPStatus, kind: str, length: int | None = None) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def _answer(self, status: HTTPStatus, kind: str, octets: bytes) -> None:
        try:
            self._begin(status, kind, len(octets))
            self.wfile.write(octets)
        except OSError:
            pass  # the reader has gone

    def _refuse(self, status: HTTPStatus) -> None:
        self._answer(status, "text/plain", f"{status.phrase}\n".encode())


def _command(request: Any) -> dict[str, Any]:
    """A command that a page may give. Raises `ValueError` if it is another one."""
    if isinstance(request, dict):
        if set(request) == {"set"} and isinstance(request["set"], str):
            return request
        if set(request) == {"node", "on"} and isinstance(request["on"], bool):
            return request
    raise ValueError
