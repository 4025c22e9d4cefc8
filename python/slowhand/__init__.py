"""A laboratory for TLS and DTLS handshakes over low-power radio networks, in virtual time.

>>> import slowhand
>>> frame = slowhand.run("quickstart", count=20)
>>> print(f"{frame['duration_s'].median():.2f} s")
4.29 s
"""

import importlib

TYPE_CHECKING = False  # that of `typing`, without its import
if TYPE_CHECKING:
    from slowhand import capacity, estimate, lives, pages, papers, plot, settings
    from slowhand._native import ArgumentError, ScenarioError, __version__
    from slowhand.advice import AdviceError, advise
    from slowhand.api import (
        Inspection,
        Run,
        Scenario,
        WorldError,
        profiles,
        run,
        schema,
        stacks,
    )
    from slowhand.executing import Execution, exec
    from slowhand.explain import Explanation
    from slowhand.joining import join
    from slowhand.keys import Setting
    from slowhand.lives.life import battery
    from slowhand.playback import Playback
    from slowhand.reading import oscar
    from slowhand.realtime import Live, live
    from slowhand.realtime.replaying import Replay, replay
    from slowhand.sweeps import SweepError, compare, sweep

__all__ = [
    "AdviceError",
    "ArgumentError",
    "Execution",
    "Explanation",
    "Inspection",
    "Live",
    "Playback",
    "Replay",
    "Run",
    "Scenario",
    "ScenarioError",
    "Setting",
    "SweepError",
    "WorldError",
    "__version__",
    "advise",
    "battery",
    "capacity",
    "compare",
    "estimate",
    "exec",
    "join",
    "live",
    "lives",
    "oscar",
    "pages",
    "papers",
    "plot",
    "profiles",
    "replay",
    "run",
    "schema",
    "settings",
    "stacks",
    "sweep",
]

_MODULES = {
    "_native": ("ArgumentError", "ScenarioError", "__version__"),
    "advice": ("AdviceError", "advise"),
    "executing": ("Execution", "exec"),
    "explain": ("Explanation",),
    "joining": ("join",),
    "keys": ("Setting",),
    "lives.life": ("battery",),
    "playback": ("Playback",),
    "reading": ("oscar",),
    "realtime": ("Live", "live"),
    "realtime.replaying": ("Replay", "replay"),
    "sweeps": ("SweepError", "compare", "sweep"),
}
"""Where names are defined that are not of `api`."""

_SUBMODULES = {"capacity", "estimate", "lives", "pages", "papers", "plot", "settings"}


if not TYPE_CHECKING:  # so that a type checker knows every name

    def __getattr__(name: str) -> object:
        """Imports a name when it is used first, so that the command line starts at once."""
        if name not in __all__:
            raise AttributeError(f"module 'slowhand' has no attribute {name!r}")
        if name in _SUBMODULES:
            return importlib.import_module(f"slowhand.{name}")
        module = next((module for module, names in _MODULES.items() if name in names), "api")
        found: object = getattr(importlib.import_module(f"slowhand.{module}"), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    """The public names, and those of Python. Modules that were imported are no names to use."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
