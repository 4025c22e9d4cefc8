"""Collects the licence texts of what the native module contains, for the wheel.

    python3 tools/licences.py FOLDER

It writes FOLDER/third-party.txt, which has the texts of the crates and of the libraries in C, and
FOLDER/rust-library.html, those of the standard library of Rust. It asks Cargo which crates these
are, and fails if a crate has no text and needs one.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# Texts that a crate lacks: they are in the repository of its sources, or named there.
MORE_TEXTS = ROOT / "tools" / "licences"
# A file of this name has a licence. Crates with sources in C have theirs in a folder below.
LICENCE_FILE = re.compile(r"(un)?licen[cs]e|copying|copyright|notice", re.IGNORECASE)
DEPTH = 3
# Files of tinyDTLS that others wrote: the first comment is the licence (build.rs compiles them).
HEADS = {"tinydtls-sys": ("sha2/sha2.c", "ecc/ecc.c", "aes/rijndael.c", "aes/rijndael_wrap.c")}
# The carriers of C sources are dependencies under this cfg alone (crates/slowhand-sessions).
CARRIERS = '--cfg slowhand_carriers="sessions"'
RULE = "=" * 80


class NoLicence(Exception):
    """A crate whose licence asks for a text that is nowhere."""


def packages() -> list[dict[str, Any]]:
    """The crates that are linked into the native module, apart from the project's own.

    As `cargo metadata` describes each. What only the compilation needs is not among them.
    """
    command = ["cargo", "metadata", "--format-version=1", "--locked"]
    command += ["--filter-platform", host()]
    environment = os.environ | {"RUSTFLAGS": CARRIERS}
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
    return linked(json.loads(done.stdout), "slowhand-py")


def host() -> str:
    """The target triple of this computer."""
    said = subprocess.run(["rustc", "-vV"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return next(line.split()[1] for line in said.splitlines() if line.startswith("host:"))


def linked(metadata: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The packages from elsewhere that this package links, by name and version."""
    by_id = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting = [package["id"] for package in metadata["packages"] if package["name"] == name]
    found = set(waiting)
    while waiting:
        for dependency in nodes[waiting.pop()]["deps"]:
            is_linked = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            targets = by_id[dependency["pkg"]]["targets"]
            kinds = {kind for target in targets for kind in target["kind"]}
            if is_linked and "proc-macro" not in kinds and dependency["pkg"] not in found:
                found.add(dependency["pkg"])
                waiting.append(dependency["pkg"])
    others = [by_id[identity] for identity in found if by_id[identity]["source"]]
    return sorted(others, key=lambda package: (package["name"], package["version"]))


def texts(package: dict[str, Any]) -> list[str]:
    """The licence texts of a package. Raises `NoLicence`."""
    folder = Path(package["manifest_path"]).parent
    found = [file.read_text(encoding="utf-8", errors="replace") for file in licence_files(folder)]
    for head in HEADS.get(package["name"], ()):
        (file,) = folder.rglob(head)
        found.append(f"{head}:\n{first_comment(file.read_text(encoding='utf-8'))}")
    for name in (package["name"], package["name"].partition("-")[0]):
        if (file := MORE_TEXTS / f"{name}.txt").exists():
            found.append(file.read_text(encoding="utf-8"))
            break
    return found or [standard_text(package)]


def licence_files(folder: Path, depth: int = DEPTH) -> Iterator[Path]:
    """The files with licences in a folder, and in those below it."""
    for path in sorted(folder.iterdir()):
        if path.is_file() and LICENCE_FILE.match(path.name) and path.suffix not in (".rs", ".py"):
            yield path
        elif path.is_dir() and depth > 1:
            yield from licence_files(path, depth - 1)


def first_comment(source: str) -> str:
    """The comments in C with which a file begins, as far as the first line of code."""
    end = re.search(r"^\s*(#|const|static|typedef)", source, re.MULTILINE)
    return source[: end.start() if end else None].strip()


def standard_text(package: dict[str, Any]) -> str:
    """The text of a licence that is the same for each project, but for the names of its authors."""
    allowed = set(re.split(r"\s+OR\s+|/", package["license"] or ""))
    if "Apache-2.0" in allowed:
        return (ROOT / "LICENSE-APACHE").read_text()
    if "MIT" in allowed and package["authors"]:
        authors = ", ".join(package["authors"])
        ours = (ROOT / "LICENSE-MIT").read_text()
        return re.sub(r"^Copyright .*$", lambda _: f"Copyright (c) {authors}", ours, flags=re.M)
    raise NoLicence(
        f"{package['name']} {package['version']} ({package['license']}) has no licence text: put"
        f" that of its repository into tools/licences/{package['name']}.txt"
    )


def third_party(found: Iterable[dict[str, Any]]) -> str:
    """All texts, each once, with the packages that have it."""
    owners: dict[str, tuple[str, list[str]]] = defaultdict(lambda: ("", []))
    listed = []
    for package in found:
        name = f"{package['name']} {package['version']}"
        place = package["repository"] or ""
        listed.append(f"{name}: {package['license'] or 'see its text'} {place}".rstrip())
        for text in texts(package):
            key = " ".join(text.split())
            owners[key] = (owners[key][0] or text.strip(), [*owners[key][1], name])
    parts = [
        "The native module of slowhand contains these packages, with their licences. Where a\n"
        "licence leaves the choice, slowhand uses one that allows what MIT and Apache-2.0 allow.",
        "\n".join(listed),
    ]
    for text, names in owners.values():
        parts.append(f"{RULE}\n{', '.join(dict.fromkeys(names))}\n{RULE}\n\n{text}")
    return "\n\n".join(parts) + "\n"


def of_rust() -> Path:
    """The licences of the standard library, which come with the compiler."""
    said = subprocess.run(["rustc", "--print", "sysroot"], stdout=subprocess.PIPE, text=True)
    file = Path(said.stdout.strip(), "share", "doc", "rust", "COPYRIGHT-library.html")
    if not file.exists():
        raise NoLicence(f"{file} is missing: install Rust from https://rustup.rs")
    return file


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="write them into this folder")
    folder = parser.parse_args().folder
    try:
        text, rust = third_party(packages()), of_rust()
    except NoLicence as error:
        print(error, file=sys.stderr)
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "third-party.txt").write_text(text, encoding="utf-8")
    shutil.copyfile(rust, folder / "rust-library.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
