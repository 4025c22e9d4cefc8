"""Programs in many worlds: rows, programs, and whether they do it again."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeGuard

from slowhand import api, results
from slowhand.api import Scenario
from slowhand.estimate import Estimate, percentile
from slowhand.executing.programs import Limits, programs
from slowhand.executing.workers import Failure, Workers
from slowhand.terminal import printable

if TYPE_CHECKING:
    import polars

    from slowhand.explain import Explanation

UNKNOWN = ("compute_client_s", "compute_server_s", "energy_client_cpu_mj", "energy_client_tpm_mj")
"""The columns that are not known of programs, what they compute: None in each row."""

EXTRA = {
    "secure": "boolean",
    "exit_client": "integer",
    "exit_server": "integer",
    "success": "boolean",
    "success_world": "boolean",
    "ending": "string",
    "virtual_s": "number",
    "digest": "string",
}
"""The columns that the rows of a run do not have, and their types."""

SILENT = "gave_up"
"""The outcome of a client that has sent nothing to the server."""


class Execution:
    """The worlds of `slowhand.exec`, by seed."""

    def __init__(
        self,
        scenario: Scenario,
        limits: Limits,
        *,
        count: int,
        seed: int,
        again: int = 0,
        threads: int | None = None,
    ):
        """Nothing runs yet. Raises `ProgramError` if the scenario has no programs that can run."""
        self.scenario = scenario
        self.told = programs(scenario)
        """The programs, each at its host."""
        self.limits = limits
        self.count = count
        self.seed = seed
        self.again = again
        """The number of further runs of the first seed. These worlds have the numbers below 0."""
        self.threads = threads
        """The number of worlds that run side by side; None: one on each processor."""
        self.stopped: KeyboardInterrupt | None = None
        """The signal that ended it early."""
        self.uncaptured = ""
        """Why the capture that was asked for could not be written."""
        self._worlds: dict[int, dict[str, Any] | Failure] = {}
        self._began = time.monotonic()
        self.wall_s = 0.0
        """The time that it took by the clock."""

    def watch(
        self,
        update: Callable[[int], None] = lambda done: None,
        *,
        capture: str | None = None,
    ) -> None:
        """Runs the worlds. Calls `update` with the number that are done.

        `capture` gets the frames of the first one. What ends it, as Ctrl-C does, keeps what is
        complete. Raises `Refused` if the machine lacks something.
        """

        def add(number: int, world: dict[str, Any] | Failure) -> None:
            self.add(number, world)
            update(len(self._worlds))

        try:
            with Workers(self.scenario, self.limits, capture, threads=self.threads) as workers:
                workers.run(self.seeds(), add)
        except KeyboardInterrupt as stopped:
            self.stopped = stopped
            raise

    def explain(self, *, seed: int | None = None, client: int | None = None) -> Explanation | None:
        """Runs the world of a seed again, and says where the time of a handshake went.

        As far as the network sees it: what a program does between what it gets and what it sends is
        one part. By default it is the first seed and the first client that had a handshake then; of
        several handshakes of a client the longest. None: there was none with DTLS. Raises
        `WorldError` if the world is not run to its end; a world that is not the same as before is a
        warning.
        """
        from slowhand.explain import Explanation

        seed = self.seed if seed is None else seed
        if client is None:
            client = self._first_client(seed)
        found: list[dict[str, Any] | Failure] = []
        with Workers(
            self.scenario, self.limits, None, threads=self.threads, explain=client
        ) as workers:
            workers.run([(0, seed)], lambda _, world: found.append(world))
        (world,) = found
        if isinstance(world, Failure):
            raise api.WorldError(f"the world of seed {seed}: {world.reason}")
        if any(w["seed"] == seed and w["digest"] != world["digest"] for w in self.worlds):
            warnings.warn(f"explanation: seed {seed} ran again, and was not the same", stacklevel=2)
        explanation = world["explanation"]
        return explanation and Explanation({**explanation, "scenario": self.scenario.path})

    def _first_client(self, seed: int) -> int:
        """The first client with a handshake in the world of a seed, else the first one of all."""
        spoke = [
            each["record"]["client"]
            for world in self.worlds
            if world["seed"] == seed
            for each in world["conversations"]
            if each["secure"]
        ]
        programs = [told["node"] for told in self.told if told["is_client"]]
        return next(iter([*sorted(spoke), *programs]), 0)

    def cancel(self) -> None:
        """Nothing runs but in `watch`, which ends with what interrupts it."""

    def seeds(self) -> Iterator[tuple[int, int]]:
        """The worlds to run: their numbers and seeds."""
        yield 0, self.seed
        for number in range(self.again):
            yield -1 - number, self.seed
        for number in range(1, self.count):
            yield number, self.seed + number

    def add(self, number: int, world: dict[str, Any] | Failure) -> None:
        """Adds the result of a world."""
        if isinstance(world, dict):
            self.uncaptured = world.pop("uncaptured", self.uncaptured)
            for conversation in world["conversations"]:
                conversation["record"].update(dict.fromkeys(UNKNOWN))
        self._worlds[number] = world
        self.wall_s = time.monotonic() - self._began

    @property
    def worlds(self) -> list[dict[str, Any]]:
        """The worlds that were run to their end, by seed."""
        found = [self._worlds.get(number) for number in range(self.count)]
        return [*filter(_is_whole, found)]

    @property
    def failures(self) -> list[Failure]:
        """The worlds that were not, by seed, and why: also those that ran again."""
        found = [self._worlds[number] for number in sorted(self._worlds)]
        return [world for world in found if isinstance(world, Failure)]

    @property
    def panicked(self) -> list[str]:
        """The panics, in words."""
        return [f"seed {failure.seed}: {failure.reason}" for failure in self.failures]

    @property
    def panicked_count(self) -> int:
        """The number of panics."""
        return len(self.failures)

    @property
    def complete(self) -> int:
        """The number of worlds that are done: `count`, or less if it was interrupted."""
        return sum(number >= 0 for number in self._worlds)

    @property
    def notes(self) -> list[dict[str, Any]]:
        """The actions of programs that a reader has to know, and in how many worlds."""
        seeds: dict[tuple[str, str, bool], set[int]] = {}
        for world in filter(_is_whole, self._worlds.values()):  # also those that ran again
            for note in world["notes"]:
                said = (note["program"], note["what"], note["differs"])
                seeds.setdefault(said, set()).add(world["seed"])
        return [
            {"program": program, "what": what, "differs": differs, "worlds": len(found)}
            for (program, what, differs), found in sorted(seeds.items())
        ]

    @property
    def doubts(self) -> tuple[str, ...]:
        """The notes because of which another run of a seed may differ, in words."""
        return tuple(f"{n['program']}: {n['what']}" for n in self.notes if n["differs"])

    @property
    def reproducible(self) -> bool | None:
        """True if the first seed, run again, gave the same, and nothing happened that may differ.

        The same packets, times, outputs and exit codes. None: it was not run again to its end.
        """
        found = [world for number, world in self._worlds.items() if number <= 0]
        worlds = [*filter(_is_whole, found)]
        if len(worlds) < max(2, len(found)):
            return None
        is_same = len({world["digest"] for world in worlds}) == 1
        return is_same and not self.doubts

    def rows(self) -> list[dict[str, Any]]:
        """One row for each conversation, by seed and client: as `slowhand.run` has them, and more.

        A world without a conversation has none.
        """
        return [
            self._row(world, conversation)
            for world in self.worlds
            for conversation in world["conversations"]
        ]

    def silent(self) -> list[dict[str, Any]]:
        """One row for each client that has sent nothing to the server: it gave up.

        A world without clients and conversations has one row, without a client. So with `rows` each
        world has a row.
        """
        clients = [told["node"] for told in self.told if told["is_client"]]
        rows = []
        for world in self.worlds:
            spoke = {each["record"]["client"] for each in world["conversations"]}
            silent: list[int | None] = [*dict.fromkeys(c for c in clients if c not in spoke)]
            if not clients and not spoke:
                silent = [None]
            for client in silent:
                record = {"seed": world["seed"], "client": client, "outcome": SILENT}
                nothing = {"record": {**record, "datagrams": 0}, "secure": False}
                rows.append(self._row(world, nothing))
        return rows

    def _row(self, world: dict[str, Any], conversation: dict[str, Any]) -> dict[str, Any]:
        """The row of a conversation, or of a client without one."""
        record = conversation["record"]
        by_name = {each["name"]: each for each in world["programs"]}
        ran = [*zip(self.told, world["programs"], strict=True)]
        # Of the programs at its node that of the client is meant, if there is one.
        ran.sort(key=lambda each: not each[0]["is_client"])
        here = (each for told, each in ran if told["node"] == record["client"] is not None)
        client: dict[str, Any] = next(here, {})
        return {
            **record,
            "secure": conversation["secure"],
            "exit_client": _code(client.get("exit")),
            "exit_server": _code(by_name.get("server", {}).get("exit")),
            "success": client.get("success"),
            "success_world": self._success(world),
            **{name: world[name] for name in ("ending", "virtual_s", "digest")},
        }

    def _success(self, world: dict[str, Any]) -> bool | None:
        """True if each program of a world did what the scenario asks of it. None: it asks none."""
        found = [each["success"] for each in world["programs"] if each["success"] is not None]
        return all(found) if found else None

    @property
    def successes(self) -> int | None:
        """In how many worlds each program did what the scenario asks of it (`success`).

        None: it asks of none.
        """
        if not any(told["has_success"] for told in self.told):
            return None
        return sum(self._success(world) is True for world in self.worlds)

    def slowest(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The conversation that took longest to complete, and its world. None: none completed."""
        found = [
            (world, conversation)
            for world in self.worlds
            for conversation in world["conversations"]
            if conversation["record"]["outcome"] == "completed"
        ]
        return max(found, key=lambda each: each[1]["record"]["duration_s"], default=None)

    def frame(self, *, warns: bool = True, silent: bool = False) -> polars.DataFrame:
        """The rows as a data frame. Worlds that were not run to their end are a warning.

        With `silent` also those of clients that have sent nothing.
        """
        if warns and (failures := self.panicked):
            texts = f"{len(failures):,} worlds were not run to their end: {failures[0]}"
            warnings.warn(printable(texts, 300), stacklevel=2)
        results.import_polars()
        import polars

        if not silent:
            return polars.DataFrame(self.rows(), schema=_schema())
        rows = sorted([*self.rows(), *self.silent()], key=lambda row: row["seed"])
        return polars.DataFrame(rows, schema=_schema())

    def programs(self) -> polars.DataFrame:
        """One row for each program and world: when it ran, how it ended, what it wrote.

        `success` is true if it did what the scenario asks of it; None if it asks nothing.
        """
        results.import_polars()
        import polars

        kinds = {"seed": polars.UInt64, "program": polars.String, "node": polars.Int64}
        times = {"started_s": polars.Float64, "ended_s": polars.Float64}
        exits = {"code": polars.Int64, "signal": polars.Int64, "success": polars.Boolean}
        texts = {"stdout": polars.String, "stderr": polars.String}
        rows = [
            {
                **each,
                **(each["exit"] or {}),
                "seed": world["seed"],
                "program": each["name"],
                "node": told["node"],
            }
            for world in self.worlds
            for told, each in zip(self.told, world["programs"], strict=True)
        ]
        return polars.DataFrame(rows, schema={**kinds, **times, **exits, **texts})

    def summary(self) -> dict[str, Any]:
        """The outcomes and the metrics of the conversations, as `slowhand.Run.summary` has them."""
        rows = self.rows()
        completed = [row for row in rows if row["outcome"] == "completed"]
        others = [row for row in rows if row["outcome"] != "completed"]
        return {
            "completed": len(completed),
            "failed": dict(Counter(row["outcome"] for row in others)),
            "failures": [],
            "losses": [],
            "metrics": _metrics(completed),
            "metrics_failed": _metrics(others),
        }

    def about(self) -> dict[str, Any]:
        """All that repeats it: version, scenario, overrides, the texts of files, limits, seeds."""
        return {
            **api.origin(self.scenario),
            "exec": True,
            "limits": vars(self.limits),
            "seed": self.seed,
            "count": self.complete,
            "interrupted": self.stopped is not None,
        }

    def document(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            **self.about(),
            "programs": self.told,
            "reproducible": self.reproducible,
            "successes": self.successes,
            "notes": self.notes,
            "failures": [failure._asdict() for failure in self.failures],
            "summary": self.summary(),
            "worlds": self.worlds,
            "wall_s": self.wall_s,
        }


