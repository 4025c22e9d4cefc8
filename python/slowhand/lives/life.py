"""The life of a device: how long its battery lasts, and what takes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from slowhand import _native
from slowhand._native import DAY_S
from slowhand.api import Scenario, Source, loaded
from slowhand.blame import refusal
from slowhand.bounds import natural, of_another_type
from slowhand.lives.words import DAYS_A_YEAR

if TYPE_CHECKING:
    from slowhand.keys import Settings

DAYS = DAYS_A_YEAR
"""The length of a life, if not given: a year."""

WORLDS = 30
"""From how many worlds a life is estimated, if not given."""

Told = dict[str, Any]
"""The laboratory's words on a life and on batteries."""


def battery(
    scenario: Source,
    batteries: Sequence[str] | None = None,
    *,
    days: float = DAYS,
    seed: int | None = None,
    worlds: int = WORLDS,
    full: bool = False,
    client: int | None = None,
    set: Settings | None = None,
) -> dict[str, Any]:
    """Says how long batteries last for a client of a scenario with a `pattern` in `[application]`.

    The life of the client for so many `days` is estimated from so many `worlds`, with the seeds
    from `seed` (1) on. With `full` it is simulated event by event, in the world of `seed`.
    `batteries` are names of those that are built in, or paths of files; by default all that are
    built in. `client` is a node; by default the first client. `set` replaces keys.

    The result has `life` (what the device uses, by state and by purpose, how long requests take,
    what fails) and `batteries`, each with its `life`: years, their interval, and the share of each
    purpose. Intervals are those of the mean over worlds.

    >>> import slowhand
    >>> asks = {"application.pattern": "periodic", "application.period_s": 3600}
    >>> answer = slowhand.battery("quickstart", ["l91-pair"], set=asks)
    >>> answer["life"]["counts"]["requests"]
    8766
    >>> sorted(answer["batteries"]["l91-pair"]["life"])[-2:]
    ['years', 'years_ci95']
    """
    source = loaded(scenario, set)
    first = natural("seed", source.seed if seed is None else seed)
    if isinstance(batteries, str):
        raise of_another_type("batteries", batteries, "a list of names")
    most = _native.LONGEST_LIFE_S / DAY_S
    if not 0 < days <= most:  # as `computed` says it of seconds
        allowed = f"above 0, at most {most:g} (a hundred years)"
        raise refusal(f"found {days:g}, allowed: {allowed}", key="days")
    names = _native.batteries() if batteries is None else list(batteries)
    number = None if full else natural("worlds", worlds)
    answer, stopped = computed(source, names, days, first, number, client)
    if answer is None or stopped:
        raise stopped or KeyboardInterrupt
    return answer


def computed(
    scenario: Scenario,
    batteries: Sequence[str],
    days: float,
    seed: int,
    worlds: int | None,
    client: int | None,
) -> tuple[Told | None, BaseException | None]:
    """A life, and what has interrupted it, if something has: then it is a part, or nothing."""
    told, stopped = _native.life(
        scenario.native, list(batteries), days * DAY_S, seed, worlds, client
    )
    if told is None:
        return None, stopped or KeyboardInterrupt()
    made: Told = json.loads(told)
    return made, stopped
