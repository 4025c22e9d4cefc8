"""Puts the output of the quickstart into docs/results.md and docs/quickstart.svg.

Run it when the output has changed: .venv/bin/python docs/quickstart.py. A test checks both files.
"""

import io
import os
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from slowhand import Run, Scenario, report
from slowhand.terminal import WIDTH, Terminal

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = "scenarios/quickstart.toml"
BLOCK = re.compile(rf"(?<=```text\n)(\$ \./slowhand run {SCENARIO}\n).*?(?=```)", re.DOTALL)


def main(folder: Path) -> None:
    """Writes both files into `folder`, docs/results.md from the one in the clone."""
    os.chdir(ROOT)
    printed = io.StringIO()
    out = Terminal(printed, width=WIDTH, styled=True)
    report.show(Run(Scenario(SCENARIO), count=100, seed=1), out)
    drawing = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    drawing.print(Text.from_ansi(printed.getvalue().rstrip()))
    lines = drawing.export_text(clear=False).splitlines()
    text = "".join(f"{line.rstrip()}\n" for line in lines)
    page = "docs/results.md"
    results, blocks = BLOCK.subn(lambda found: found[1] + text, (ROOT / page).read_text())
    assert blocks == 1, f"{page} has lost its block"
    (folder / "docs").mkdir(exist_ok=True)
    (folder / page).write_text(results)
    drawing.save_svg(
        str(folder / "docs" / "quickstart.svg"),
        title=f"./slowhand run {SCENARIO}",
        unique_id="quickstart",
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
