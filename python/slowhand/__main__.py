"""Lets ``python -m slowhand`` run the command line.

Until the command line is loaded, a signal ends the process at once, without a traceback. So what
stands before that is as short as possible: the launcher starts Python without `site`, and only
modules in C are imported.
"""

import _signal  # type: ignore[import-not-found]
import posix
import sys

TYPE_CHECKING = False  # that of `typing`, without its import
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> "NoReturn":
    """Runs the command line and exits."""
    for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP):
        if _signal.getsignal(number) != _signal.SIG_IGN:
            _signal.signal(number, _exit)

    if sys.flags.no_site:
        import site

        site.main()
    from slowhand import cli

    cli.main()


def _exit(number: int, frame: object) -> "NoReturn":
    posix._exit(128 + number)


if __name__ == "__main__":
    main()
