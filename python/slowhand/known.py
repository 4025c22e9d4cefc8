"""Which keys a scenario may have, from its JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from slowhand.api import Scenario, schema


@cache
def _whole() -> dict[str, Any]:
    return schema()


def names(table: str = "") -> list[str] | None:
    """The keys of a table; `None` if it may have any, or is no table."""
    found = _properties(_place(table)) if table else _properties(_whole())
    return None if found is None else sorted(found)


def unknown(key: str) -> list[str] | None:
    """The keys that are allowed in the place of the first one of a path that is not."""
    place: Any = _whole()
    for part in key.split("."):
        found = _properties(place)
        if found is None:
            return None  # a table of any keys
        if part not in found:
            return sorted(found)
        place = found[part]
    return None


def default(scenario: Scenario, key: str) -> Any:
    """The default of a key: of the nodes' software, or that of every scenario; or `None`."""
    own = scenario.about()["profile"]["defaults"]
    if key in own:
        return own[key]
    table, _, name = key.rpartition(".")
    if table != "mac":
        return _place(key).get("default")
    # Another kind of link layer may have a key of this name.
    kind = scenario.value("mac.kind")
    for one in _alternatives(_place("mac")):
        if one.get("properties", {}).get("kind", {}).get("const") == kind:
            return ((_properties(one) or {}).get(name) or {}).get("default")
    return None


def kind(key: str) -> type:
    """The type of a key's values: `float`, `bool`, or `str` for all others."""
    found = _types(_place(key))
    if found & {"number", "integer"}:
        return float
    return bool if "boolean" in found else str


def link_layers() -> list[str]:
    """The kinds of link layer that a scenario may have."""
    kinds = (_properties(one) or {} for one in _alternatives(_place("mac")))
    return sorted({kind["kind"]["const"] for kind in kinds if "const" in kind.get("kind", {})})


def _place(key: str) -> Mapping[str, Any]:
    place: Any = _whole()
    for part in key.split("."):
        entries = [one["items"] for one in _alternatives(place) if "items" in one]
        is_entry = part.isdecimal() and entries
        place = entries[0] if is_entry else (_properties(place) or {}).get(part, {})
    return place if isinstance(place, Mapping) else {}


def _alternatives(place: Any) -> list[Mapping[str, Any]]:
    """A place of the schema and all that it refers to."""
    found, todo = [], [place]
    while todo:
        one = todo.pop()
        if not isinstance(one, Mapping):
            continue
        found.append(one)
        if "$ref" in one:
            todo.append(_whole()["$defs"][one["$ref"].rpartition("/")[2]])
        for word in ("anyOf", "oneOf", "allOf"):
            todo += one.get(word, [])
    return found


def _types(place: Any) -> set[str]:
    found: set[str] = set()
    for one in _alternatives(place):
        given = one.get("type", [])
        found |= {given} if isinstance(given, str) else set(given)
    return found


def _properties(place: Any) -> dict[str, Any] | None:
    """The keys of a table in the schema; none if it may have any."""
    found: dict[str, Any] = {}
    is_open = True
    for one in _alternatives(place):
        if "properties" in one:
            found |= one["properties"]
            is_open = False
    return None if is_open else found
