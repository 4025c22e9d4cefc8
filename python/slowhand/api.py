"""The functions for notebooks: scenarios, runs and their data frames."""

from __future__ import annotations

import copy
import copyreg
import json
import math
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from slowhand import _native, data, keys, results
from slowhand.bounds import natural, wrong
from slowhand.keys import Setting, Settings
from slowhand.nearest import none_of
from slowhand.output import replacing
from slowhand.terminal import printable

if TYPE_CHECKING:
    import polars

    from slowhand.explain import Explanation
    from slowhand.playback import Playback


__tracebackhide__ = True
"""pytest leaves the functions of this module out of its tracebacks."""

COUNT = 100
"""The number of worlds of a run, if not given."""

SEED = 1
"""The first seed, if not given."""


class Scenario:
    """A scenario, read and checked: which network, which devices, which session.

    `source` is one of these:

    - the name of a scenario that comes with slowhand, or the path of a TOML file;
    - a dictionary with the same sections and keys;
    - the path of a result that `slowhand run --records` or `--json` wrote: the scenario of that
      run. No other file is read.

    `set` replaces keys. Files that a scenario names (devices, traces) are relative to its own file,
    or to the working directory if it is a dictionary. The rows of a trace may stand in the place of
    its file. Raises `ScenarioError` with one message: the file, the line, the key, what was found
    there and what is allowed.

    >>> import slowhand
    >>> slowhand.Scenario("quickstart", {"network.link_pdr": 0.9}).about()["network"]
    'one hop, link PDR 0.9, TSCH with 5 slots of 20 ms'
    >>> line = slowhand.Scenario({
    ...     "network": {"topology": {"kind": "line", "hops": 2}},
    ...     "mac": {"kind": "csma"},
    ...     "client": {"device": "nrf52840"},
    ...     "session": {"stack": "tinydtls", "suite": "TLS_PSK_WITH_AES_128_CCM_8"},
    ... })
    >>> slowhand.run(line, count=3)["outcome"].to_list()
    ['completed', 'completed', 'completed']
    """

    count, seed = COUNT, SEED
    """The number of worlds and the first seed of a run, if not given."""
    limits: Mapping[str, Any] = MappingProxyType({})
    """The limits of a world with programs, of a result of `exec`."""
    is_result = False
    """True if it was read from a result: then the scenario's own file is not read."""
    has_file = True
    """False if it is from a dictionary: then no command can name it."""
    _folder: str | None = None
    """Where files are that it names. None: no file is read."""

    def __init__(
        self,
        source: str | os.PathLike[str] | Mapping[str, Setting],
        set: Settings | None = None,
    ):
        overrides, texts = keys.overrides(set)
        if isinstance(source, Mapping):
            self.path = self.read_from = keys.NAME
            self._folder, self.has_file = "", False
            self._make(keys.NAME, {**keys.document(source), **texts}, overrides)
            return
        self.path = data.scenario_path(source)
        """The path of its file, as results have it."""
        self.read_from = self.path
        """The file that was read: the scenario's, or that of a result."""
        if results.is_result(self.path):
            self.is_result = True
            about = self._about_result()
            overrides = [*about["overrides"], *overrides]
            self._make(about["file"], {**about["files"], **texts}, overrides)
        elif texts:
            self._folder, name = os.path.split(self.path)
            self._make(name, texts, overrides)
        else:
            self._folder = os.path.dirname(self.path)  # noqa: PTH120 (a path of any octets)
            self._adopt(_native.Scenario(self.path, overrides))

    def with_(self, set: Settings) -> Scenario:
        """Returns this scenario with some keys replaced.

        >>> import slowhand
        >>> slower = slowhand.Scenario("quickstart").with_({"session.timeout_s": 9})
        >>> slower.overrides
        ['session.timeout_s=9']

        Links that alternate between a good and a bad state (Gilbert and Elliott):

        >>> bursts = slower.with_({"network.gilbert_elliott": {"good_ms": 2000, "bad_ms": 300}})

        The losses of a trace, as rows (a list, a data frame of polars, an array of numpy): from 2 s
        on, half of the frames from node 1 to node 0 arrive, on all channels.

        >>> rows = [(0, 1, 0, None, 1.0), (2, 1, 0, None, 0.5)]
        >>> traced = slower.with_({"network.trace.file": rows})
        >>> print(traced.files["trace.csv"], end="")
        time_s,from,to,channel,pdr
        0,1,0,,1
        2,1,0,,0.5

        A schedule, cell by cell:

        >>> up, down = {"slot": 3, "from": 1, "to": 0}, {"slot": 5, "from": 0, "to": 1}
        >>> own = slower.with_({
        ...     "mac.slotframe": 11,
        ...     "mac.cells": {"shared": 1},
        ...     "mac.schedule": [up, down, {"slot": 8, "channel_offset": 2, "from": 1, "to": 0}],
        ... })
        """
        overrides, texts = keys.overrides(set)
        split = [(*map(str.strip, text.partition("=")[::2]), text) for text in overrides]
        new = {key for key, value, _ in split if value}
        kept = [text for text in self.overrides if text.partition("=")[0] not in new]
        # A key without a value is removed, also one that an override before has set; but not twice.
        overrides = [text for key, value, text in split if value or f"{key}=" not in kept]
        other = copy.copy(self)
        other._make(self.file, {**self.files, **texts}, [*kept, *overrides])
        return other

    @classmethod
    def from_sources(cls, path: str, sources: Mapping[str, Any]) -> Scenario:
        """The scenario that has these `sources`. No file is read; `path` is its name in results.

        >>> import slowhand
        >>> scenario = slowhand.Scenario("quickstart")
        >>> slowhand.Scenario.from_sources("again.toml", scenario.sources)
        Scenario('again.toml')
        """
        scenario = cls.__new__(cls)
        scenario.path = scenario.read_from = path
        scenario._adopt(_native.Scenario.from_sources(json.dumps(sources)))
        return scenario

    def value(self, key: str) -> Any:
        """The value of a key, such as `session.mtu`, as the file or an override has it.

        `None` if neither has the key: then its default counts. Tables are dictionaries.

        >>> import slowhand
        >>> line = slowhand.Scenario("lossy-line", {"network.topology.hops": 4})
        >>> line.value("network.topology.hops"), line.value("session.mtu")
        (4, None)
        """
        return self.native.value(key)

    @property
    def sources(self) -> dict[str, Any]:
        """The texts that it was made from: the name of its file, all files, the overrides."""
        return {"scenario": self.file, "files": self.files, "overrides": self.overrides}

    def _make(self, file: str, files: Mapping[str, str], overrides: list[str]) -> None:
        """Reads the scenario from texts, and other files from its folder."""
        sources = {"scenario": file, "files": files, "overrides": overrides}
        self._adopt(_native.Scenario.from_sources(json.dumps(sources), self._folder))

    def _adopt(self, native: _native.Scenario) -> None:
        self.native: _native.Scenario = native
        sources = json.loads(native.sources())
        self.file: str = sources["scenario"]
        """The name of the scenario's file in `files`."""
        self.overrides: list[str] = sources["overrides"]
        """The values that replace keys of the file, each as `key=value`."""
        self.files: dict[str, str] = sources["files"]
        """The texts of the scenario's file and of its device files, by their names."""

    def _about_result(self) -> dict[str, Any]:
        """Takes over what a result says of its run, and warns of what differs."""
        path = self.read_from
        about = results.about(path)
        if stacks := about.get("stacks"):
            from slowhand import own_stacks

            own_stacks.require(stacks, place=printable(os.fspath(path)))
        self.path, self.count, self.seed = about["scenario"], about["count"], about["seed"]
        self.limits = about.get("limits", {})
        if about["slowhand"] != _native.__version__:
            version = printable(about["slowhand"])
            versions = f"slowhand {version} made it, and this is {_native.__version__}"
            warnings.warn(f"{printable(path)}: {versions}: the rows may differ", stacklevel=3)
        if about["interrupted"]:
            warnings.warn(
                f"{printable(path)}: its run was interrupted after {self.count:,} worlds: so many"
                " are repeated, and the last seeds may differ",
                stacklevel=3,
            )
        return about

    def __repr__(self) -> str:
        return f"Scenario({self.path!r})"

    def about(self) -> dict[str, Any]:
        """A short description; `assumed` has the constants of each device that are assumed.

        >>> import slowhand
        >>> slowhand.Scenario("quickstart").about()["session"]
        'mbedtls, dtls1.2, TLS_ECDHE_ECDSA_WITH_AES_128_CCM'
        """
        about: dict[str, Any] = json.loads(self.native.about())
        return about

    @property
    def holds_keys(self) -> bool:
        """True if it sets `session.psk` or `mac.security.key`.

        Results carry the text of their scenario, and so these keys: only the owner may read such a
        file.

        >>> import slowhand
        >>> slowhand.Scenario("psk-tinydtls", {"session.psk": "00112233"}).holds_keys
        True
        """
        return self.native.holds_keys()

    def credentials(self) -> dict[str, str]:
        r"""The credentials of both ends, so that a program can be one: texts by names of files.

        `psk.txt` has the identity, a colon and the key in hexadecimal digits. Certificates and keys
        are PEM: `ca.pem`, `server.pem`, `server.key`, and those of a client that proves itself. Raw
        public keys are `client.pub` and `server.pub`. A password is in `password.txt`.

        >>> import slowhand
        >>> scenario = slowhand.Scenario("psk-tinydtls", {"session.psk": "00112233"})
        >>> scenario.credentials()
        {'psk.txt': 'Client_identity:00112233\n'}
        """
        return self.native.credentials()

    def write_credentials(self, folder: str | os.PathLike[str]) -> None:
        """Writes the credentials into a folder. Only its owner may read a file with a secret."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.credentials().items():
            with replacing(folder / name, private=name.endswith((".key", ".txt"))) as temporary:
                temporary.write_text(text)

    def session_memory(self) -> dict[str, int | None]:
        """The most octets that the library of each end ("client", "server") has on the heap.

        Measured during one handshake in memory, on this 64-bit computer. Static tables and the
        stack are not included; tinyDTLS has its buffers on the stack. A 32-bit device needs less.
        Use the numbers to compare, not to dimension a device: each library is built with all that
        it can do here, and mbedTLS with its default buffers of 16 KiB. The number of an end is
        None if it cannot be counted, because the handshake does not complete in memory.
        """
        memory: dict[str, int | None] = json.loads(self.native.session_memory())
        return memory

    def capture(self, path: str | os.PathLike[str], *, seed: int | None = None) -> None:
        """Runs the world of `seed` and writes all its frames to `path`, as pcapng.

        The file has the secrets of the sessions, so only its owner may read it. `seed` defaults to
        the scenario's: 1, or the first one of a result. Raises `WorldError` if the world panics.

        >>> import slowhand
        >>> slowhand.Scenario("quickstart").capture("one.pcapng", seed=7)
        """
        with self._world(seed) as number:
            _native.capture(self.native, number, path)

    def explain(self, *, seed: int | None = None, client: int | None = None) -> Explanation:
        """Runs the world of `seed` and says where the time of one handshake went.

        `seed` defaults to the scenario's: 1, or the first one of a result. `client` is the node of
        the client; by default it is the first one. Raises `WorldError` if the world panics.

        >>> import slowhand
        >>> explanation = slowhand.Scenario("quickstart").explain(seed=17)
        >>> parts = explanation.parts
        >>> abs(sum(part["seconds"] for part in parts) - explanation.document["duration_s"]) < 1e-6
        True
        """
        from slowhand.explain import Explanation

        client = None if client is None else natural("client", client)
        with self._world(seed) as number:
            document = json.loads(self.native.explain(number, client))
        return Explanation({**document, "scenario": self.path})

    def play(self, *, seed: int | None = None, client: int | None = None) -> Playback:
        """Runs the world of `seed` and keeps everything that happens in it.

        `seed` defaults to the scenario's: 1, or the first one of a result. The handshake of the
        client with the node `client` is explained; by default it is the first one. Raises
        `WorldError` if the world panics.

        >>> import slowhand
        >>> playback = slowhand.Scenario("quickstart").play(seed=17)
        >>> slowhand.pages.playback(playback, "played.html")
        """
        from slowhand.playback import Playback

        client = None if client is None else natural("client", client)
        with self._world(seed) as number:
            document = json.loads(self.native.play(number, client))
        document["explanation"]["scenario"] = self.path
        return Playback(document)

    def inspect(self, *, seed: int | None = None) -> Inspection:
        """Runs the world of `seed` and returns the details of every node.

        `seed` defaults to the scenario's: 1, or the first one of a result. Raises `WorldError` if
        the world panics.

        >>> import slowhand
        >>> nodes = slowhand.Scenario("quickstart").inspect(seed=7).nodes
        >>> nodes.select("node", "device", "queue_peak").rows()
        [(0, 'openmote-cc2538', 8), (1, 'openmote-cc2538', 7)]
        """
        with self._world(seed) as number:
            tables = _native.inspect(self.native, number)
        return Inspection(*map(results.frame, tables))

    @contextmanager
    def _world(self, seed: int | None) -> Iterator[int]:
        """The seed of a world, by default the scenario's. The error of a panic names it."""
        seed = natural("seed", self.seed if seed is None else seed)
        try:
            yield seed
        except RuntimeError as error:
            raise WorldError(f"the world of seed {seed} panicked: {error}") from error


