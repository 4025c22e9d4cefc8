"""Builds the site of the documentation: the project's Markdown files as they are, and a reference.

    tools/site                    writes it into target/site
    tools/site FOLDER             writes it into FOLDER

Pages keep their paths in the project, so their links work in both places. The build fails if a link
or an anchor is broken. docs/site/mkdocs.yml has the navigation.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reference import pages

ROOT = Path(__file__).resolve().parent.parent.parent

TARGET = ROOT / "target" / "site"

LABORATORY = ROOT / "target" / "lab-page" / "slowhand.html"

DOCUMENTS = (
    "*.md",
    "docs/**/*.md",
    "papers/*/README.md",
    "crates/lean-dtls/README.md",
    "crates/slowhand-sessions/credentials/README.md",
    "interop/README.md",
)
"""Which files of the project are pages."""

LINK = re.compile(r"\]\(<?([^)\s>#:]+)[^)]*\)")


def main(target: Path) -> None:
    """Writes the site into a folder that is empty or not there. The usual one is made anew."""
    if target == TARGET:
        shutil.rmtree(target, ignore_errors=True)
    elif target.exists() and any(target.iterdir()):
        sys.exit(f"{target}: found files, allowed: a folder that is empty or not there")
    with tempfile.TemporaryDirectory() as place:
        stage(Path(place))
        command = [sys.executable, "-m", "zensical", "build", "--strict"]
        done = subprocess.run(command, cwd=place, env={**os.environ, "NO_COLOR": "1"}, check=False)
        if done.returncode:
            sys.exit("the site was not built, see above")
        shutil.copytree(Path(place) / "site", target, dirs_exist_ok=True)


def stage(place: Path) -> None:
    """Writes the configuration into a folder, and all pages into its folder `pages`."""
    source = place / "pages"
    for document in documents():
        copy(document, source)
    for path, text in {**pages(), **notebooks(source)}.items():
        write(source / path, text)
    add_laboratory(source)
    here = ROOT / "docs" / "site"
    shutil.copy(here / "mkdocs.yml", place)
    shutil.copy(here / "site.css", source)


def add_laboratory(source: Path) -> None:
    """Adds the laboratory in a page, if `tools/lab-page` has built it, and a link to it."""
    if not LABORATORY.exists():
        return
    shutil.copy(LABORATORY, source / "docs" / "laboratory.html")
    about = source / "docs" / "lab.md"
    heading, text = about.read_text().split("\n\n", 1)
    about.write_text(f"{heading}\n\n**[Open the laboratory](laboratory.html)**\n\n{text}")


def documents() -> list[Path]:
    """The pages that are files of the project, relative to its folder."""
    found = {file.relative_to(ROOT) for pattern in DOCUMENTS for file in ROOT.glob(pattern)}
    return sorted(found)


def copy(document: Path, source: Path) -> None:
    """Copies a page, and the files that it shows or links to and that are no pages."""
    text = (ROOT / document).read_text()
    write(source / document, text)
    for link in LINK.findall(text):
        file = (ROOT / document.parent / link).resolve()
        if file.is_file() and file.suffix != ".md" and file.is_relative_to(ROOT):
            place = source / file.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)


def notebooks(source: Path) -> dict[str, str]:
    """Each notebook as a page, by its path; its pictures are written into `source`."""
    found = {}
    for file in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        path = file.relative_to(ROOT)
        cells = json.loads(file.read_text())["cells"]
        pictures = source / path.parent
        lines = [
            line
            for number, cell in enumerate(cells)
            for line in shown(cell, pictures, f"{file.stem}-{number}")
        ]
        about = f"[Download this notebook]({file.name}) to run it in your own Jupyter."
        lines[2:2] = [about, ""]
        found[str(path.with_suffix(".md"))] = "\n".join(lines)
    return found


def shown(cell: dict[str, Any], pictures: Path, name: str) -> Iterator[str]:
    """A cell of a notebook and its outputs, as Markdown."""
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield from (*text.splitlines(), "")
        return
    yield from ("```python", text, "```", "")
    for output in cell["outputs"]:
        data = output.get("data", {"text/plain": output.get("text", "")})
        if "image/svg+xml" in data:
            write(pictures / f"{name}.svg", "".join(data["image/svg+xml"]))
            yield from (f"![What the cell draws]({name}.svg)", "")
        else:
            yield from ("```text", "".join(data["text/plain"]).rstrip(), "```", "")


def write(file: Path, text: str) -> None:
    """Writes a file and makes its folder."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else TARGET)
