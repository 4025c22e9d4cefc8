"""Runs the chunks of a sweep one after the other, each on all threads of this computer."""

from __future__ import annotations

from collections.abc import Callable, Generator

from slowhand.api import Run
from slowhand.sweeps.dataset import Chunk, Rows, rows_of
from slowhand.sweeps.queue import Queue


class Threads:
    """The threads of this computer."""

    def __init__(self, threads: int | None = None):
        self._threads = threads

    def run(
        self, queue: Queue, update: Callable[[int], None]
    ) -> Generator[tuple[Chunk, Rows], None, None]:
        """The rows of each chunk. Calls `update` with the worlds that are done and not yielded.

        While the caller writes a chunk, the next one runs.
        """
        before: tuple[Chunk, Run] | None = None
        while chunk := queue.take():
            run = Run(
                chunk.configuration.scenario,
                seed=chunk.first,
                count=chunk.count,
                threads=self._threads,
            )
            try:
                if before:
                    yield _finished(queue, *before)
                run.watch(update)
            except BaseException:
                run.cancel()
                raise
            before = chunk, run
        if before:
            yield _finished(queue, *before)

    def close(self) -> None:
        """Nothing is left open."""


def _finished(queue: Queue, chunk: Chunk, run: Run) -> tuple[Chunk, Rows]:
    configuration = chunk.configuration
    rows = rows_of(run, configuration.name, configuration.settings, configuration.digest)
    queue.learn(chunk, rows)
    return chunk, rows
