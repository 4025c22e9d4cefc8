"""The data that comes with slowhand: batteries, devices, papers and scenarios.

Beside this file are four folders of TOML files, `footprint.json`, and the C of stacks of one's own.
In a clone they are links to the folders of the same names at its top, to the file in
`firmware/` and to a folder of `crates/slowhand-sessions`; in an installed package they are copies.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from slowhand.blame import refusal
from slowhand.nearest import meant
from slowhand.terminal import printable

__tracebackhide__ = True
"""pytest leaves the functions of this module out of its tracebacks."""

_HERE = Path(__file__).resolve().parent

BATTERIES = (_HERE / "batteries").resolve()
"""One file for each battery that is built in."""

DEVICES = (_HERE / "devices").resolve()
"""One file for each device that is built in."""

CSRC = (_HERE / "csrc").resolve()
"""Where `#include "slowhand/stack.h"` is found: with an example, and adapters."""

CRATES = _HERE.parents[2] / "stacks"
"""The stacks in Rust that are in a clone. In an installed package there is no such folder."""

PAPERS = (_HERE / "papers").resolve()
"""One folder for each paper: its scenarios, `reported.toml` and `assumptions.toml`."""

FOOTPRINT = _HERE / "footprint.json"
"""The memory of lean-dtls on two processors, as `firmware/measure` writes it."""

SCENARIOS = (_HERE / "scenarios").resolve()
"""Scenarios to start from."""


def files(folder: Path) -> Mapping[str, Path]:
    """The TOML files of a folder, by their names without `.toml`."""
    return dict(sorted((file.stem, file) for file in folder.glob("*.toml")))


def scenario_path(scenario: str | os.PathLike[str]) -> str:
    """The path of the bundled scenario with this name. Any other argument is a path.

    To read a file of your own that has the name of a bundled scenario, put `./` before it.

    Raises `ScenarioError` if there is neither such a name nor such a file. (A path that ends in
    `.toml` is not checked here: the error from reading it says more.)
    """
    path = os.fspath(scenario) if isinstance(scenario, os.PathLike) else scenario
    if not isinstance(path, str):
        found = f"{printable(repr(scenario))} of type {type(scenario).__name__}"
        raise TypeError(f"scenario: found {found}, allowed: a name, a path as text, a dictionary")
    bundled = files(SCENARIOS)
    if path in bundled:
        return str(bundled[path])
    if not path.endswith(".toml") and not os.path.exists(path):  # noqa: PTH110 (it never raises)
        raise refusal(
            f"found '{printable(path)}', allowed: the path of a .toml file or of a result"
            f" (.parquet, .json), or a name that `slowhand scenarios` lists{meant(path, bundled)}",
            place="scenario",
        )
    return path


def introduction(file: Path) -> str:
    """The `description` of a file, or the first paragraph of the comment at its top."""
    import tomllib  # only here: it takes longer to import than the rest

    text = file.read_text(encoding="utf-8")
    if description := tomllib.loads(text).get("description"):
        return str(description)
    paragraph: list[str] = []
    for line in text.splitlines():
        words = line.removeprefix("#").strip()
        if not line.startswith("#") or not words:
            break
        paragraph.append(words)
    return " ".join(paragraph)
