"""The keys of a scenario and their values, from Python, in the syntax of TOML."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from slowhand._native import ScenarioError
from slowhand.blame import refusal
from slowhand.terminal import printable


class _Array(Protocol):
    """An object that becomes a number or a list of Python, as numbers and arrays of numpy do."""

    def tolist(self) -> Any: ...


class _Frame(Protocol):
    """An object that becomes a list of dictionaries, one a row, as data frames of polars do."""

    def to_dicts(self) -> list[dict[str, Any]]: ...


Setting: TypeAlias = (
    str
    | int
    | float
    | bool
    | _Array
    | _Frame
    | os.PathLike[str]
    | Sequence["Setting"]
    | Sequence[Sequence[float | None]]
    | Mapping[str, "Setting"]
)
"""A value of a key: a number, a text, a path, True or False, a list or a dictionary of these; also
numbers and arrays of numpy, and data frames of polars, which are lists of dictionaries. None stands
only in the rows of a trace."""

Settings: TypeAlias = Mapping[str, Setting] | Sequence[str]
"""Keys and the values that replace theirs, such as `{"session.timeout_s": 9}`; or texts as of
`--set` on the command line, such as `["session.timeout_s=9"]`."""

__tracebackhide__ = True
"""pytest leaves the functions of this module out of its tracebacks."""

NAME = "scenario.toml"
"""The name of a scenario that has no file, in messages and results."""

TRACE = "network.trace.file"
"""The key whose file may be given as rows."""

TRACE_NAME = "trace.csv"
"""The name of such rows in results."""

SURROGATE = re.compile("[\ud800-\udfff]")
"""The characters that Python has in place of an octet that is not UTF-8."""

TRACE_COLUMNS = ("time_s", "from", "to", "channel", "pdr")
"""The columns of a trace, in their order."""


def overrides(settings: Settings | None) -> tuple[list[str], dict[str, str]]:
    """The overrides, each as `key=value`; and the texts of the files that these name."""
    files: dict[str, str] = {}
    if settings is None:
        texts: list[str] = []
    elif isinstance(settings, Mapping):
        texts = [f"{key}={toml(_filed(key, value, files))}" for key, value in settings.items()]
    elif (
        isinstance(settings, str)
        or not isinstance(settings, Iterable)
        or not all(isinstance(text, str) for text in settings)
    ):
        found = printable(repr(settings))
        raise TypeError(f"settings: found {found}, allowed: a dictionary, or a list of texts")
    else:
        texts = list(settings)
    for text in texts:
        _check_utf8("--set ", text)
    for name, text in files.items():
        _check_utf8(f"{name}: ", text)
    return texts, files


def _check_utf8(place: str, text: str) -> None:
    """Raises an error if Python has read octets into this text that are not UTF-8."""
    if text.isascii():
        return
    line = next((line for line in text.splitlines() if SURROGATE.search(line)), "")
    if line:
        found = printable(line.encode("utf-8", "backslashreplace").decode())
        raise refusal("found octets that are not UTF-8", place=f"{place}{found}")


def document(scenario: Mapping[str, Setting]) -> dict[str, str]:
    """The texts of a scenario that is a dictionary: its file, and the files that it names.

    >>> print(document({"network": {"link_pdr": 0.9}, "traffic": []})["scenario.toml"], end="")
    traffic = []
    <BLANKLINE>
    [network]
    link_pdr = 0.9
    """
    files: dict[str, str] = {}
    plain = {key: _filed(key, value, files) for key, value in scenario.items()}
    sections = {key: value for key, value in plain.items() if isinstance(value, Mapping)}
    lines = [f"{_key(key)} = {toml(plain[key])}\n" for key in plain if key not in sections]
    for key, section in sections.items():
        lines.append(f"\n[{_key(key)}]\n")
        lines += [f"{_key(name)} = {toml(value)}\n" for name, value in section.items()]
    texts = {NAME: "".join(lines), **files}
    for name, text in texts.items():
        _check_utf8(f"{name}: ", text)
    return texts


def toml(value: object) -> str:
    """A setting in the syntax of TOML. Raises `TypeError` if it has no such form.

    >>> toml({"kind": "line", "hops": 2}), toml([1.5, True]), toml(float("inf"))
    ('{ kind = "line", hops = 2 }', '[1.5, true]', 'inf')
    """
    try:
        return _toml(value)
    except RecursionError:
        raise TypeError("setting: found a value inside of itself, or nested too deeply") from None


def _toml(value: object) -> str:
    value = _plain(value)
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        # As in JSON, except for the surrogates of JSON and one control character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(key)} = {_toml(item)}" for key, item in value.items())
        return f"{{ {pairs} }}"
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool | int):
        return json.dumps(value)
    if isinstance(value, float):
        return repr(float(value))  # also nan and inf, which TOML has and JSON has not
    allowed = "a number, a string, a path, True or False, a list or a dictionary of these"
    found = f"{printable(repr(value))} of type {type(value).__name__}"
    raise TypeError(f"setting: found {found}, allowed: {allowed}")


def _plain(value: Any) -> Any:
    """A data frame of polars, or an array or a number of numpy, as Python's own; others as is."""
    if hasattr(value, "to_dicts"):
        return value.to_dicts()
    return value.tolist() if hasattr(value, "tolist") else value


