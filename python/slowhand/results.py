"""The results of a run as tables and files. A file says how the run is repeated."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from slowhand import signals
from slowhand.blame import refusal
from slowhand.bounds import MAX_SEED
from slowhand.terminal import printable

if TYPE_CHECKING:
    import polars

    from slowhand import _native

KEY = "slowhand"
"""The key of what a Parquet file says about its run. In a JSON file it is the version."""

SUFFIXES = (".parquet", ".json")
"""The ends of the names of result files."""

RECORDING = ".slowhand"
"""The end of the name of a recording of `slowhand live`."""

KEYS = {
    "slowhand": str,
    "scenario": str,
    "file": str,
    "overrides": list,
    "files": dict,
    "seed": int,
    "count": int,
    "interrupted": bool,
}
"""The keys of a result on its run, and their types."""

SOMETIMES = ("limits", "stacks")
"""Dictionaries that some results have: limits of programs, and stacks of one's own."""


def import_polars() -> None:
    """Imports polars, if nothing has yet: whole, because signals wait meanwhile.

    A first import that Ctrl-C breaks off leaves a part, and each later one in the process fails. It
    takes a tenth of a second, so what will need polars calls this before its work begins.
    """
    with signals.deferred():
        import polars  # noqa: F401


def frame(table: _native.Table) -> polars.DataFrame:
    """A table of the native module as a data frame.

    The types do not depend on the values: a column may be empty, or have no value in any row.
    """
    import_polars()
    import polars

    loss = {"reason": polars.String, "node": polars.Int64, "count": polars.Int64}
    types: dict[str, polars._typing.PolarsDataType] = {
        "u64": polars.Int64,
        "f64": polars.Float64,
        "text": polars.String,
        "list of u64": polars.List(polars.Int64),
        "list of losses": polars.List(polars.Struct(loss)),
    }
    # Of all numbers only a seed may need 64 bits.
    schema = {name: polars.UInt64 if name == "seed" else types[kind] for name, kind, _ in table}
    return polars.DataFrame({name: values for name, _, values in table}, schema=schema)


def encoded(frame: polars.DataFrame, about: Mapping[str, Any], *, csv: bool = False) -> memoryview:
    """A table as the octets of a Parquet file, with what repeats its run (`Run.about`), or of CSV.

    By way of memory, because polars does not say why it could not write to a disk.
    """
    octets = BytesIO()
    if csv:
        frame.write_csv(octets)
    else:
        frame.write_parquet(octets, metadata={KEY: json.dumps(about)})
    return octets.getbuffer()


def is_result(path: str | os.PathLike[str]) -> bool:
    """True if a path has the name of a result file."""
    return os.fspath(path).endswith(SUFFIXES)


def about(
    path: str | os.PathLike[str], *, more: Mapping[str, type] = MappingProxyType({})
) -> dict[str, Any]:
    """The words of a result's file on its run: `KEYS`, and `more` keys with their types.

    And those of `SOMETIMES` that it has.
    Raises `ScenarioError` if it cannot be read, or is not the file of a result.
    """
    name = printable(os.fspath(path))
    try:
        is_parquet = os.fspath(path).endswith(".parquet")
        found = _about_parquet(path) if is_parquet else json.loads(Path(path).read_bytes())
    except OSError as error:
        reason = error.strerror or printable(str(error))
        raise refusal(f"cannot be read: {reason}", place=name) from error
    except RecursionError as error:
        raise refusal("is nested too deeply for a result", place=name) from error
    except ValueError as error:
        raise refusal(printable(str(error)), place=name) from error
    if isinstance(found, dict) and found.get("live") is True:
        scenario = printable(str(found.get("scenario")))
        raise refusal(
            "is of `slowhand live`: a live run cannot be repeated, because the clock and programs"
            f" took part in it; run its scenario, {scenario}, or the file of its --record",
            place=name,
        )
    keys = {**KEYS, **more}
    if isinstance(found, dict) and found.get("interrupted") is True and found.get("count") == 0:
        scenario = printable(str(found.get("scenario")))
        reason = f"its run was interrupted before its first world; run its scenario, {scenario}"
        raise refusal(reason, place=name)
    wrong = _wrong(found, keys)
    if wrong:
        allowed = "a file that `slowhand run --records` or `--json` wrote"
        reason = f"does not say how its run is repeated: {wrong}, allowed: {allowed}"
        raise refusal(reason, place=name)
    some = {key: found[key] for key in SOMETIMES if type(found.get(key)) is dict}
    return {key: found[key] for key in keys} | some


def _about_parquet(path: str | os.PathLike[str]) -> Any:
    import_polars()
    import polars

    try:
        with Path(path).open("rb") as file, parquet_errors():
            metadata = polars.read_parquet_metadata(file)
    except ValueError as error:
        raise ValueError(f"is no Parquet file: {error}") from error
    return json.loads(metadata.get(KEY, "null"))


@contextmanager
def parquet_errors() -> Iterator[None]:
    """Makes a `ValueError` of what polars raises while it reads a file.

    At some damaged files it panics. Then it prints lines of its own: stderr is closed meanwhile.
    """
    import polars

    try:
        with _no_stderr():
            yield
    except polars.exceptions.PolarsError as error:
        raise ValueError(str(error)) from error
    except polars.exceptions.PanicException as error:  # its words are for authors of polars
        raise ValueError("it is damaged") from error


@contextmanager
def _no_stderr() -> Iterator[None]:
    """Meanwhile what libraries write to stderr is lost."""
    try:
        kept = os.dup(2)
    except OSError:  # there is none
        yield
        return
    try:
        with open(os.devnull, "wb") as nothing:  # noqa: PTH123 (of a name)
            os.dup2(nothing.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _wrong(found: Any, keys: Mapping[str, type]) -> str:
    """The fault of what was found, if no run can be repeated from it."""
    if not isinstance(found, dict):
        return "it has no keys"
    for key, kind in keys.items():
        if type(found.get(key)) is not kind:  # True is an int too, but no seed
            return f"{key}: found {type(found[key]).__name__ if key in found else 'nothing'}"
    texts = [*found["overrides"], *found["files"].values()]
    if not all(isinstance(text, str) for text in texts):
        return "overrides, files: found what is no text"
    if found["file"] not in found["files"]:
        return f"file: found {printable(found['file'])}, which is not in files"
    if not 0 <= found["seed"] <= MAX_SEED:
        return f"seed: found {_digits(found['seed'])}"
    if not 1 <= found["count"] <= MAX_SEED - found["seed"] + 1:
        return f"count: found {_digits(found['count'])}"
    return ""


def _digits(number: int) -> str:
    return printable(str(number))  # JSON has no number of more digits than Python prints
