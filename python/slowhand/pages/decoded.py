"""The frames of a capture as tshark has them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any
from xml.etree import ElementTree

if TYPE_CHECKING:
    from slowhand.api import Scenario

MOST_FRAMES = 3_000
"""So many frames are decoded at most. *Assumed*: tshark takes some seconds for them, and they are
about 2 MB of a page."""

LEFT_OUT = ("geninfo", "frame", "wpan-tap", "fake-field-wrapper")
"""What tshark says of the capture, not of the frame."""


def decoded(scenario: Scenario, seed: int, frames: int) -> dict[str, Any] | None:
    """Every frame of a world in lines: `lines` has each once, `frames` the places for each frame.

    None if there is no tshark, or if there are too many frames.
    """
    tshark = shutil.which("tshark")
    if not tshark or frames > MOST_FRAMES:
        return None
    with TemporaryDirectory() as folder:
        capture = Path(folder) / "frames.pcapng"
        scenario.capture(str(capture), seed=seed)
        words = [tshark, "-n", "-r", str(capture), "-T", "pdml"]
        words += scenario.native.wireshark_arguments()
        run = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder)
        with run:
            assert run.stdout is not None
            try:
                found = [*_frames(run.stdout)]
            except ElementTree.ParseError:
                return None
    if run.returncode or len(found) != frames:
        return None
    places: dict[str, int] = {}
    numbers = [[places.setdefault(line, len(places)) for line in frame] for frame in found]
    return {"lines": [*places], "frames": numbers}


def _frames(pdml: IO[bytes]) -> Iterator[Sequence[str]]:
    """The lines of each frame."""
    for _, element in ElementTree.iterparse(pdml):
        if element.tag == "packet":
            yield [*_lines(element, 0)]
            element.clear()


def _lines(element: ElementTree.Element, depth: int) -> Iterator[str]:
    """What tshark shows of a part, each line behind spaces for its depth."""
    for part in element:
        if part.get("name") in LEFT_OUT or part.get("hide") == "yes":
            continue
        words = part.get("showname") or part.get("show") or ""
        if words:
            yield "  " * depth + words
        yield from _lines(part, depth + 1 if words else depth)
