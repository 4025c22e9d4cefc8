"""Mbed TLS 3.6."""

from __future__ import annotations

import json
from pathlib import Path

from slowhand import data
from slowhand.own_stacks import carried as carriers
from slowhand.own_stacks.building import Part, StackError
from slowhand.terminal import printable

ADAPTER = data.CSRC / "mbedtls"


def carried() -> Path:
    """Where the sources of the built-in library are."""
    return carriers.folder("mbedtls-rs-sys", "0.3.1") / "mbedtls"


def parts(root: Path, config: Path | None) -> list[Part]:
    """The library and our adapter. The files that call cryptography call counters."""
    library = sorted((root / "library").glob("*.c"))
    if not (root / "include" / "mbedtls" / "ssl.h").is_file() or not library:
        allowed = "the folder of Mbed TLS 3.6, with library/ and include/mbedtls/ssl.h"
        raise StackError(f"--source: found {printable(str(root))}, allowed: {allowed}")
    flags = [
        *(f"-I{each}" for each in (root / "include", root / "library", ADAPTER, data.CSRC)),
        f'-DMBEDTLS_CONFIG_FILE="{ADAPTER / "config.h"}"',
        "-w",
    ]
    if config is not None:
        flags.append(f'-DMBEDTLS_USER_CONFIG_FILE="{config.resolve()}"')
    lists = json.loads((ADAPTER / "counted.json").read_text())
    counters = [f"-D{function}=slowhand_{function}" for function in lists["counted"]]
    callers = [file for file in library if file.stem in lists["callers"]]
    own = [ADAPTER / f"{name}.c" for name in ("session", "stack", "operations", "plain")]
    others = [file for file in library if file not in callers]
    return [
        Part(callers, [*flags, *counters]),
        Part([*own, data.CSRC / "library.c", *others], flags),
    ]
