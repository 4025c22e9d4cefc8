"""The recipes of ARCHITECTURE.md: the files that they name are there, and have what they name.

Both are read from the document, in which a recipe is a list or a table. Each item of the list, and
each row of the table, names files, and places in them: a list to fill, a trait, a function.
"""

import re
import subprocess
from collections.abc import Iterator
from functools import cache

import pytest

from conftest import ROOT

SPAN = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"[\w./-]*(?:/|\.(?:rs|toml|py|md|json|c|h))")
PLACE = re.compile(r"(?:pub use )?[A-Za-z_]\w*(?:::\w+)*!?")
STANDS_FOR = re.compile(r"\b(?:KIND|LIBRARY|ID|NAME|SECTION)\b")
"""The words of the recipes for what is new: they stand for what is there already."""


@cache
def files() -> list[str]:
    """The files of the project, also those that git does not have yet."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@cache
def text(file: str) -> str:
    return (ROOT / file).read_text(errors="replace") if (ROOT / file).is_file() else ""


def recipes() -> dict[str, str]:
    """The recipes of the document by their titles."""
    _, _, section = (ROOT / "ARCHITECTURE.md").read_text().partition("\n## Recipes\n")
    section = re.split(r"^## ", section, flags=re.MULTILINE)[0]
    parts = re.split(r"^### (.+)\n", section, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def items(recipe: str) -> list[str]:
    """The items of lists, the rows of tables and the paragraphs of a recipe."""
    blocks = re.split(r"\n\s*\n|^(?=\d+\. )|^(?=\| )", recipe, flags=re.MULTILINE)
    return [block for block in blocks if block.strip()]


def paths(text: str) -> list[str]:
    return [span for span in SPAN.findall(text) if FILE.fullmatch(span)]


def named(path: str) -> list[str]:
    """The files that a path of a recipe names: it may be the end of a path, or a folder."""
    pattern = STANDS_FOR.sub("[^/]+", path.replace(".", r"\."))
    whole = re.compile(rf"(?:.*/)?{pattern}{'.*' if path.endswith('/') else ''}")
    return [file for file in files() if whole.fullmatch(file)]


def has(file: str, place: str) -> bool:
    """True if a file has a place. Of a list, whose name is in capitals, it has the definition."""
    name = re.escape(place.rpartition("::")[2])
    if place.isupper() or name.isupper():
        defined = rf"\b(?:const|static) {name}\b|^{name}\b.*(?:=|: )"
        return bool(re.search(defined, text(file), re.MULTILINE))
    return bool(re.search(rf"(?<!\w){name}(?!\w)", text(file)))


def wrong(item: str, recipe: str) -> Iterator[str]:
    """The paths of an item that name no file, and the places that are not in its files.

    A place may also be in a file that the recipe has for what is new. Words of prose and of whole
    paragraphs may be in each file of the recipe.
    """
    own = paths(item)
    yield from (path for path in own if not named(path))
    is_paragraph = not re.match(r"\d+\. |\| ", item)
    for place in filter(PLACE.fullmatch, SPAN.findall(item)):
        wide = is_paragraph or (place.islower() and place.isalpha())
        others = (path for path in paths(recipe) if wide or STANDS_FOR.search(path))
        if not any(has(file, place) for path in (*own, *others) for file in named(path)):
            yield place


@pytest.mark.parametrize("title", recipes())
def test_a_recipe_names_what_is_there(title: str) -> None:
    recipe = recipes()[title]
    assert [(name, item) for item in items(recipe) for name in wrong(item, recipe)] == []


def test_the_document_has_recipes_with_files() -> None:
    assert len(recipes()) >= 6
    for title, recipe in recipes().items():
        assert len(paths(recipe)) >= 2, title


@pytest.mark.parametrize(
    ("item", "missing"),
    [
        ("1. `python/slowhand/report.py`: `COLUMNS`, `METRICS`", []),
        (
            "1. `python/slowhand/report.py`: `COLUMNS`, `ROWS`, `Recorder`",
            ["ROWS", "Recorder"],
        ),
        ("| `src/record.rs`, `src/recorder.rs` | a field |", ["src/recorder.rs"]),
        ("| `devices/NAME.toml`, `device/NAME.toml` | a copy |", ["device/NAME.toml"]),
        ("1. `python/slowhand/results.py`: `METRICS`", ["METRICS"]),  # report.py has it
        (
            "The functions `frame` and `no_such_function` are in `python/slowhand/results.py`",
            ["no_such_function"],
        ),
    ],
)
def test_what_is_not_there_is_found(item: str, missing: list[str]) -> None:
    assert list(wrong(item, item)) == missing
