"""Pages of keys: every key of a scenario and of a device, from their JSON Schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias
from urllib.parse import unquote

Schema: TypeAlias = Mapping[str, Any]

RUSTDOC_LINK = re.compile(r"\[(`[^`]+`)\](?:\([^)]*\))?")
"""A link to an item of the Rust code, which this site does not have."""


def page(title: str, introduction: str, schema: Schema) -> str:
    """A page with all keys of a file. Each has an anchor: its path, such as `#network.link_pdr`."""
    lines = [f"# {title}", "", introduction, ""]
    keys = Keys(schema)
    for name in keys.ordered(schema):
        lines += keys.section(name, schema["properties"][name])
    return "\n".join(lines) + "\n"


class Keys:
    """The keys of one schema."""

    def __init__(self, schema: Schema):
        self._definitions: Mapping[str, Schema] = schema["$defs"]

    def ordered(self, schema: Schema) -> list[str]:
        """The keys of an object: those that are required first."""
        required = schema.get("required", [])
        names = [name for name in required if name in schema["properties"]]
        return names + [name for name in schema["properties"] if name not in required]

    def section(self, name: str, schema: Schema) -> Iterator[str]:
        """A section of the file, as a heading and its keys."""
        resolved = self._resolved(schema)
        yield from (f"## `{name}` {{ #{name} }}", "", about(resolved), "")
        if self._has_kinds(resolved):
            yield from self._variants(name, resolved)
        elif resolved.get("type") == "array":
            yield f"A list: `[[{name}]]` for each entry."
            yield ""
            yield from self._keys(name, self._resolved(resolved["items"]))
        elif self._is_table(resolved):
            yield from self._keys(name, resolved)
        else:
            yield from self._key(name, schema, required=False)

    def _variants(self, path: str, schema: Schema) -> Iterator[str]:
        for variant in schema["oneOf"]:
            kind = variant["properties"]["kind"]["const"]
            yield from (f'### `{path}.kind = "{kind}"` {{ #{path}.kind-{kind} }}', "")
            yield from (about(variant), "")
            yield from self._keys(f"{path}", variant, anchor=f"{path}-{kind}")

    def _keys(self, path: str, schema: Schema, anchor: str = "") -> Iterator[str]:
        for name in self.ordered(schema):
            key = schema["properties"][name]
            if name == "kind" and "const" in key:
                continue
            required = name in schema.get("required", [])
            yield from self._key(f"{path}.{name}", key, required, f"{anchor or path}.{name}")

    def _key(self, path: str, schema: Schema, required: bool, anchor: str = "") -> Iterator[str]:
        resolved = self._resolved(schema)
        facts = [self.words(schema)]
        if required:
            facts.append("required")
        elif "default" in schema and not self._is_table(resolved):
            facts.append(f"default `{_toml(schema['default'])}`")
        yield from (f"#### `{path}` {{ #{anchor or path} }}", "")
        yield from (f"*{'; '.join(facts)}*", "", about(resolved), "")
        for choice, meaning in self._choices(resolved):
            yield f"- `{choice}`: {meaning}"
        yield ""
        inner, below = resolved, path
        if resolved.get("type") == "array":
            inner, below = self._resolved(resolved["items"]), f"{path}[]"
        elif "patternProperties" in resolved:
            (entry,) = resolved["patternProperties"].values()
            inner, below = self._resolved(entry), f"{path}.N"
        if self._has_kinds(inner):
            yield from self._inner_variants(below, inner)
        elif self._is_table(inner):
            yield from self._keys(below, inner, anchor=f"{anchor or path}")

    def _inner_variants(self, path: str, schema: Schema) -> Iterator[str]:
        for variant in schema["oneOf"]:
            kind = variant["properties"]["kind"]["const"]
            yield from (f'With `kind = "{kind}"`: {about(variant)}', "")
            yield from self._keys(path, variant, anchor=f"{path}-{kind}")

    def words(self, schema: Schema) -> str:
        """What a value is, in words."""
        schema = self._resolved(schema)
        if "const" in schema:
            return f"`{_toml(schema['const'])}`"
        if "enum" in schema:
            return "one of " + ", ".join(f"`{_toml(value)}`" for value in schema["enum"])
        if self._is_constant(schema):
            numbers = [name for name in ("value", "cycles") if name in schema["properties"]]
            forms = [
                f"`{{ {n} = ..., {w} = ... }}`" for n in numbers for w in ("source", "assumed")
            ]
            return f"{' or '.join(forms)}: {self.words(schema['properties']['value'])}"
        alternatives = schema.get("anyOf") or schema.get("oneOf")
        if alternatives and self._is_choice(schema):
            return "one of the words below"
        if alternatives:
            return " or ".join(dict.fromkeys(map(self.words, alternatives)))
        kind = schema.get("type")
        if "prefixItems" in schema:
            return f"a list of {' and '.join(map(self.words, schema['prefixItems']))}"
        if kind == "array":
            return f"a list, each entry {self.words(schema['items'])}"
        if kind == "object":
            if "patternProperties" in schema:
                values = next(iter(schema["patternProperties"].values()))
                return f"a table by number, each entry {self.words(values)}"
            return "a table"
        return {"boolean": "true or false", "string": "a text"}.get(str(kind), "") or _range(schema)

    def _choices(self, schema: Schema) -> Iterator[tuple[str, str]]:
        if "oneOf" in schema and self._is_choice(schema):
            for choice in schema["oneOf"]:
                for value in [choice["const"]] if "const" in choice else choice["enum"]:
                    yield _toml(value), about(choice).replace("\n", " ")

    def _has_kinds(self, schema: Schema) -> bool:
        return any("kind" in variant.get("properties", ()) for variant in schema.get("oneOf", ()))

    def _is_choice(self, schema: Schema) -> bool:
        choices = schema.get("oneOf", [])
        return bool(choices) and all("const" in c or "enum" in c for c in choices)

    def _is_constant(self, schema: Schema) -> bool:
        return {"source", "assumed"} <= set(schema.get("properties", ()))

    def _is_table(self, schema: Schema) -> bool:
        return "properties" in schema and not self._is_constant(schema)

    def _resolved(self, schema: Schema) -> Schema:
        """The schema with what it refers to. Its own words stand before those of the definition."""
        if "$ref" not in schema:
            return schema
        target = self._definitions[unquote(schema["$ref"].rpartition("/")[2])]
        own = {key: value for key, value in schema.items() if key != "$ref"}
        return {**self._resolved(target), **own}


def about(schema: Schema) -> str:
    """The description, as Markdown."""
    return RUSTDOC_LINK.sub(r"\1", schema.get("description", ""))


def _range(schema: Schema) -> str:
    what = "a whole number" if schema.get("type") == "integer" else "a number"
    least, most = schema.get("minimum"), schema.get("maximum")
    if "exclusiveMinimum" in schema:
        what, least = f"{what} above {_number(schema['exclusiveMinimum'])}", None
    bounds = [("from", least), ("to", most)]
    return " ".join([what, *(f"{word} {_number(n)}" for word, n in bounds if n is not None)])


def _number(value: float) -> str:
    """A number as one writes it: a whole one without a point."""
    return f"{int(value):,}" if value == int(value) else repr(value)


def _toml(value: object) -> str:
    """A default as a file has it."""
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{key} = {_toml(item)}" for key, item in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, float):
        return _number(value).replace(",", "")
    return json.dumps(value, ensure_ascii=False)
