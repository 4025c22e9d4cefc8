"""A scenario file with the links of a network that exists."""

from __future__ import annotations

import re

from slowhand.links.rows import Trace
from slowhand.terminal import escaped

HEADER = re.compile(r"^\[\[?\s*([\w-]+)(?:\.[^\]\n]*)?\s*\]\]?\s*(?:#.*)?$", re.MULTILINE)
"""The header of a section, at the begin of a line."""


def scenario(trace: Trace, like: str, *, about: str, trace_file: str | None = None) -> str:
    """The text of a scenario: its network is that of `trace`, all else that of the text `like`.

    `about` says in a line where the links are from. `trace_file` is the name of the trace, if
    losses are to change with time as they did.
    """
    lines = [f"# {escaped(about)}", "#"]
    lines += [f"# node {number}  {escaped(name)}" for name, number in trace.nodes.items()]
    network = "\n".join(lines) + "\n\n" + trace.network(trace_file)
    return f"{network}\n{_without_network(like)}"


def _without_network(text: str) -> str:
    """The sections but `[network]` and what is below it; also without the comments before them."""
    headers = [*HEADER.finditer(text)]
    ends = [*(header.start() for header in headers[1:]), len(text)]
    sections = zip(headers, ends, strict=True)
    return "".join(text[header.start() : end] for header, end in sections if header[1] != "network")
