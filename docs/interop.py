"""Writes the table of docs/interop.md from the sessions in docs/reference/interop.md.

Run it when these have changed: .venv/bin/python docs/interop.py. A test compares.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from measured import ROOT, fill_pages

LIMITED = "yes, but"

Sessions = dict[str, dict[str, list[list[str]]]]
"""By section and peer: the cells of the client's row, and of the server's."""


def sessions(text: str) -> Sessions:
    """The tables of the reference page."""
    found: Sessions = {}
    for section in text.split("\n## ")[1:]:
        title, _, content = section.partition("\n")
        for row in re.findall(r"^\| (?!peer)(\w.*) \|$", content, re.MULTILINE):
            end, *cells = row.split(" | ")
            found.setdefault(title, {}).setdefault(end.split(",")[0], []).append(cells)
    return found


def cell(ends: list[list[str]]) -> str:
    """How many sessions are possible with the peer as client and as server."""
    both = [pair for pair in zip(*ends, strict=True) if all(end.startswith("yes") for end in pair)]
    if not both:
        return "no"
    star = "*" if any(end.startswith(LIMITED) for pair in both for end in pair) else ""
    return f"{len(both)} of {len(ends[0])}{star}"


def table(found: Sessions) -> str:
    """A row for each peer, and a column for each section."""
    sections = list(found)
    lines = [f"| peer | {' | '.join(sections)} |", "| --- |" + " --- |" * len(sections)]
    for peer in found[sections[0]]:
        lines.append(f"| {peer} | {' | '.join(cell(found[title][peer]) for title in sections)} |")
    return "\n".join(lines) + "\n"


def main(folder: Path) -> None:
    """Writes the page into `folder`."""
    found = sessions((ROOT / "docs" / "reference" / "interop.md").read_text())
    fill_pages(folder, {"interop.md": {"peers": table(found)}})


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
