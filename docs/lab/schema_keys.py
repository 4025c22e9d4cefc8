"""The keys of a scenario for the page: what each means, and the words that it takes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

LONGEST_ABOUT = 90
"""How much of the meaning of a key the page shows, in characters. *Assumed*: a line."""


def keys(schema: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Each key by its path, such as `network.link_pdr`. Entries of lists are keys of their list."""
    found: dict[str, dict[str, Any]] = {}
    for path, part in _below(schema, schema["$defs"], ""):
        entry = found.setdefault(path, {"about": _about(part)})
        if values := [*_values(part, schema["$defs"])]:
            entry["values"] = [*dict.fromkeys([*entry.get("values", []), *values])]
    return found


def _below(
    part: Mapping[str, Any], definitions: Mapping[str, Any], path: str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The keys of a table, and those below them."""
    part = {**_resolved(part, definitions), **part}
    for variant in (*part.get("oneOf", ()), *part.get("anyOf", ()), *_items(part)):
        yield from _below(variant, definitions, path)
    for name, key in part.get("properties", {}).items():
        below = f"{path}.{name}" if path else name
        yield below, {**_resolved(key, definitions), **key}
        yield from _below(key, definitions, below)


def _items(part: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    items = part.get("items")
    if isinstance(items, Mapping):
        yield items


def _resolved(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    name = part.get("$ref", "").removeprefix("#/$defs/")
    found: Mapping[str, Any] = definitions.get(name, {})
    return found


def _values(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[str]:
    """The words that a key takes, as TOML has them."""
    if "const" in part:
        yield json.dumps(part["const"])
    yield from map(json.dumps, part.get("enum", ()))
    if part.get("type") == "boolean":
        yield from ("true", "false")
    for choice in (*part.get("oneOf", ()), *part.get("anyOf", ())):
        yield from _values({**_resolved(choice, definitions), **choice}, definitions)


def _about(part: Mapping[str, Any]) -> str:
    """The first sentence of what a key means."""
    text = " ".join(part.get("description", "").split())
    first = re.split(r"(?<=\.) ", text, maxsplit=1)[0]
    return first if len(first) <= LONGEST_ABOUT else f"{first[: LONGEST_ABOUT - 1]}…"
