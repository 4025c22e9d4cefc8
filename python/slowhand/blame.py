"""Errors about a scenario as data, and who has set the key that is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from slowhand._native import ScenarioError


def refusal(
    reason: str, *, place: str | None = None, key: str | None = None, override: str | None = None
) -> ScenarioError:
    """An error with these parts. `override` is the key of the override that has to change.

    >>> str(refusal("found 7, allowed: 9", place="x.toml:3", key="mac.slots"))
    'x.toml:3: mac.slots: found 7, allowed: 9'
    """
    named = None if key == override else key  # the place of an override names its key
    error = ScenarioError(": ".join(part for part in (place, named, reason) if part))
    error.reason, error.place, error.key, error.override = reason, place, key, override
    return error


@contextmanager
def blaming(names: Mapping[str, str]) -> Iterator[None]:
    """Lets errors about overrides name what has set them: a place for each key."""
    try:
        yield
    except ScenarioError as error:
        if error.override is None or error.override not in names:
            raise
        raise moved(error, names[error.override]) from error


def moved(error: ScenarioError, place: str) -> ScenarioError:
    """The error, at another place."""
    made = refusal(error.reason or "", place=place, key=error.key, override=error.override)
    made.together = error.together
    return made
