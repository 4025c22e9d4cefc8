"""Builds the images, and runs them on emulators of their boards.

The compiler is Debian's, because it brings the sources of `core`, which is built for both processors.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

FIRMWARE = Path(__file__).resolve().parent
ROOT = FIRMWARE.parent
# Each emulator needs less than a second.
PATIENCE_S = 60


@dataclass(frozen=True)
class Board:
    """A board: how images are built for it, and what runs them."""

    name: str
    target: str
    suffix: str
    size: str
    emulator: str

    @property
    def folder(self) -> Path:
        """Where what has been built is."""
        return ROOT / "target/firmware" / self.target / "release"

    def image(self, name: str) -> Path:
        return self.folder / f"{name}{self.suffix}"

    def build(self, features: list[str], images: list[str]) -> None:
        """Builds images with these features."""
        names = [word for image in images for word in ("--bin", image)]
        self.cargo(["-p", f"firmware-{self.name}", "--features", ",".join(features), *names])

    def cargo(self, what: list[str], command: str = "build") -> None:
        """Builds for the board, with Debian's compiler and the options in `firmware/.cargo/config.toml`."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("CARGO", "RUST")) or k == "CARGO_HOME"}
        environment |= {"PATH": f"/usr/bin:{os.environ['PATH']}", "RUSTC_BOOTSTRAP": "1"}
        # The profile of firmware/Cargo.toml for packages of the other workspace too: `core` is compiled once.
        profile = tomllib.loads((FIRMWARE / "Cargo.toml").read_text())["profile"]["release"]
        for key, value in profile.items():
            environment[f"CARGO_PROFILE_RELEASE_{key.upper().replace('-', '_')}"] = str(value)
        options = ["-q", "--release", "--locked", "--target", self.target]
        run(["/usr/bin/cargo", command, *options, *what], cwd=FIRMWARE, env=environment)

    def sections(self, image: str) -> dict[str, int]:
        """The octets of text, data and bss."""
        line = run([self.size, str(self.image(image))]).splitlines()[1]
        return dict(zip(("text", "data", "bss"), map(int, line.split()[:3]), strict=True))

    def run(self, image: str) -> tuple[dict[str, int], list[list[str | int]]]:
        """Runs an image to its end: octets of what is kept, by name; and each call with its words and numbers."""
        output = run([*self.emulator.split(), str(self.image(image))], timeout=PATIENCE_S)
        # simavr writes the lines of the console in colour, with a point for each other character.
        output = re.sub(r"\x1b\[[0-9;]*m", "", output).replace(" .\n", "\n")
        if not re.search(r"^complete", output, re.MULTILINE):
            sys.exit(f"{output}\n{image} on the {self.name} did not complete")
        sizes: dict[str, int] = {}
        calls: list[list[str | int]] = []
        for kind, words, numbers in re.findall(r"^(call|size)((?: [a-z_]+)+)((?: \d+)+)", output, re.MULTILINE):
            values = [int(number) for number in numbers.split()]
            if kind == "size":
                sizes[words.strip()] = values[0]
            else:
                calls.append([*words.split(), *values])
        return sizes, calls


def run(command: list[str], **options: object) -> str:
    """Runs a command, and returns what it prints. If it fails, so does this program."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)  # type: ignore[call-overload]
    except FileNotFoundError as error:
        sys.exit(f"{error.filename} is missing: ./test installs it, or says how")
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\nfailed: {' '.join(command)}")
    return str(done.stdout)


CORTEX_M3 = Board(
    name="cortex-m3",
    target="thumbv7m-none-eabi",
    suffix="",
    size="arm-none-eabi-size",
    emulator="qemu-system-arm -M mps2-an385 -nographic -semihosting -icount shift=3 -kernel",
)
ATMEGA128RFA1 = Board(
    name="atmega128rfa1",
    target="avr-none",
    suffix=".elf",
    size="avr-size",
    emulator="simavr -m atmega128rfa1 -f 16000000",
)
