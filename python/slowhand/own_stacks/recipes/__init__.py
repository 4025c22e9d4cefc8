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
from slowhand.own_stacks.recipes import boringssl, mbedtls, openssl, tinydtls, wolfssl


class Library(NamedTuple):
    """A library with an adapter."""

    carried: Callable[..., Path]
    """Where the sources are if the user names none; or those of another carrier, if it is named."""
    parts: Callable[[Path, Path | None], Sequence[Part]]
    """What is compiled, of the sources in a folder, with a header of options or without."""
    prepare: Callable[[Path, Path], Path] | None = None
    """What comes before: makes, of the sources and in an empty folder, what `parts` reads."""


class Known(NamedTuple):
    """A stack that is made without further words."""

    library: str = ""
    """Of `LIBRARIES`."""
    config: Path | None = None
    """A header of options."""
    carrier: str | None = None
    """The package of Cargo with the sources, and its version. `None`: that of the library."""
    crate: str | None = None
    """In the place of a library: the folder of a crate, in that of `data.CRATES`."""


LIBRARIES = {
    "boringssl": Library(boringssl.carried, boringssl.parts),
    "mbedtls": Library(mbedtls.carried, mbedtls.parts),
    "openssl": Library(openssl.carried, openssl.parts, openssl.prepare),
    "tinydtls": Library(tinydtls.carried, tinydtls.parts),
    "wolfssl": Library(wolfssl.carried, wolfssl.parts),
}
"""The libraries, by the name that `stacks add` takes."""


def _known() -> dict[str, Known]:
    listed: dict[str, dict[str, str]] = json.loads((data.CSRC / "known.json").read_text())
    return {
        name: Known(
            each.get("library", ""),
            data.CSRC / each["config"] if "config" in each else None,
            each.get("carrier"),
            each.get("crate"),
        )
        for name, each in listed.items()
    }


KNOWN = _known()
"""The stacks that `stacks add` makes from a name alone."""
