"""The output in the documents is the real one, and their links and paths exist."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import checks
import helped
import interop
import pytest
import words
from protocols import NETWORKS

import slowhand
from conftest import ROOT, Cli

MADE = {".git", ".pytest_cache", ".state", ".venv", "out", "target"}
"""Folders of a clone that are not part of the project."""

DOCUMENTS = sorted(
    file.relative_to(ROOT)
    for entry in ROOT.iterdir()
    if entry.name not in MADE
    for file in ([entry] if entry.is_file() else entry.rglob("*.md"))
    if file.suffix == ".md"
)

VERSION = re.compile(r'^version[ :=]+"?([\d.]+)"?$', re.MULTILINE)
FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
CODE_SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
HEADING = re.compile(r"^#+ +(.+?) *#*$", re.MULTILINE)
EXTERNAL = re.compile(r"[a-z]+:")


@pytest.mark.parametrize("document", ["docs/results.md", "docs/quickstart.svg"])
def test_the_quickstart_in_the_documents_is_what_it_prints(document: str, tmp_path: Path) -> None:
    script = ROOT / "docs" / "quickstart.py"
    subprocess.run([sys.executable, script, tmp_path], check=True)
    written = without_wall_time((ROOT / document).read_text())
    now = without_wall_time((tmp_path / document).read_text())
    assert written == now, "run: .venv/bin/python docs/quickstart.py"


def test_each_page_is_read_in_a_few_minutes() -> None:
    counted = {page: words.prose((ROOT / page).read_text()) for page in words.pages()}
    assert sum(prose.words for prose in counted.values()) <= 18_000
    for page, prose in counted.items():
        assert prose.words <= 1_300 and not prose.long_sentences, f"{page}: see docs/words.py"


def test_the_readme_is_short() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.split()) <= 1_300
    questions = text.split("## I want to know ...")[1].split("\n## ")[0]
    assert len([line for line in questions.splitlines() if line.startswith("| ")]) - 1 <= 10
    limits = text.split("## Honest limits")[1].split("\n## ")[0]
    assert limits.count("\n- ") == 5


def test_each_attack_in_the_security_page_has_its_test() -> None:
    text = (ROOT / "SECURITY.md").read_text()
    section = text.split("## lean-dtls: what an attacker can try")[1].split("\n## ")[0]
    rows = [row.split("|") for row in section.splitlines() if row.startswith("| ")][2:]
    named = {name for row in rows for name in CODE_SPAN.findall(row[3])}
    assert len(rows) >= 14 and all(CODE_SPAN.search(row[3]) for row in rows)
    sources = [file.read_text() for file in (ROOT / "crates" / "lean-dtls").rglob("*.rs")]
    there = {name for text in sources for name in re.findall(r"#\[test\][^{]*?fn (\w+)\(", text)}
    assert named <= there, named - there


@pytest.mark.skipif("SLOWHAND_FULL" not in os.environ, reason="a minute; ./test --full")
@pytest.mark.parametrize("name", ["sweeps", "advice", "battery", "helped", "protocols"])
def test_what_the_commands_in_a_document_print_is_what_it_says(name: str, tmp_path: Path) -> None:
    script = f"docs/{name}.py"
    subprocess.run([sys.executable, ROOT / script, tmp_path], check=True)
    wall_time = re.compile(r"[\d.]+\s+s\s+of\s+wall\s+time")
    pages = [file.relative_to(tmp_path) for file in (tmp_path / "docs").rglob("*.md")]
    assert Path("docs") / f"{name}.md" in pages
    for page in pages:
        written, now = (wall_time.sub("", (at / page).read_text()) for at in (ROOT, tmp_path))
        assert written == now, f"run: .venv/bin/python {script}"
    for picture in (tmp_path / "docs").glob("*.svg"):
        assert picture.read_text() == (ROOT / "docs" / picture.name).read_text()


def test_the_notebooks_have_the_outputs_of_their_cells(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "docs" / "notebooks.py", tmp_path], check=True)
    for written in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        now = (tmp_path / "docs" / "notebooks" / written.name).read_text()
        assert written.read_text() == now, "run: .venv/bin/python docs/notebooks.py"


@pytest.mark.skipif("SLOWHAND_FULL" not in os.environ, reason="two minutes; ./test --full")
def test_the_worked_cases_are_what_they_print(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "docs" / "cases.py", tmp_path], check=True)
    wall_time = re.compile(r"[\d.]+ s of\s+wall\s+time")
    for written in (ROOT / "docs" / "cases").glob("*.md"):
        now = (tmp_path / written.relative_to(ROOT)).read_text()
        found, expected = (wall_time.sub("", text) for text in (now, written.read_text()))
        assert found == expected, "run: .venv/bin/python docs/cases.py"


def test_the_settings_and_slots_in_the_worked_cases_are_what_they_print(cli: Cli) -> None:
    block = re.compile(r"^\$ ./slowhand ((?:settings|capacity) .*)\n((?:(?!```).*\n)*)", re.M)
    cases = (ROOT / "docs" / "cases").glob("*.md")
    found = [match for case in cases for match in block.findall(case.read_text())]
    assert len(found) == 4
    for arguments, printed in found:
        assert cli(*arguments.split()).stdout == printed, "run: .venv/bin/python docs/cases.py"


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_what_a_document_points_to_exists(document: Path) -> None:
    assert list(broken(ROOT / document, ROOT)) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "there.md").write_text("# One `thing`, said\n\n## Twice\n\n## Twice\n")
    document = tmp_path / "docs" / "a.md"
    document.write_text(
        "# Here\n"
        "[a](../there.md) [b](../there.md#one-thing-said) [c](#here) [d](https://example.org/#x)\n"
        "[e](../there.md#twice-1) ![f](missing.png) [g](../there.md#twice-2) [h](#gone)\n"
        '[i](../.. "title") [j][k] `docs/a.md` `docs/*.md` `docs/b.md` `docs/` `other/b.md`\n'
        "```\n[l](not-a-link.md)\n```\n"
        "[k]: nowhere.md\n"
    )
    assert list(broken(document, tmp_path)) == [
        "missing.png",
        "../there.md#twice-2",
        "#gone",
        "../..",
        "nowhere.md",
        "docs/b.md",
    ]


def broken(document: Path, root: Path) -> Iterator[str]:
    """The links of a document that are broken, then the paths in its code that do not exist."""
    text = FENCED.sub("", document.read_text())
    for link in LINK.finditer(CODE_SPAN.sub("", text)):
        target = link[1] or link[2]
        if not EXTERNAL.match(target) and not leads_somewhere(target, document, root):
            yield target
    for span in CODE_SPAN.findall(text):
        if is_path(span, root) and not list(root.glob(span.rstrip("/"))):
            yield span


def leads_somewhere(target: str, document: Path, root: Path) -> bool:
    """True if the project has this file, with a heading of this anchor."""
    path, _, anchor = target.partition("#")
    file = (document.parent / path).resolve() if path else document
    if not file.exists() or not file.is_relative_to(root):
        return False
    return not anchor or anchor in anchors(file.read_text())


def anchors(text: str) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    seen: Counter[str] = Counter()
    found = set()
    for heading in HEADING.findall(FENCED.sub("", text)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return found


def is_path(span: str, root: Path) -> bool:
    """True if this is a path that begins with a folder at the top of the project.

    A part in capitals stands for a name (`crates/NAME`), and stars for any.
    """
    first, slash, rest = span.partition("/")
    plain = re.fullmatch(r"[\w.*/-]*", rest) and not re.search(r"\b[A-Z]{2,}\b(?!\.md)", rest)
    return bool(first and slash and plain and first not in MADE and (root / first).is_dir())


def without_wall_time(text: str) -> str:
    """The text without its wall time, which changes from run to run."""
    result, found = re.subn(r"[\d.]+(?= s of wall time|&#160;s&#160;of&#160;wall)", "", text)
    assert found == 1
    return result


def test_the_document_about_captures_has_the_arguments_that_we_print() -> None:
    text = (ROOT / "docs" / "captures.md").read_text()
    arguments = slowhand.Scenario("quickstart").native.wireshark_arguments()
    assert f"wireshark -r one.pcapng {' '.join(arguments)}\n" in text
    for context in (argument for argument in arguments if argument.startswith("6lowpan.")):
        name, prefix = context.split(":", maxsplit=1)
        assert f"\n{name}: {prefix}\n" in text


def test_whoever_cites_cites_this_version() -> None:
    cited, built = (
        VERSION.search((ROOT / name).read_text()) for name in ("CITATION.cff", "Cargo.toml")
    )
    assert cited and built and cited[1] == built[1]


def test_continuous_integration_runs_each_step() -> None:
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    listed = re.search(r"'(\[\"cargo-test [^']*)'", workflow)
    assert listed
    named = {step for job in json.loads(listed[1]) for step in job.split()}
    needed = {need for name in named for need in checks.BY_NAME[name].needs}
    # It says of itself that it is not run where what builds it is missing.
    always = {step.name for step in checks.STEPS if not step.only_full} - {"page"}
    assert named | needed == always


def test_a_row_of_the_page_of_help_is_what_is_measured() -> None:
    name = "PSK: GHC"
    found = helped.Tried({**NETWORKS["CSMA"], "lowpan.frame_loss": 0.05, **helped.ROWS[name]})
    (row,) = (line for line in helped.handshakes({name: found}).splitlines() if name in line)
    assert row in (ROOT / helped.REFERENCE).read_text(), "run: .venv/bin/python docs/helped.py"


def test_the_table_of_peers_is_that_of_their_sessions() -> None:
    found = interop.sessions((ROOT / "docs" / "reference" / "interop.md").read_text())
    assert len(found) == 7 and {len(peers) for peers in found.values()} == {7}
    assert interop.table(found) in (ROOT / "docs" / "interop.md").read_text(), (
        "run: .venv/bin/python docs/interop.py"
    )
    # By hand: of the first table, wolfSSL as client has yes but for three columns, as server too.
    assert interop.cell(found["DTLS 1.2, pre-shared keys"]["wolfSSL"]) == "8 of 11*"
    assert interop.cell([["yes", "no: a"], ["no: b", "yes"]]) == "no"
