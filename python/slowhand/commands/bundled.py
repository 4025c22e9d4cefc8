"""The files that come with slowhand: `profiles`, `scenarios`, `devices`, `batteries`, `schema`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

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
    parser.json()


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


def scenario_option(parser: Parser) -> None:
    """The option of `scenarios`."""
    _name_option(parser, "SCENARIO")


def device_option(parser: Parser) -> None:
    """The option of `devices`."""
    _name_option(parser, "DEVICE")


def battery_option(parser: Parser) -> None:
    """The option of `batteries`."""
    _name_option(parser, "BATTERY")


def _name_option(parser: Parser, metavar: str) -> None:
    parser.add_argument(
        "name",
        metavar=metavar,
        nargs="?",
        help="Which to print. [default: list all, with what they gave]",
    )
    parser.json()


def scenarios(arguments: argparse.Namespace, out: Terminal) -> int:
    """Lists the scenarios, or prints one."""
    from slowhand import data

    return _bundled("scenario", data.files(data.SCENARIOS), arguments, out)


def devices(arguments: argparse.Namespace, out: Terminal) -> int:
    """Lists the devices, or prints one."""
    from slowhand import data

    return _bundled("device", data.files(data.DEVICES), arguments, out)


def batteries(arguments: argparse.Namespace, out: Terminal) -> int:
    """Lists the batteries, or prints one."""
    from slowhand import data

    return _bundled("battery", data.files(data.BATTERIES), arguments, out)


def _bundled(
    kind: str, files: Mapping[str, Path], arguments: argparse.Namespace, out: Terminal
) -> int:
    """Lists files by name, or prints the one with this name. As JSON: its keys and values."""
    from slowhand import data

    name = arguments.name
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
