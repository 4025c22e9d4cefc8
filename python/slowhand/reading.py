"""Many readers read the value of one node, by DTLS or by objects (OSCAR): what that costs.

>>> import slowhand
>>> worlds = slowhand.oscar("oscar", readers=[1, 5], count=1, set={"readers.readings": 2})
>>> worlds.filter(worlds["way"] == "oscar")["got"].to_list()
[2, 10]
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from slowhand import _native, results
from slowhand.api import SEED, Scenario, WorldError, loaded, threads_of
from slowhand.bounds import of_another_type, worlds, wrong
from slowhand.keys import Setting, Settings
from slowhand.table import Column, Table

if TYPE_CHECKING:
    import polars

    from slowhand.terminal import Terminal

COUNT = 5
"""The number of worlds for each number of readers and way, if not given."""

READERS = (1, 2, 5, 10, 20, 50)
"""The numbers of readers, if not given; in the mesh, as many of these as there is room for."""

WAYS = {"dtls": "DTLS", "oscar": "objects"}
"""The ways in which readers get the value, and the words of sentences for them."""

SHORT = {"dtls": "DTLS", "oscar": "obj."}
"""The words of tables for them."""

COSTS = {
    "octets": ("octets on the air", "fewer octets on the air"),
    "producer_mj": ("energy of the producer, mJ above idle", "less energy of the producer"),
    "others_mj": ("energy of the other nodes, mJ above idle", "less energy of the other nodes"),
    "first_s": ("until a reader has its first value, s", "less time until the first value"),
}
"""The costs by which ways are compared, as the table has them and as the sentence has them."""


def oscar(
    source: str | os.PathLike[str] | Mapping[str, Setting] | Scenario,
    *,
    readers: Sequence[int] | None = None,
    count: int = COUNT,
    seed: int = SEED,
    set: Settings | None = None,
    threads: int | None = None,
) -> polars.DataFrame:
    """Lets so many readers read a node's value, in both ways. One row for each of `count` worlds.

    The columns are those of `slowhand.schema("oscar")`, the keys those of the section `[readers]`.
    `readers` are the numbers of readers: 1, 2, 5, 10, 20 and 50 if not given. Raises
    `ScenarioError` if they cannot read, `WorldError` if a world panics.

    >>> import slowhand
    >>> slowhand.oscar("oscar", readers=[2], count=1, set={"readers.readings": 1}).height
    2
    """
    comparison = Comparison(loaded(source, set), readers, count, seed, threads)
    if comparison.stopped:
        raise comparison.stopped
    return comparison.frame()


class Comparison:
    """Both ways with some numbers of readers, in the worlds of consecutive seeds."""

    def __init__(
        self,
        scenario: Scenario,
        readers: Sequence[int] | None,
        count: int,
        seed: int,
        threads: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ):
        """`progress` is told how many numbers of readers are done, and of how many."""
        self.scenario = scenario
        self.count, self.seed = worlds(count, seed)
        reading = _native.Reading(scenario.native)
        self.producer = reading.producer
        if readers is None:
            readers = [number for number in READERS if number <= reading.most_readers]
        if isinstance(readers, str) or not isinstance(readers, Iterable):
            raise of_another_type("readers", readers, "a list of numbers")
        if not readers:
            raise wrong("readers", "found none, allowed: one number or more")
        self.readers = sorted({*readers})
        self.stopped: BaseException | None = None
        self.table: list[tuple[str, str, list[Any]]] = []
        for done, number in enumerate(self.readers):
            if progress:
                progress(done, len(self.readers))
            try:
                table, self.stopped = reading.run(
                    number, self.seed, self.count, threads_of(threads)
                )
            except RuntimeError as error:
                raise WorldError(f"a world of seeds from {seed} on panicked: {error}") from error
            for (_, _, values), (_, _, more) in zip(self.table, table, strict=False):
                values += more
            self.table = self.table or table
            if self.stopped:
                break
        self.columns: dict[str, list[Any]] = {name: values for name, _, values in self.table}
        """The values by the names of their columns."""

    def frame(self) -> polars.DataFrame:
        """One row for each world."""
        return results.frame(self.table)

    def results(self) -> list[dict[str, Any]]:
        """The results of each number of readers in both ways: means over the seeds of both."""
        columns = zip(*self.columns.values(), strict=True)
        rows = [dict(zip(self.columns, row, strict=True)) for row in columns]
        found = []
        for number in self.readers:
            ways = {
                way: [row for row in rows if (row["readers"], row["way"]) == (number, way)]
                for way in WAYS
            }
            seeds = set.intersection(*({row["seed"] for row in of} for of in ways.values()))
            if seeds:
                means = {
                    way: _means([row for row in of if row["seed"] in seeds])
                    for way, of in ways.items()
                }
                found.append({"readers": number, **means})
        return found

    def document(self) -> dict[str, Any]:
        """The answer as JSON has it: times in seconds, energy in millijoules."""
        found = self.results()
        return {
            "scenario": self.scenario.path,
            "overrides": self.scenario.overrides,
            "seed": self.seed,
            "count": self.count,
            "producer": self.producer,
            "results": found,
            "crossing": {cost: crossing(found, cost) for cost in COSTS},
            "answer": answer(found),
        }


def _means(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """One way with one number of readers."""

    def mean(of: Callable[[dict[str, Any]], float | None]) -> float | None:
        values = [value for value in map(of, rows) if value is not None]
        return sum(values) / len(values) if values else None

    return {
        "worlds": len(rows),
        "readings": sum(row["readings"] for row in rows),
        "got": sum(row["got"] for row in rows),
        "failed_sessions": sum(row["failed_sessions"] for row in rows),
        "refused": sum(row["refused"] for row in rows),
        "unsent": sum(row["unsent"] for row in rows),
        "unsent_reason": next((row["unsent_reason"] for row in rows if row["unsent"]), None),
        "octets": mean(lambda row: row["setup_octets"] + row["reading_octets"]),
        "frames": mean(lambda row: row["setup_frames"] + row["reading_frames"]),
        "setup_octets": mean(lambda row: row["setup_octets"]),
        "reading_octets": mean(lambda row: row["reading_octets"]),
        "octets_per_reading": mean(
            lambda row: row["reading_octets"] / row["got"] if row["got"] else None
        ),
        "signatures": mean(lambda row: row["signatures"]),
        "requests_to_producer": mean(lambda row: row["requests_to_producer"]),
        "first_s": mean(lambda row: row["first_s"]),
        "first_longest_s": mean(lambda row: row["first_longest_s"]),
        "later_s": mean(lambda row: row["later_s"]),
        "producer_compute_s": mean(lambda row: row["producer_compute_s"]),
        "producer_mj": mean(lambda row: row["producer_mj"] - row["producer_idle_mj"]),
        "producer_idle_mj": mean(lambda row: row["producer_idle_mj"]),
        "others_mj": mean(lambda row: row["others_mj"] - row["others_idle_mj"]),
    }


def crossing(found: list[dict[str, Any]], cost: str) -> dict[str, int | None]:
    """From how many readers on objects cost less, of the numbers that were tried.

    What counts is the cost of each reading that brought a value; a way that brought none costs
    more than any. `dtls` is the largest number with which DTLS costs less or the same, `objects`
    the smallest from which on objects always cost less; None if there is none.
    """
    served = [row for row in found if any(row[way]["got"] for way in WAYS)]
    compared = sorted((row["readers"], *(_each(row[way], cost) for way in WAYS)) for row in served)
    with_dtls = [readers for readers, dtls, objects in compared if dtls <= objects]
    after = [readers for readers, *_ in compared if readers > max(with_dtls, default=0)]
    return {"dtls": max(with_dtls, default=None), "objects": min(after, default=None)}


def _each(of: Mapping[str, Any], cost: str) -> float:
    """The cost of each reading that brought a value; a time counts as it is."""
    if not of["got"]:
        return math.inf
    value: float = of[cost]
    return value if cost == "first_s" else value * of["worlds"] / of["got"]


def answer(found: list[dict[str, Any]]) -> str:
    """Which way to take when, in a few sentences."""
    if not any(row[way]["got"] for row in found for way in WAYS):
        return "The two ways cannot be compared: no reading brought a value."
    said = []
    for cost, (_, words) in COSTS.items():
        if all(row[way][cost] in (None, 0) for row in found for way in WAYS):
            continue  # there are no other nodes
        from_dtls, from_objects = crossing(found, cost).values()
        if from_objects is None:
            last = max((row["readers"] for row in found), default=0)
            said.append(f"DTLS takes {words} up to {_readers(last)}, the most that were tried")
        elif from_dtls is None:
            said.append(f"Objects take {words} from {_readers(from_objects)} on")
        else:
            said.append(
                f"Objects take {words} from {_readers(from_objects)} on, DTLS up to {from_dtls}"
            )
    missing = [
        f"{WAYS[way]} with {_readers(row['readers'])}: {row[way]['got'] / row[way]['readings']:.0%}"
        for row in found
        for way in WAYS
        if row[way]["got"] < 0.99 * row[way]["readings"]
    ]
    if missing:
        said.append("Compared are the costs of each reading that brought a value")
        said.append(f"These readings did: {', '.join(missing)}; all others 99 % or more")
    return ". ".join(said) + "."


def _readers(number: int) -> str:
    return "1 reader" if number == 1 else f"{number:,} readers"


def show(comparison: Comparison, out: Terminal) -> None:
    """Prints the answer."""
    document = comparison.document()
    about = comparison.scenario.about()
    found = document["results"]
    out.paragraph(f"{comparison.scenario.path}: {about['network']}")
    worlds = "world" if comparison.count == 1 else "worlds"
    out.paragraph(
        f"Readers of the value of node {comparison.producer}, {comparison.count:,} {worlds} each. "
        "DTLS: a session of each reader to the producer. Objects (obj.): signed and encrypted "
        "once (OSCAR)."
    )
    out.print("")
    both = tuple(WAYS)
    energies = {"producer mJ": ("producer_mj", both), "others mJ": ("others_mj", both)}
    _table(found, {"octets": ("octets", both), **energies}, out)
    out.paragraph("Octets of frames on the air, all hops; energy above that of the idle network.")
    out.print("")
    times = {"first, s": ("first_s", both), "later, s": ("later_s", both)}
    _table(found, {**times, "got, %": ("share", both)}, out)
    out.paragraph(
        "From the wish of a reader to its value: the first, handshake included, and later ones; "
        "readings that brought a value before the next was due."
    )
    out.print("")
    octets = {"setup octets": ("setup_octets", both), "per reading": ("octets_per_reading", both)}
    _table(found, {**octets, "signatures": ("signatures", both[1:])}, out)
    out.paragraph(
        "Octets of handshakes and access secrets, and of each reading that brought a value; "
        "signatures of objects."
    )
    refused = [row for row in found if row["dtls"]["refused"]]
    if refused:
        most = refused[-1]
        each = most["dtls"]["refused"] / most["dtls"]["worlds"]
        of = _readers(most["readers"])
        out.paragraph(f"The producer has no slot for {each:,.0f} of {of} (readers.slots).")
    for way, name in WAYS.items():
        for of in (row[way] for row in found if row[way]["unsent"]):
            unsent, why = of["unsent"], of["unsent_reason"]
            out.paragraph(f"{name}: {unsent:,} messages were not sent. The first: {why}.")
    out.print("")
    out.paragraph(document["answer"])


def _table(
    found: list[dict[str, Any]], quantities: Mapping[str, tuple[str, Sequence[str]]], out: Terminal
) -> None:
    """Some quantities of both ways, side by side: their names, and the ways that have them."""
    cells = [(name, key, way) for name, (key, ways) in quantities.items() for way in ways]
    heads = (f"{name}\n{SHORT[way]}" for name, _, way in cells)
    table = Table([Column("readers"), *map(Column, heads)])
    for row in found:
        table.add(f"{row['readers']:,}", *(_cell(row[way], key) for _, key, way in cells))
    table.print(out)


def _cell(of: Mapping[str, Any], key: str) -> str:
    value = 100 * of["got"] / of["readings"] if key == "share" else of[key]
    if value is None:
        return "-"
    digits = 0 if abs(value) >= 100 or value == int(value) else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"
