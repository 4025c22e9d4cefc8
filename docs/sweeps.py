"""Puts the output of its commands into docs/sweeps.md and its reference, and draws docs/sweeps.svg.

Run it when the output has changed: .venv/bin/python docs/sweeps.py. It takes a minute.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from measured import ROOT

from slowhand.terminal import WIDTH

BLOCK = re.compile(r"(?<=```text\n)(\$ \./slowhand (.*)\n)(?:(?!```).*\n)*(?=```)")


def main(folder: Path) -> None:
    """Writes the files into `folder`."""
    (folder / "docs" / "reference").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        for page in ("sweeps.md", "reference/sweeps.md"):
            (folder / "docs" / page).write_text(filled(page, Path(place)))
        (folder / "docs" / "sweeps.svg").write_text((Path(place) / "sweeps.svg").read_text())


def filled(name: str, place: Path) -> str:
    """A document with what its commands print in this folder."""
    document = (ROOT / "docs" / name).read_text()

    def fill(found: re.Match[str]) -> str:
        return found[1] + output(shlex.split(found[2]), place)

    text, blocks = BLOCK.subn(fill, document)
    assert blocks, f"docs/{name} has lost its commands"
    return text


def output(arguments: list[str], place: Path) -> str:
    """What a command prints in this folder, on a terminal of the usual width."""
    command = [sys.executable, "-P", "-m", "slowhand", *arguments]
    variables = {**os.environ, "COLUMNS": str(WIDTH)}
    done = subprocess.run(command, cwd=place, env=variables, stdout=subprocess.PIPE, text=True)
    assert done.returncode in (0, 1), arguments
    return done.stdout.rstrip("\n") + "\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
