"""Circles among the modules of each crate and of the Python package: `./test circles` finds them.

The rule: the modules of a folder have an order, in which each imports only from those before
it. A module stands for itself and all that is inside it. So a module and what is inside it are
one: what they import from each other does not count.

In Rust, `use` counts, and each path in code that begins with `crate`, `self`, `super`, a child,
or a name that a `use` has brought. A name that is exported again counts where it is defined.
Tests do not count, nor do calls of methods, which name no module. A module within a file is a
part of it.

In Python, the imports at the top of files count. Those inside functions and under TYPE_CHECKING
do not: they are not needed to load the file.
"""

from __future__ import annotations

import ast
import itertools
import re
import sys
from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
CRATES = ("crates/*/src", "interop/src", "firmware/*/src", "stacks/*/src")
PACKAGE = "python/slowhand"

Name = tuple[str, ...]
"""A module, or what is in it: its path from the root of its crate or package, with the root."""


class Import(NamedTuple):
    """The file that imports, and the file where that is defined."""

    by: Name
    of: Name


class Module(NamedTuple):
    """A file."""

    items: set[str]
    """The names that are defined in it."""
    uses: list[tuple[Name, str]]
    """The names that are imported, with the name that each gets here; "*": all that is there."""
    paths: list[Name]
    """All paths in it, those of `uses` too."""


Modules = dict[Name, Module]

NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|\bb?r(#*)".*?"\1|"(?:\\.|[^"\\])*"|'
    r"'(?:\\[^']+|[^'\\])'",
    re.DOTALL,
)
"""Comments and literals."""
OF_TESTS = re.compile(r"#\[cfg\((?:test|all\(test[^]]*)\)\]")
DEFINED = re.compile(r"\b(?:fn|struct|enum|trait|type|const|static|union|macro_rules!)\s+(\w+)")
USE = re.compile(r"\buse\s+([^;]+);")
PATH = re.compile(r"(?<![\w:.])[a-z_]\w*(?:\s*::\s*\w+)+")


def leaves(tree: str, before: Name = ()) -> Iterator[tuple[Name, str]]:
    """The paths of a `use`, with their names here: `a::{b, c as d}` is a::b, b and a::c, d."""
    head, brace, inside = tree.partition("{")
    path, _, alias = head.partition(" as ")
    parts = [part.strip() for part in path.split("::")]
    name = (*before, *(part for part in parts if part not in ("", "self")))
    if path.strip().startswith("self") and not before:
        name = ("self", *name)
    if not brace:
        yield name, alias.strip() or name[-1]
        return
    depth = start = 0
    inside = inside[: inside.rindex("}")] + ","
    for at, letter in enumerate(inside):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            if inside[start:at].strip():
                yield from leaves(inside[start:at], name)
            start = at + 1


def without_tests(text: str) -> str:
    """Rust without comments, literals, and the items that only tests have."""
    text = NOISE.sub(" ", text)
    while found := OF_TESTS.search(text):
        depth, end = 0, found.end()
        while end < len(text) and not (depth == 0 and text[end - 1] in ";}"):
            depth += (text[end] in "{[(") - (text[end] in "}])")
            end += 1
        text = text[: found.start()] + text[end:]
    return text


def crate(source: Path) -> Modules:
    """The modules of a crate."""
    modules: Modules = {}
    first = [file for file in (source / "lib.rs", source / "main.rs") if file.exists()]
    waiting: list[tuple[Name, Path, Path]] = [(("crate",), file, source) for file in first[:1]]
    for name, file, folder in waiting:
        text = without_tests(file.read_text())
        uses = [leaf for tree in USE.findall(text) for leaf in leaves(tree)]
        code = [tuple(re.split(r"\s*::\s*", path)) for path in PATH.findall(USE.sub("", text))]
        modules[name] = Module(set(DEFINED.findall(text)), uses, [path for path, _ in uses] + code)
        for child in re.findall(r"\bmod\s+(\w+)\s*;", text):
            inner = folder / child
            for place in (folder / f"{child}.rs", inner / "mod.rs"):
                if place.exists():
                    waiting.append(((*name, child), place, inner))
    return modules


