"""The command line. Its exit codes are in `slowhand.commands.common.EXIT_CODES`."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from slowhand import data, output, signals
from slowhand._native import ScenarioError, __version__
from slowhand.arguments import Complaint
from slowhand.commands import COMMANDS
from slowhand.commands.common import BAD_INPUT, CLOSED_PIPE, DONE, NO
from slowhand.nearest import meant
from slowhand.output import OutputError
from slowhand.terminal import Terminal, printable, say

ABOUT = "Runs real TLS and DTLS libraries over emulated low-power networks, in virtual time."


def main() -> NoReturn:
    """Runs the command line and exits."""
    sys.exit(execute(sys.argv[1:]))


def execute(arguments: Sequence[str]) -> int:
    """Runs a command and returns the exit code. It may have one message on stderr."""
    out = Terminal.stdout()
    try:
        try:
            signals.stop_work()
            code = _dispatch(arguments, out)
        finally:
            _finish()
    except KeyboardInterrupt as stopped:
        _finish()  # another one may have come before it was done
        return _interrupted(stopped)
    except (Complaint, OutputError, ScenarioError, OSError) as error:
        say(str(error))
        return BAD_INPUT
    except Exception as error:
        stopped_by = signals.behind(error)
        if not stopped_by:
            raise
        return _interrupted(stopped_by)
    if isinstance(out.failure, BrokenPipeError):
        return CLOSED_PIPE
    if out.failure:
        say(f"stdout: cannot be written: {out.failure.strerror}")
        return code or NO
    return code


def _finish() -> None:
    """The exit code is known, and impatient users send several signals."""
    signals.finish()
    output.remove_unfinished()


def _interrupted(stopped: KeyboardInterrupt) -> int:
    _leave_stdout_if_nobody_reads()
    say("interrupted")
    return signals.exit_code(stopped)


def _leave_stdout_if_nobody_reads() -> None:
    """Python flushes stdout at its end. At a full pipe it would wait for ever, without signals."""
    with suppress(OSError, ValueError):
        number = sys.stdout.fileno()
        if not select.select([], [number], [], 0)[1]:
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)


def _dispatch(arguments: Sequence[str], out: Terminal) -> int:
    name, *rest = arguments or ["--help"]
    if rest and f"{name} {rest[0]}" in COMMANDS:
        name = f"{name} {rest.pop(0)}"
    if name == "--version":
        out.print(f"slowhand {__version__}")
        return DONE
    if name == "--help":
        _show_help(out)
        return DONE if arguments else BAD_INPUT
    command = COMMANDS.get(name)
    if not command:
        raise Complaint(f"command: found '{printable(name)}', {_allowed(name)}")
    parser = command.parser(name)
    ends = rest.index("--") if "--" in rest else len(rest)
    if "--help" in rest[:ends]:
        out.write(parser.format_help())
        return DONE
    return command.run(parser.read(rest), out)


def _allowed(name: str) -> str:
    """Which commands there are, and which may be meant. A scenario is what `run` takes."""
    allowed = f"allowed: {', '.join(COMMANDS)}"
    if name in data.files(data.SCENARIOS):
        return f"{allowed}; did you mean run {name}?"
    return allowed + meant(name, COMMANDS)


def _show_help(out: Terminal) -> None:
    out.print("usage: slowhand COMMAND ...")
    out.print()
    out.paragraph(ABOUT)
    out.print()
    longest = max(map(len, COMMANDS))
    for name, command in COMMANDS.items():
        first = f"  {name:{longest}}  "
        out.paragraph(command.about, first=first, indent=" " * len(first))
    out.print()
    out.paragraph("`slowhand COMMAND --help` lists the options; `slowhand --version`.")
    out.print()
    out.print("Example: slowhand run quickstart")
