"""Settings to type: they give a device the configuration of a scenario.

Each library has a module. The names in it (functions, macros, symbols, properties) are those of
one version, and stand beside the file that has them.

>>> import slowhand
>>> for snippet in slowhand.settings.snippets("lossy-line", "contiki-ng"):
...     print(snippet.file, snippet.language)
project-conf.h c
Makefile make
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import PurePath

from slowhand.api import Scenario
from slowhand.nearest import none_of
from slowhand.settings import (
    californium,
    contiki_ng,
    lean_dtls,
    mbedtls,
    openssl,
    openthread,
    tinydtls,
    wolfssl,
    zephyr,
)
from slowhand.settings.session import Session, read
from slowhand.settings.text import Snippet
from slowhand.terminal import Terminal

__all__ = ["LIBRARIES", "Snippet", "show", "snippets"]

LIBRARIES: dict[str, Callable[[Session], list[Snippet]]] = {
    module.OFFER.library: module.snippets
    for module in (
        mbedtls,
        zephyr,
        tinydtls,
        openssl,
        wolfssl,
        californium,
        contiki_ng,
        openthread,
        lean_dtls,
    )
}
"""Every library, by its name."""


def snippets(
    scenario: Scenario | str | os.PathLike[str], library: str | None = None
) -> list[Snippet]:
    """The settings of every library, or of one, for the session of a scenario.

    Where a library cannot do what the scenario says, its snippet does the nearest, and says so.
    Raises `ValueError` for a library that is not in `LIBRARIES`.

    >>> import slowhand
    >>> [snippet.file for snippet in slowhand.settings.snippets("lossy-line", "mbedtls")]
    ['configure.c']
    """
    if library is not None and library not in LIBRARIES:
        raise ValueError(none_of("library", library, LIBRARIES))
    if not isinstance(scenario, Scenario):
        scenario = Scenario(scenario)
    session = read(_name(scenario), scenario.native)
    wanted = LIBRARIES if library is None else {library: LIBRARIES[library]}
    return [snippet for make in wanted.values() for snippet in make(session)]


def show(found: list[Snippet], out: Terminal) -> None:
    """Prints snippets, each after a line with its library and file."""
    for at, snippet in enumerate(found):
        if at:
            out.print()
        out.print(f"== {snippet.library}: {snippet.file}", "bold")
        out.write(snippet.text)


def _name(scenario: Scenario) -> str:
    """The name of its file, as a comment of every language can have it."""
    return re.sub(r"[^\w.+-]", "_", PurePath(scenario.path).name, flags=re.ASCII)
