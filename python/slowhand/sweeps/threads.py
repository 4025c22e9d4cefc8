"""Runs the chunks of a sweep one after the other, each on all threads of this computer."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from slowhand.api import Run
from slowhand.sweeps.dataset import Chunk, Rows, rows_of
from slowhand.sweeps.queue import Queue

if TYPE_CHECKING:
    from slowhand.executing import Execution


class Threads:
    """The threads of this computer."""

    def __init__(self, threads: int | None = None, *, extra: bool = False):
        """`extra`: rows of libraries have the columns of those of programs too."""
        self._threads = threads
        self._extra = extra

    def run(
        self, queue: Queue, update: Callable[[int], None]
    ) -> Generator[tuple[Chunk, Rows], None, None]:
        """The rows of each chunk. Calls `update` with the worlds that are done and not yielded.

        While the caller writes a chunk, the next one runs.
        """
        before: tuple[Chunk, Run | Execution] | None = None
        while chunk := queue.take():
            run = _run(chunk, self._threads)
            try:
                if before:
                    yield self._finished(queue, *before)
                run.watch(update)
            except BaseException:
                run.cancel()
                raise
            before = chunk, run
        if before:
            yield self._finished(queue, *before)

    def _finished(self, queue: Queue, chunk: Chunk, run: Run | Execution) -> tuple[Chunk, Rows]:
        own = chunk.configuration
        rows = rows_of(run, own.name, own.settings, own.digest, extra=self._extra)
        queue.learn(chunk, rows)
        return chunk, rows


def _run(chunk: Chunk, threads: int | None) -> Run | Execution:
    """The worlds of a chunk: their libraries run already, their programs when they are watched."""
    scenario, seed, count = chunk.configuration.scenario, chunk.first, chunk.count
    if not chunk.configuration.has_programs:
        return Run(scenario, seed=seed, count=count, threads=threads)
    from slowhand.executing import Execution, Limits

    return Execution(scenario, Limits(), seed=seed, count=count, threads=threads)
