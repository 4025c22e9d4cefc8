"""A laboratory for TLS and DTLS handshakes over low-power radio networks, in virtual time.

>>> import slowhand
>>> frame = slowhand.run("quickstart", count=100, seed=1)  # doctest: +SKIP
>>> frame["duration_s"].median()  # doctest: +SKIP
"""

from slowhand import capacity
from slowhand._native import ScenarioError, __version__
from slowhand.api import Inspection, Run, Scenario, Setting, WorldError, run, schema, stacks

__all__ = [
    "Inspection",
    "Run",
    "Scenario",
    "ScenarioError",
    "Setting",
    "WorldError",
    "__version__",
    "capacity",
    "run",
    "schema",
    "stacks",
]
