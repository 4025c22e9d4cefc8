"""Progress of a run on stderr, if the run takes longer than a second."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

PATIENCE_S = 1.0
LINE_EVERY_S = 10.0


class Progress:
    """A bar on a terminal, otherwise a line every ten seconds; nothing for a short run."""

    def __init__(self, total: int):
        self._total = total
        self._next = time.monotonic() + PATIENCE_S
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar:
            self._bar.stop()

    def update(self, done: int) -> None:
        """Shows that `done` worlds are done."""
        if self._bar:
            self._bar.update(self._bar.task_ids[0], completed=done)
        elif time.monotonic() >= self._next:
            if sys.stderr.isatty():
                self._bar = self._open_bar(done)
            else:
                print(f"slowhand: {done} of {self._total} handshakes done", file=sys.stderr)
                self._next += LINE_EVERY_S

    def _open_bar(self, done: int) -> Bar:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

        bar = Progress(
            "handshakes",
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        bar.add_task("", total=self._total, completed=done)
        bar.start()
        return bar