def _is_whole(world: dict[str, Any] | Failure | None) -> TypeGuard[dict[str, Any]]:
    """True for a world that was run to its end."""
    return isinstance(world, dict)


def _code(exit: Mapping[str, int] | None) -> int | None:
    """The exit code as shells have it: of a signal, 128 more than its number."""
    if exit is None:
        return None
    return exit["code"] if "code" in exit else 128 + exit["signal"]


def _metrics(rows: list[dict[str, Any]]) -> dict[str, Any]:
    if not rows:
        return {}
    return {
        name: _metric([float(row[name]) for row in rows])
        for name in _numbers()
        if all(row[name] is not None for row in rows)
    }


def _metric(values: list[float]) -> dict[str, Any]:
    estimate = Estimate.of(values)
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    half = estimate.half if len(values) > 1 else None
    return {
        "mean": estimate.mean,
        "half": half,
        "ci95": None if half is None else [estimate.mean - half, estimate.mean + half],
        "min": min(values),
        **{name: percentile(values, share) for name, share in shares.items()},
        "max": max(values),
    }


def _kinds() -> dict[str, tuple[str, Any]]:
    """The type of each column, and of the elements of a list."""
    properties = api.schema("records")["properties"]
    kinds = {}
    for name, column in properties.items():
        kind = column["type"]
        kinds[name] = (kind[0] if isinstance(kind, list) else kind, column.get("items"))
    return kinds


def _numbers() -> list[str]:
    """The columns that are measured."""
    numbers = [name for name, (kind, _) in _kinds().items() if kind in ("integer", "number")]
    return [name for name in numbers if name not in ("seed", "client", *UNKNOWN)]


def scalars() -> dict[str, Any]:
    """The types of columns in a data frame, by their names in the schema."""
    import polars

    return {
        "integer": polars.Int64,
        "number": polars.Float64,
        "string": polars.String,
        "boolean": polars.Boolean,
    }


def _schema() -> dict[str, Any]:
    import polars

    loss = {"reason": polars.String, "node": polars.Int64, "count": polars.Int64}

    def of(kind: str, items: Any) -> Any:
        if kind != "array":
            return scalars()[kind]
        return polars.List(polars.Struct(loss) if "properties" in items else polars.Int64)

    kinds = {name: of(*kind) for name, kind in _kinds().items()}
    extra = {name: scalars()[kind] for name, kind in EXTRA.items()}
    return {**kinds, **extra, "seed": polars.UInt64}