def _restored(sources: str) -> _native.Scenario:
    return _native.Scenario.from_sources(sources)


# A scenario that is pickled, or copied deep, is made again from its texts.
copyreg.pickle(_native.Scenario, lambda native: (_restored, (native.sources(),)))


class Inspection(NamedTuple):
    """One run in detail, from time 0 to the end of its last handshake."""

    nodes: polars.DataFrame
    """One row for each node: the time of its radio and its CPU in each state, the energy of each,
    and the largest amounts in its queue and in reassembly. A host on the Internet is not a node."""
    timeline: polars.DataFrame
    """One row for each interval in which a radio was on: node, state (transmit, receive or
    listen), from_s and to_s. Between the intervals of a node its radio was off."""
    buffers: polars.DataFrame
    """One row for each change in a node's buffers: node, from_s, and the content from then on:
    queued_frames (in the link layer's queue), reassembly_fragments, reassembly_bytes (the octets of
    these fragments) and forwarding_entries (virtual reassembly buffers in use). Before the first
    row of a node its buffers are empty."""


class WorldError(RuntimeError):
    """A world panicked: an error in slowhand or in a library. The message names its seed."""


class Run:
    """A run in progress on its own threads: one world for each seed from `seed` on.

    `threads` defaults to the number of processors. The records do not depend on it. With
    `records=False` they are not kept, and a long run needs no more memory than a short one. There
    is a summary in both cases.

    A world that panics, by an error in slowhand or in a library, has no record. The others are
    kept: `panicked` names such worlds, and `frame` warns of them.

    There is a warning for what is allowed and rarely wanted. If the scenario has programs, these do
    not run, and there is a warning too: `exec` runs them.

    Ctrl-C, and every signal whose handler raises, ends the wait of a method, not the run.

    >>> import slowhand
    >>> run = slowhand.Run(slowhand.Scenario("quickstart"), count=5)
    >>> run.finish()
    >>> run.summary()["metrics"]["frames"]["mean"]
    39.0
    """

    def __init__(
        self,
        scenario: Source,
        *,
        count: int | None = None,
        seed: int | None = None,
        threads: int | None = None,
        records: bool = True,
    ):
        self.scenario = scenario = loaded(scenario)
        if scenario.value("programs"):
            text = "its programs do not run, its libraries do: `slowhand exec` runs the programs"
            warnings.warn(f"{printable(scenario.path)}: {text}", stacklevel=2)
        for text in scenario.native.warnings():
            warnings.warn(f"{printable(scenario.path)}: {text}", stacklevel=2)
        self.count = natural("count", scenario.count if count is None else count)
        self.seed = natural("seed", scenario.seed if seed is None else seed)
        self.wall_s: float | None = None
        """The wall time of the run in seconds, after it has finished."""
        self._began = time.monotonic()
        self._keeps_records = records
        self._process = os.getpid()
        self._native = _native.Run(
            scenario.native, self.seed, self.count, threads_of(threads), records
        )

    def _repr_html_(self) -> str:
        """The content of a cell of a notebook: how far it is, or what came out."""
        from slowhand import cells

        return cells.run(self)

    def wait(self, timeout_s: float) -> tuple[int, bool]:
        """Waits at most `timeout_s`. Returns how many worlds are done, and True if all are.

        Raises `RuntimeError` in a process that was forked from that of the run: its threads are not
        there.
        """
        if self.wall_s is None and os.getpid() != self._process:
            raise RuntimeError(
                f"run: found a process forked from {self._process}, allowed: that one, which has"
                " the run's threads; or wait for the end of the run before the fork"
            )
        done, finished = self._native.wait(timeout_s)
        if finished and self.wall_s is None:
            self.wall_s = time.monotonic() - self._began
        return done, finished

    def cancel(self) -> None:
        """Ends the run at once: worlds in progress are dropped, the records of others are kept."""
        self._native.cancel()

    def finish(self) -> None:
        """Waits for the end of the run."""
        self.wait(math.inf)

    def watch(self, update: Callable[[int], None]) -> None:
        """Waits too, and calls `update` with the number of worlds that are done, again and again.

        What ends the wait, as Ctrl-C does, ends the run too.
        """
        try:
            finished = False
            while not finished:
                done, finished = self.wait(0.1)
                update(done)
        except BaseException:
            self.cancel()
            raise

    @property
    def panicked(self) -> list[str]:
        """Which worlds panicked, and how: a message for each of the first 100, by seed."""
        self.finish()
        return self._native.panicked()[0]

    @property
    def panicked_count(self) -> int:
        """The number of worlds that panicked."""
        self.finish()
        return self._native.panicked()[1]

    @property
    def complete(self) -> int:
        """The number of worlds that are done: `count`, or less if the run was cancelled."""
        self.finish()
        return self.wait(0)[0]

    def columns(self) -> dict[str, list[Any]]:
        """The columns of `frame`, without polars."""
        return {name: values for name, _, values in self._table()}

    def frame(self, *, warns: bool = True) -> polars.DataFrame:
        """One row for each handshake, ordered by seed, then client. Column names contain units.

        Worlds that panicked have no rows: then there is a warning, if `warns`.
        """
        frame = results.frame(self._table())
        if warns and self.panicked:
            warnings.warn(told(self), stacklevel=2)
        return frame

    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Writes `frame` as a Parquet file that repeats its run, as `slowhand run --records` does.

        `slowhand.Scenario(path)` is the scenario of such a file, with its count and first seed.
        """
        with replacing(path, private=self.scenario.holds_keys) as temporary:
            temporary.write_bytes(self.encoded())

    def encoded(self) -> memoryview:
        """The octets of that file."""
        return results.encoded(results.frame(self._table()), self.about())

    def _table(self) -> _native.Table:
        if not self._keeps_records:
            raise RuntimeError("this run keeps no records: it was made with records=False")
        self.finish()
        return self._native.columns()

    def summary(self) -> dict[str, Any]:
        """The outcomes, why handshakes failed, where datagrams were lost, and the metrics.

        `metrics` are over the completed handshakes, `metrics_failed` over those that failed.
        """
        self.finish()
        summary: dict[str, Any] = json.loads(self._native.summary())
        return summary

    def about(self) -> dict[str, Any]:
        """All that repeats the run: version, scenario, overrides, the text of all files, seeds.

        `count` is the number of worlds that are done, where the run was interrupted.
        """
        complete = self.complete
        return {
            **origin(self.scenario),
            "seed": self.seed,
            "count": complete,
            "interrupted": complete < self.count,
        }


def run(
    scenario: Source,
    *,
    count: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    set: Settings | None = None,
) -> polars.DataFrame:
    """Runs `count` worlds (100), with the seeds from `seed` (1) on: one row for each handshake.

    The same scenario and seed give the same rows for any `count` and `threads`. `set` replaces
    keys. Worlds that panicked, by an error in slowhand or in a library, have no rows: then there is
    a warning.

    >>> import slowhand
    >>> frame = slowhand.run("quickstart", count=3, set={"network.link_pdr": 0.9})
    >>> frame["frames"].to_list()
    [44, 49, 50]
    """
    results.import_polars()
    scenario = loaded(scenario, set)
    handshakes = Run(scenario, count=count, seed=seed, threads=threads)
    try:
        return handshakes.frame()
    finally:
        handshakes.cancel()  # what a signal has left


Source: TypeAlias = Scenario | str | os.PathLike[str] | Mapping[str, Setting]
"""A scenario, or what a scenario is made from."""


def loaded(source: Source, set: Settings | None = None) -> Scenario:
    """A scenario, or one made from this; with some keys replaced."""
    if not isinstance(source, Scenario):
        return Scenario(source, set)
    return source.with_(set) if set else source


def origin(scenario: Scenario) -> dict[str, Any]:
    """The origin of a result: version, names, overrides, the text of all files.

    If it names stacks of one's own, also what was built (`stacks`).
    """
    return {
        "slowhand": _native.__version__,
        "scenario": scenario.path,
        "file": scenario.file,
        "overrides": scenario.overrides,
        "files": scenario.files,
        **own_builds(scenario.value(key) for key in STACK_KEYS),
    }


STACK_KEYS = ("session.stack", "session.server_stack")
"""The keys that name the libraries of the two ends."""


def own_builds(names: Iterable[str | None]) -> dict[str, Any]:
    """The builds of the stacks of one's own among these names, as results have them (`stacks`)."""
    own = set(names) - {None, *_native.built_in_stacks()}
    if not own:
        return {}
    from slowhand import own_stacks  # only here: few have stacks of their own

    return {"stacks": own_stacks.builds(sorted(map(str, own)))}


