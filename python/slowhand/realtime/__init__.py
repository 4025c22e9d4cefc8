"""A network that runs against the clock of this computer, for programs at one end or at both."""

from __future__ import annotations

import json
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from slowhand import _native, keys, results
from slowhand.api import Scenario, Source, loaded, origin
from slowhand.bounds import natural, of_another_type, real, wrong
from slowhand.closing import Closing
from slowhand.keys import Settings
from slowhand.output import replacing
from slowhand.realtime import status
from slowhand.realtime.places import Proxy, Server, address, proxy
from slowhand.terminal import printable

if TYPE_CHECKING:
    import polars

T = TypeVar("T")

__tracebackhide__ = True
"""pytest leaves the functions of this module out of its tracebacks."""

WAYS = {
    "proxies": ("udp", "tcp"),
    "clients": ("server",),
    "server": ("listen",),
    "interfaces": ("device_netns", "device_tun", "internet_netns", "internet_tun"),
    "emulated": (),
}
"""The ways in, and the arguments of each. Without any of these, both ends are emulated."""

SLICE_S = 0.1
"""The time that one call waits for an event."""


class TwoWaysError(_native.ArgumentError):
    """Two arguments exclude each other."""

    other: str
    """The other argument."""
    allowed: str
    """What is allowed instead of the two."""


def live(
    scenario: Source,
    *,
    udp: Server | Iterable[Server] = (),
    tcp: Server | Iterable[Server] = (),
    server: Server | None = None,
    listen: Server | None = None,
    device_netns: str | None = None,
    device_tun: str | None = None,
    internet_netns: str | None = None,
    internet_tun: str | None = None,
    set: Settings | None = None,
    seed: int | None = None,
    speed: float = 1.0,
    capture: str | os.PathLike[str] | None = None,
    record: str | os.PathLike[str] | None = None,
    control: str | os.PathLike[str] | None = None,
    duration_s: float | None = None,
    handshakes: int | None = None,
    records: bool = True,
) -> Live:
    """Runs the network of a scenario against the clock, and lets programs use it.

    There is one way in:

    - `udp`, `tcp`: programs at both ends. Each is the server, or `LISTEN=SERVER`: clients connect
      to `LISTEN`, and what they send crosses the network, from a node for each client.
    - `server`: the scenario's clients, emulated, open sessions with this program.
    - `listen`: programs open sessions with the scenario's server, emulated.
    - `device_netns`, `device_tun`, `internet_netns`, `internet_tun`: the IPv6 of the kernel, in
      a network namespace or on an interface that exists, at one side or at both.
    - None of these: both ends are emulated.

    An address is a port of this computer, `ADDRESS:PORT` or `NAME:PORT`. `LISTEN` may be 0: a free
    port.

    `speed` is how many seconds of the network pass in a second of the clock. `capture` is the path
    of a pcapng file, or of a FIFO, that is written meanwhile; `record` that of a file for
    `slowhand.replay`; `control` that of a socket for `slowhand live set` and its like. The network
    ends with the block of a `with` statement, after `duration_s` seconds of the clock, or when so
    many `handshakes` are complete. Without `records` it keeps none, only their summary. The end of
    the block warns of a network that could not keep up with the clock, as on a busy computer: its
    times are too long.

    Raises `ScenarioError` if the scenario cannot run so, `ArgumentError` for another argument,
    and `OSError` if an address or an interface is not to be had.

    >>> import slowhand
    >>> with slowhand.live("quickstart", speed=50) as net:
    ...     net.wait(timeout_s=60)
    >>> net.records["outcome"].to_list()
    ['completed']
    """
    arguments = {
        "udp": udp or None,
        "tcp": tcp or None,
        "server": server,
        "listen": listen,
        "device_netns": device_netns,
        "device_tun": device_tun,
        "internet_netns": internet_netns,
        "internet_tun": internet_tun,
    }
    way = _way([name for name, value in arguments.items() if value is not None])
    proxies = [("udp", each) for each in _each("udp", udp)]
    proxies += [("tcp", each) for each in _each("tcp", tcp)]
    if records:
        results.import_polars()
    device = _interface("device", device_netns, device_tun)
    internet = _interface("internet", internet_netns, internet_tun)
    scenario = loaded(scenario, set)
    seed = natural("seed", scenario.seed if seed is None else seed)
    native = _native.Live(
        scenario.native,
        seed=seed,
        speed=real("speed", speed),
        proxies=[(kind, str(one.listen), str(one.server)) for kind, one in proxies],
        server=_optional("server", server, 1),
        listen=_optional("listen", listen, 0),
        device=device,
        internet=internet,
        capture=None if capture is None else os.fspath(capture),
        record=None if record is None else os.fspath(record),
        control=None if control is None else os.fspath(control),
        duration_s=None if duration_s is None else real("duration_s", duration_s),
        handshakes=None if handshakes is None else natural("handshakes", handshakes),
        records=records,
    )
    outside = [end for end, one in (("client", device), ("server", internet)) if one]
    path = None if capture is None else os.fspath(capture)
    return Live(native, scenario, seed=seed, speed=speed, way=way, outside=outside, capture=path)


