"""Which configurations are worse than the baseline, for `--fail-if`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from slowhand.report import METRICS
from slowhand.sweeps.statistics import CLEARLY_FEWER, Measured

if TYPE_CHECKING:
    from slowhand.sweeps import Result


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
