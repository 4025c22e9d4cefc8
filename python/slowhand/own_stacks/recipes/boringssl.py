"""BoringSSL, in C++."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from slowhand import data
from slowhand.own_stacks.building import Part, no_source

ADAPTER = data.CSRC / "boringssl"


def parts(root: Path, config: Path | None) -> list[Part]:
    """The library and our adapter. What takes longest to compile comes first."""
    about: dict[str, Any] = json.loads((ADAPTER / "sources.json").read_text())
    flags = [*about["flags"], *(f"-I{each}" for each in (root / "include", root)), "-w"]
    if config is not None:
        flags += ["-include", str(config.resolve())]
    renamed: dict[str, dict[str, str]] = about["renamed"]
    others = [file for file in listed(root, about) if file not in renamed]
    return [
        Part([root / others[0]], flags),
        *(
            Part([root / file], [*flags, *(f"-D{old}={new}" for old, new in names.items())])
            for file, names in renamed.items()
        ),
        Part([ADAPTER / file for file in about["own"]], flags),
        Part([root / file for file in others[1:]], flags),
        Part([data.CSRC / "library.c"]),
    ]


def listed(root: Path, about: dict[str, Any]) -> list[str]:
    """The files of the library that are compiled, as its own list names them."""
    place = root / "gen" / "sources.cmake"
    try:
        text = place.read_text()
        lists = [text.split(f"  {name}\n", 1)[1].split(")", 1)[0] for name in about["lists"]]
    except (OSError, IndexError) as error:
        allowed = "the folder of BoringSSL, with gen/sources.cmake and include/openssl/ssl.h"
        raise no_source(root, allowed) from error
    return [file for each in lists for file in each.split() if not is_left_out(file, about)]


def is_left_out(file: str, about: dict[str, Any]) -> bool:
    """True if no session needs a file, or if our adapter stands in its place."""
    return any(file.startswith(each) for each in about["left_out"])
