"""The rows of a sweep: a folder of Parquet files, one for each chunk of seeds of a configuration.

The name of a file says which rows it has: the digest of the configuration, the first and the last
seed. The file itself says it too, so that one in the place of another is noticed. A file is
complete or not there (`slowhand.output`). So a sweep that was stopped at any time continues with
the seeds that no file has, and nothing else has to be remembered. Each file is also a result:
`slowhand run FILE` repeats it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from slowhand import known, output, results
from slowhand._native import ScenarioError, __version__
from slowhand.api import STACK_KEYS, Run, Scenario, own_digests
from slowhand.closing import Closing
from slowhand.sweeps.vary import Plain, SweepError
from slowhand.terminal import printable

if TYPE_CHECKING:
    import polars

    from slowhand.executing import Execution

NAME = re.compile(r"([0-9a-f]{16})-(\d+)-(\d+)\.parquet")
"""The name of a file: digest, first and last seed."""

PROGRAMS = "programs"
"""The key of the programs of a scenario."""

DIGEST = "configuration"
"""The key of the digest in what a file says about its rows."""

NOTES = "notes"
"""The key of what programs did so that another run of a seed may differ."""


@dataclass(frozen=True)
class Configuration:
    """A scenario with some keys varied. It is loaded when it runs: a sweep may have many."""

    name: str
    """The value of the column `scenario`."""
    base: Scenario
    overrides: tuple[str, ...] = ()
    """The values that are varied, as on the command line."""
    settings: Mapping[str, Plain | None] = field(default_factory=dict)
    """The values as those of columns, by key; `None` if the key is not set."""
    followed: Mapping[str, Plain | None] = field(default_factory=dict)
    """The values that the session has beside these, in the place of the scenario's, by key."""

    @property
    def label(self) -> str:
        """In words for a message or a figure: what was varied, else the scenario."""
        return label(self.settings) or self.name

    @property
    def scenario(self) -> Scenario:
        """The scenario with these keys. Raises `ScenarioError` if it is not possible."""
        return self.base.with_(self.overrides) if self.overrides else self.base

    @property
    def has_programs(self) -> bool:
        """True if programs run in the place of libraries."""
        is_varied = any(key.partition(".")[0] == PROGRAMS for key in self.settings)
        return bool((self.scenario if is_varied else self.base).value(PROGRAMS))

    @property
    def stacks(self) -> list[str | None]:
        """The libraries of the two ends; `None` where the other end's counts."""
        found = (self.settings.get(key) or self.base.value(key) for key in STACK_KEYS)
        return [None if name is None else str(name) for name in found]

    @cached_property
    def digest(self) -> str:
        """Names everything that the rows depend on, except for the seed."""
        about: dict[str, Any] = {"slowhand": __version__, "name": self.name}
        about["settings"] = dict(self.settings)
        if digests := own_digests(self.stacks):
            about["stacks"] = digests
        if self.has_programs:
            from slowhand.executing.programs import fingerprint

            about["programs"] = fingerprint(self.scenario)
        text = json.dumps({**about, **self.base.sources}, sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def label(settings: Mapping[str, Plain | None]) -> str:
    """Settings as on the command line; a key that is not set is without its value."""
    return " ".join(
        f"{key}={'' if value is None else shown(value)}" for key, value in settings.items()
    )


def shown(value: Plain | None) -> str:
    """A value as it was typed: a whole number without a point."""
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return printable(value)


@dataclass(frozen=True)
class Chunk:
    """Worlds of one configuration with consecutive seeds."""

    configuration: Configuration
    first: int
    count: int


class Part(NamedTuple):
    """Worlds of a chunk with consecutive seeds that become a file."""

    first: int
    last: int
    octets: bytes


class Rows(NamedTuple):
    """The results of a chunk."""

    parts: tuple[Part, ...]
    """The files: one, unless worlds with programs were not run to their end. Those run again when
    the sweep continues: it may be the clock that has ended them."""
    handshakes: int
    failed: int
    """Handshakes that did not complete, and worlds that panicked."""
    panicked: list[str]
    seconds: float
    """The wall time that it took."""
    notes: tuple[str, ...] = ()
    """The actions of programs by which another run of a seed may differ."""


def rows_of(
    run: Run | Execution,
    name: str,
    settings: Mapping[str, Plain | None],
    digest: str,
    *,
    extra: bool = False,
) -> Rows:
    """The rows of a run that has finished: its records after the columns that name them.

    `digest` is that of the configuration. Rows of programs have one of each client, also if it has
    sent nothing. With `extra` rows of libraries have the columns of those of programs, empty: the
    files of a data set have the same columns.
    """
    import polars

    notes: tuple[str, ...] = ()
    lost: set[int] = set()
    if isinstance(run, Run):
        records = run.frame(warns=False)
        if extra:
            records = records.with_columns(**_no_programs())
    else:
        records, notes = run.frame(warns=False, silent=True), run.doubts
        lost = {failure.seed for failure in run.failures}
    said = {"scenario": name, "version": __version__, **settings}
    columns = [polars.lit(v, dtype(v, key)).alias(key) for key, v in said.items()]
    frame = records.select(*columns, polars.all())
    about = {**run.about(), "settings": dict(settings), DIGEST: digest, NOTES: list(notes)}
    failed = int((records["outcome"] != "completed").sum())
    failed += run.count - records["seed"].n_unique()
    parts = []
    alone = [(seed, seed) for seed in sorted(lost)]
    for first, last in _gaps(alone, run.seed, run.seed + run.count - 1):
        own = frame if not lost else frame.filter(polars.col("seed").is_between(first, last))
        where = {"seed": first, "count": last - first + 1}
        parts.append(Part(first, last, bytes(results.encoded(own, {**about, **where}))))
    return Rows(tuple(parts), len(frame), failed, run.panicked, run.wall_s or 0.0, notes)


def _gaps(spans: Iterable[tuple[int, int]], first: int, last: int) -> Iterator[tuple[int, int]]:
    """The first and the last of consecutive seeds that spans, in order, leave between two seeds."""
    for begin, end in spans:
        if first < begin and first <= last:
            yield first, min(begin - 1, last)
        first = max(first, end + 1)
    if first <= last:
        yield first, last


def _no_programs() -> dict[str, polars.Expr]:
    """The columns of programs for rows of libraries."""
    import polars

    from slowhand.executing.result import EXTRA, scalars

    return {name: polars.lit(None, scalars()[kind]) for name, kind in EXTRA.items()}


def dtype(value: Plain | None, key: str) -> polars.DataType:
    """The type of the column of a varied key, also where it is not set."""
    import polars

    kind = known.kind(key) if value is None else type(value)
    if kind is bool:
        return polars.Boolean()
    return polars.Float64() if kind is float else polars.String()


def _write(octets: bytes, file: Path) -> None:
    file.write_bytes(octets)


def _told(configuration: Configuration, notes: Iterable[str]) -> Iterator[str]:
    """Notes after what they are about."""
    return (f"{configuration.label}: {note}" for note in notes)


class DataSet(Closing):
    """The folder of a sweep. While it is open, no other sweep writes into it."""

    def __init__(
        self,
        path: str,
        configurations: Sequence[Configuration],
        first: int,
        last: int,
        *,
        option: str = "--out",
    ) -> None:
        """Opens or makes the folder `path` for these configurations with these seeds.

        Errors name it after the `option`.
        Raises `SweepError` if it has rows that do not belong to the sweep, `OutputError` if it
        cannot be made.
        """
        self.path = path
        self._option = option
        self._folder = Path(path)
        self._by_digest = {each.digest: each for each in configurations}
        if len(self._by_digest) < len(configurations):
            digests = [each.digest for each in configurations]
            twice = next(each for each in configurations if digests.count(each.digest) > 1)
            raise SweepError(f"scenario: found {twice.label} twice, allowed: once")
        output.check_folder(option, path)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._lock = self._locked()
        self._spans: dict[str, list[tuple[int, int]]] = {}
        """The first and the last seed of each file, by digest."""
        self._lost: dict[str, set[int]] = {}
        """The seeds whose programs were not run to their end, since this was made, by digest."""
        self.notes: dict[str, None] = {}
        """The actions of programs by which another run of a seed may differ, each once."""
        try:
            self.read()
            self._check(first, last)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Lets other sweeps write into the folder."""
        os.close(self._lock)

    def missing(self, configuration: Configuration, first: int, count: int) -> Iterator[Chunk]:
        """The seeds of these that are not there yet."""
        for begin, last in _gaps(self._done(configuration), first, first + count - 1):
            yield Chunk(configuration, begin, last - begin + 1)

    def store(self, chunk: Chunk, rows: Rows) -> None:
        """Writes a chunk. When this returns, it is on the disk."""
        configuration = chunk.configuration
        lost = set(range(chunk.first, chunk.first + chunk.count))
        spans = self._spans.setdefault(configuration.digest, [])
        for first, last, octets in rows.parts:
            output.Output(self._option, str(self._file(configuration.digest, first, last))).write(
                partial(_write, octets),
                private=configuration.scenario.holds_keys,
            )
            lost.difference_update(range(first, last + 1))
            spans.append((first, last))
        # Not before: a signal may end this, and a seed that is in a file is not lost.
        self._lost.setdefault(configuration.digest, set()).update(lost)
        spans.sort()
        self.notes |= dict.fromkeys(_told(configuration, rows.notes))

    def worlds(self, configuration: Configuration) -> int:
        """The number of worlds that are done: those that are there, and those that are lost."""
        return sum(last - first + 1 for first, last in self._done(configuration))

    def _done(self, configuration: Configuration) -> list[tuple[int, int]]:
        """The first and the last seed of what is not to run (again)."""
        lost = self._lost.get(configuration.digest, set())
        spans = self._spans.get(configuration.digest, [])
        return sorted([*spans, *((seed, seed) for seed in lost)])

    def _file(self, digest: str, first: int, last: int) -> Path:
        return self._folder / f"{digest}-{first}-{last}.parquet"

    def frames(
        self, configuration: Configuration, columns: Sequence[str]
    ) -> Iterator[polars.DataFrame]:
        """These columns of a configuration's rows, file by file, ordered by seed."""
        import polars

        for first, last in self._spans.get(configuration.digest, []):
            file = self._file(configuration.digest, first, last)
            try:
                with results.parquet_errors():
                    frame = polars.read_parquet(file, columns=list(columns), glob=False)
            except (OSError, ValueError) as error:
                reason = f"{file.name} cannot be read: {printable(str(error))}"
                raise self._error(f"{reason}: remove this file, and its seeds run again") from error
            yield frame

    def failed(self) -> int:
        """The number of handshakes that did not complete, and of worlds that have no row."""
        failed = 0
        for configuration in self._by_digest.values():
            failed += self.worlds(configuration)
            for frame in self.frames(configuration, ["seed", "outcome"]):
                failed += int((frame["outcome"] != "completed").sum()) - frame["seed"].n_unique()
        return failed

    def _locked(self) -> int:
        """A descriptor of the folder with a lock on it, which ends with the process."""
        descriptor = os.open(self._folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise self._error("another sweep is writing into it; wait for its end") from None
        except OSError:  # a file system without locks
            pass
        return descriptor

    def read(self) -> None:
        """Finds out what is there. Removes what a sweep that was killed has left unfinished."""
        self._spans = {}
        try:
            files = sorted(self._folder.iterdir())
        except (FileNotFoundError, NotADirectoryError):  # somebody has removed it, and all rows
            files = []
        for file in files:
            if file.name.startswith(output.TEMPORARY):
                file.unlink(missing_ok=True)
            elif not file.name.startswith("."):
                digest, begin, end = self._owned(file.name)
                self._spans.setdefault(digest, []).append((begin, end))
        for spans in self._spans.values():
            spans.sort()

    def _check(self, first: int, last: int) -> None:
        """Raises an error if a seed is there twice, or does not belong to the sweep."""
        for digest, spans in self._spans.items():
            told = self._by_digest[digest].label
            for (_, end), (begin, _) in pairwise(spans):
                if begin <= end:
                    raise self._error(f"has two files with the seed {begin} of {told}")
            if spans[0][0] < first or spans[-1][1] > last:
                there = f"has the seeds {spans[0][0]} to {spans[-1][1]} of {told}"
                here = f"this sweep has {first} to {last}"
                raise self._error(f"{there}, and {here}: ask for all, or choose another folder")

    def _owned(self, name: str) -> tuple[str, int, int]:
        """The parts of the name of a file, if it belongs to the sweep."""
        found = NAME.fullmatch(name)
        if not found:
            allowed = "a folder that is empty, or that a sweep has made"
            raise self._error(f"found {printable(name)}, which no sweep wrote, allowed: {allowed}")
        digest, first, last = found.groups()
        if digest not in self._by_digest:
            raise self._error(f"{self._foreign(name)}: choose another folder")
        self._check_content(name, digest, int(first), int(last))
        return digest, int(first), int(last)

    def _check_content(self, name: str, digest: str, first: int, last: int) -> None:
        """Raises an error if a file has other rows than its name says."""
        remedy = "remove this file, and its seeds run again"
        try:
            about = results.about(self._folder / name, more={DIGEST: str, NOTES: list})
        except ScenarioError as error:
            raise self._error(f"{error}: {remedy}") from error
        begin, end = about["seed"], about["seed"] + about["count"] - 1
        if (about[DIGEST], begin, end) == (digest, first, last):
            self.notes |= dict.fromkeys(_told(self._by_digest[digest], about[NOTES]))
            return
        other = self._by_digest.get(about[DIGEST])
        of = other.label if other else "another configuration"
        found = f"{name} has the seeds {begin} to {end} of {printable(of)}"
        told = f"the seeds {first} to {last} of {printable(self._by_digest[digest].label)}"
        raise self._error(f"{found}, and by its name {told}: {remedy}")

    def _foreign(self, name: str) -> str:
        """Why a file of a sweep does not belong to this one."""
        try:
            about = results.about(self._folder / name)
        except ScenarioError as error:
            return str(error)
        if about["slowhand"] != __version__:
            version = printable(about["slowhand"])
            return f"is a data set of slowhand {version}, and this is {__version__}"
        scenarios = [each.base for each in self._by_digest.values()]
        if all(about["file"] != scenario.file for scenario in scenarios):
            return f"is a data set of another scenario: {printable(about['file'])}"
        if all(about["files"] != scenario.files for scenario in scenarios):
            file = printable(about["file"])
            return f"is a data set of another text of {file}, or of one of its device files"
        named = (name for each in self._by_digest.values() for name in each.stacks)
        built = own_digests(named)
        for name, build in about.get("stacks", {}).items():
            there = build.get("digest") if isinstance(build, dict) else None
            if built.get(name, there) != there:
                return f"is a data set of another build of the stack {printable(name)}"
        varied = {key for each in self._by_digest.values() for key in each.settings}
        there, here = (
            {override for override in overrides if override.partition("=")[0] not in varied}
            for overrides in (about["overrides"], scenarios[0].overrides)
        )
        if there != here:
            rows, own = (
                printable(" ".join(f"--set {override}" for override in sorted(overrides)))
                for overrides in (there - here, here - there)
            )
            none = "no such --set"
            return f"has rows with {rows or none}, and this sweep has {own or none}"
        overrides = printable(" ".join(about["overrides"]))
        return f"has a configuration that this sweep does not have: {overrides}"

    def _error(self, reason: str) -> SweepError:
        return SweepError(f"{self._option} {printable(self.path)}: {reason}")
