"""Which value a scenario has for a key, with its overrides."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from slowhand._native import ScenarioError
from slowhand.api import Scenario, schema
from slowhand.sweeps.vary import SweepError
from slowhand.terminal import printable


class AdviceError(SweepError):
    """Advice that cannot be given. The message says what was found and what is allowed."""


def value(scenario: Scenario, key: str) -> Any:
    """The value of a key, such as `session.mtu`; `None` if the scenario does not have the key."""
    found: Any = None
    try:
        found = _walk(tomllib.loads(scenario.files[scenario.file]), key)
    except tomllib.TOMLDecodeError:  # it has been read before: only a newer TOML is left
        found = None
    for override in scenario.overrides:
        name, _, text = override.partition("=")
        if name == key:
            found = _read(text)
        elif name.startswith(f"{key}."):
            found = _replaced(found, name.removeprefix(f"{key}."), _read(text))
        elif key.startswith(f"{name}."):
            found = _walk(_read(text), key.removeprefix(f"{name}."))
    return found


@contextmanager
def blaming(names: Mapping[str, str]) -> Iterator[None]:
    """Lets messages about keys name what has set them: an option for each key."""
    try:
        yield
    except ScenarioError as error:
        text = str(error)
        for key, option in names.items():
            if text.startswith(f"--set {key}: "):
                raise ScenarioError(text.replace(f"--set {key}", option, 1)) from error
        raise


def default(scenario: Scenario, key: str) -> Any:
    """The default of a key: of the nodes' software, or one outside of `[mac]`; or `None`."""
    own = scenario.about()["profile"]["defaults"]
    if key in own:
        return own[key]
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


def _walk(table: Any, key: str) -> Any:
    for part in key.split("."):
        if not isinstance(table, Mapping) or part not in table:
            return None
        table = table[part]
    return table


def _read(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):  # as with --set: what is no TOML is a string
        return text


def _replaced(table: Any, key: str, new: Any) -> dict[str, Any]:
    """A table with a key replaced."""
    first, _, rest = key.partition(".")
    found = dict(table) if isinstance(table, Mapping) else {}
    found[first] = _replaced(found.get(first), rest, new) if rest else new
    return found
