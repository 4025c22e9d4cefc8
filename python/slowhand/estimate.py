"""Means with their intervals, and straight lines through them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A mean and half of its 95 % confidence interval; a number that is exact has none."""

    mean: float
    half: float = 0.0

    @classmethod
    def of(cls, values: Sequence[float]) -> Estimate:
        """The mean of independent values."""
        mean = statistics.fmean(values)
        if len(values) < 2:
            return cls(mean)
        error = statistics.stdev(values) / math.sqrt(len(values))
        return cls(mean, _student_t_975(len(values) - 1) * error)

    @property
    def ci95(self) -> tuple[float, float] | None:
        """The interval, where there is one."""
        return (self.mean - self.half, self.mean + self.half) if self.half else None

    def __sub__(self, other: Estimate) -> Estimate:
        """The difference of independent means."""
        return Estimate(self.mean - other.mean, math.hypot(self.half, other.half))

    def __truediv__(self, other: Estimate) -> Estimate:
        """The ratio of independent means; relative errors add up in quadrature (first order)."""
        ratio = self.mean / other.mean
        return Estimate(ratio, ratio * math.hypot(self.half / self.mean, other.half / other.mean))


def mean_of(estimates: Sequence[Estimate]) -> Estimate:
    """The mean of independent estimates."""
    half = math.hypot(*(estimate.half for estimate in estimates)) / len(estimates)
    return Estimate(statistics.fmean(estimate.mean for estimate in estimates), half)


def r_squared(x: Sequence[float], y: Sequence[float]) -> float:
    """How much of the variance of `y` a straight line over `x` explains: R^2 of least squares."""
    return statistics.correlation(x, y) ** 2


def _student_t_975(degrees: int) -> float:
    """The 97.5 % quantile of Student's t (Abramowitz and Stegun 26.7.5, to the second order)."""
    z = statistics.NormalDist().inv_cdf(0.975)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / degrees + second / degrees**2
