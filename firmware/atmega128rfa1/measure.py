"""Measures lean-dtls on the ATmega128RFA1: `python firmware/atmega128rfa1/measure.py FILE`.

It builds the images (a Rust compiler with the sources of `core`, avr-gcc), runs them on simavr, and
writes what each call of the engine takes, in cycles, and what each image needs, in octets. The
paper "DTLS improvements for constrained networks" uses the file, so that nobody else needs these
tools.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

FIRMWARE = Path(__file__).parent.parent
IMAGES = FIRMWARE.parent / "target" / "firmware" / "avr-none" / "release"
TARGET = "atmega128rfa1"
CLOCK_HZ = 16_000_000

LINE = re.compile(r"^(call|size) (\w+)(?: ([a-z_]+))? ((?:\d+ )+)", re.MULTILINE)
COLOUR = re.compile(r"\x1b\[\d*m")


def build(*options: str) -> None:
    """Builds images. The distribution's compiler has the sources of `core`."""
    environment = {**os.environ, "RUSTC_BOOTSTRAP": "1"}
    environment["PATH"] = f"/usr/bin{os.pathsep}{environment['PATH']}"
    # The images of this folder need the options in `firmware/.cargo/config.toml`.
    command = ["cargo", "build", "--release", "--target", "avr-none", "-p", f"firmware-{TARGET}"]
    subprocess.run([*command, *options], cwd=FIRMWARE, env=environment, check=True)


def run(image: str) -> dict[str, Any]:
    """Runs an image to its end. Each call has role, name, octets, cycles, octets of stack."""
    command = ["simavr", "-m", TARGET, "-f", str(CLOCK_HZ), str(IMAGES / f"{image}.elf")]
    lines = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    console = COLOUR.sub("", lines.stdout + lines.stderr)
    if "complete" not in console.split("incomplete")[0]:
        raise SystemExit(f"{image}: found a run that is not complete:\n{console}")
    calls: list[list[str | int]] = []
    sizes: dict[str, int] = {}
    for kind, role, name, numbers in LINE.findall(console):
        values = [int(number) for number in numbers.split()]
        if kind == "size":
            sizes[role] = values[0]
        else:
            calls.append([role, name, *values])
    return {"calls": calls, "sizes": sizes}


def memory(image: str) -> dict[str, int]:
    """Flash and static RAM of an image. What is initialised is in both."""
    printed = subprocess.check_output(["avr-size", IMAGES / f"{image}.elf"], text=True)
    text, data, bss = (int(number) for number in printed.splitlines()[1].split()[:3])
    return {"flash": text + data, "static": data + bss}


def version(*command: str) -> str:
    """The first line that a tool says about itself."""
    return subprocess.check_output(command, text=True, stderr=subprocess.STDOUT).splitlines()[0]


def measure() -> dict[str, Any]:
    """All of it."""
    build("--features", "slides", "--bin", "handshake")
    slides = {**run("handshake"), "image": memory("handshake")}
    build()
    plain = {**run("handshake"), "image": memory("handshake")}
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
        "operations": [[name, *values] for _, name, *values in run("operations")["calls"]],
        "images": {name: memory(name) for name in ("both", "client", "server", "bare")},
    }


def lines_of(found: dict[str, Any]) -> str:
    """As JSON: a call on a line."""
    text = json.dumps(found, indent=1)
    flat = re.sub(r"\[\n\s+(\"[^\[\]]*?)\n\s+\]", lambda m: f"[{' '.join(m[1].split())}]", text)
    return flat + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(lines_of(measure()))
