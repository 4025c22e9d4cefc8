"""Errors of an advice, and keys that no scenario has."""

from __future__ import annotations

from slowhand import known
from slowhand.sweeps.vary import SweepError
from slowhand.terminal import printable


class AdviceError(SweepError):
    """Advice that cannot be given. The message says what was found and what is allowed."""


def check_known(option: str, key: str) -> None:
    """Raises an error if no scenario has such a key."""
    allowed = known.unknown(key)
    if allowed is not None:
        message = f"unknown key, allowed: {', '.join(allowed)}"
        raise AdviceError(f"{option} {printable(key)}: {message}")
