"""An interrupt while polars is imported for the first time breaks nothing."""

import subprocess
import sys

import pytest

# Ctrl-C comes in the middle of the import, once.
SCRIPT = """
import os, signal, sys
import slowhand
from slowhand import api

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "polars.series.series" and self in sys.meta_path:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

class Native:
    runs = 0
    def __getattr__(self, name):
        Native.runs += name == "Run"
        return getattr(native, name)

native, api._native = api._native, Native()
sys.meta_path.insert(0, Finder())
try:
    {call}
except KeyboardInterrupt:
    print("interrupted after", Native.runs)
{call}
print("done")
"""


@pytest.mark.parametrize(
    ("call", "runs"),
    [
        ("slowhand.run('quickstart', count=2)", 0),
        ("slowhand.sweep('quickstart', {'network.link_pdr': [0.9]}, count=2)", 0),
        ("slowhand.Run(slowhand.Scenario('quickstart'), count=2).frame()", 1),
    ],
)
def test_ctrl_c_in_the_first_import_of_polars_costs_nothing_later(call: str, runs: int) -> None:
    command = [sys.executable, "-c", SCRIPT.format(call=call)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    # Scripts that certainly need polars import it before their first world.
    assert done.stdout == f"interrupted after {runs}\ndone\n"
