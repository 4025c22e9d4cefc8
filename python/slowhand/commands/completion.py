"""`slowhand completion`: scripts for shells, made from the parsers of all commands."""

from __future__ import annotations

import argparse

from slowhand.arguments import Complaint, Parser
from slowhand.commands.common import DONE, print_json
from slowhand.nearest import none_of
from slowhand.terminal import Terminal

ABOUT = "Print what lets a shell complete commands, options, names and keys."
EXAMPLE = "bash > slowhand.bash"


def options(parser: Parser) -> None:
    """The options of `completion`."""
    from slowhand.completion import SHELLS

    parser.add_argument(
        "shell",
        metavar="SHELL",
        help=f"Which shell: {', '.join(SHELLS)}. It reads the script: in ~/.bashrc"
        ' `eval "$(slowhand completion bash)"`, in ~/.zshrc, after compinit, the same with zsh, and'
        " in ~/.config/fish/config.fish `slowhand completion fish | source`.",
    )


def run(arguments: argparse.Namespace, out: Terminal) -> int:
    """Prints the script."""
    from slowhand.commands import COMMANDS
    from slowhand.completion import SCRIPTS, SHELLS, read

    shell = arguments.shell
    if shell not in SHELLS:
        raise Complaint(none_of("shell", shell, SHELLS))
    script = SCRIPTS[shell](read(COMMANDS))
    if arguments.json:
        print_json({"shell": shell, "script": script}, out)
    else:
        out.write(script)
    return DONE
