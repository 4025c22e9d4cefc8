"""The wheel, installed into a root that has Python and nothing else: no shell, no compiler.

`./test wheel` builds the wheel and runs these tests.
"""

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import licences
import pytest

from conftest import ROOT, Cli, without_time

pytestmark = pytest.mark.skipif(
    "SLOWHAND_WHEEL" not in os.environ, reason="./test wheel: it compiles for minutes"
)

MOST_OCTETS = 15_000_000
# A new root, as root or, where the system allows it, as anybody.
CHROOT = ["unshare", *([] if os.getuid() == 0 else ["--map-root-user"])]

Installed = Callable[..., str]


@pytest.fixture(scope="module")
def wheel() -> Path:
    """The wheel that `tools/wheel` has just built."""
    found = (ROOT / "target" / "wheels").glob("slowhand-*.whl")
    return max(found, key=lambda file: file.stat().st_mtime)


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel, and with what pip installs for `slowhand[plot]`."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", python]
    options = ["-q", "--no-index", "--no-deps", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", *options, wheel], check=True)
    from_here = Path(sysconfig.get_path("purelib"))
    packages = folder / from_here.relative_to(sys.prefix)
    for name in set(re.findall(r"^([\w.-]+)==", (ROOT / "python/run.lock").read_text(), re.M)):
        for file in importlib.metadata.files(name) or ():
            place = Path(str(file.locate()))
            if place.is_relative_to(from_here) and place.exists():
                link(place, packages / place.relative_to(from_here))
    return folder


@pytest.fixture(scope="module")
def bare(environment: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with Python, its libraries and the environment, all at the paths that they have."""
    root = tmp_path_factory.mktemp("bare")
    python = Path(sys.executable).resolve()
    library = Path(sysconfig.get_path("stdlib"))
    ours = [python, *files_of(library, leave_out={"site-packages", "dist-packages", "test"})]
    ours += files_of(environment, leave_out=set())
    for file in [*ours, *libraries(file for file in ours if ".so" in file.name or file == python)]:
        link(file, root / file.relative_to("/"))
    for name in ("dev/null", "home/user/.empty"):
        (root / name).parent.mkdir(parents=True)
        (root / name).touch()
    (root / "tmp").mkdir(exist_ok=True)
    return root


@pytest.fixture
def home(bare: Path) -> Iterator[Path]:
    """An empty folder in the bare root, in which commands run."""
    folder = bare / "home" / "user"
    shutil.rmtree(folder)
    folder.mkdir()
    yield folder


@pytest.fixture
def installed(environment: Path, bare: Path, home: Path) -> Installed:
    """Runs the installed command line in the bare root. Returns what it prints."""
    if subprocess.run([*CHROOT, "true"], capture_output=True).returncode != 0:
        pytest.skip("the system allows no new root to others than root")

    def run(*arguments: str | int, code: int = 0) -> str:
        chroot: list[str | Path] = [*CHROOT, f"--root={bare}", "--wd=/home/user"]
        done = subprocess.run(
            [*chroot, environment / "bin" / "slowhand", *map(str, arguments)],
            env={"HOME": "/home/user", "PATH": "/bin"},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout

    return run


def link(file: Path, place: Path) -> None:
    """The content of a file at another place."""
    if place.exists():
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(file.resolve(), place)
    except OSError:  # on another disk
        shutil.copy2(file, place)


def files_of(folder: Path, leave_out: set[str]) -> Iterator[Path]:
    """All files in a folder."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in {"__pycache__", *leave_out}]
        yield from (Path(place, name) for name in names)


def libraries(files: Iterable[Path]) -> set[Path]:
    """The libraries of the system that these need, and the loader, by `ldd`."""
    said = subprocess.run(["ldd", *files], stdout=subprocess.PIPE, text=True).stdout
    return {Path(found) for found in re.findall(r"(?:=> |^\s+)(/\S+) \(0x", said, re.M)}


def test_the_wheel_is_small_and_carries_all_data(wheel: Path) -> None:
    assert wheel.stat().st_size < MOST_OCTETS
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
    (entries,) = (name for name in names if name.endswith(".dist-info/entry_points.txt"))
    assert (
        "[pytest11]\nslowhand=slowhand.pytest_plugin\n"
        in zipfile.ZipFile(wheel).read(entries).decode()
    )


def test_the_wheel_has_the_licences_of_all_that_is_in_it(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    texts = {
        Path(name).name: archive.read(name).decode()
        for name in archive.namelist()
        if ".dist-info/licenses/" in name
    }
    assert {"LICENSE-MIT", "LICENSE-APACHE", "rust-library.html"} <= set(texts)
    text = texts["third-party.txt"]
    for package in licences.packages():
        assert f"\n{package['name']} {package['version']}: " in text
    for words in ("Eclipse Distribution License", "Aaron D. Gifford", "Mbed TLS files", "Inria"):
        assert words in text


def test_the_native_module_is_stripped(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (name,) = (name for name in archive.namelist() if name.endswith(".so"))
    module = archive.read(name)
    assert b".symtab\0" not in module and b".debug_line\0" not in module


def test_the_installed_package_does_what_the_clone_does(installed: Installed, cli: Cli) -> None:
    for arguments in (["stacks"], ["schema"], ["papers"], ["devices", "wismote"]):
        assert installed(*arguments, "--json") == cli(*arguments, "--json").stdout
    assert installed("completion", "bash") == cli("completion", "bash").stdout
    for scenario in listed(installed, "scenarios"):
        arguments = ["scenarios", scenario["scenario"]]
        assert installed(*arguments) == cli(*arguments).stdout


def test_every_kind_of_command_works_in_the_bare_root(installed: Installed, home: Path) -> None:
    output = installed("run", "quickstart", "--count", 4, "--report", "run.html")
    assert "4 of 4 handshakes completed" in output
    assert "</html>" in (home / "run.html").read_text()
    assert "client" in installed("run", "quickstart", "--explain", "--seed", 1)
    installed("run", "quickstart", "--count", 1, "--pcap", "run.pcapng", "--records", "run.parquet")
    assert (home / "run.pcapng").stat().st_size > 1000
    sweep = ["sweep", "quickstart", "--vary", "session.mtu=600,1280", "--count", 2]
    assert "1280" in installed(*sweep, "--plot", "mtu.png")
    assert (home / "mtu.png").read_bytes().startswith(b"\x89PNG")
    compared = installed("compare", "quickstart", "lossy-line", "--count", 2)
    assert "difference" in compared
    assert "MBEDTLS" in installed("settings", "psk-tinydtls")
    (home / "links.csv").write_text("time_s,from,to,channel,pdr\n0,a,b,,0.9\n0,b,a,,0.8\n")
    assert "pdr = 0.9" in installed("links", "links.csv", "--scenario", "mine.toml")
    assert "1 of 1" in installed("run", "mine.toml", "--count", 1)
    assert installed("live", "extcap", "--extcap-interfaces").startswith("extcap {version=")
    choices = ["--choose", "session.timeout_s=3,9", "--budget", 480]
    assert "recommended" in installed("advise", "quickstart", *choices).lower()
    assert "CR2032" in installed("battery", "quickstart", "--period", "1h", "--days", 1)
    assert "completed" in installed("live", "quickstart", "--speed", 100)
    assert "joined" in installed("join", "join", "--count", 1)


def test_a_paper_is_reproduced_outside_the_clone(installed: Installed, cli: Cli) -> None:
    arguments = ["papers", "vucinic2015", "table1", "--count", 2, "--json"]
    assert installed(*arguments) == cli(*arguments).stdout


def test_a_bundled_scenario_runs_by_name_and_as_a_copy(
    installed: Installed, cli: Cli, home: Path
) -> None:
    (home / "mine.toml").write_text(installed("scenarios", "quickstart"))
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
