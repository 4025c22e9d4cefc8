"""Means with their intervals, percentiles, and straight lines through points.

All of them come from one estimator, in Rust. So a run, a paper and a notebook give the same numbers
for the same handshakes.

>>> import slowhand
>>> handshakes = slowhand.run("quickstart", count=20)
>>> mean = slowhand.estimate.Estimate.of(handshakes["duration_s"].to_list())
>>> print(f"{mean.mean:.2f} s, half of the interval is {mean.half:.2f} s")
4.28 s, half of the interval is 0.05 s
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from slowhand._native import Estimate, percentile

__all__ = ["Estimate", "least", "median", "most", "of_metric", "percentile", "r_squared"]


def of_metric(metric: Mapping[str, Any], scale: float = 1.0) -> Estimate:
    """The mean and the interval of a metric of `slowhand run` or `capacity`, times `scale`."""
    return Estimate(scale * metric["mean"], scale * half(metric))


def half(metric: Mapping[str, Any]) -> float:
    """Half of the interval of a metric; 0 where there is none."""
    return float(metric["half"] or 0.0)


def least(estimates: Iterable[Estimate]) -> Estimate:
    """The estimate with the least mean."""
    return min(estimates, key=lambda estimate: estimate.mean)


def most(estimates: Iterable[Estimate]) -> Estimate:
    """The estimate with the greatest mean."""
    return max(estimates, key=lambda estimate: estimate.mean)


def median(values: Sequence[float]) -> float:
    """The 50th percentile."""
    return percentile(values, 0.5)


def r_squared(x: Sequence[float], y: Sequence[float]) -> float:
    """R^2 of the straight line through `y` over `x` by least squares."""
    return statistics.correlation(x, y) ** 2
