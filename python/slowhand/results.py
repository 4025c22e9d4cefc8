"""The results of a run as tables and files. A file says how the run is repeated."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from slowhand import _native

if TYPE_CHECKING:
    import polars

KEY = "slowhand"
"""The key of what a Parquet file says about its run. In a JSON file it is the version."""

SUFFIXES = (".parquet", ".json")
"""How the names of result files end."""


def frame(table: _native.Table) -> polars.DataFrame:
    """A table of the native module as a data frame.

    The types do not depend on the values: a column may be empty, or have no value in any row.
    """
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


def write(frame: polars.DataFrame, file: IO[bytes], about: Mapping[str, Any]) -> None:
    """Writes records as Parquet, with what repeats their run (`Run.about`)."""
    frame.write_parquet(file, metadata={KEY: json.dumps(about)})


def is_result(path: str | os.PathLike[str]) -> bool:
    """True if a path has the name of a result file."""
    return os.fspath(path).endswith(SUFFIXES)


def about(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What the file of a result says about its run.

    Raises `ScenarioError` if it cannot be read, or is not the file of a result.
    """
    try:
        found = _about_parquet(path) if os.fspath(path).endswith(".parquet") else _about_json(path)
    except OSError as error:
        raise _native.ScenarioError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise _native.ScenarioError(f"{path}: {error}") from error
    return _checked(path, found)


def _about_json(path: str | os.PathLike[str]) -> Any:
    return json.loads(Path(path).read_bytes())


def _about_parquet(path: str | os.PathLike[str]) -> Any:
    import polars

    try:
        with Path(path).open("rb") as file:
            metadata = polars.read_parquet_metadata(file)
    except polars.exceptions.PolarsError as error:
        raise ValueError(f"is no Parquet file: {error}") from error
    return json.loads(metadata.get(KEY, "null"))


def _checked(path: str | os.PathLike[str], found: Any) -> dict[str, Any]:
    """What was found, if a run can be repeated from it."""
    types = {"slowhand": str, "scenario": str, "overrides": list, "files": dict}
    numbers = {"seed": int, "count": int}
    is_result = isinstance(found, dict) and all(
        isinstance(found.get(key), kind) for key, kind in {**types, **numbers}.items()
    )
    if (
        not is_result
        or not all(isinstance(text, str) for text in found["files"].values())
        or not all(isinstance(override, str) for override in found["overrides"])
    ):
        allowed = "a file that `slowhand run --records` or `--json` wrote"
        raise _native.ScenarioError(
            f"{path}: does not say how its run is repeated, allowed: {allowed}"
        )
    return {key: found[key] for key in (*types, *numbers)}
