"""The libraries that have an adapter here, so that a stack can be made from their sources alone.

A module is a library: which sources it has, and with which options they are compiled.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from slowhand import data
from slowhand.own_stacks.building import Part
from slowhand.own_stacks.recipes import boringssl, mbedtls


class Library(NamedTuple):
    """A library with an adapter."""

    carried: Callable[[], Path]
    """Where the sources are if the user names none."""
    parts: Callable[[Path, Path | None], Sequence[Part]]
    """What is compiled, of the sources in a folder, with a header of options or without."""


class Known(NamedTuple):
    """A stack that is made without further words."""

    library: str
    """Of `LIBRARIES`."""
    config: Path | None = None
    """A header of options."""


LIBRARIES = {
    "boringssl": Library(boringssl.carried, boringssl.parts),
    "mbedtls": Library(mbedtls.carried, mbedtls.parts),
}
"""The libraries, by the name that `stacks add` takes."""


def _known() -> dict[str, Known]:
    listed: dict[str, dict[str, str]] = json.loads((data.CSRC / "known.json").read_text())
    return {
        name: Known(each["library"], data.CSRC / each["config"] if "config" in each else None)
        for name, each in listed.items()
    }


KNOWN = _known()
"""The stacks that `stacks add` makes from a name alone."""
