"""OpenSSL 3.5 and 4.0."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from slowhand import data
from slowhand.own_stacks.building import C, Part, StackError, compiler, no_source, renamed, run
from slowhand.terminal import printable

ADAPTER = data.CSRC / "openssl"

LISTS = json.loads((ADAPTER / "counted.json").read_text())
"""The parts that are switched off, and the calls that are renamed, as in the built-in library."""

PERL = "install Perl, which configures OpenSSL"
"""The remedy if there is none."""


def prepare(root: Path, work: Path) -> Path:
    """Configures the library in an empty folder, and generates the files that `make` generates.

    OpenSSL's own `Configure` does it. The file `listed` has what is to be compiled.
    """
    if not (root / "Configure").is_file() or not (root / "ssl" / "statem").is_dir():
        raise no_source(root, "the folder of OpenSSL 3.5 or later, with Configure and ssl/")
    root = root.resolve()
    width = 64 if sys.maxsize > 2**32 else 32
    target = f"linux-generic{width}"
    features = list(LISTS["switched_off"])
    done = _configure(root, work, target, features)
    # A version may not have all of these features.
    unknown = re.search(r"Unsupported options: (.*)", done.stderr)
    if done.returncode != 0 and unknown:
        kept = [each for each in features if f"no-{each}" not in unknown[1].split(", ")]
        done = _configure(root, work, target, kept)
    if done.returncode == 0:
        done = _perl([ADAPTER / "sources.pl", root], work)
    if done.returncode != 0:
        raise StackError(f"OpenSSL could not be configured: {done.stderr.strip()[-1000:]}")
    lines = [line.split(" ", 1) for line in done.stdout.splitlines()]
    found = [f"root {root}", *(f"{kind} {(work / path).resolve()}" for kind, path in lines)]
    (work / "listed").write_text("\n".join(found))
    return work


def parts(work: Path, config: Path | None) -> list[Part]:
    """The library and our adapter. The files that call cryptography call counters."""
    if config is not None:
        found = printable(str(config))
        raise StackError(f"--config: found {found}, which OpenSSL does not read: use --cflags")
    listed = (work / "listed").read_text()
    root = _paths(listed, "root")[0]
    flags = [
        *(f"-I{each}" for each in _paths(listed, "include") if each.is_dir()),
        *("-w", "-g0", "-DNDEBUG", "-DOPENSSL_BUILDING_OPENSSL", "-DOPENSSL_PIC"),
        # It reads no files.
        *(f'-D{each}=""' for each in ("OPENSSLDIR", "ENGINESDIR", "MODULESDIR")),
        # The world provides the clocks. The macros have arguments, so that only calls get a name.
        "-Dtime(out)=slowhand_time(out)",
        "-Dgettimeofday(out,zone)=slowhand_gettimeofday(out,zone)",
    ]
    calls = {(root / file): LISTS["counted"] for file in LISTS["callers"]}
    calls |= {(root / file): functions for file, functions in LISTS["replaced"].items()}
    for file in calls:
        if not file.is_file():
            raise StackError(
                f"--source: found no {file.relative_to(root)} in {printable(str(root))}, where the"
                " adapter counts operations: this version needs another adapter"
            )
    own = [ADAPTER / f"{name}.c" for name in ("stack", "arithmetic", "session", "operations")]
    plain = [file for file in _paths(listed, "source") if file not in calls]
    return [
        *(Part([file], [*flags, *renamed(names)]) for file, names in calls.items()),
        Part(plain, flags),
        Part([*own, data.CSRC / "library.c"], [*flags, f"-I{root}", f"-I{data.CSRC}"]),
    ]


def _paths(listed: str, kind: str) -> list[Path]:
    """The paths of the lines of a kind."""
    lines = (line.partition(" ") for line in listed.splitlines())
    return [Path(path) for found, _, path in lines if found == kind]


def _configure(
    root: Path, work: Path, target: str, features: Sequence[str]
) -> subprocess.CompletedProcess[str]:
    """Writes OpenSSL's build description. The device provides all randomness."""
    options = ["--with-rand-seed=none", *(f"no-{feature}" for feature in features)]
    return _perl([root / "Configure", target, *options], work)


def _perl(command: Sequence[str | Path], work: Path) -> subprocess.CompletedProcess[str]:
    """Runs a script in the folder. What it generates has no date in it."""
    environment = {**os.environ, "CC": " ".join(compiler(C)), "SOURCE_DATE_EPOCH": "0"}
    return run(["perl", *map(str, command)], of=PERL, folder=work, environment=environment)
