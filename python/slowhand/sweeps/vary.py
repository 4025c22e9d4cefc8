"""The axes of a sweep: keys of a scenario and their values, and the configurations of these.

A value is written as on the command line: `session.timeout_s=1,2,4`. Ranges are `FROM:TO:STEP` and,
geometric, `FROM:TO:*FACTOR`. Their ends belong to them, and they are exact: decimal numbers.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple, TypeAlias

from slowhand._native import ScenarioError, override_value
from slowhand.arguments import Complaint
from slowhand.bounds import of_another_type
from slowhand.keys import Setting, toml
from slowhand.terminal import printable

MOST_CONFIGURATIONS = 100_000
"""The most configurations of a sweep: each has a file of its own at least. (Assumed: more is an
error in a range.)"""

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?"

RANGE = re.compile(rf"({NUMBER}):({NUMBER})(?::(\*?)({NUMBER}))?")

Plain: TypeAlias = str | float | bool
"""The values of a column of a data set: numbers are floats, so that 2.5 may follow 1 and 2."""


class SweepError(Complaint, ValueError):
    """A sweep that is not possible. The message says what was found and what is allowed."""


class Value(NamedTuple):
    """A value of a key."""

    text: str
    """As in an override."""
    plain: Plain | None
    """As in a column: lists and tables are TOML; `None` if the key is not set."""

    @classmethod
    def read(cls, text: str) -> Value:
        """A value of the command line, as `--set` reads it."""
        try:
            return cls(text, _plain(override_value(f"value={text}"), text))
        except (ScenarioError, UnicodeEncodeError):  # said when it is set, with its key
            return cls(text, text)

    @classmethod
    def of(cls, setting: Setting | None) -> Value:
        """A value of Python; `None` leaves the key out."""
        return cls("", None) if setting is None else cls.read(toml(setting))


@dataclass(frozen=True)
class Axis:
    """A key, and the values that it takes one after the other."""

    key: str
    values: tuple[Value, ...]
    option: str = "--vary"
    """The option that has set it, for messages."""

    def __post_init__(self) -> None:
        place = f"{self.option} {printable(self.key)}"
        if not self.values:
            raise SweepError(f"{place}: found no value, allowed: one or more")
        seen: set[tuple[type, Plain | None]] = set()  # for Python, True is 1.0
        for value in self.values:
            known = (type(value.plain), value.plain)
            if known in seen:
                found = printable(value.text) or "no value"
                raise SweepError(f"{place}: found {found} twice, allowed: once")
            seen.add(known)

    @classmethod
    def read(cls, text: str, option: str = "--vary") -> Axis:
        """An axis of the command line: `KEY=VALUE,VALUE` or `KEY=RANGE`, or both mixed.

        No value between commas, as in `KEY=,8`, leaves the key out.
        """
        key, equals, rest = text.partition("=")
        key = key.strip()
        if not equals or not key:
            allowed = "KEY=VALUE,VALUE or KEY=FROM:TO:STEP, such as session.timeout_s=1,2,4"
            raise SweepError(f"{option}: found '{printable(text)}', allowed: {allowed}")
        pieces = [piece.strip() for piece in _pieces(rest)]
        place = f"{option} {printable(key)}"
        if len(pieces) == 1 and not pieces[0]:
            pieces = []
        values = [value for piece in pieces for value in _values(place, piece)]
        return cls(key, tuple(values), option)

    @classmethod
    def of(cls, key: str, values: str | Iterable[Setting | None]) -> Axis:
        """An axis of Python: a list of values, or a text as on the command line."""
        if isinstance(values, str):
            return cls.read(f"{key}={values}")
        if not isinstance(values, Iterable):
            place = f"vary {printable(key)}"
            raise of_another_type(place, values, "a list of values, or a text")
        return cls(key, tuple(map(Value.of, values)))

    def columns(self) -> tuple[Plain | None, ...]:
        """The values as one column has them: of one type, else all as texts."""
        kinds = {type(value.plain) for value in self.values if value.plain is not None}
        if len(kinds) <= 1:
            return tuple(value.plain for value in self.values)
        return tuple(None if value.plain is None else value.text for value in self.values)


class Combination(NamedTuple):
    """One value of each axis."""

    overrides: tuple[str, ...]
    settings: Mapping[str, Plain | None]


def combinations(axes: Sequence[Axis], *, zip_axes: bool) -> list[Combination]:
    """All combinations of the values, or only those of the same place (`zip_axes`)."""
    keys = [axis.key for axis in axes]
    for key in keys:
        if keys.count(key) > 1:
            raise SweepError(f"--vary {printable(key)}: found twice, allowed: once")
    lengths = [len(axis.values) for axis in axes]
    if zip_axes and len(set(lengths)) > 1:
        found = ", ".join(f"{len(axis.values)} of {printable(axis.key)}" for axis in axes)
        raise SweepError(f"--zip: found {found}, allowed: as many values of each key")
    total = lengths[0] if zip_axes and lengths else math.prod(lengths)
    if total > MOST_CONFIGURATIONS:
        allowed = f"at most {MOST_CONFIGURATIONS:,} configurations"
        raise SweepError(f"--vary: found {total:,} combinations, allowed: {allowed}")
    columns = [list(zip(axis.values, axis.columns(), strict=True)) for axis in axes]
    chosen = zip(*columns, strict=True) if zip_axes else itertools.product(*columns)
    return [
        Combination(
            tuple(f"{key}={value.text}" for key, (value, _) in zip(keys, values, strict=True)),
            {key: plain for key, (_, plain) in zip(keys, values, strict=True)},
        )
        for values in chosen
    ]


def _plain(value: object, text: str) -> Plain:
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int | float):
        return float(value)
    return text


def _pieces(text: str) -> Iterator[str]:
    """The parts between commas that are not inside of quotes or brackets; also empty ones."""
    depth, quote, piece = 0, "", ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        elif character == "," and not depth:
            yield piece
            piece = ""
            continue
        piece += character
    yield piece


def _values(place: str, text: str) -> Iterator[Value]:
    found = RANGE.fullmatch(text)
    if not text:
        yield Value("", None)
        return
    if not found:
        yield Value.read(text)
        return
    first, last, star, step = found.groups()
    place = f"{place}: found {printable(text)}"
    if step is None:
        raise SweepError(f"{place}, allowed: FROM:TO:STEP or FROM:TO:*FACTOR, such as 1:9:2")
    numbers = list(_range(Decimal(first), Decimal(last), Decimal(step), bool(star), place))
    for number in numbers:
        yield Value.read(_digits(number))


def _range(
    first: Decimal, last: Decimal, step: Decimal, geometric: bool, place: str
) -> Iterator[Decimal]:
    """The numbers of a range with its ends."""
    if geometric and (step <= 0 or step == 1 or first == 0):
        raise SweepError(f"{place}, allowed: a start that is not 0, a factor above 0 that is not 1")
    if not geometric and step == 0:
        raise SweepError(f"{place}, allowed: a step that is not 0")
    second = first * step if geometric else first + step
    rises = second > first
    if first != last and (last > first) != rises:
        allowed = f"a step that leads from {first} to {last}"
        raise SweepError(f"{place}, an empty range, allowed: {allowed}")
    number, count = first, 0
    while number <= last if rises else number >= last:
        if count == MOST_CONFIGURATIONS:
            raise SweepError(f"{place}, allowed: at most {MOST_CONFIGURATIONS:,} values")
        yield number
        number, count = (number * step if geometric else number + step), count + 1
        if geometric and abs(number) < Decimal("1e-300"):
            return


def _digits(number: Decimal) -> str:
    """A number as TOML has it: a whole number without a point."""
    if number == number.to_integral_value() and abs(number) < 2**63:
        return str(int(number))
    return repr(float(number))
