"""Puts the output of its commands into docs/advice.md and docs/reference/advice.md.

Run it when the output has changed: .venv/bin/python docs/advice.py. It takes a minute.
"""

import sys
import tempfile
from pathlib import Path

from measured import ROOT
from sweeps import filled


def main(folder: Path) -> None:
    """Writes both documents into `folder`."""
    (folder / "docs" / "reference").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        for name in ("advice.md", "reference/advice.md"):
            (folder / "docs" / name).write_text(filled(name, Path(place)))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
