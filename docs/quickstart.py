"""Draws docs/quickstart.svg: what `./slowhand run scenarios/quickstart.toml` prints.

Run it from the clone: .venv/bin/python docs/quickstart.py
"""

import io

from rich.console import Console

from slowhand import Run, Scenario, report

run = Run(Scenario("scenarios/quickstart.toml"), count=100, seed=1)
terminal = Console(
    record=True, width=report.WIDTH, file=io.StringIO(), force_terminal=True, highlight=False
)
report.show(run, interrupted=False, out=terminal)
terminal.save_svg("docs/quickstart.svg", title="./slowhand run scenarios/quickstart.toml")
