"""Which configurations fail with `--fail-if`: worse than the baseline, or beyond a bound.

Bounds of statistics are conditions, such as `duration_s.p95 > 1.05 * base`:

condition = quantity ("<" | "<=" | ">" | ">=") bound
quantity  = COLUMN "." STATISTIC | "failed"
bound     = number | number "*" "base" | "base" ["*" number | ("+" | "-") number]
number    = a decimal number, also with an exponent, and perhaps "%"

"%" is a share: of `base` where it is a factor, else of handshakes, so only with `failed`.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

from slowhand.nearest import none_of
from slowhand.report import METRICS
from slowhand.sweeps.statistics import CLEARLY_FEWER, Measured
from slowhand.sweeps.vary import NUMBER, SweepError
from slowhand.terminal import printable

if TYPE_CHECKING:
    from slowhand.sweeps import Result

FAILED = "failed"
"""The share of handshakes that did not complete: a quantity without a column."""

STATISTICS: Mapping[str, Callable[[Measured, str], float]] = {
    "mean": lambda measured, column: measured.metrics[column].estimate.mean,
    "p50": lambda measured, column: measured.metrics[column].p50,
    "p95": lambda measured, column: measured.metrics[column].p95,
}
"""The statistics of a column, over the handshakes that completed."""

SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}

ALLOWED = (
    "COLUMN.STATISTIC or failed, then >, >=, < or <=, then a number, NUMBER * base, base + NUMBER"
    " or base - NUMBER: 'duration_s.p95 > 1.05 * base'; or a share, such as 5%"
)
"""The grammar in a message."""

TOKEN = re.compile(rf"\s*({NUMBER}%?|[A-Za-z_][\w.]*|[<>]=?|[*+-])")


class Bound(NamedTuple):
    """The bound of a quantity: `times` the value of the baseline, and `plus`."""

    times: float
    plus: float
    text: str

    @property
    def is_share(self) -> bool:
        """True if it is a share of handshakes, or adds one."""
        return "%" in self.text and "*" not in self.text

    def of(self, base: float | None) -> float:
        """The number, where the baseline has this value."""
        return self.plus if base is None else self.times * base + self.plus


class Condition(NamedTuple):
    """A condition with which a configuration fails."""

    column: str
    statistic: str | None
    """`None`: the share that failed."""
    sign: str
    bound: Bound
    text: str
    """As it was written."""

    @classmethod
    def read(cls, text: str, columns: Sequence[str]) -> Self:
        """Reads a condition on one of some columns. Raises `SweepError`."""
        tokens = _tokens(text)
        match tokens:
            case [quantity, sign, *rest] if sign in SIGNS and (bound := _bound(rest)):
                pass
            case _:
                raise _wrong(text)
        column, dot, statistic = quantity.partition(".")
        if quantity == FAILED:
            return cls(FAILED, None, sign, bound, text)
        if column == FAILED:
            allowed = f"{FAILED}, a share, which has no statistics"
            raise SweepError(f"--fail-if: found {printable(quantity)}, allowed: {allowed}")
        if column not in columns:
            raise SweepError(none_of("--fail-if", column, [FAILED, *columns]))
        if not dot:
            allowed = ", ".join(f"{column}.{each}" for each in STATISTICS)
            raise SweepError(f"--fail-if: found {column}, allowed: {allowed}")
        if statistic not in STATISTICS:
            raise SweepError(none_of(f"--fail-if {column}", statistic, STATISTICS))
        if bound.is_share:
            raise SweepError(
                f"--fail-if {quantity}: found {bound.text}, allowed: a share with {FAILED} alone;"
                f" did you mean {1 + bound.plus:g} * base?"
            )
        return cls(column, statistic, sign, bound, text)

    def broken(self, results: Sequence[Result], to: Measured | None) -> list[str]:
        """Which configurations fail, in words: nothing if none does. `to` is the baseline.

        Raises `SweepError` if handshakes completed without the column.
        """
        base = None
        if self.bound.times:
            base = None if to is None else self._value(to)
            if base is None:
                return [f"{self.text}: base has no value: no handshake completed with the baseline"]
        others = [each.measured for each in results if base is None or each.measured is not to]
        return [said for measured in others if (said := self._said(measured, base))]

    def _said(self, measured: Measured, base: float | None) -> str | None:
        """Why a configuration fails, if it does."""
        label = measured.configuration.label
        quantity = self.column + (f".{self.statistic}" if self.statistic else "")
        value = self._value(measured)
        if value is None:
            return f"{label}: {quantity} has no value: no handshake completed"
        bound = self.bound.of(base)
        if not SIGNS[self.sign](value, bound):
            return None
        shown = f"{bound:g}" if base is None else f"{self.bound.text} = {bound:g}"
        return f"{label}: {quantity} is {value:g}, which is {self.sign} {shown}"

    def _value(self, measured: Measured) -> float | None:
        if self.statistic is None:
            return measured.failed
        if self.column not in measured.metrics:
            if not measured.completed:
                return None
            has = ", ".join(measured.metrics)
            raise SweepError(
                f"--fail-if {self.column}: found no value with"
                f" {printable(measured.configuration.label)}, whose handshakes completed,"
                f" allowed: a column that it has, such as {has}"
            )
        return STATISTICS[self.statistic](measured, self.column)


def worse(results: Sequence[Result], to: Measured | None, metric: str, most: float) -> list[str]:
    """Why configurations are worse than the baseline `to`, in words: nothing if none is.

    One is worse if the whole interval of its difference is more than the share `most` of the
    baseline's mean; or if clearly fewer of its handshakes complete, or of its programs succeed.
    """
    if to is None or metric not in to.metrics:
        return ["no handshake completed with the baseline, so nothing can be compared to it"]
    return [
        f"{result.measured.configuration.label}: {reason}"
        for result in results
        if result.measured is not to
        for reason in _reasons(result, to, metric, most)
    ]


def _reasons(result: Result, to: Measured, metric: str, most: float) -> Iterator[str]:
    measured, difference = result
    if measured.failed > to.failed + CLEARLY_FEWER:
        shares = f"{1 - measured.failed:.1%}, and {1 - to.failed:.1%} of the baseline"
        yield f"clearly fewer handshakes complete: {shares}"
    if _succeeding(measured) < _succeeding(to) - CLEARLY_FEWER:
        shares = f"{_succeeding(measured):.1%}, and {_succeeding(to):.1%} of the baseline"
        yield f"clearly fewer worlds succeed: {shares}"
    if difference:
        mean, half = difference.estimate.mean, difference.estimate.half
        base = abs(to.metrics[metric].estimate.mean)
        if mean - half > most * base:
            more = f"{mean / base:+.1%} ± {half / base:.1%}" if base else f"{mean:+g} ± {half:g}"
            yield f"{_label(metric)} {more}"


def _succeeding(measured: Measured) -> float:
    """The share of worlds whose programs do what the scenario asks of them, if it asks."""
    return 1 - measured.unsuccessful / max(1, measured.worlds - measured.panicked)


def _label(metric: str) -> str:
    """The label of a metric in reports."""
    return next(row[metric][0] for row in METRICS.values() if metric in row)


def _tokens(text: str) -> list[str]:
    """The words of a condition."""
    tokens, at = [], 0
    while text[at:].strip():
        found = TOKEN.match(text, at)
        if found is None:
            raise _wrong(text)
        tokens.append(found[1])
        at = found.end()
    return tokens


def _bound(tokens: Sequence[str]) -> Bound | None:
    """The bound after the sign; `None` if it is no bound."""
    text = " ".join(tokens)
    match tokens:
        case ["base"]:
            return Bound(1, 0, text)
        case [number] if (found := _number(number)) is not None:
            return Bound(0, found, text)
        case [number, "*", "base"] | ["base", "*", number] if found := _number(number):
            return Bound(found, 0, text)
        case ["base", ("+" | "-") as sign, number] if (found := _number(number)) is not None:
            return Bound(1, found if sign == "+" else -found, text)
        case ["base", number] if number[0] in "+-" and (found := _number(number)) is not None:
            return Bound(1, found, text)  # "base -2"
    return None


def _number(text: str) -> float | None:
    digits = text.removesuffix("%")
    if not re.fullmatch(NUMBER, digits) or math.isinf(float(digits)):
        return None
    return float(digits) / (1 if digits == text else 100)


def _wrong(text: str) -> SweepError:
    return SweepError(f"--fail-if: found {printable(text)}, allowed: {ALLOWED}")
