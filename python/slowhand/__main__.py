"""Lets ``python -m slowhand`` run the command line."""

import os
import signal
import types
from typing import NoReturn


def main() -> NoReturn:
    """Runs the command line and exits.

    Until it is loaded, a signal ends the process at once, without a traceback.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _exit)

    from slowhand import cli

    cli.main()


def _exit(number: int, frame: types.FrameType | None) -> NoReturn:
    os._exit(128 + number)


if __name__ == "__main__":
    main()
