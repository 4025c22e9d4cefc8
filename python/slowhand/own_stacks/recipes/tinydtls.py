"""tinyDTLS."""

from __future__ import annotations

import json
from pathlib import Path

from slowhand import data
from slowhand.own_stacks.building import Part, StackError, renamed
from slowhand.terminal import printable

ADAPTER = data.CSRC / "tinydtls"

SOURCES: dict[str, dict[str, list[str]]] = json.loads((ADAPTER / "sources.json").read_text())
"""The files of the library, and what they call that is counted: also those of the built-in one."""


def parts(root: Path, config: Path | None) -> list[Part]:
    """The library and our adapter. The files that call cryptography call counters."""
    counted, others = SOURCES["counted"], SOURCES["others"]
    for name in [*counted, *others["library"]]:
        if not (root / f"{name}.c").is_file():
            raise StackError(
                f"--source: found {printable(str(root))} without {name}.c, allowed: the folder of"
                " tinyDTLS, with the files that it had in June 2024"
            )
    flags = [*(f"-I{each}" for each in (ADAPTER, root, data.CSRC)), "-w"]
    if config is not None:
        flags.append(f'-DSLOWHAND_USER_CONFIG="{config.resolve()}"')
    callers = [
        Part([root / f"{name}.c"], [*flags, *renamed(functions)])
        for name, functions in counted.items()
    ]
    own = [ADAPTER / f"{name}.c" for name in others["adapter"]]
    library = [root / f"{name}.c" for name in others["library"]]
    return [*callers, Part([*own, data.CSRC / "library.c", *library], flags)]
