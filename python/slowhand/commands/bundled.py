"""The files that come with slowhand: `profiles`, `scenarios`, `devices`, `batteries`, `schema`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

from slowhand import data
from slowhand.arguments import Complaint, Parser
from slowhand.commands.common import DONE, print_json
from slowhand.nearest import none_of
from slowhand.terminal import Terminal, printable


def profile_option(parser: Parser) -> None:
    """The option of `profiles`."""
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        help="Which to print, with the file and line of each number. [default: compare all]",
    )


def profiles(arguments: argparse.Namespace, out: Terminal) -> int:
    """Compares the profiles, or prints one with its sources."""
    from slowhand import report
    from slowhand.api import profiles

    found = {profile["name"]: profile for profile in profiles()}
    name = arguments.name
    if name is not None and name not in found:
        raise Complaint(f"profile: found '{printable(name)}', allowed: {', '.join(found)}")
    if arguments.json:
        print_json(found[name] if name else list(found.values()), out)
    elif name:
        report.show_profile(found[name], out)
    else:
        report.show_profiles(list(found.values()), out)
    return DONE


class Bundled(NamedTuple):
    """The command that lists the files of a kind, or prints one of them."""

    kind: str
    folder: Path

    def options(self, parser: Parser) -> None:
        """The options of the command."""
        parser.add_argument(
            "name",
            metavar=self.kind.upper(),
            nargs="?",
            help="Which to print. [default: list all, with what they gave]",
        )

    def run(self, arguments: argparse.Namespace, out: Terminal) -> int:
        """Lists files by name, or prints the one with this name. As JSON: its keys and values."""
        kind, files, name = self.kind, data.files(self.folder), arguments.name
        if name is not None and name not in files:
            raise Complaint(none_of(kind, name, files))
        if name is not None:
            text = files[name].read_text(encoding="utf-8")
            if arguments.json:
                import tomllib

                print_json(tomllib.loads(text), out)
            else:
                out.write(text)
            return DONE
        about = {name: data.introduction(file) for name, file in files.items()}
        if arguments.json:
            listed = [{kind: n, "introduction": about[n], "file": str(files[n])} for n in files]
            print_json(listed, out)
        else:
            from slowhand import report

            report.show_bundled(about, out)
        return DONE


SCENARIOS = Bundled("scenario", data.SCENARIOS)
DEVICES = Bundled("device", data.DEVICES)
BATTERIES = Bundled("battery", data.BATTERIES)


def schema_options(parser: Parser) -> None:
    """The options of `schema`."""
    from slowhand.api import KINDS

    parser.add_argument(
        "kind",
        metavar="KIND",
        nargs="?",
        default=KINDS[0],
        help=f"Of what: {', '.join(KINDS)}. [default: {KINDS[0]}]",
    )
    parser.add_argument(
        "--json", action="store_true", help="Without effect: the schema is always JSON."
    )


def schema(arguments: argparse.Namespace, out: Terminal) -> int:
    """Prints a JSON Schema."""
    from slowhand.api import schema

    try:
        print_json(schema(arguments.kind), out)
    except ValueError as error:
        raise Complaint(str(error)) from error
    return DONE
