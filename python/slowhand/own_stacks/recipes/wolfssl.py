"""wolfSSL 5.9."""

from __future__ import annotations

import json
from pathlib import Path

from slowhand import data
from slowhand.own_stacks.building import Part, no_source, renamed

ADAPTER = data.CSRC / "wolfssl"


def parts(root: Path, config: Path | None) -> list[Part]:
    """The library and our adapter. The files that call cryptography call counters."""
    lists = json.loads((ADAPTER / "sources.json").read_text())
    files = [root / f"{name}.c" for part in lists["parts"] for name in part["files"]]
    missing = [file for file in [root / "wolfssl" / "ssl.h", *files] if not file.is_file()]
    if missing:
        allowed = f"the folder of wolfSSL 5.9, with {missing[0].relative_to(root)}"
        raise no_source(root, allowed)
    flags = [
        *(f"-I{each}" for each in (ADAPTER, root, data.CSRC)),
        "-DWOLFSSL_USER_SETTINGS",
        "-w",
    ]
    if config is not None:
        flags.append(f'-DSLOWHAND_WOLFSSL_CONFIG="{config.resolve()}"')
    own = [ADAPTER / f"{name}.c" for name in lists["adapter"]]
    return [
        Part([*own, data.CSRC / "library.c"], flags),
        *(
            Part([root / f"{name}.c" for name in part["files"]], flags + renamed(part["renamed"]))
            for part in lists["parts"]
        ),
    ]
