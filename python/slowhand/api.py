"""The functions for notebooks: scenarios, runs and their data frames."""

from __future__ import annotations

import copy
import json
import math
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from slowhand import _native, data, results
from slowhand.bounds import natural
from slowhand.output import replacing
from slowhand.terminal import printable

if TYPE_CHECKING:
    import polars

    from slowhand.explain import Explanation


class _Array(Protocol):
    """What becomes a number or a list of Python."""

    def tolist(self) -> Any: ...


Setting: TypeAlias = (
    str
    | int
    | float
    | bool
    | _Array  # as the numbers and arrays of numpy
    | os.PathLike[str]
    | Sequence["Setting"]
    | Mapping[str, "Setting"]
)
"""A value that replaces one of a scenario's keys."""


COUNT = 100
"""The number of worlds of a run, if not given."""

SEED = 1
"""The first seed, if not given."""


class Scenario:
    """A scenario, read and checked, with some of its keys replaced.

    `path` is the path of a TOML file, or the name of a scenario that comes with slowhand, or the
    path of a result that `slowhand run --records` or `--json` wrote: then it is the scenario of
    that run, and `set` replaces keys in addition to those that the run replaced.

    Raises `ScenarioError` with one message: the file, the line, the key, what was found there
    and what is allowed.

    >>> slowhand.Scenario("quickstart", {"network.link_pdr": 0.9})  # doctest: +SKIP
    """

    def __init__(self, path: str | os.PathLike[str], set: Mapping[str, Setting] | None = None):
        overrides = [f"{key}={toml(value)}" for key, value in (set or {}).items()]
        self._load(path, overrides)

    @classmethod
    def with_overrides(cls, path: str | os.PathLike[str], overrides: list[str]) -> Scenario:
        """The same, with overrides as on the command line: `key=value`."""
        scenario = cls.__new__(cls)
        scenario._load(path, overrides)
        return scenario

    def _load(self, path: str | os.PathLike[str], overrides: list[str]) -> None:
        self.path = data.scenario_path(path)
        self.count, self.seed = COUNT, SEED
        """The number of worlds and the first seed of a run, if not given."""
        self.read_from = self.path
        """The file that was read: the scenario's, or that of a result."""
        self.is_result = results.is_result(self.path)
        """True if that is a result: then the scenario's own file and its devices are not read."""
        _check_utf8(overrides)
        if self.is_result:
            self._adopt(self._load_result(self.path, overrides))
        else:
            self._adopt(_native.Scenario(self.path, overrides))

    @classmethod
    def from_sources(cls, path: str, sources: Mapping[str, Any]) -> Scenario:
        """The scenario that has these `sources`. No file is read; `path` is its name in results."""
        scenario = cls.__new__(cls)
        scenario.path = scenario.read_from = path
        scenario.count, scenario.seed = COUNT, SEED
        scenario.is_result = False
        scenario._adopt(_native.Scenario.from_sources(json.dumps(sources)))
        return scenario

    @property
    def sources(self) -> dict[str, Any]:
        """The texts that it was made from: the name of its file, all files, the overrides."""
        return {"scenario": self.file, "files": self.files, "overrides": self.overrides}

    def with_overrides_added(self, overrides: Sequence[str]) -> Scenario:
        """The same scenario with more overrides, as on the command line. No file is read."""
        _check_utf8(overrides)
        other = copy.copy(self)
        sources = {**self.sources, "overrides": [*self.overrides, *overrides]}
        other._adopt(_native.Scenario.from_sources(json.dumps(sources)))
        return other

    def _adopt(self, native: _native.Scenario) -> None:
        self.native: _native.Scenario = native
        sources = json.loads(native.sources())
        self.file: str = sources["scenario"]
        """The name of the scenario's file in `files`."""
        self.overrides: list[str] = sources["overrides"]
        """What replaces keys of the file, each as `key=value`."""
        self.files: dict[str, str] = sources["files"]
        """The texts of the scenario's file and of its device files, by their names."""

    def _load_result(self, path: str, overrides: list[str]) -> _native.Scenario:
        about = results.about(path)
        self.path, self.count, self.seed = about["scenario"], about["count"], about["seed"]
        if about["slowhand"] != _native.__version__:
            version = printable(about["slowhand"])
            versions = f"slowhand {version} made it, and this is {_native.__version__}"
            warnings.warn(f"{printable(path)}: {versions}: the rows may differ", stacklevel=4)
        if about["interrupted"]:
            warnings.warn(
                f"{printable(path)}: its run was interrupted after {self.count:,} worlds: so many"
                " are repeated, and the last seeds may differ",
                stacklevel=4,
            )
        sources = {
            "scenario": about["file"],
            "files": about["files"],
            "overrides": [*about["overrides"], *overrides],
        }
        return _native.Scenario.from_sources(json.dumps(sources))

    def __repr__(self) -> str:
        return f"Scenario({self.path!r})"

    def about(self) -> dict[str, Any]:
        """A short description; `assumed` has the constants of each device that are assumed."""
        about: dict[str, Any] = json.loads(self.native.about())
        return about

    def capture(self, path: str | os.PathLike[str], *, seed: int | None = None) -> None:
        """Runs the world of `seed` and writes all its frames to `path`, as pcapng.

        `seed` defaults to the scenario's: 1, or the first one of a result. Raises `WorldError` if
        the world panics.
        """
        seed = natural("seed", self.seed if seed is None else seed)
        with _naming(seed):
            _native.capture(self.native, seed, path)

    def explain(self, *, seed: int | None = None, client: int | None = None) -> Explanation:
        """Runs the world of `seed` and says where the time of one handshake went.

        `seed` defaults to the scenario's: 1, or the first one of a result. `client` is the node of
        the client; by default it is the first one. Raises `WorldError` if the world panics.

        >>> print(slowhand.Scenario("quickstart").explain(seed=17).text)  # doctest: +SKIP
        """
        from slowhand.explain import Explanation

        seed = natural("seed", self.seed if seed is None else seed)
        with _naming(seed):
            document = json.loads(self.native.explain(seed, client))
        return Explanation({**document, "scenario": self.path})

    def inspect(self, *, seed: int | None = None) -> Inspection:
        """Runs the world of `seed` and returns the details of every node.

        `seed` defaults to the scenario's: 1, or the first one of a result. Raises `WorldError` if
        the world panics.
        """
        seed = natural("seed", self.seed if seed is None else seed)
        with _naming(seed):
            tables = _native.inspect(self.native, seed)
        return Inspection(*map(results.frame, tables))


