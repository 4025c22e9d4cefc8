"""Which keys a scenario may have, and their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slowhand.api import schema
from slowhand.sweeps.vary import SweepError
from slowhand.terminal import printable


class AdviceError(SweepError):
    """Advice that cannot be given. The message says what was found and what is allowed."""


def default(key: str) -> Any:
    """The default of a key outside of `[mac]`, whose link layers have their own; or `None`."""
    whole = schema()
    place: Any = whole
    for part in key.split("."):
        place = (_properties(place, whole) or {}).get(part, {})
    return None if key.startswith("mac.") else place.get("default")


def check_known(option: str, key: str) -> None:
    """Raises an error if no scenario has such a key."""
    whole = schema()
    place: Any = whole
    for part in key.split("."):
        found = _properties(place, whole)
        if found is None:
            return  # a table of any keys
        if part not in found:
            allowed = ", ".join(sorted(found))
            raise AdviceError(f"{option} {printable(key)}: unknown key, allowed: {allowed}")
        place = found[part]


def _properties(place: Any, whole: Mapping[str, Any]) -> dict[str, Any] | None:
    """The keys of a table in a JSON Schema; none if it may have any."""
    found: dict[str, Any] = {}
    todo = [place]
    is_open = True
    while todo:
        one = todo.pop()
        if not isinstance(one, Mapping):
            continue
        if "$ref" in one:
            todo.append(whole["$defs"][one["$ref"].rpartition("/")[2]])
        for word in ("anyOf", "oneOf", "allOf"):
            todo += one.get(word, [])
        if "properties" in one:
            found |= one["properties"]
            is_open = False
    return None if is_open else found
