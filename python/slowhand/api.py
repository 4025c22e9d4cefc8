"""The functions for notebooks: scenarios, runs and their data frames."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from slowhand import _native, data

if TYPE_CHECKING:
    import polars

Setting: TypeAlias = str | int | float | bool | Sequence["Setting"] | Mapping[str, "Setting"]
"""A value that replaces one of a scenario's keys."""


COUNT = 100
"""The number of worlds of a run, if not given."""

SEED = 1
"""The first seed, if not given."""


class Scenario:
    """A scenario, read and checked, with some of its keys replaced.

    `path` is the path of a TOML file, or the name of a scenario that comes with slowhand.

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
        self.native = _native.Scenario(self.path, overrides)

    def __repr__(self) -> str:
        return f"Scenario({self.path!r})"

    def about(self) -> dict[str, Any]:
        """A short description; `assumed` has the constants of each device that are assumed."""
        about: dict[str, Any] = json.loads(self.native.about())
        return about

    def capture(self, path: str | os.PathLike[str], *, seed: int = SEED) -> None:
        """Runs the handshake of `seed` and writes all its frames to `path`, as pcapng."""
        _native.capture(self.native, seed, path)

    def inspect(self, *, seed: int = SEED) -> Inspection:
        """Runs the handshake of `seed` and returns the details of every node."""
        import polars

        nodes, timeline, buffers = _native.inspect(self.native, seed)
        # With explicit types: polars cannot infer the type of an empty column.
        types = {"node": polars.UInt64, "state": polars.String}
        seconds = {"from_s": polars.Float64, "to_s": polars.Float64}
        levels = ["queued_frames", "reassembly_fragments", "reassembly_bytes", "forwarding_entries"]
        counts = dict.fromkeys(levels, polars.UInt64)
        return Inspection(
            polars.DataFrame(nodes),
            polars.DataFrame(timeline, schema={**types, **seconds}),
            polars.DataFrame(
                buffers, schema={"node": polars.UInt64, "from_s": polars.Float64, **counts}
            ),
        )


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


class Run:
    """A run in progress on its own threads: one world for each seed from `seed` on.

    `threads` defaults to the number of processors. The records do not depend on it.
    """

    def __init__(self, scenario: Scenario, *, count: int, seed: int, threads: int | None = None):
        self.scenario = scenario
        self.count = count
        self.seed = seed
        self.wall_s: float | None = None
        """The wall time of the run in seconds, after it has finished."""
        self._began = time.monotonic()
        self._native = _native.Run(scenario.native, seed, count, threads or processors())
        self._records: _native.Records | None = None

    def wait(self, timeout_s: float) -> tuple[int, bool]:
        """Waits at most `timeout_s`. Returns how many worlds are done, and True if all are."""
        return self._native.wait(timeout_s)

    def cancel(self) -> None:
        """Starts no further world. The records of finished worlds are kept."""
        self._native.cancel()

    def finish(self) -> _native.Records:
        """Waits for the end of the run and returns its records."""
        if self._records is None:
            self._records = self._native.finish()
            self.wall_s = time.monotonic() - self._began
        return self._records

    def frame(self) -> polars.DataFrame:
        """One row for each handshake, ordered by seed, then client. Column names contain units."""
        import polars

        return polars.DataFrame(self.finish().columns())

    def summary(self) -> dict[str, Any]:
        """The outcomes, and the statistics of each metric over the completed handshakes."""
        summary: dict[str, Any] = json.loads(self.finish().summary())
        return summary


def run(
    scenario: Scenario | str | os.PathLike[str],
    *,
    count: int = COUNT,
    seed: int = SEED,
    threads: int | None = None,
    set: Mapping[str, Setting] | None = None,
) -> polars.DataFrame:
    """Runs `count` worlds, with the seeds from `seed` on: one row for each handshake.

    The same scenario and seed give the same rows for any `count` and `threads`. `set` replaces
    keys of a scenario that is given by its path or name.

    >>> slowhand.run("quickstart", set={"network.link_pdr": 0.9})  # doctest: +SKIP
    """
    if isinstance(scenario, Scenario):
        if set:
            raise TypeError("set= belongs to Scenario(path, set=...) when a Scenario is given")
    else:
        scenario = Scenario(scenario, set)
    handshakes = Run(scenario, count=count, seed=seed, threads=threads)
    try:
        # With short timeouts, so that Python can handle Ctrl-C between them.
        while not handshakes.wait(0.1)[1]:
            pass
    except KeyboardInterrupt:
        handshakes.cancel()
        raise
    return handshakes.frame()


def stacks() -> list[dict[str, Any]]:
    """The TLS libraries that are built in: name, version, licence, and what each can do."""
    stacks: list[dict[str, Any]] = json.loads(_native.stacks())
    return stacks


def schema(kind: str = "scenario") -> dict[str, Any]:
    """The JSON Schema of a file: of a scenario, or of a device (`kind="device"`)."""
    schemas = {"scenario": _native.schema, "device": _native.device_schema}
    if kind not in schemas:
        raise ValueError(f"schema: found {kind!r}, allowed: {', '.join(schemas)}")
    schema: dict[str, Any] = json.loads(schemas[kind]())
    return schema


def processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def toml(value: Setting) -> str:
    """A value in the syntax of TOML, where strings, numbers and lists look as in JSON."""
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{key} = {toml(item)}" for key, item in value.items())
        return f"{{ {pairs} }}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(toml, value))}]"
    return json.dumps(value)
