"""Unmodified programs in virtual time: `slowhand.exec` and what it returns.

Each world has a process of its own while it runs (`worker`), because a tracer and its namespaces
belong to a process; `workers` starts them, one for each processor. Where there are fewer worlds
than processors, the hosts of each world run side by side.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence

from slowhand.api import Source, loaded, threads_of
from slowhand.bounds import natural, worlds
from slowhand.executing.programs import (
    COUNT,
    ByPlace,
    Command,
    Limits,
    ProgramError,
    counted,
    placed,
)
from slowhand.executing.result import Execution
from slowhand.executing.workers import Failure
from slowhand.keys import Settings

__all__ = ["COUNT", "Execution", "Failure", "Limits", "ProgramError", "exec"]

__tracebackhide__ = True
"""pytest leaves the functions of this module out of its tracebacks."""


def exec(
    scenario: Source,
    *,
    client: Command | None = None,
    server: Command | None = None,
    at: Mapping[int | str, Command] | None = None,
    count: int | None = None,
    seed: int | None = None,
    again: int = 1,
    threads: int | None = None,
    set: Settings | None = None,
    compute: ByPlace[float] | None = None,
    stdin: ByPlace[Sequence[tuple[float, str]]] | None = None,
    until: str | None = None,
    duration_s: float | None = None,
    date: str | None = None,
    wall_s: float | None = None,
    cpu_s: float | None = None,
    capture: str | os.PathLike[str] | None = None,
) -> Execution:
    """Runs programs, as they are, across the network of a scenario in virtual time.

    The programs are those of the scenario (`[[programs]]`). `client` runs at every client, `server`
    where its server is, and `at` has programs for other places: a node, or `internet`; each
    replaces those that the scenario has at the same place (of a single one the command alone: what
    else the scenario says of it is kept). A command is a text, of which each word
    is quoted as in a shell, or a list of words. `{server}` is the server's address, `{node}` the
    number of the program's node, `{seed}` that of the world. `count` worlds run, with the seeds
    from `seed` on; the first one runs `again`, so often, to see whether it is the same
    (`Execution.reproducible`).

    `compute` says how long a program (`client`, `server`, `node 2` or 2) computes before it sends,
    after it has received something, in seconds; else computing takes no time. `stdin` has what
    comes to its standard input: times in seconds, and texts; an empty text ends the input. A world
    ends when all clients have ended, or when nothing can happen any more; with
    `until="established"` also when all clients have their session; or after `duration_s`. `date` is
    the day on which it begins, as 2026-12-31 (2030-01-01). `wall_s` and `cpu_s` bound a world by
    the clock, and a thread by the processor's time between two of its calls. `capture` gets the
    first world's frames as pcapng. If `scenario` is a result of programs, its count, seed and
    limits are taken where none is given.

    Raises `OSError` if the machine lacks something, with what to do.

    >>> import slowhand
    >>> wait = "sh -c 'sleep 60; date -u +%T'"
    >>> done = slowhand.exec("quickstart", client=wait, server="sleep 1", count=2)
    >>> done.reproducible
    True
    >>> for said in done.programs().filter(program="client")["stdout"]:
    ...     said.strip()
    '00:01:01'
    '00:01:01'
    """
    base = loaded(scenario, set)
    count, seed = worlds(counted(base, count), base.seed if seed is None else seed)
    limits = Limits.of(
        base, duration_s=duration_s, until=until, date=date, wall_s=wall_s, cpu_s=cpu_s
    )
    limits.told()
    execution = Execution(
        placed(
            base,
            client=client,
            server=server,
            at=at,
            compute=compute,
            stdin=stdin,
        ),
        limits,
        count=count,
        seed=seed,
        again=natural("again", again),
        threads=None if threads is None else threads_of(threads),
    )
    path = None if capture is None else os.path.abspath(capture)  # noqa: PTH100 (of any octets)
    execution.watch(capture=path)
    if execution.uncaptured:
        warnings.warn(f"capture: cannot be written: {execution.uncaptured}", stacklevel=2)
    return execution
