"""Puts the output of their commands into the documents in docs/cases.

Run it when the output has changed: .venv/bin/python docs/cases.py. It takes two minutes.
"""

import re
import shlex
import sys
from pathlib import Path

from measured import ROOT
from sweeps import BLOCK, output


def main(folder: Path) -> None:
    """Writes the documents into `folder`."""
    for document in sorted((ROOT / "docs" / "cases").glob("*.md")):
        target = folder / document.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(filled(document.read_text()))


def filled(text: str) -> str:
    """The document with the outputs of its commands."""

    def fill(found: re.Match[str]) -> str:
        return found[1] + output(shlex.split(found[2]), ROOT)

    text, blocks = BLOCK.subn(fill, text)
    assert blocks, "a case has no commands"
    return text


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
