"""Means with their intervals, percentiles, and straight lines through points.

The laboratory's estimator is the only one: what a run, a paper and a notebook say of the same
handshakes is the same.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from slowhand._native import Estimate, percentile

__all__ = ["Estimate", "least", "median", "most", "of_metric", "percentile", "r_squared"]


def of_metric(metric: Mapping[str, Any], scale: float = 1.0) -> Estimate:
    """The mean and the interval of a metric of `slowhand run` or `capacity`, times `scale`."""
    low, high = metric["ci95"]
    return Estimate(scale * metric["mean"], scale * (high - low) / 2)


def least(estimates: Iterable[Estimate]) -> Estimate:
    """The estimate with the least mean."""
    return min(estimates, key=lambda estimate: estimate.mean)


def most(estimates: Iterable[Estimate]) -> Estimate:
    """The estimate with the greatest mean."""
    return max(estimates, key=lambda estimate: estimate.mean)


def median(values: Sequence[float]) -> float:
    """The value below which half of the values lie."""
    return percentile(values, 0.5)


def r_squared(x: Sequence[float], y: Sequence[float]) -> float:
    """How much of the variance of `y` a straight line over `x` explains: R^2 of least squares."""
    return statistics.correlation(x, y) ** 2