def own_digests(names: Iterable[str | None]) -> dict[str, str]:
    """The digests of the stacks of one's own among these names: rows depend on them."""
    return {name: build["digest"] for name, build in own_builds(names).get("stacks", {}).items()}


def told(run: Run) -> str:
    """One message about all worlds that panicked, of which there is one."""
    others = run.panicked_count - 1
    more = f" (and {others:,} other{'s' if others > 1 else ''})" if others else ""
    return run.panicked[0] + more


def stacks() -> list[dict[str, Any]]:
    """All that has a protocol: name, version, licence, what each can do, known holes.

    First the libraries of TLS and DTLS, which `session.stack` names: those that are built in, then
    your own. Then what stands alone. Holes of your own have not been looked up: `None`.

    >>> import slowhand
    >>> [stack["name"] for stack in slowhand.stacks()]
    ['lean-dtls', 'mbedtls', 'openssl', 'rustls', 'tinydtls', 'lakers', 'slowhand-coap']
    """
    stacks: list[dict[str, Any]] = json.loads(_native.stacks())
    return stacks


def profiles() -> list[dict[str, Any]]:
    """The values of `network.profile`: the software of the nodes, whose numbers are defaults.

    Each has its name, the version that was read, the link layers of which it is the default, and
    its numbers: the key, the value (None: no limit), and the file and line where it was read.

    >>> import slowhand
    >>> [profile["name"] for profile in slowhand.profiles()]
    ['contiki-ng', 'openthread', 'riot', 'zephyr', 'openwsn', 'rfc']
    """
    profiles: list[dict[str, Any]] = json.loads(_native.profiles())
    return profiles


