"""The sources of libraries that come in packages of Cargo."""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

from slowhand.own_stacks.building import StackError, cargo_metadata

INSTALL = "install Rust, or name the sources with --source"
"""The remedy if there is no Cargo."""


@functools.cache
def folder(package: str, version: str) -> Path:
    """Where the sources of a package are. Cargo downloads them once; it builds nothing."""
    with tempfile.TemporaryDirectory() as made:
        manifest = Path(made) / "Cargo.toml"
        wanted = f'{package} = {{ version = "={version}", default-features = false }}'
        manifest.write_text(
            '[package]\nname = "carried"\nedition = "2024"\n[lib]\npath = "lib.rs"\n'
            f"[dependencies]\n{wanted}\n"
        )
        (Path(made) / "lib.rs").touch()
        done = cargo_metadata(manifest, of=INSTALL)
    if done.returncode != 0:
        raise StackError(f"{package} {version} cannot be had: {done.stderr.strip()}")
    listed: list[dict[str, Any]] = json.loads(done.stdout)["packages"]
    (found,) = [each for each in listed if each["name"] == package]
    return Path(found["manifest_path"]).parent
