"""Measures lean-dtls on the ATmega128RFA1: `python firmware/atmega128rfa1/measure.py FILE`.

It builds the images (a Rust compiler with the sources of `core`, avr-gcc), runs them on simavr, and
writes what each call of the engine takes, in cycles, and what each image needs, in octets. The
paper "DTLS improvements for constrained networks" uses the file, so that nobody else needs these
tools.
"""

from __future__ import annotations

import datetime
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from images import ATMEGA128RFA1 as BOARD

CLOCK_HZ = 16_000_000
IMAGES = ["both", "client", "server", "bare"]


def memory(image: str) -> dict[str, int]:
    """Flash and static RAM of an image. What is initialised is in both."""
    of = BOARD.sections(image)
    return {"flash": of["text"] + of["data"], "static": of["data"] + of["bss"]}


def handshake(features: list[str], others: list[str]) -> dict[str, Any]:
    """Builds images, and runs the handshake. Each call has role, name, octets, cycles, octets of stack."""
    BOARD.build(features, ["handshake", *others])
    sizes, calls = BOARD.run("handshake")
    return {"calls": calls, "sizes": sizes, "image": memory("handshake")}


def version(*command: str) -> str:
    """The first line that a tool says about itself."""
    return subprocess.check_output(command, text=True, stderr=subprocess.STDOUT).splitlines()[0]


def measure() -> dict[str, Any]:
    """All of it."""
    slides = handshake(["slides"], [])
    plain = handshake([], [*IMAGES, "operations"])
    simavr = version("dpkg-query", "--show", "--showformat=${Version}", "simavr")
    return {
        "date": datetime.date.today().isoformat(),
        "tools": {
            "rustc": version("/usr/bin/rustc", "--version"),
            "avr-gcc": version("avr-gcc", "--version"),
            "simavr": simavr,
        },
        "clock_hz": CLOCK_HZ,
        "plain": plain,
        "slides": slides,
        "operations": [values for _, *values in BOARD.run("operations")[1]],
        "images": {name: memory(name) for name in IMAGES},
    }


def lines_of(found: dict[str, Any]) -> str:
    """As JSON: a call on a line."""
    text = json.dumps(found, indent=1)
    flat = re.sub(r"\[\n\s+(\"[^\[\]]*?)\n\s+\]", lambda m: f"[{' '.join(m[1].split())}]", text)
    return flat + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(lines_of(measure()))