TABLES = ("records", "nodes", "timeline", "buffers")
"""The tables whose rows have a schema."""

KINDS = ("scenario", "device", "battery", "join", "oscar", *TABLES)
"""The kinds of documents that have a schema."""


def schema(kind: str = "scenario") -> dict[str, Any]:
    """The JSON Schema of a scenario, a device, a battery, or a row of a table.

    The tables are `records` (as `run` returns them), `join` and `oscar` (as these return them) and
    those of an inspection: `nodes`, `timeline` and `buffers`. A column has its meaning as its
    description.

    >>> import slowhand
    >>> slowhand.schema()["properties"]["client"]["description"]
    'The nodes that open sessions.'
    >>> slowhand.schema("records")["properties"]["compute_client_s"]["description"]
    'The time for which the client computed, in seconds.'
    """
    if kind not in KINDS:
        raise ValueError(none_of("schema", kind, KINDS))
    if kind in TABLES:
        tables: dict[str, dict[str, Any]] = json.loads(_native.table_schemas())
        return tables[kind]
    readers = {
        "device": _native.device_schema,
        "battery": _native.battery_schema,
        "join": _native.join_schema,
        "oscar": _native.readers_schema,
    }
    schema: dict[str, Any] = json.loads(readers.get(kind, _native.schema)())
    return schema


def threads_of(number: int | None) -> int:
    """So many threads, if that can be; by default one on each processor."""
    if number is None:
        return min(processors(), _native.MAX_THREADS)
    number = natural("threads", number)
    if not 1 <= number <= _native.MAX_THREADS:
        raise wrong("threads", f"found {number}, allowed: from 1 to {_native.MAX_THREADS}")
    return number


def processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0))
