"""The page of the Python interface: signatures and docstrings, from the source and the stub."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

import slowhand

WIDTH = 84
"""The longest line of a signature: as many columns as a page has beside its navigation."""

MODULES = [name for name in slowhand.__all__ if inspect.ismodule(getattr(slowhand, name))]
"""The modules that belong to the interface."""

STUB = Path(slowhand.__file__).parent / "_native.pyi"
"""What documents the native module."""

Function: TypeAlias = ast.FunctionDef
Definition: TypeAlias = Function | ast.ClassDef


def page() -> str:
    """All public names, with their signatures, docstrings and examples."""
    lines = ["# Python", "", *_markdown(inspect.getdoc(slowhand) or ""), ""]
    for name in slowhand.__all__:
        if name not in MODULES and not name.startswith("_"):
            lines += _entry(slowhand, name, "##")
    for name in MODULES:
        module = importlib.import_module(f"slowhand.{name}")
        path = module.__name__
        lines += [f"## {path} {{ #{path} }}", "", *_markdown(inspect.getdoc(module) or ""), ""]
        for public in _public(module):
            lines += _entry(module, public, "###")
    return "\n".join(lines) + "\n"


def _public(module: ModuleType) -> list[str]:
    """The functions and classes of a module that a program may use."""
    names = getattr(module, "__all__", None) or [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and getattr(thing, "__module__", "") == module.__name__
    ]
    return [name for name in names if callable(getattr(module, name))]


def _entry(module: ModuleType, name: str, heading: str) -> Iterator[str]:
    """A function or a class with its methods; or the type of an argument."""
    path = f"{module.__name__}.{name}"
    yield from (f"{heading} {path} {{ #{path} }}", "")
    found = _definition(getattr(module, name), name)
    if found is None:
        yield from ("A type of arguments: see [the keys of a scenario](keys.md).", "")
    elif isinstance(found, ast.FunctionDef):
        yield from _function(found, name)
    else:
        constructor = [m for m in _methods(found) if m.name in ("__init__", "__new__")]
        for method in constructor[:1]:
            yield from _signature(method, name, returns=False)
        yield from _markdown(ast.get_docstring(found) or "")
        yield from _attributes(found)
        for method in _methods(found):
            if not method.name.startswith("_"):
                yield from (f"{heading}# {path}.{method.name} {{ #{path}.{method.name} }}", "")
                yield from _function(method, method.name)


def _definition(thing: object, name: str) -> Definition | None:
    """Where a name is defined: in its module, or in the stub of the native module."""
    if not (inspect.isroutine(thing) or inspect.isclass(thing)):
        return None
    native = inspect.isbuiltin(thing) or thing.__module__ in ("slowhand", "slowhand._native")
    module = inspect.getmodule(thing)
    file = STUB if native or module is None else Path(str(module.__file__))
    return next(node for node in _parsed(file) if node.name == name)


@cache
def _parsed(file: Path) -> list[Definition]:
    body = ast.parse(file.read_text()).body
    return [node for node in body if isinstance(node, Definition)]


def _methods(node: ast.ClassDef) -> list[Function]:
    return [member for member in node.body if isinstance(member, ast.FunctionDef)]


def _function(node: Function, name: str) -> Iterator[str]:
    if "property" not in map(ast.unparse, node.decorator_list):
        yield from _signature(node, name)
    yield from _markdown(ast.get_docstring(node) or "")


def _signature(node: Function, name: str, *, returns: bool = True) -> Iterator[str]:
    """How it is called, on one line or with a line for each argument."""
    arguments = node.args
    arguments.args = [each for each in arguments.args if each.arg not in ("self", "cls")]
    arrow = f" -> {ast.unparse(node.returns)}" if returns and node.returns else ""
    shown = f"{name}({ast.unparse(arguments)}){arrow}"
    if len(shown) > WIDTH:
        shown = "\n    ".join([f"{name}(", *(f"{each}," for each in _each(arguments))])
        shown += f"\n){arrow}"
    yield from ("```python", shown, "```", "")


def _each(arguments: ast.arguments) -> Iterator[str]:
    """The arguments one by one."""
    missing: list[ast.expr | None] = [None] * (len(arguments.args) - len(arguments.defaults))
    yield from map(_argument, arguments.args, [*missing, *arguments.defaults])
    if arguments.kwonlyargs:
        yield "*"
    yield from map(_argument, arguments.kwonlyargs, arguments.kw_defaults)


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(argument) + ("" if default is None else f" = {ast.unparse(default)}")


def _attributes(node: ast.ClassDef) -> Iterator[str]:
    """The attributes that have a docstring behind them."""
    for body in [node.body, *(method.body for method in _methods(node))]:
        for field, behind in pairwise(body):
            if not (isinstance(behind, ast.Expr) and isinstance(behind.value, ast.Constant)):
                continue
            if not isinstance(field, ast.AnnAssign | ast.Assign):
                continue
            targets = field.targets if isinstance(field, ast.Assign) else [field.target]
            names = ast.unparse(targets[0]).strip("()").replace("self.", "")
            if not names.startswith("_"):
                yield f"- `{names}`: {' '.join(str(behind.value.value).split())}"
    yield ""


def _markdown(docstring: str) -> Iterator[str]:
    """A docstring as Markdown: its examples become blocks of code."""
    in_example = False
    for line in docstring.splitlines():
        if line.startswith(">>>") and not in_example:
            in_example = True
            yield from ("", "```pycon")
        elif in_example and not line.strip():
            in_example = False
            yield "```"
        yield line
    if in_example:
        yield "```"
    yield ""