def at_top(body: Sequence[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that are run when the file is loaded, but those in classes."""
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        elif isinstance(statement, ast.Try) or (
            isinstance(statement, ast.If) and ast.unparse(statement.test) != "TYPE_CHECKING"
        ):
            yield from at_top([*statement.body, *statement.orelse])


def package(source: Path) -> Modules:
    """The modules of a Python package, which imports with whole names."""
    modules: Modules = {}
    for file in sorted(source.rglob("*.py")):
        name = file.relative_to(source.parent).with_suffix("").parts
        uses: list[tuple[Name, str]] = []
        tree = ast.parse(file.read_text())
        for statement in at_top(tree.body):
            start = getattr(statement, "module", None)
            for alias in statement.names:
                whole = f"{start}.{alias.name}" if start else alias.name
                uses.append((tuple(whole.split(".")), alias.asname or alias.name))
        items = {getattr(statement, "name", "") for statement in tree.body}
        name = name[:-1] if name[-1] == "__init__" else name
        modules[name] = Module(items, uses, [path for path, _ in uses])
    return modules


def from_root(modules: Modules, path: Name, by: Name) -> Name | None:
    """A path in a module as one from the root. `None`: it is not of this crate or package."""
    ups = next((at for at, part in enumerate(path) if part != "super"), len(path))
    if path[0] == by[0]:
        return path
    if ups or path[0] == "self":
        return by[: len(by) - ups] + path[max(ups, 1) :]
    if (*by, path[0]) in modules and by[0] == "crate":
        return by + path
    for used, alias in modules[by].uses:
        if alias == path[0] != used[0] and (start := from_root(modules, used, by)):
            return start + path[1:]
    return None


def home(modules: Modules, path: Name) -> Name:
    """The module in which this is defined."""
    module = path
    while module not in modules:
        module = module[:-1]
    rest = path[len(module) :]
    if rest and rest[0] not in modules[module].items:
        for used, alias in modules[module].uses:
            start = from_root(modules, used, module) if alias in (rest[0], "*") else None
            if start and start[-1] != "*" and start != path[: len(start)]:
                return home(modules, start + rest[1:])
            if start and start[:-1] in modules and rest[0] in modules[start[:-1]].items:
                return start[:-1]
    return module


def imports(modules: Modules) -> Iterator[Import]:
    """The imports of each module from other ones."""
    for by, module in modules.items():
        for path in module.paths:
            if whole := from_root(modules, path, by):
                yield Import(by, home(modules, whole))


def circle(modules: Modules) -> list[Import]:
    """The imports that make a circle, one for each step of it. Empty: there is none."""
    steps: dict[tuple[Name, Name], Import] = {}
    for found in imports(modules):
        both = zip(found.by, found.of, strict=False)
        apart = next((at for at, (by, of) in enumerate(both) if by != of), None)
        if apart is not None:
            steps.setdefault((found.by[: apart + 1], found.of[: apart + 1]), found)
    graph: dict[Name, list[Name]] = {}
    for by, of in steps:
        graph.setdefault(by, []).append(of)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        around: list[Name] = error.args[1][::-1]
        return [steps[step] for step in itertools.pairwise(around)]
    return []


def main() -> int:
    """Says the circles."""
    crates = sorted(place for pattern in CRATES for place in ROOT.glob(pattern))
    all_modules = {str(place.relative_to(ROOT)): crate(place) for place in crates}
    all_modules[PACKAGE] = package(ROOT / PACKAGE)
    problems = 0
    for place, modules in all_modules.items():
        found = circle(modules)
        if found:
            problems = 1
            print(f"{place}: modules import each other in a circle")
        for step in found:
            print(f"  {'/'.join(step.by[1:])} imports from {'/'.join(step.of[1:])}")
    return problems


if __name__ == "__main__":
    sys.exit(main())