class Carried:
    """The account of a network: its records and its summary, as files have them too."""

    scenario: Scenario
    """The scenario."""
    seed: int
    """The seed of its random numbers."""

    @property
    def records(self) -> polars.DataFrame:
        """One row for each session of DTLS or TLS, with the columns of `slowhand.run`."""
        table, _ = self._results()
        if table is None:
            raise RuntimeError("this network keeps no records: it was made with records=False")
        return results.frame(table)

    def summary(self) -> dict[str, Any]:
        """The outcomes, why handshakes failed, where datagrams were lost, and the metrics."""
        summary: dict[str, Any] = json.loads(self._results()[1])
        return summary

    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Writes `records` as a Parquet file, as `slowhand live --records` does."""
        with replacing(path, private=self.scenario.holds_keys) as temporary:
            temporary.write_bytes(self.encoded())

    def encoded(self) -> memoryview:
        """The octets of that file."""
        return results.encoded(self.records, self.about())

    def about(self) -> dict[str, Any]:
        """The origin of the network, which repeats the scenario but not the run."""
        return {**origin(self.scenario), "seed": self.seed, "live": True}

    def _results(self) -> tuple[_native.Table | None, str]:
        """The records, if it keeps any, and the summary as JSON."""
        raise NotImplementedError


class Live(Carried, Closing):
    """A network that runs against the clock, as `slowhand.live` starts it.

    What is not known yet raises `RuntimeError` in a process that was forked from that of the
    network: its threads are not there.
    """

    def __init__(
        self,
        native: _native.Live,
        scenario: Scenario,
        *,
        seed: int,
        speed: float,
        way: str,
        outside: list[str],
        capture: str | None,
    ):
        self.scenario = scenario
        """The scenario."""
        self.seed = seed
        """The seed of its random numbers."""
        self.speed = speed
        """The seconds of the network that pass in a second of the clock."""
        self.capture = capture
        """The path of its capture."""
        self.way = way
        """The way in, one of `slowhand.realtime.WAYS`."""
        self.events: list[dict[str, Any]] = []
        """The events, as `slowhand live --json` prints them; in a `with` statement only."""
        found = json.loads(native.addresses())
        listening = [(each["way"], address(each["listen"])) for each in found]
        self.udp = [place for kind, place in listening if kind == "udp"]
        """Where programs send their datagrams: a host and a port for each of `udp`."""
        self.tcp = [place for kind, place in listening if kind == "tcp"]
        """Where programs connect: a host and a port for each of `tcp`."""
        self.listen = listening[0][1] if way == "server" else None
        """Where programs reach the emulated server, with `listen`."""
        self.wall_s = 0.0
        """The time that it ran, in seconds of the clock; known when it is closed."""
        self._native = native
        self._process = os.getpid()
        self._outside = outside  # the ends behind an interface
        self._began = time.monotonic()
        self._changed = threading.Condition()
        self._collector: threading.Thread | None = None
        self._ended = False
        self._finished: tuple[_native.Table | None, str, str] | None = None

    def __enter__(self) -> Self:
        if self._collector or self._finished:
            raise RuntimeError(
                "live: found a network that was in a `with` statement or is closed, allowed: a new"
                " one of slowhand.live"
            )
        self._collector = threading.Thread(target=self._collect, daemon=True)
        self._collector.start()
        return self

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        for message in status.warnings(self.report(), self.speed):
            warnings.warn(message, stacklevel=2)

    def _repr_html_(self) -> str:
        """The content of a cell of a notebook: where programs reach it, or what came out."""
        from slowhand import cells

        return cells.live(self)

    @property
    def is_closed(self) -> bool:
        """True when its records and its summary are there."""
        return self._finished is not None

    def set(self, settings: Settings) -> None:
        """Replaces keys of the scenario from now on, such as `{"network.link_pdr": 0.7}`.

        Raises `ValueError` if a key cannot change while the network runs, or if it has ended, and
        `RuntimeError` if it is closed.
        """
        texts, _ = keys.overrides(settings)
        for text in texts:
            self._here.set(text)

    def node(self, number: int) -> Node:
        """A node: `node(3).off()` switches it off, `node(3).on()` on again."""
        return Node(self._here, natural("node", number))

    def status(self) -> dict[str, Any] | None:
        """The state of the network now, as `slowhand live status --json` prints it.

        None: it has ended, or it has not answered for 5 s.
        """
        text = None if self._finished else self._here.snapshot()
        return None if text is None else json.loads(text)

    def wait(
        self,
        *,
        handshakes: int | None = None,
        sessions: int | None = None,
        timeout_s: float | None = None,
    ) -> None:
        """Waits until so many handshakes are complete, or so many sessions over, since the start.

        Without, it waits until the network ends by itself; it is enough too if it ends. It needs a
        `with` statement. Raises `TimeoutError` after so many seconds of the clock.
        """
        wanted = {"established": handshakes, "closed": sessions}

        def is_reached() -> bool:
            kinds = [event["event"] for event in self.events]
            return self._ended or any(
                count is not None and kinds.count(kind) >= count for kind, count in wanted.items()
            )

        self._check_process()
        with self._changed:
            if not self._changed.wait_for(is_reached, timeout_s):
                raise TimeoutError(f"wait: not reached within {timeout_s:g} s")

    def watch(self, update: Callable[[dict[str, Any] | None], object]) -> None:
        """Calls `update` with each event until the network has ended, and with None in between.

        What ends the wait, as Ctrl-C does, does not end the network.
        """
        ended = False
        while not ended:
            text, ended = self._here.next_event(SLICE_S)
            update(None if text is None else json.loads(text))

    def stop(self) -> None:
        """Ends the network without waiting: its last event comes when it has ended."""
        if not self._finished:
            self._here.stop()

    def close(self) -> None:
        """Ends the network, if it has not ended by itself, and waits for its records."""
        if self._finished:
            return
        self.stop()
        if self._collector:
            self._collector.join()
        finished = self._here.finish()
        self.wall_s = time.monotonic() - self._began
        self._finished = finished

    def report(self) -> dict[str, Any]:
        """The report of the network: sessions, datagrams, frames, and how late it was."""
        report: dict[str, Any] = json.loads(self._end()[2])
        return report

    def programs(self) -> list[str]:
        """The ends that are programs, or hosts behind an interface: `client`, `server`."""
        if self.way == "interfaces":
            return self._outside
        return {"proxies": ["client", "server"], "clients": ["server"], "server": ["client"]}.get(
            self.way, []
        )

    @property
    def _here(self) -> _native.Live:
        """The network itself, which only its own process may ask."""
        self._check_process()
        return self._native

    def _check_process(self) -> None:
        if not self._finished and os.getpid() != self._process:
            raise RuntimeError(
                f"live: found a process forked from {self._process}, allowed: that one, which has"
                " the network's threads; or close the network before the fork"
            )

    def _collect(self) -> None:
        """Keeps the events, until the network has ended."""
        self.watch(self._keep)
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _keep(self, event: dict[str, Any] | None) -> None:
        if event:
            with self._changed:
                self.events.append(event)
                self._changed.notify_all()

    def _results(self) -> tuple[_native.Table | None, str]:
        return self._end()[:2]

    def _end(self) -> tuple[_native.Table | None, str, str]:
        if not self._finished:
            raise RuntimeError("the network runs: its records are there when it is closed")
        return self._finished


class Node(NamedTuple):
    """A node of a network that runs."""

    native: _native.Live
    number: int

    def off(self) -> None:
        """Switches it off: it hears nothing and sends nothing."""
        self.native.switch(self.number, False)

    def on(self) -> None:
        """Switches it on again."""
        self.native.switch(self.number, True)


def _two_ways(one: str, other: str, allowed: str) -> TwoWaysError:
    """The error of two arguments. As that of one, it is made from its message: so it is pickled."""
    reason = f"found {other} too, allowed: {allowed}"
    error = TwoWaysError(f"{one}: {reason}")
    error.argument, error.reason = one, reason
    error.other, error.allowed = other, allowed
    return error


def _way(given: list[str]) -> str:
    """The way in of the arguments that are given. Raises an error if there are several."""
    for way, names in WAYS.items():
        if given and given[0] in names:
            others = [name for name in given if name not in names]
            if others:
                raise _two_ways(given[0], others[0], "one way in")
            return way
    return "emulated"


def _each(name: str, given: Server | Iterable[Server]) -> list[Proxy]:
    """The proxies of an argument, which is one or several."""
    several = [given] if isinstance(given, str | int) else given
    if not isinstance(several, Iterable):
        raise of_another_type(name, given, "a port, a text, or several of them")
    return [_read(name, proxy, one) for one in several]


def _optional(name: str, given: Server | None, least: int) -> str | None:
    """An address as a text, if one was given."""
    if given is None:
        return None
    return str(_read(name, lambda text: address(text, least=least), given))


def _read(name: str, read: Callable[[Server], T], text: Server) -> T:
    """Reads an argument; the message of an error names it."""
    try:
        return read(text)
    except ValueError as error:
        raise wrong(name, str(error)) from None


def _interface(side: str, netns: str | None, tun: str | None) -> tuple[str, str] | None:
    """The interface of one side: its kind and its name."""
    if netns is not None and tun is not None:
        raise _two_ways(f"{side}_netns", f"{side}_tun", "one of the two")
    kinds = {"netns": netns, "tun": tun}
    for kind, name in kinds.items():
        if name is not None:
            return kind, _utf8(f"{side}_{kind}", name)
    return None


def _utf8(argument: str, name: str) -> str:
    """The name itself. Raises an error if it is no text that UTF-8 has."""
    if not isinstance(name, str):
        raise of_another_type(argument, name, "a name")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise wrong(argument, f"found {printable(name)}, allowed: a name in UTF-8") from None
    return name
