"""Compiles the sources of a stack, and names what was built."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from slowhand import data
from slowhand.arguments import Complaint
from slowhand.progress import Progress
from slowhand.terminal import printable

GUARD = data.CSRC / "slowhand" / "guard.c"
"""The guard, which is linked with each stack: it refuses clocks and the like."""

EXPORTED = data.CSRC / "slowhand" / "exported.map"
"""Which symbols other objects see, as the linker reads it."""

OPTIONS = ("-O2", "-g", "-fPIC", "-fvisibility=hidden", "-U_FORTIFY_SOURCE", "-pthread")
"""The options of the compiler: only `slowhand_stack` is visible, no call gets another name."""

DIGEST = 16
"""The number of hexadecimal digits that name a build."""

_SYSTEM = ("-isystem", os.fspath(data.CSRC))
"""Where `#include "slowhand/stack.h"` is found."""


class StackError(Complaint):
    """A fault of a stack, or of what it is to be made from."""


def no_source(root: Path, allowed: str) -> StackError:
    """The error of a folder that does not have the sources that are `allowed`."""
    return StackError(f"--source: found {printable(str(root))}, allowed: {allowed}")


def renamed(functions: Iterable[str]) -> list[str]:
    """Options that lead the calls of functions to the adapter."""
    return [f"-D{function}=slowhand_{function}" for function in functions]


class Part(NamedTuple):
    """Sources that are compiled with the same options."""

    files: Sequence[Path]
    flags: Sequence[str] = ()


class Language(NamedTuple):
    """A language, and how its sources are compiled."""

    name: str
    variable: str
    """The variable of the environment that names the compiler."""
    command: str
    """The compiler if that is not set."""
    standard: str


C = Language("C", "CC", "cc", "-std=gnu11")
CXX = Language("C++", "CXX", "c++", "-std=c++17")


def make(parts: Sequence[Part], cflags: Sequence[str], made: Path) -> str:
    """Compiles the parts into the shared object `made`. Returns the digest of what they are."""
    files = [(file, part.flags) for part in [*parts, Part([GUARD])] for file in part.files]
    linker = CXX if any(_language(file) is CXX for file, _ in files) else C
    with tempfile.TemporaryDirectory() as folder:
        objects = [Path(folder) / f"{number}.o" for number in range(len(files))]
        commands = [
            [*_compile(file), *flags, *cflags, "-MMD", "-c", "-o", os.fspath(each), os.fspath(file)]
            for (file, flags), each in zip(files, objects, strict=True)
        ]
        link = [
            *compiler(linker),
            *("-shared", "-pthread", "-Wl,-Bsymbolic", "-Wl,-z,defs"),
            f"-Wl,--version-script={EXPORTED}",
            *(["-static-libstdc++", "-static-libgcc"] if linker is CXX else []),
            *wrapped(),
            *cflags,
            *("-o", os.fspath(made), *map(os.fspath, objects), "-lm"),
        ]
        if not _all_succeed(commands) or not _succeeds(_run(link)):
            named = compiler(linker)[0]
            raise StackError(f"{named} could not make the stack: its messages are above")
        read = {path for each in objects[:-1] for path in _read(each.with_suffix(".d"))}
        return _digest(parts, cflags, read)


def wrapped() -> list[str]:
    """Options of the linker: calls of the system go to the guard."""
    found = re.findall(r"__wrap_(\w+)\(|^(?:REFUSED|ENDS)\((\w+)", GUARD.read_text(), re.MULTILINE)
    return [f"-Wl,--wrap={plain or listed}" for plain, listed in found]


def words(text: str, *, place: str) -> list[str]:
    """The words of a text, as a shell reads them. Raises `StackError` if a quote has no end."""
    try:
        return shlex.split(text)
    except ValueError as error:
        allowed = "words as in a shell, each quote with its end"
        raise StackError(f"{place}: found {printable(text)}, allowed: {allowed}") from error


def compile_guard(folder: Path) -> Path:
    """Compiles the guard into an object in a folder, for what another compiler links.

    What the object is names it: another one has another path, so what it is linked with is, too.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as own:
        made = Path(own) / "guard.o"
        if not _succeeds(_run([*_compile(GUARD), "-c", "-o", os.fspath(made), os.fspath(GUARD)])):
            raise StackError(f"{compiler(C)[0]} could not make the guard: its messages are above")
        digest = hashlib.sha256(made.read_bytes()).hexdigest()[:DIGEST]
        return made.replace(folder / f"guard-{digest}.o")


