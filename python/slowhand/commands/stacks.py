"""`slowhand stacks`: the libraries that are built in, and stacks of the user's own."""

from __future__ import annotations

import argparse

from slowhand.arguments import Complaint, Parser
from slowhand.commands.common import DONE, NO, print_json
from slowhand.nearest import none_of
from slowhand.terminal import Terminal, escaped, say


def options(parser: Parser) -> None:
    """The options of `stacks`."""
    parser.add_argument("name", metavar="STACK", nargs="?", help="Which to print. [default: all]")


def show(arguments: argparse.Namespace, out: Terminal) -> int:
    """Lists what has a protocol, or one of it."""
    from slowhand.api import stacks

    found = {stack["name"]: stack for stack in stacks()}
    name = arguments.name
    if name is not None and name not in found:
        raise Complaint(none_of("stack", name, found))
    if arguments.json:
        print_json(found[name] if name else list(found.values()), out)
    else:
        from slowhand import report

        report.show_stacks([found[name]] if name else list(found.values()), out)
    return DONE


def add_options(parser: Parser) -> None:
    """The options of `stacks add`."""
    parser.add_argument("name", metavar="NAME", help="The name of the stack in a scenario.")
    parser.add_argument(
        "sources",
        metavar="FILE",
        nargs="*",
        help="Its sources in C, or the Cargo.toml of a crate, as docs/own-stack.md has them; or the"
        " name of a library; nothing if slowhand knows NAME.",
    )
    parser.add_argument(
        "--source",
        metavar="FOLDER",
        help="The sources of the library: your version, or patched. [default: slowhand's]",
    )
    parser.add_argument(
        "--config", metavar="FILE", help="A header that changes its options, by #define and #undef."
    )
    parser.add_argument(
        "--cflags", metavar="FLAGS", default="", help="More options of the compiler, in one word."
    )


def add(arguments: argparse.Namespace, out: Terminal) -> int:
    """Compiles a stack."""
    from slowhand import own_stacks
    from slowhand.api import stacks

    name = arguments.name
    folder = own_stacks.add(
        name,
        arguments.sources,
        own_stacks.words(arguments.cflags, place="--cflags"),
        source=arguments.source,
        config=arguments.config,
    )
    build = own_stacks.builds([name])[name]
    (licence,) = [stack["licence"] for stack in stacks() if stack["name"] == name]
    if arguments.json:
        print_json({"name": name, "folder": str(folder), "licence": licence, **build}, out)
    else:
        out.print(f"{name} {build['version']} ({build['digest']}) is in {folder}")
        is_copyleft = licence.startswith("GPL")
        duty = ": who passes it on has to pass on its sources" if is_copyleft else ""
        out.print(f"Its licence is {licence}{duty}.")
        out.paragraph(
            f"In a scenario: session.stack = {name}. To try it: slowhand stacks check {name}"
        )
    return DONE


def remove_options(parser: Parser) -> None:
    """The options of `stacks remove`."""
    parser.add_argument("name", metavar="OWN", help="Its name.")


def remove(arguments: argparse.Namespace, out: Terminal) -> int:
    """Removes a stack."""
    from slowhand import own_stacks

    own_stacks.remove(arguments.name)
    if arguments.json:
        print_json({"removed": arguments.name}, out)
    return DONE


def check_options(parser: Parser) -> None:
    """The options of `stacks check`."""
    parser.add_argument("name", metavar="STACK", help="Its name; also one that is built in.")


def check(arguments: argparse.Namespace, out: Terminal) -> int:
    """Tries a stack."""
    from slowhand import own_stacks
    from slowhand.table import Column, Table

    found = own_stacks.check(arguments.name)
    if arguments.json:
        print_json({**found._asdict(), "stack": arguments.name}, out)
        return NO if found.problems else DONE
    sessions = found.trial["sessions"] if found.trial else []
    if sessions:
        table = Table([Column(right=False), Column(right=False), *map(Column, COLUMNS)])
        for each in sessions:
            leaked = each["leaked"]
            table.add(
                each["protocol"],
                each["credential"],
                str(each["datagrams"]),
                str(each["octets"]),
                str(len(each["problems"])),
                "not counted" if leaked is None else f"{leaked:,.0f}",
            )
        table.print(out)
    for problem in found.problems:
        say(f"{arguments.name}: {escaped(problem)}")
    if not found.problems:
        out.paragraph(
            f"{arguments.name}: two processes gave the same; each datagram was lost once, and"
            " datagrams were small; nothing was found"
        )
    return NO if found.problems else DONE


COLUMNS = ("datagrams", "octets", "problems", "kept (octets)")
"""The columns of numbers of a check: of a handshake without losses, and of all handshakes."""
