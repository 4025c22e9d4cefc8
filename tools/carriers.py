#!/usr/bin/env python3
"""Lists the packages that carry the sources of other libraries: what we have, and what there is.

Exits 1 if a newer version can be taken, or if one has appeared that nobody has looked at. It asks
Cargo's registry. With --write it asks nobody, and writes the tables of SECURITY.md.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "crates" / "slowhand-sessions" / "carriers.toml"
SECURITY = ROOT / "SECURITY.md"
TABLES = re.compile(r"(<!-- holes -->\n).*?(<!-- end -->)", re.DOTALL)
# The words of `cargo info`: "version: 1.2.3 (latest 2.0.0)", without the latest if it is the same.
VERSION = re.compile(r"^version: (\S+)(?: \(latest (\S+?)\))?", re.MULTILINE)


@dataclass(frozen=True)
class Found:
    """The registry's versions of a carrier: the newest version of our line, and of all."""

    in_line: str
    newest: str


def libraries() -> list[dict[str, Any]]:
    """The libraries of the table."""
    found: list[dict[str, Any]] = tomllib.loads(TABLE.read_text())["library"]
    return found


def printed(output: str) -> Found:
    """The versions that `cargo info` has printed."""
    match = VERSION.search(output)
    if match is None:
        raise ValueError(f"`cargo info` prints no version:\n{output}")
    return Found(match[1], match[2] or match[1])


def ask(carrier: str, line: str) -> Found:
    """Asks the registry. In an empty folder, because Cargo prefers the versions of a lock file."""
    command = ["cargo", "info", "--color", "never", f"{carrier}@{line}"]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(f"{' '.join(command)}: {done.stderr.strip()}")
    return printed(done.stdout)


def judge(library: dict[str, Any], found: Found) -> tuple[str, bool]:
    """The work to do, in words, and True if there is something to do."""
    if found.in_line != library["ours"]:
        return f"take {found.in_line}, and look at its holes", True
    if found.newest != library["newest_carrier"]:
        return f"look at {found.newest}, and write it into carriers.toml", True
    if library["version"] != library["newest"]:
        return f"no carrier has the newest of its line: {library['newest']}", False
    return "the newest", False


def report(library: dict[str, Any], words: str) -> Iterator[str]:
    """Lines of at most 80 columns."""
    holes = [number for hole in library["holes"] for number in hole["ids"]]
    reached = [number for hole in library["holes"] if hole["reached"] for number in hole["ids"]]
    yield f"{library['name']} {library['version']}: {words}"
    yield f"  from {library['carrier']} {library['ours']}"
    if holes:
        yield f"  {len(holes)} known holes, {len(reached)} of them can be reached (SECURITY.md)"


def tables() -> str:
    """The tables of SECURITY.md."""
    return "".join(f"\n{table(library)}\n" for library in libraries())


def table(library: dict[str, Any]) -> str:
    """The section of a library."""
    said = [f"From `{library['carrier']}` {library['ours']}"]
    said += [library["use"]] if "use" in library else []
    is_newest = library["version"] == library["newest"]
    said.append("the newest of its line" + ("" if is_newest else f" is {library['newest']}"))
    said += [] if library["holes"] else ["no hole is known"]
    lines = [f"### {library['title']} {library['version']}", "", f"{'; '.join(said)}."]
    if not library["holes"]:
        return "\n".join(lines)
    lines += ["", "| hole | compiled | reached | how that was checked |", "| --- " * 4 + "|"]
    for hole in library["holes"]:
        name = f"{', '.join(hole['ids'])}: {hole['what']}"
        reached = "**yes**" if hole["reached"] else "no"
        compiled = "yes" if hole["compiled"] else "no"
        lines.append(f"| {name} | {compiled} | {reached} | {hole['how']} |")
    return "\n".join(lines)


def with_tables(text: str) -> str:
    """SECURITY.md with its tables as they should be."""
    new, count = TABLES.subn(lambda match: match[1] + tables() + "\n" + match[2], text)
    if count != 1:
        raise ValueError("SECURITY.md has no place for its tables")
    return new


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(prog="tools/carriers.py", description=summary, epilog=rest)
    parser.add_argument("--write", action="store_true", help="write the tables of SECURITY.md")
    if parser.parse_args(arguments).write:
        SECURITY.write_text(with_tables(SECURITY.read_text()))
        return 0
    todo = False
    for library in libraries():
        words, has_todo = judge(library, ask(library["carrier"], library["line"]))
        print(*report(library, words), sep="\n")
        todo = todo or has_todo
    return int(todo)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ValueError as error:
        sys.exit(f"tools/carriers.py: {error}")
