"""The seeds and counts that there are."""

from __future__ import annotations

import operator

from slowhand._native import ArgumentError
from slowhand.terminal import printable

MAX_SEED = 2**64 - 1
"""The largest seed, and the largest of all counts."""


def wrong(argument: str, reason: str) -> ArgumentError:
    """The error of the argument of this name."""
    error = ArgumentError(f"{argument}: {reason}")
    error.argument, error.reason = argument, reason
    return error


def of_another_type(argument: str, value: object, allowed: str) -> TypeError:
    """The error of an argument whose value has a type that is not allowed."""
    found = f"{printable(repr(value))} of type {type(value).__name__}"
    return TypeError(f"{argument}: found {found}, allowed: {allowed}")


def real(name: str, value: float) -> float:
    """The value, if it is a number."""
    if isinstance(value, str):  # `float` would read it
        raise of_another_type(name, value, "a number")
    try:
        return float(value)
    except TypeError:
        raise of_another_type(name, value, "a number") from None


def natural(name: str, value: int) -> int:
    """The value, if it is a whole number that is not negative and needs no more than 64 bits."""
    try:
        value = operator.index(value)  # also the numbers of numpy
    except TypeError:
        raise of_another_type(name, value, "a whole number") from None
    if not 0 <= value <= MAX_SEED:
        # Python does not print a number of thousands of digits (PEP 682).
        found = str(value) if abs(value) < 2**1000 else "a number of more than 300 digits"
        raise wrong(name, f"found {printable(found)}, allowed: from 0 to {MAX_SEED}")
    return value


def worlds(count: int, seed: int) -> tuple[int, int]:
    """The number of worlds and the first seed, if there are such worlds."""
    count, seed = natural("count", count), natural("seed", seed)
    if count < 1:
        raise wrong("count", f"found {count}, allowed: 1 or more")
    if count > (most := MAX_SEED - seed + 1):
        allowed = f"at most {most}, so that the last seed is at most {MAX_SEED}"
        raise wrong("count", f"found {count}, allowed: {allowed}")
    return count, seed
