"""The examples in the documentation of the Python code run, and print what they say."""

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

import slowhand
from conftest import ROOT, exec_lacks

PACKAGE = Path(slowhand.__file__).parent

MODULES = sorted(
    ".".join(["slowhand", *file.relative_to(PACKAGE).with_suffix("").parts])
    for file in PACKAGE.rglob("*.py")
    if ">>> " in file.read_text()
)

CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)

NO_EXAMPLE = {
    "AdviceError",  # an error
    "ArgumentError",
    "Execution",  # `exec` has one
    "Inspection",  # `Scenario.inspect` has one
    "Live",  # `live` has one
    "Replay",  # `replay` has one
    "ScenarioError",
    "Setting",  # a type
    "SweepError",
    "WorldError",
    "__version__",
}
"""Public names that need no example of their own."""


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_print_what_they_say(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "slowhand.executing.__init__" and (lacks := exec_lacks()):
        pytest.skip(lacks)
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(importlib.import_module(name.removesuffix(".__init__")))
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize("name", sorted({*slowhand.__all__} - NO_EXAMPLE))
def test_each_public_name_has_an_example(name: str) -> None:
    thing = getattr(slowhand, name)
    documentation = inspect.getdoc(thing) or ""
    assert ">>> import slowhand" in documentation
    assert "+SKIP" not in documentation


def test_the_code_in_the_document_about_python_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # it writes files
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    blocks = CODE.findall((ROOT / "docs" / "python.md").read_text())
    assert len(blocks) == 7
    names: dict[str, slowhand.Scenario] = {}
    fewer = "\n".join(blocks).replace("count=1000", "count=100")
    exec(fewer.replace('choose=["timers"]', 'choose=["timers"], budget=3000'), names)
    assert {file.name for file in tmp_path.iterdir()} > {"all.parquet", "timers.svg"}
    for name in ("worse", "bursts", "turning", "in_a_row"):
        assert slowhand.run(names[name], count=3)["outcome"].to_list() == ["completed"] * 3
