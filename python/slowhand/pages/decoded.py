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

PATIENCE_S = 60.0
"""The time that tshark may take. *Assumed*: ten times what it takes for so many frames."""

LEFT_OUT = ("geninfo", "frame", "wpan-tap", "fake-field-wrapper")
"""The protocols in which tshark describes the capture, not the frame."""


def decoded(scenario: Scenario, seed: int, frames: int) -> dict[str, Any] | None:
    """Every frame of a world in lines: `lines` has each once, `frames` the places for each frame.

    None if there is no tshark, or if there are too many frames. Raises `UndecodedError` if tshark
    fails.
    """
    tshark = shutil.which("tshark")
    if not tshark or frames > MOST_FRAMES:
        return None
    try:
        found = _dissected(tshark, scenario, seed)[:frames]
    except (OSError, ElementTree.ParseError, subprocess.SubprocessError) as error:
        raise UndecodedError(f"tshark does not decode the frames: {error}") from error
    if len(found) != frames:
        raise UndecodedError(f"tshark decoded {len(found)} of {frames} frames")
    places: dict[str, int] = {}
    numbers = [[places.setdefault(line, len(places)) for line in frame] for frame in found]
    return {"lines": [*places], "frames": numbers}


class UndecodedError(Exception):
    """tshark is there, and fails. The message says why."""


def _dissected(tshark: str, scenario: Scenario, seed: int) -> list[Sequence[str]]:
    """The lines of each frame of the world's capture, in the order of time."""
    with TemporaryDirectory() as folder:
        capture = Path(folder) / "frames.pcapng"
        scenario.capture(str(capture), seed=seed)
        words = [tshark, "-n", "-r", str(capture), "-T", "pdml"]
        words += scenario.native.wireshark_arguments()
        with (Path(folder) / "frames.xml").open("w+b") as pdml:
            run = subprocess.run(
                words, stdout=pdml, stderr=subprocess.DEVNULL, cwd=folder, timeout=PATIENCE_S
            )
            run.check_returncode()
            pdml.seek(0)
            return [*_frames(pdml)]


def _frames(pdml: IO[bytes]) -> Iterator[Sequence[str]]:
    """The lines of each frame."""
    for _, element in ElementTree.iterparse(pdml):
        if element.tag == "packet":
            yield [*_lines(element, 0)]
            element.clear()


def _lines(element: ElementTree.Element, depth: int) -> Iterator[str]:
    """The lines that tshark shows of a part, each behind spaces for its depth."""
    for part in element:
        if part.get("name") in LEFT_OUT or part.get("hide") == "yes":
            continue
        words = part.get("showname") or part.get("show") or ""
        if words:
            yield "  " * depth + words
        yield from _lines(part, depth + 1 if words else depth)
