"""Runs the chunks of a sweep on a Dask cluster: each in one thread of a worker.

The workers need nothing but slowhand: they get the text of the scenario, and return the file. If a
worker is lost, the scheduler gives its chunks to another one.
"""

from __future__ import annotations

import logging
import socket
import sys
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any

from slowhand._native import __version__
from slowhand.api import Run, Scenario
from slowhand.closing import Closing
from slowhand.sweeps.dataset import Chunk, Rows, rows_of
from slowhand.sweeps.queue import Queue
from slowhand.sweeps.vary import Plain, SweepError
from slowhand.terminal import printable

if TYPE_CHECKING:
    import distributed

REQUIREMENT = "distributed>=2026.8,<2027"
"""As in pyproject.toml."""

CONNECT_S = 10.0
"""The time that the scheduler may take to answer. (Assumed.)"""

POLL_S = 0.2

LOST = (CancelledError, OSError)
"""The errors that are raised while the connection to the scheduler is lost."""

AHEAD = 2
"""Chunks in flight for each thread of the cluster: one runs, one waits at the worker."""


class ClusterError(RuntimeError):
    """The cluster cannot go on. The rows that are written stay, and the sweep can continue."""


class Cluster(Closing):
    """A Dask cluster, which somebody else has started."""

    def __init__(self, address: str):
        """Connects to the scheduler at `address`, as in `tcp://127.0.0.1:8786`.

        Raises `SweepError` if there is none.
        """
        self.address = address
        option = f"--scheduler {printable(address)}"
        try:
            import distributed
            from distributed.comm import addressing
        except ImportError:
            install = f"{sys.executable} -m pip install '{REQUIREMENT}'"
            raise SweepError(f"{option}: needs the package distributed: {install}") from None
        for name in list(logging.root.manager.loggerDict):
            if name.startswith("distributed"):
                logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters is raised
        connect: Any = distributed.Client  # a part of distributed has no types
        try:
            # A client of Dask tries again and again, even if there is no such address.
            place = addressing.get_address_host_port(address)
            socket.create_connection(place, CONNECT_S).close()
            self._client = connect(address, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            said = getattr(error, "strerror", None) or str(error) or "it does not answer"
            reason = printable(said.splitlines()[0])
            remedy = "start one with `dask scheduler`, and workers with `dask worker ADDRESS`"
            raise SweepError(f"{option}: found no Dask scheduler ({reason}): {remedy}") from error

    def run(
        self, queue: Queue, update: Callable[[int], None]
    ) -> Generator[tuple[Chunk, Rows], None, None]:
        """The rows of each chunk, in the order in which they are done.

        Calls `update` with the worlds that are done and not yielded: none.
        """
        flying: dict[distributed.Future[Rows], Chunk] = {}
        try:
            while True:
                self._check()
                slots = self._threads()
                while len(flying) < AHEAD * slots and (chunk := queue.take(slots)):
                    flying[self._submit(chunk)] = chunk
                if not flying:
                    return
                update(0)
                for future in self._done(list(flying)):
                    chunk, rows = flying.pop(future), self._rows(future)
                    queue.learn(chunk, rows)
                    yield chunk, rows
        finally:
            self._drop(list(flying))

    def close(self) -> None:
        """Leaves the cluster as it is."""
        self._client.close()

    def _submit(self, chunk: Chunk) -> distributed.Future[Rows]:
        configuration, scenario = chunk.configuration, chunk.configuration.scenario
        future: distributed.Future[Rows] = self._client.submit(
            run_chunk,
            __version__,
            scenario.sources,
            scenario.path,
            configuration.name,
            dict(configuration.settings),
            configuration.digest,
            chunk.first,
            chunk.count,
            pure=False,
        )
        return future

    def _done(self, flying: list[distributed.Future[Rows]]) -> set[distributed.Future[Rows]]:
        """The futures that are done: at least one, unless it takes longer than progress waits."""
        import distributed

        wait: Any = distributed.wait
        try:
            with self._client.as_current():
                found = wait(flying, timeout=POLL_S, return_when="FIRST_COMPLETED")
        except TimeoutError:
            return set()
        except LOST as error:
            raise self._lost() from error
        done: set[distributed.Future[Rows]] = found.done
        return done

    def _rows(self, future: distributed.Future[Rows]) -> Rows:
        try:
            rows: Rows = future.result()
        except LOST as error:
            raise self._lost() from error
        except Exception as error:
            self._check()
            reason = printable(f"{type(error).__name__}: {error}", 300)
            raise ClusterError(f"--scheduler {printable(self.address)}: {reason}") from error
        return rows

    def _threads(self) -> int:
        """The threads of all workers now; 1 if there is no worker yet."""
        workers: Mapping[str, Any] = self._client.scheduler_info()["workers"]
        threads: int = sum(worker["nthreads"] for worker in workers.values())
        return max(1, threads)

    def _check(self) -> None:
        """Raises an error if the scheduler is gone."""
        if self._client.status != "running":
            raise self._lost()

    def _lost(self) -> ClusterError:
        remedy = "the same command continues when it is there again (with --out)"
        return ClusterError(f"--scheduler {printable(self.address)}: is gone: {remedy}")

    def _drop(self, futures: list[distributed.Future[Rows]]) -> None:
        if futures and self._client.status == "running":
            self._client.cancel(futures, force=True)


def run_chunk(
    version: str,
    sources: dict[str, Any],
    path: str,
    name: str,
    settings: dict[str, Plain | None],
    digest: str,
    first: int,
    count: int,
) -> Rows:
    """Runs a chunk in this thread. This is what a worker does."""
    if version != __version__:
        raise RuntimeError(f"a worker has slowhand {__version__}, and the sweep has {version}")
    scenario = Scenario.from_sources(path, sources)
    run = Run(scenario, seed=first, count=count, threads=1)
    run.finish()
    return rows_of(run, name, settings, digest)
