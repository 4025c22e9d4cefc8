"""The reference: pages that follow from the code, so that they cannot differ from it."""

from __future__ import annotations

import os
from typing import Any

import key_pages
import python_pages

import slowhand
from slowhand import sweeps
from slowhand.commands import COMMANDS
from slowhand.commands.common import EXIT_CODES

WIDTH = 84
"""The columns of a help text: as many as a page has beside its navigation."""

TABLES = {
    "records": "`slowhand.run`, `slowhand run --records`, and each file of a sweep's data set "
    "(there after `scenario`, `version` and the keys that were varied)",
    "nodes": "`Scenario.inspect().nodes`, `slowhand run --nodes`",
    "timeline": "`Scenario.inspect().timeline`, `slowhand run --timeline`",
    "buffers": "`Scenario.inspect().buffers`, `slowhand run --buffers`",
}


def pages() -> dict[str, str]:
    """Each page of the reference as Markdown, by its path in the site."""
    return {
        "reference/keys.md": key_pages.page(
            "Keys of a scenario",
            "Every key of a scenario file, from `slowhand schema`. A key may be set from the "
            "command line (`--set network.link_pdr=0.9`) and from Python (`Scenario.with_`).",
            slowhand.schema(),
        ),
        "reference/device-keys.md": key_pages.page(
            "Keys of a device",
            "Every key of a device file, from `slowhand schema device`. Each constant has a "
            "source, or a reason why it is assumed.",
            slowhand.schema("device"),
        ),
        "reference/battery-keys.md": key_pages.page(
            "Keys of a battery",
            "Every key of a battery file, from `slowhand schema battery`. Each constant has a "
            "source, or a reason why it is assumed.",
            slowhand.schema("battery"),
        ),
        "reference/columns.md": columns(),
        "reference/commands.md": commands(),
        "reference/exit-codes.md": exit_codes(),
        "reference/python.md": python_pages.page(),
    }


def columns() -> str:
    """The columns of each table."""
    lines = [
        "# Columns",
        "",
        "Every column of every table, from `slowhand schema records` and so on. Units are in the "
        "names. The columns of `records` that are numbers are the metrics of a run's summary too; "
        "of a list of numbers, the greatest counts there.",
        "",
    ]
    for table, where in TABLES.items():
        schema = slowhand.schema(table)
        lines += [f"## {table}", "", f"{schema['description']} {where}.", ""]
        lines += ["| column | type | meaning |", "| --- | --- | --- |"]
        for name in schema["required"]:
            column = schema["properties"][name]
            meaning = column["description"].replace("|", "\\|")
            lines.append(f"| `{name}` | {_type(column)} | {meaning} |")
        lines.append("")
    lines += ["## sweeps", "", "One configuration. `slowhand.sweep`, `slowhand.compare`.", ""]
    lines += ["| column | meaning |", "| --- | --- |"]
    lines += [f"| `{name}` | {meaning} |" for name, meaning in sweeps.COLUMNS.items()]
    return "\n".join(lines) + "\n"


def _type(column: dict[str, Any]) -> str:
    kinds = column["type"] if isinstance(column["type"], list) else [column["type"]]
    words = {"integer": "whole number", "number": "number", "string": "text", "array": "list"}
    word = words[kinds[0]]
    return f"{word} or missing" if "null" in kinds else word


def commands() -> str:
    """The help of each command."""
    os.environ["COLUMNS"] = str(WIDTH)
    lines = [
        "# Commands",
        "",
        "What `slowhand COMMAND --help` prints. Every command has `--json`. The "
        "[exit codes](exit-codes.md) are the same for all.",
        "",
    ]
    for name, command in COMMANDS.items():
        lines += [
            f"## {name} {{ #{name.replace(' ', '-')} }}",
            "",
            "```text",
            command.parser(name).format_help().rstrip(),
            "```",
            "",
        ]
    return "\n".join(lines)


def exit_codes() -> str:
    """The exit codes."""
    lines = ["# Exit codes", "", "| exit code | meaning |", "| --- | --- |"]
    lines += [f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()]
    return "\n".join(lines) + "\n"
