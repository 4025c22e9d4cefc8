"""Signals that stop the work: Ctrl-C, SIGTERM and SIGHUP. What is complete is kept and printed."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

PATIENCE_S = 1.0
"""The time that work may take that is asked to end. Assumed: nobody presses Ctrl-C again before."""


class Stopped(KeyboardInterrupt):
    """A signal came. Code that handles Ctrl-C handles all of them."""

    def __init__(self, number: int):
        super().__init__()
        self.number = number


RACE = "ignored due to race condition"
"""What Python says of a signal that came while its handler was replaced by none."""

AGAIN_S = 0.01
"""The time until a signal comes again whose error was swallowed. Assumed: callbacks take less."""


_is_over = False
"""True if the exit code is known."""


def stop_work() -> None:
    """From now on, each of the signals raises `Stopped`, unless it is ignored (as by nohup)."""
    global _is_over
    _is_over = False
    sys.unraisablehook = _unraisable
    _handle(_stop)


@contextmanager
def held() -> Iterator[list[Stopped]]:
    """Meanwhile signals are kept in a list, and raise nothing.

    What has been done is told first, or the work looks there, and ends. If that takes long, as
    where nobody reads stdout, a later signal raises.
    """
    came: list[Stopped] = []
    first = 0.0

    def keep(number: int, frame: FrameType | None) -> None:
        nonlocal first
        if came and time.monotonic() - first > PATIENCE_S:
            raise Stopped(number)
        first = first or time.monotonic()
        came.append(Stopped(number))

    _handle(keep)
    try:
        yield came
    finally:
        _handle(_stop)


@contextmanager
def deferred() -> Iterator[None]:
    """Meanwhile signals wait. At the end they have the effect that they had before.

    In a thread other than the main one it does nothing: Python handles signals only there.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    before = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in before:
        signal.signal(number, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for late in came:
            signal.raise_signal(late)


def finish() -> None:
    """From now on, none has an effect: the exit code is known."""
    global _is_over
    _is_over = True  # at once: a signal could stop what follows
    _handle(signal.SIG_IGN)


def exit_code(*stopped: BaseException | None) -> int:
    """The exit code that shells use for a program that the first of these has ended; 0: none."""
    came = next(filter(None, stopped), None)
    if came and not isinstance(came, KeyboardInterrupt):
        raise came
    return 128 + getattr(came, "number", signal.SIGINT) if came else 0


def behind(error: BaseException) -> Stopped | None:
    """The signal behind an error, if there is one.

    Other code may fail because a signal stopped it in the middle: `argparse`, for example, puts
    back in a `finally` what it has not saved yet.
    """
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, Stopped):
        seen = seen.__cause__ or seen.__context__
    return seen


def _handle(handler: signal._HANDLER) -> None:
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def _unraisable(ignored: sys.UnraisableHookArgs) -> None:
    """Sends a signal again whose error Python had to swallow, as in a callback of an import."""
    error = ignored.exc_value
    if isinstance(error, Stopped):
        try:
            _send_again(error.number)
        except Stopped as another:
            _send_again(another.number)
    elif not (isinstance(error, OSError) and RACE in str(error)):
        sys.__unraisablehook__(ignored)


def _send_again(number: int) -> None:
    again = threading.Timer(AGAIN_S, os.kill, (os.getpid(), number))
    again.daemon = True
    again.start()


def _stop(number: int, frame: FrameType | None) -> None:
    if not _is_over:
        raise Stopped(number)
