"""The wheel, in an empty environment outside the clone."""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, Cli, without_time

# The wheel has the features of its own crates alone, so nearly all of them are compiled again.
pytestmark = pytest.mark.skipif("SLOWHAND_FULL" not in os.environ, reason="a minute; ./test --full")

Installed = Callable[..., str]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this clone."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([ROOT / "tools" / "wheel", "--out", folder], check=True)
    (file,) = folder.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with nothing but the wheel and the packages that it depends on.

    These need no network: a .pth file names the folder that has them. Python does not read the
    .pth files of that folder, so that the clone's package is not found through it.
    """
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", python]
    options = ["-q", "--no-index", "--no-deps", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", *options, wheel], check=True)
    packages = (
        folder / "lib" / Path(sysconfig.get_path("purelib")).relative_to(Path(sys.prefix) / "lib")
    )
    (packages / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return folder


@pytest.fixture
def installed(environment: Path, tmp_path: Path) -> Installed:
    """Runs the installed command line in an empty folder. Returns what it prints."""
    variables = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}

    def run(*arguments: str | int) -> str:
        done = subprocess.run(
            [environment / "bin" / "slowhand", *map(str, arguments)],
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_the_wheel_carries_all_data_and_its_licences(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    data = [
        file.relative_to(ROOT)
        for folder in ("batteries", "devices", "papers", "scenarios")
        for file in (ROOT / folder).rglob("*.toml")
    ]
    assert len(data) > 15
    assert {f"slowhand/data/{file}" for file in data} <= names
    assert "slowhand/data/footprint.json" in names
    pages = (ROOT / "python" / "slowhand" / "pages").iterdir()
    scripts = [file.name for file in pages if file.suffix in (".css", ".html", ".js")]
    assert len(scripts) > 5
    assert {f"slowhand/pages/{name}" for name in scripts} <= names
    ends = {name.partition(".dist-info/")[2] for name in names}
    assert {"licenses/LICENSE-MIT", "licenses/LICENSE-APACHE"} <= ends
    (entries,) = (name for name in names if name.endswith(".dist-info/entry_points.txt"))
    assert (
        "[pytest11]\nslowhand=slowhand.pytest_plugin\n"
        in zipfile.ZipFile(wheel).read(entries).decode()
    )


def test_the_installed_package_does_what_the_clone_does(installed: Installed, cli: Cli) -> None:
    for arguments in (["stacks"], ["schema"], ["papers"], ["devices", "wismote"]):
        assert installed(*arguments, "--json") == cli(*arguments, "--json").stdout
    for scenario in listed(installed, "scenarios"):
        arguments = ["scenarios", scenario["scenario"]]
        assert installed(*arguments) == cli(*arguments).stdout


def test_a_paper_is_reproduced_outside_the_clone(installed: Installed, cli: Cli) -> None:
    arguments = ["papers", "vucinic2015", "table1", "--count", 2, "--json"]
    assert installed(*arguments) == cli(*arguments).stdout


def test_a_bundled_scenario_runs_by_name_and_as_a_copy(
    installed: Installed, cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text(installed("scenarios", "quickstart"))
    expected = without_time(cli("run", ROOT / "scenarios/quickstart.toml", "--json").stdout)
    for scenario in ("quickstart", "mine.toml"):
        output = without_time(installed("run", scenario, "--json"))
        file = Path(output["scenario"]).name
        assert file in ("quickstart.toml", "mine.toml")
        (text,) = expected["files"].values()
        changed = {"scenario": output["scenario"], "file": file, "files": {file: text}}
        assert output == {**expected, **changed}


def test_all_data_is_that_of_the_environment(installed: Installed, environment: Path) -> None:
    for command in ("batteries", "devices", "scenarios"):
        files = [Path(entry["file"]) for entry in listed(installed, command)]
        assert files
        assert all(file.is_relative_to(environment) for file in files)


def listed(installed: Installed, command: str) -> list[dict[str, Any]]:
    """The list that `batteries`, `devices` or `scenarios` prints."""
    entries: list[dict[str, Any]] = json.loads(installed(command, "--json"))
    return entries