def _key(key: object) -> str:
    """A key in the syntax of TOML, in quotes if it needs them."""
    bare = str(key).replace("_", "").replace("-", "")
    return str(key) if bare.isascii() and bare.isalnum() else toml(str(key))


def _filed(key: str, value: Setting, files: dict[str, str]) -> Setting:
    """The value of a key. Rows in place of the file of a trace become a text in `files`."""
    if key == TRACE and not isinstance(value, str | os.PathLike):
        files[TRACE_NAME] = _trace(value)
        return TRACE_NAME
    if isinstance(value, Mapping) and TRACE.startswith(f"{key}."):
        return {name: _filed(f"{key}.{name}", item, files) for name, item in value.items()}
    return value


def _trace(rows: object) -> str:
    """The rows of a trace as the text of its file."""
    rows = _plain(rows)
    if not isinstance(rows, Sequence):
        raise _wrong_trace(f"{printable(repr(rows))} of type {type(rows).__name__}")
    return "\n".join([",".join(TRACE_COLUMNS), *map(_line, rows), ""])


def _line(row: object) -> str:
    if isinstance(row, Mapping):
        unknown = [str(name) for name in row if name not in TRACE_COLUMNS]
        missing = [name for name in TRACE_COLUMNS if name not in row and name != "channel"]
        if unknown or missing:
            found = f"column '{unknown[0]}'" if unknown else f"no column '{missing[0]}'"
            raise _wrong_trace(printable(found))
        row = [row.get(name) for name in TRACE_COLUMNS]
    if not isinstance(row, Iterable) or isinstance(row, str):
        raise _wrong_trace(f"the row {printable(repr(row))}")
    values = list(row)
    if len(values) != len(TRACE_COLUMNS):
        raise _wrong_trace(f"a row of {len(values)} values")
    return ",".join(map(_number, values))


def _number(value: Any) -> str:
    """A number of a trace: a whole one without a point, none where there is none."""
    value = _plain(value)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _wrong_trace(f"{printable(repr(value))} of type {type(value).__name__} in a row")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    # Python does not print a number of thousands of digits (PEP 682).
    if isinstance(value, int) and abs(value) >= 2**1024:
        raise _wrong_trace("a number of more than 300 digits in a row")
    return str(value)


def _wrong_trace(found: str) -> ScenarioError:
    allowed = f"a path, or rows of {', '.join(TRACE_COLUMNS)} (channel: None for all)"
    return refusal(f"found {found}, allowed: {allowed}", key=TRACE)
