"""Networks that run, as interfaces of Wireshark: what extcap(4) asks of a program.

Wireshark starts the program to list interfaces, to ask of one which link type it has, and to
capture: then the network itself writes frames into the FIFO of Wireshark.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from slowhand._native import __version__
from slowhand.output import replacing
from slowhand.realtime import control

NAME = "slowhand"
PREFIX = "slowhand-"
"""The first characters of the name of an interface; the number of the network's process follows."""

TAP = 283
"""The link type of captures (https://www.tcpdump.org/linktypes.html, IEEE802_15_4_TAP)."""

PAUSE_S = 1.0
"""The time after which a capture looks again whether its network still runs."""

SCRIPT = """\
#!/bin/sh
# Networks of `slowhand live` as interfaces of Wireshark. `slowhand live extcap --install` wrote it.
exec {python} -P -m slowhand live extcap "$@"
"""


def interfaces() -> Iterator[str]:
    """The lines for the networks that run at their default places."""
    yield f"extcap {{version={__version__}}}"
    for path in control.running():
        display = _safe(f"slowhand live {control.started_as(path)}".strip())
        yield f"interface {{value={PREFIX}{control.process(path)}}}{{display={display}}}"


def link_types() -> Iterator[str]:
    """The line for the link type of an interface."""
    yield f"dlt {{number={TAP}}}{{name=IEEE802_15_4_TAP}}{{display=IEEE 802.15.4 TAP}}"


def network(interface: str) -> Path:
    """The control socket of the network with this interface. Raises `ControlError`."""
    for path in control.running():
        if interface == f"{PREFIX}{control.process(path)}":
            return path
    raise control.ControlError("no network with this interface runs; look for new interfaces")


def capture(interface: str, fifo: str) -> None:
    """Lets the network of an interface write into a FIFO, until one of them or Wireshark ends.

    Raises `ControlError`.
    """
    path = network(interface)
    parent = os.getppid()
    control.ask(path, {"capture": str(Path(fifo).absolute())})
    while os.getppid() == parent and control.answers(path):
        time.sleep(PAUSE_S)


def folders() -> Iterator[Path]:
    """Where Wireshark looks for programs of a user: from version 4.2 on, and before."""
    yield Path("~/.local/lib/wireshark/extcap").expanduser()
    settings = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    yield Path(settings, "wireshark", "extcap").expanduser()


def install(folder: Path) -> Path:
    """Writes a program for Wireshark into this folder, and returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / NAME
    with replacing(file) as temporary:
        temporary.write_text(SCRIPT.format(python=shlex.quote(sys.executable)), encoding="utf-8")
    file.chmod(0o755)
    return file


def _safe(text: str) -> str:
    """Text for a value: braces end one (extcap(4), grammar elements)."""
    return text.translate({ord("{"): "(", ord("}"): ")"})