def _check_utf8(overrides: Sequence[str]) -> None:
    for override in overrides:
        if not override.isascii() and any("\ud800" <= c <= "\udfff" for c in override):
            found = override.encode("utf-8", "backslashreplace").decode()
            found = printable(found)
            raise _native.ScenarioError(f"--set {found}: found octets that are not UTF-8")


@contextmanager
def _naming(seed: int) -> Iterator[None]:
    """Names the world whose panic the native module reports."""
    try:
        yield
    except RuntimeError as error:
        raise WorldError(f"the world of seed {seed} panicked: {error}") from error


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

    Ctrl-C, and every signal whose handler raises, ends the wait of a method, not the run.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        count: int | None = None,
        seed: int | None = None,
        threads: int | None = None,
        records: bool = True,
    ):
        self.scenario = scenario
        self.count = natural("count", scenario.count if count is None else count)
        self.seed = natural("seed", scenario.seed if seed is None else seed)
        self.wall_s: float | None = None
        """The wall time of the run in seconds, after it has finished."""
        self._began = time.monotonic()
        self._keeps_records = records
        threads = min(processors(), _native.MAX_THREADS) if threads is None else threads
        self._native = _native.Run(scenario.native, self.seed, self.count, threads, records)

    def wait(self, timeout_s: float) -> tuple[int, bool]:
        """Waits at most `timeout_s`. Returns how many worlds are done, and True if all are."""
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
        """The same, and calls `update` with the number of worlds that are done, again and again.

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
        with replacing(path) as temporary:
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
        """What repeats the run: version, scenario, overrides, the text of all files, seeds.

        `count` is the number of worlds that are done, where the run was interrupted.
        """
        complete = self.complete
        return {
            "slowhand": _native.__version__,
            "scenario": self.scenario.path,
            "file": self.scenario.file,
            "overrides": self.scenario.overrides,
            "files": self.scenario.files,
            "seed": self.seed,
            "count": complete,
            "interrupted": complete < self.count,
        }


def run(
    scenario: Scenario | str | os.PathLike[str],
    *,
    count: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    set: Mapping[str, Setting] | None = None,
) -> polars.DataFrame:
    """Runs `count` worlds (100), with the seeds from `seed` (1) on: one row for each handshake.

    The same scenario and seed give the same rows for any `count` and `threads`. `set` replaces
    keys of a scenario that is given by its path or name. Worlds that panicked, by an error in
    slowhand or in a library, have no rows: then there is a warning.

    >>> slowhand.run("quickstart", set={"network.link_pdr": 0.9})  # doctest: +SKIP
    """
    if isinstance(scenario, Scenario):
        if set:
            raise TypeError("set= belongs to Scenario(path, set=...) when a Scenario is given")
    else:
        scenario = Scenario(scenario, set)
    handshakes = Run(scenario, count=count, seed=seed, threads=threads)
    try:
        return handshakes.frame()
    finally:
        handshakes.cancel()  # what a signal has left


def told(run: Run) -> str:
    """One message about all worlds that panicked, of which there is one."""
    others = run.panicked_count - 1
    return run.panicked[0] + (f" (and {others:,} others)" if others else "")


def stacks() -> list[dict[str, Any]]:
    """The TLS libraries that are built in: name, version, licence, and what each can do."""
    stacks: list[dict[str, Any]] = json.loads(_native.stacks())
    return stacks


def schema(kind: str = "scenario") -> dict[str, Any]:
    """The JSON Schema of a file: of a scenario, or of a device (`kind="device"`)."""
    schemas = {"scenario": _native.schema, "device": _native.device_schema}
    if kind not in schemas:
        raise ValueError(f"schema: found '{printable(kind)}', allowed: {', '.join(schemas)}")
    schema: dict[str, Any] = json.loads(schemas[kind]())
    return schema


def processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def toml(value: object) -> str:
    """A setting in the syntax of TOML. Numbers and arrays of numpy are settings, and paths.

    >>> toml({"kind": "line", "hops": 2}), toml([1.5, True]), toml(float("inf"))
    ('{ kind = "line", hops = 2 }', '[1.5, true]', 'inf')
    """
    if hasattr(value, "tolist"):  # a number or an array of numpy, as the same of Python
        value = value.tolist()
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        # As in JSON, except for the surrogates of JSON and one control character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(key)} = {toml(item)}" for key, item in value.items())
        return f"{{ {pairs} }}"
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, bool | int):
        return json.dumps(value)
    if isinstance(value, float):
        return repr(float(value))  # also nan and inf, which TOML has and JSON has not
    allowed = "a number, a string, a path, True or False, a list or a dictionary of these"
    found = f"{printable(repr(value))} of type {type(value).__name__}"
    raise TypeError(f"setting: found {found}, allowed: {allowed}")


def _key(key: object) -> str:
    """A key in the syntax of TOML, in quotes if it needs them."""
    bare = str(key).replace("_", "").replace("-", "")
    return str(key) if bare.isascii() and bare.isalnum() else toml(str(key))
