"""Counts the prose of the pages, and their long sentences: `.venv/bin/python docs/words.py`.

Prose is all that is read from beginning to end: no tables, no code, no addresses of links. The
pages of docs/reference/, those of the papers, SECURITY.md and the history are looked up, and do
not count. A colon or a semicolon ends a sentence too; code is one word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

LONG = 25
"""A sentence with more words is long."""


@dataclass(frozen=True)
class Prose:
    """The prose of a page."""

    words: int
    long_sentences: list[str]


def pages() -> list[Path]:
    """The pages that are read from their beginning to their end, as paths from the root."""
    docs = [path for path in (ROOT / "docs").rglob("*.md") if "reference" not in path.parts]
    top = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]
    return sorted(path.relative_to(ROOT) for path in [*docs, *top])


def prose(text: str) -> Prose:
    """The prose of this Markdown text."""
    text = re.sub(r"^```.*?^```", "\n\n", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->", "\n\n", text, flags=re.DOTALL)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("|")]
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*#]|\d+\.)\s)", "\n".join(lines))
    plain = [re.sub(r"`[^`]*`", "code", block).split() for block in blocks]
    sentences = [each for words in plain for each in re.split(r"(?<=[.!?:;])\s+", " ".join(words))]
    long = [each for each in sentences if len(each.split()) > LONG]
    return Prose(sum(len(block.split()) for block in blocks), long)


def main() -> None:
    """Prints a line a page, then the sums."""
    counted = {path: prose((ROOT / path).read_text()) for path in pages()}
    for path, page in sorted(counted.items(), key=lambda each: -each[1].words):
        print(f"{page.words:6} words {len(page.long_sentences):4} long sentences  {path}")
    words = sum(page.words for page in counted.values())
    long = sum(len(page.long_sentences) for page in counted.values())
    print(f"{words:6} words {long:4} long sentences  in {len(counted)} pages")


if __name__ == "__main__":
    main()
