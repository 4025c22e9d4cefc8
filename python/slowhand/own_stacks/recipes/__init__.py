"""The libraries that have an adapter here, so that a stack can be made from their sources alone.

A module is a library: which sources it has, and with which options they are compiled.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from slowhand import data
from slowhand.own_stacks import carried as carriers
from slowhand.own_stacks.building import Part
from slowhand.own_stacks.recipes import boringssl, mbedtls, openssl, tinydtls, wolfssl


class Library(NamedTuple):
    """A library with an adapter."""

    carrier: str
    """The package of Cargo with the sources, and its version, if nothing else is named."""
    folders: Sequence[str]
    """Where in a package they are: the first of these that is there."""
    parts: Callable[[Path, Path | None], Sequence[Part]]
    """The parts to compile, of the sources in a folder, with a header of options or without."""
    prepare: Callable[[Path, Path], Path] | None = None
    """The step before: it makes, of the sources and in an empty folder, what `parts` reads."""

    def carried(self, carrier: str | None = None) -> Path:
        """Where the sources are that a package of Cargo carries, its own or another one."""
        found = carriers.folder(*(carrier or self.carrier).split())
        return next(found / each for each in self.folders if (found / each).is_dir())


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
    "boringssl": Library("boring-sys 5.4.0", ["deps/boringssl"], boringssl.parts),
    "mbedtls": Library("mbedtls-rs-sys 0.3.1", ["mbedtls", "vendor"], mbedtls.parts),
    "openssl": Library("openssl-src 300.5.5", ["openssl"], openssl.parts, openssl.prepare),
    "tinydtls": Library("tinydtls-sys 0.2.0", ["src/tinydtls"], tinydtls.parts),
    "wolfssl": Library("wolfssl-sys 5.3.0", ["wolfssl-src"], wolfssl.parts),
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
