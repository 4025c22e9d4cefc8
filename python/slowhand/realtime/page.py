"""A network that runs, as a page: a server for browsers on this computer.

The server asks the network as long as a page is open. A page that is closed costs the network
nothing. It listens on a loopback address alone. Every path begins with a token that nobody can
guess, and a request with the name of another host, or from a page of another origin, is refused.
"""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import threading
import time
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from slowhand.closing import Closing
from slowhand.pages import running
from slowhand.realtime import control

EVERY_S = 0.1
"""The time between two messages to an open page. *Assumed*: it looks smooth."""

LONGEST_BODY = 10_000
"""The most octets of a command of the page. *Assumed*: it is a line."""

MOST_READERS = 8
"""The most pages that are open at a time. *Assumed*."""

MOST_CONNECTIONS = 64
"""The most connections at a time; further ones are closed. *Assumed*."""

HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Of every answer. None lets another origin read it."""


class Page(Closing):
    """Serves the page of the network with this control socket, until the end of its block.

    `changes` is what the scenario has as `network.changes`: links that are switched off join it.
    """

    def __init__(self, path: Path, port: int = 0, changes: list[dict[str, Any]] | None = None):
        self.token = secrets.token_urlsafe(24)
        self._path = path
        self._changes = changes or []
        self._cut: dict[tuple[int, int], float] = {}  # links that are off, and since when
        self._switching = threading.Lock()
        self._told = threading.Condition()
        self._latest: dict[str, Any] = {}
        self._number = 0  # of the latest
        self._readers = 0
        self._is_over = False
        self._files: list[Path] = []
        self._server = _Server(port, self)
        for work in (self._server.serve_forever, self._ask):
            threading.Thread(target=work, daemon=True).start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    @property
    def address(self) -> str:
        """The address for a browser. Who has it can change the network."""
        return f"http://127.0.0.1:{self.port}/{self.token}/"

    def entrance(self) -> str:
        """The address of a file, only for its user, that leads to the page.

        Other users see what a browser is started with.
        """
        place = self._path.parent
        with NamedTemporaryFile("w", suffix=".html", dir=place, delete=False) as file:
            leads = escape(f"0; url={self.address}")
            file.write(f'<!DOCTYPE html><meta http-equiv="refresh" content="{leads}">')
        self._files.append(Path(file.name))
        return Path(file.name).resolve().as_uri()

    def close(self) -> None:
        """Ends the server, and removes the files that led to it."""
        self._end()
        self._server.shutdown()
        self._server.server_close()
        for file in self._files:
            file.unlink(missing_ok=True)

    def read(self, after: int) -> tuple[int, dict[str, Any]]:
        """The message after this number, when it is there, and its number."""
        with self._told:
            self._told.wait_for(lambda: self._number > after or self._is_over)
            return (-1, {"ended": True}) if self._is_over else (self._number, self._latest)

    def enter(self) -> bool:
        """A page is opened. False: there are too many."""
        with self._told:
            if self._readers >= MOST_READERS:
                return False
            self._readers += 1
            self._told.notify_all()
            return True

    def leave(self) -> None:
        """A page is closed."""
        with self._told:
            self._readers -= 1

    def act(self, request: Any) -> dict[str, Any]:
        """Does what a page asks for. Raises `ValueError` if that is no command."""
        match request:
            case {"set": str()} | {"node": int(), "on": bool()}:
                return control.ask(self._path, request)
            case {"link": [int(one), int(other)], "on": bool(on)}:
                return self._switch((min(one, other), max(one, other)), on)
        raise ValueError

    def _switch(self, link: tuple[int, int], on: bool) -> dict[str, Any]:
        """Switches a link off or on. All that are off are changes of the scenario."""
        with self._switching:
            cut = {one: since for one, since in self._cut.items() if one != link}
            if not on:
                cut[link] = float(control.ask(self._path, {"status": True})["time_s"])
            off = [{"at_s": s, "from": a, "to": b, "pdr": 0} for (a, b), s in cut.items()]
            tables = ", ".join(map(_table, [*self._changes, *off]))
            answer = control.ask(self._path, {"set": f"network.changes=[{tables}]"})
            self._cut = cut
            return answer

    def _ask(self) -> None:
        """Asks the network for all pages, as long as one is open."""
        while True:
            with self._told:
                self._told.wait_for(lambda: self._readers or self._is_over)
                if self._is_over:
                    return None
            began = time.monotonic()
            try:
                told = control.ask(self._path, {"frames": True})
                told["cut"] = [*self._cut]
            except control.ControlError as error:
                if not control.answers(self._path):
                    return self._end()
                told = {"silent": str(error)}
            with self._told:
                self._latest, self._number = told, self._number + 1
                self._told.notify_all()
            time.sleep(max(0.0, EVERY_S - (time.monotonic() - began)))

    def _end(self) -> None:
        with self._told:
            self._is_over = True
            self._told.notify_all()


def _table(change: dict[str, Any]) -> str:
    """A change as TOML: its keys are bare, its values are numbers."""
    return "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in change.items()) + " }"


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, page: Page):
        self.page = page
        self.html = running.encoded()
        self._places = threading.BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__(("127.0.0.1", port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing: who connects does not write on the terminal of the network."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 10
    """Seconds for a request. One that stops in its middle holds a thread."""

    def do_GET(self) -> None:
        """The page, or what happens."""
        name = self._name()
        if name == "":
            self._answer(HTTPStatus.OK, "text/html; charset=utf-8", self.server.html)
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
        octets = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            answer = self.server.page.act(json.loads(octets))
        except (ValueError, RecursionError):
            answer = {"error": "found no command"}
        except control.ControlError as error:
            answer = {"error": str(error)}
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
        is_number = length.isascii() and length.isdigit() and len(length) <= len(str(LONGEST_BODY))
        if not is_number or int(length) > LONGEST_BODY:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        return None

    def log_message(self, *_: Any) -> None:
        """Says nothing."""

    def _name(self) -> str | None:
        """The thing that is asked for. None, after an answer: it is not for us."""
        page = self.server.page
        token, _, name = self.path.removeprefix("/").partition("/")
        # A name of somebody else's may lead here (DNS rebinding).
        is_ours = self.headers.get("Host") in (f"127.0.0.1:{page.port}", f"localhost:{page.port}")
        if not is_ours or not hmac.compare_digest(token.encode(), page.token.encode()):
            self._refuse(HTTPStatus.FORBIDDEN)
            return None
        return name

    def _events(self) -> None:
        """Sends what happens, until the reader or the network has gone."""
        page = self.server.page
        if not page.enter():
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE)
            return
        try:
            self._begin(HTTPStatus.OK, "text/event-stream")
            # A reader that does not read loses its place after `timeout`.
            self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            number = 0
            while number >= 0:
                number, told = page.read(number)
                self.wfile.write(f"data: {json.dumps(told)}\n\n".encode())
        finally:
            page.leave()

    def _begin(self, status: HTTPStatus, kind: str, length: int | None = None) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def _answer(self, status: HTTPStatus, kind: str, octets: bytes) -> None:
        self._begin(status, kind, len(octets))
        self.wfile.write(octets)

    def _refuse(self, status: HTTPStatus) -> None:
        self._answer(status, "text/plain", f"{status.phrase}\n".encode())
