"""The site of the documentation: it is built, it is complete, and nothing comes from elsewhere."""

import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest

import slowhand
from conftest import ROOT
from slowhand.commands import COMMANDS
from slowhand.commands.common import EXIT_CODES

SITE = ROOT / "docs" / "site"

GENERATED = {"commands", "exit-codes", "keys", "device-keys", "columns", "python"}
"""The pages of the reference."""


class Page(HTMLParser):
    """The parts that a page loads, where it leads, and its anchors."""

    def __init__(self, text: str):
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keeps the links of an element."""
        found = {key: value for key, value in attrs if value is not None}
        self.anchors |= {found[key] for key in ("id", "name") if key in found}
        if "src" in found:
            self.loads.append(found["src"])
        if "href" in found:
            is_loaded = tag == "link" and found.get("rel") in ("stylesheet", "icon", "preload")
            (self.loads if is_loaded else self.links).append(found["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, SITE / "build.py", folder], check=True)
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Page]:
    """Its pages, by path."""
    files = sorted(site.rglob("*.html"))
    return {str(file.relative_to(site)): Page(file.read_text()) for file in files}


def navigation() -> list[str]:
    """The pages in the navigation."""
    text = (SITE / "mkdocs.yml").read_text()
    return re.findall(r"^ +- .*: (\S+\.md)$", text[text.index("\nnav:") :], re.MULTILINE)


def test_each_page_of_the_documentation_has_its_place_in_the_navigation() -> None:
    there = {str(file.relative_to(ROOT)) for file in (ROOT / "docs").rglob("*.md")}
    there |= {str(file.relative_to(ROOT)) for file in ROOT.glob("*.md")}
    there |= {str(file.relative_to(ROOT)) for file in ROOT.glob("papers/*/README.md")}
    named = navigation()
    assert sorted(set(named)) == sorted(named)
    missing = there - set(named)
    assert not missing, "docs/site/mkdocs.yml: add these pages to nav"
    notebooks = {f"docs/notebooks/{f.stem}.md" for f in (ROOT / "docs/notebooks").glob("*.ipynb")}
    assert notebooks | {f"reference/{name}.md" for name in GENERATED} <= set(named)


def test_no_page_loads_anything_from_elsewhere(pages: dict[str, Page]) -> None:
    assert len(pages) > 25
    for path, page in pages.items():
        away = [link for link in page.loads if urlsplit(link).scheme not in ("", "data")]
        assert away == [], path


def test_every_link_leads_to_a_file_and_an_anchor(site: Path, pages: dict[str, Page]) -> None:
    broken = []
    for path, page in pages.items():
        if path == "404.html":  # its links begin at the root of a server
            continue
        for link in {*page.links, *page.loads}:
            if urlsplit(link).scheme:
                continue
            target = urlsplit(urljoin(f"/{path}", link))
            file = unquote(target.path).lstrip("/") or "index.html"
            anchors = pages[file].anchors if file in pages else set()
            anchor = unquote(target.fragment)
            if not (site / file).exists() or (anchor and anchor not in anchors):
                broken.append((path, link))
    assert broken == []


def test_a_broken_link_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    configuration = (SITE / "mkdocs.yml").read_text()
    (tmp_path / "mkdocs.yml").write_text(configuration[: configuration.index("nav:")])
    for text, code in (("[a](#here)\n\n# Here\n", 0), ("[a](#gone)\n", 1), ("[a](gone.md)\n", 1)):
        (tmp_path / "pages" / "index.md").write_text(text)
        command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == code, text


def test_a_folder_with_files_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("kept")
    command: list[str | Path] = [sys.executable, SITE / "build.py", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("found files, allowed: a folder that is empty or not there\n")
    assert [file.name for file in tmp_path.iterdir()] == ["mine"]


def text_of(site: Path, page: str) -> str:
    """The words of a page."""
    return re.sub(r"<[^>]*>", "", (site / "reference" / f"{page}.html").read_text())


def test_the_reference_has_every_key(pages: dict[str, Page]) -> None:
    """Each key of the schemas, counted there and not by the generator, has a heading."""
    for kind, page in (("scenario", "keys"), ("device", "device-keys")):
        anchors = pages[f"reference/{page}.html"].anchors
        schema = slowhand.schema(kind)
        for name in schema["properties"]:
            assert name in anchors
        constants = {"source", "assumed", "value", "cycles"}  # of each number of a device
        names = {key for part in schema["$defs"].values() for key in keys_of(part)} - constants
        last = {re.split(r"[.\]]", anchor)[-1] for anchor in anchors}
        assert names - last - {"kind"} == set()
    assert {"network.link_pdr", "network.trace.file", "mac-tsch.schedule.slot"} <= pages[
        "reference/keys.html"
    ].anchors


def keys_of(schema: object) -> Iterator[str]:
    """The keys of a part of a schema, at any depth."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for below in schema.values():
            yield from keys_of(below)
    elif isinstance(schema, list):
        for below in schema:
            yield from keys_of(below)


def test_the_reference_has_every_column_command_name_and_exit_code(
    site: Path, pages: dict[str, Page]
) -> None:
    columns = text_of(site, "columns")
    for table in ("records", "nodes", "timeline", "buffers"):
        for name, column in slowhand.schema(table)["properties"].items():
            assert name in columns
            assert column["description"].split("`")[0].split("'")[0] in columns
    anchors = {name.replace(" ", "-") for name in COMMANDS}
    assert anchors <= pages["reference/commands.html"].anchors
    python = pages["reference/python.html"].anchors
    assert {f"slowhand.{name}" for name in slowhand.__all__ if name != "__version__"} <= python
    assert {"slowhand.Scenario.with_", "slowhand.estimate.Estimate", "slowhand.plot.ecdf"} <= python
    codes = text_of(site, "exit-codes")
    assert [code for code in EXIT_CODES if code not in codes] == []


def test_the_page_of_results_has_the_exit_codes_of_the_code() -> None:
    rows = "\n".join(f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items())
    page = (ROOT / "docs" / "results.md").read_text()
    assert f"| exit code | meaning |\n|---|---|\n{rows}\n" in page