def run(
    command: Sequence[str],
    *,
    of: str,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs a tool, in a folder. `of` says what to install if there is none."""
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", cwd=folder, env=environment
        )
    except OSError as error:
        raise StackError(f"{command[0]}: cannot be run: {error.strerror}: {of}") from error


def cargo_metadata(manifest: Path, *options: str, of: str) -> subprocess.CompletedProcess[str]:
    """Asks Cargo about a crate and all that it is made from.

    It writes Cargo.lock if there is none, and downloads only what is missing.
    """
    command = ["cargo", "metadata", "--format-version=1", f"--manifest-path={manifest}", *options]
    done = run([*command, "--offline"], of=of)
    return run(command, of=of) if done.returncode else done


def _language(file: Path) -> Language:
    return C if file.suffix == ".c" else CXX


def compiler(language: Language) -> list[str]:
    """The compiler of a language, as the environment names it."""
    named = words(os.environ.get(language.variable, ""), place=language.variable)
    return named or [language.command]


def _compile(file: Path) -> list[str]:
    """A compilation of a file without its own options."""
    language = _language(file)
    return [*compiler(language), language.standard, *OPTIONS, *_SYSTEM]


def _all_succeed(commands: Sequence[Sequence[str]]) -> bool:
    """Runs compilers on all processors. Says how far they are, and stops after an error."""
    with (
        ThreadPoolExecutor(os.cpu_count()) as pool,
        Progress(len(commands), "files") as progress,
    ):
        try:
            runs = [pool.submit(_run, command) for command in commands]
            for done, each in enumerate(as_completed(runs), 1):
                if each.result().stderr:
                    progress.clear()
                if not _succeeds(each.result()):
                    return False
                if done < len(runs):
                    progress.update(done)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    return True


def _succeeds(done: subprocess.CompletedProcess[str]) -> bool:
    """True if a compiler succeeded. Passes on what it says."""
    sys.stderr.write(done.stderr)
    return done.returncode == 0


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    language = CXX if CXX.standard in command else C
    remedy = f"install a compiler of {language.name}, or name it with {language.variable}"
    return run(command, of=remedy)


def _read(dependencies: Path) -> list[Path]:
    """The files that a compilation has read beside the headers of the system."""
    words = shlex.split(dependencies.read_text().replace("\\\n", " "))
    return [Path(word) for word in words[1:]]


def _digest(parts: Sequence[Part], cflags: Sequence[str], read: Iterable[Path]) -> str:
    """Names what was built: the texts of the sources and their own headers, and the options.

    The folders in which the files are do not matter.
    """
    digest = hashlib.sha256(json.dumps([*OPTIONS, *without_folders(cflags)]).encode())
    for part in parts:
        kept = [flag for flag in without_folders(part.flags) if os.sep not in flag]
        digest.update(json.dumps(kept).encode())
    for text in sorted({path.read_bytes() for path in read}):
        digest.update(hashlib.sha256(text).digest())
    return digest.hexdigest()[:DIGEST]


def without_folders(flags: Iterable[str]) -> list[str]:
    """Options of the compiler without those that only say where headers are."""
    kept: list[str] = []
    following = iter(flags)
    for flag in following:
        option = next((each for each in ("-iquote", "-isystem", "-I") if flag.startswith(each)), "")
        if not option:
            kept.append(flag)
        elif flag == option:
            next(following, None)
    return kept
