"""Compiles a stack from a crate of Rust, and names what was built."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import shlex
import shutil
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from slowhand.own_stacks import building
from slowhand.own_stacks.building import StackError
from slowhand.terminal import printable

MANIFEST = "Cargo.toml"
"""The name of the file that names a crate."""

RUST = "install Rust (https://rustup.rs)"
"""The remedy if there is no Cargo."""

OPTIONS = ("--cfg", "slowhand_object")
"""The options for all crates of a stack: slowhand-stack then knows that it has the guard."""

LINKED = ("-Wl,-Bsymbolic", "-Wl,-z,defs")
"""The options for linking a stack, beside the guard."""

LIBRARY = {"lib", "rlib", "dylib", "cdylib", "staticlib"}
"""Cargo's names for a library that can become a shared object."""

FOLDER = "slowhand"
"""The place of what is compiled, in the folder that Cargo has for it."""


def make(manifest: Path, cflags: Sequence[str], made: Path) -> str:
    """Compiles a crate into the shared object `made`. Returns the digest of what it is.

    `cflags` are options of the compiler for the crate and all that it is made from.
    """
    described = _metadata(manifest)
    package = _package(described, manifest)
    # Cargo gives all crates of one name the same shared object, and a folder may be of many clones.
    own = hashlib.sha256(package["manifest_path"].encode()).hexdigest()[: building.DIGEST]
    target = Path(described["target_directory"]) / FOLDER / own
    guard = building.compile_guard(target)
    linked = [f"-Clink-arg={option}" for option in (guard, *LINKED, *building.wrapped())]
    command = [
        *("cargo", "rustc", "--release", "--lib", "--crate-type=cdylib"),
        *(f"--manifest-path={manifest}", f"--target-dir={target}"),
        *("--message-format=json-render-diagnostics", "--", *linked),
    ]
    # The user's RUSTFLAGS are for other builds, not for a stack.
    environment = {**os.environ, "CARGO_ENCODED_RUSTFLAGS": "\x1f".join([*OPTIONS, *cflags])}
    done = building.run(command, of=RUST, environment=environment)
    sys.stderr.write(_plain(done.stderr))
    if done.returncode:
        raise StackError("cargo could not make the stack: its messages are above")
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    built = [each for each in messages if each.get("package_id") == package["id"]]
    (object_,) = [
        Path(name)
        for each in built
        if each["reason"] == "compiler-artifact"
        for name in each["filenames"]
        if name.endswith(".so")
    ]
    shutil.copyfile(object_, made)
    return _digest(described, package, object_.with_suffix(".d"), cflags)


def _metadata(manifest: Path) -> dict[str, Any]:
    """The words of Cargo on a crate and on all that it is made from, on this computer."""
    done = building.cargo_metadata(manifest, "--filter-platform", _host(), of=RUST)
    if done.returncode:
        file = printable(os.fspath(manifest))
        raise StackError(f"FILE: found {file}, of which cargo says: {_plain(done.stderr).strip()}")
    described: dict[str, Any] = json.loads(done.stdout)
    return described


def _package(described: Mapping[str, Any], manifest: Path) -> Mapping[str, Any]:
    """The crate of a manifest. Raises `StackError` if it is no library."""
    found = manifest.resolve()
    for package in described["packages"]:
        kinds = {kind for target in package["targets"] for kind in target["kind"]}
        if Path(package["manifest_path"]).resolve() == found and kinds & LIBRARY:
            return dict(package)
    allowed = "the Cargo.toml of a crate with a library (src/lib.rs)"
    raise StackError(f"FILE: found {printable(os.fspath(manifest))}, allowed: {allowed}")


def _digest(
    described: Mapping[str, Any], package: Mapping[str, Any], read: Path, cflags: Sequence[str]
) -> str:
    """Names what was built: the texts of the crates that have no version, and the options.

    Of the others the name and the checksum in Cargo.lock are enough. Folders do not matter.
    """
    root = Path(described["workspace_root"])
    profile = tomllib.loads((root / MANIFEST).read_text()).get("profile", {}).get("release")
    options = json.dumps([*OPTIONS, *cflags, *LINKED, profile])
    digest = hashlib.sha256(options.encode())
    locked = tomllib.loads((root / "Cargo.lock").read_text())["package"]
    checksums = {(each["name"], each["version"]): each.get("checksum") for each in locked}
    packages = _linked(described, package)
    for each in sorted(packages, key=lambda each: (each["name"], each["version"])):
        named = [each["name"], each["version"], each["edition"], each["features"]]
        checksum = checksums.get((each["name"], each["version"]))
        digest.update(json.dumps([*named, checksum]).encode())
    # Cargo lists what it has read of crates in folders, as the rule of a Makefile.
    (_, _, files) = read.read_text().splitlines()[0].partition(": ")
    for text in sorted({Path(file).read_bytes() for file in shlex.split(files)}):
        digest.update(hashlib.sha256(text).digest())
    return digest.hexdigest()[: building.DIGEST]


def _linked(
    described: Mapping[str, Any], package: Mapping[str, Any]
) -> Sequence[Mapping[str, Any]]:
    """A package and all that it is made from, each with the features that it has here."""
    by_id = {each["id"]: each for each in described["packages"]}
    nodes = {each["id"]: each for each in described["resolve"]["nodes"]}
    waiting, found = [package["id"]], {package["id"]}
    while waiting:
        for each in nodes[waiting.pop()]["deps"]:
            is_for_tests = all(kind["kind"] == "dev" for kind in each["dep_kinds"])
            if not is_for_tests and each["pkg"] not in found:
                found.add(each["pkg"])
                waiting.append(each["pkg"])
    return [{**by_id[each], "features": nodes[each]["features"]} for each in found]


@functools.cache
def _host() -> str:
    """The target triple of this computer."""
    said = building.run(["rustc", "-vV"], of=RUST).stdout
    return next(line.split()[1] for line in said.splitlines() if line.startswith("host:"))


def _plain(text: str) -> str:
    """The words of Cargo, without the lines that say that it works."""
    words = "Adding Blocking Compiling Downloaded Downloading Finished Locking Updating"
    working = tuple(words.split())
    lines = [line for line in text.splitlines() if not line.strip().startswith(working)]
    return "".join(f"{line}\n" for line in lines)
