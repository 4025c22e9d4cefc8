"""Mbed TLS 3.6 and 2.28."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from slowhand import data
from slowhand.own_stacks.building import Part, StackError, no_source
from slowhand.terminal import printable

ADAPTER = data.CSRC / "mbedtls"

OLD = "2.28"
"""The older of the lines that the adapter knows."""

GENERATED = (
    "error",
    "psa_crypto_driver_wrappers_no_static",
    "ssl_debug_helpers_generated",
    "version_features",
)
"""The files of 3.6 that a release has, and that the repository makes from others."""


def parts(root: Path, config: Path | None) -> list[Part]:
    """The library and our adapter. The files that call cryptography call counters."""
    line = _line(root)
    library = sorted((root / "library").glob("*.c"))
    header = f"config-{OLD}.h" if line == OLD else "config.h"
    flags = [
        *(f"-I{each}" for each in (root / "include", root / "library", ADAPTER, data.CSRC)),
        f'-DMBEDTLS_CONFIG_FILE="{ADAPTER / header}"',
        "-w",
    ]
    if config is not None:
        flags.append(f'-DMBEDTLS_USER_CONFIG_FILE="{config.resolve()}"')
    lists: dict[str, list[str]] = json.loads((ADAPTER / "counted.json").read_text())
    callers, counted = {*lists["callers"]}, {*lists["counted"]}
    if line == OLD:
        callers |= {*lists[f"callers_{OLD}"]}
        other = lists[f"counted_{OLD}"]
        counted = counted - {each.removesuffix("_ret") for each in other} | {*other}
    own = [ADAPTER / f"{name}.c" for name in ("session", "stack", "operations", "plain")]
    groups: dict[tuple[str, ...], list[Path]] = {(): [*own, data.CSRC / "library.c"]}
    for file in library:
        called = counted if file.stem in callers else set()
        called = called | {*lists["hello_calls"]} if file.stem in lists["hello"] else called
        groups.setdefault(tuple(_renamed(called)), []).append(file)
    return [Part(files, [*flags, *renamed]) for renamed, files in groups.items()]


def _renamed(functions: Iterable[str]) -> list[str]:
    """Options that lead the calls of functions to the adapter. `_ret` ends names of 2.28 alone."""
    return [f"-D{each}=slowhand_{each.removesuffix('_ret')}" for each in sorted(functions)]


def _line(root: Path) -> str:
    """The line of the sources in a folder, as `3.6`. Raises `StackError` if none can be built."""
    allowed = "the folder of Mbed TLS 3.6 or 2.28, with library/ and include/mbedtls/ssl.h"
    found = printable(str(root))
    if not (root / "include" / "mbedtls" / "ssl.h").is_file() or not any(root.glob("library/*.c")):
        raise no_source(root, allowed)
    version = _version(root)
    line = ".".join(version.split(".")[:2])
    if line not in ("3.6", OLD):
        why = ""
        if line.startswith("4."):
            why = (
                ": since 4.0 the library computes through PSA alone, in another repository"
                " (TF-PSA-Crypto), and most functions that the adapter counts are gone"
            )
        raise StackError(f"--source: found Mbed TLS {version} in {found}, allowed: {allowed}{why}")
    if line == "3.6":
        missing = [each for each in GENERATED if not (root / "library" / f"{each}.c").is_file()]
        if missing:
            raise StackError(
                f"--source: found Mbed TLS {version} in {found} without library/{missing[0]}.c,"
                " which a release has, or `make generated_files` makes in the folder of the"
                " repository (with Perl, Python, its submodule `framework`, and jinja2 and"
                " jsonschema of scripts/basic.requirements.txt)"
            )
    return line


def _version(root: Path) -> str:
    """The version that the sources name."""
    for name in ("build_info.h", "version.h"):
        header = root / "include" / "mbedtls" / name
        text = header.read_text(errors="replace") if header.is_file() else ""
        if match := re.search(r'define\s+MBEDTLS_VERSION_STRING\s+"([^"]*)"', text):
            return printable(match[1])
    return "of an unknown version"
