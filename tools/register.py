"""Registers slowhand in the clone's virtual environment: its place, command and pytest plugin.

`pip install --editable` would do it through maturin, which compiles in its own way, and downloads
the crates of all platforms.
"""

import sys
import sysconfig
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMAND = """\
#!{python}
import sys
from {module} import {function}
sys.exit({function}())
"""


def register() -> None:
    """Writes what Python and pytest look for (PEP 376: an installed distribution)."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    packages = Path(sysconfig.get_path("purelib"))
    (packages / "slowhand.pth").write_text(f"{ROOT / 'python'}\n")
    installed = packages / f"slowhand-{version}.dist-info"
    installed.mkdir(exist_ok=True)
    metadata = f"Metadata-Version: 2.1\nName: slowhand\nVersion: {version}\n"
    (installed / "METADATA").write_text(metadata)
    lines = []
    for group, entries in {
        "console_scripts": project["scripts"],
        **project["entry-points"],
    }.items():
        lines += [f"[{group}]", *(f"{name}={target}" for name, target in entries.items())]
    (installed / "entry_points.txt").write_text("\n".join(lines) + "\n")
    for name, target in project["scripts"].items():
        module, _, function = target.partition(":")
        script = Path(sysconfig.get_path("scripts"), name)
        script.write_text(COMMAND.format(python=sys.executable, module=module, function=function))
        script.chmod(0o755)


if __name__ == "__main__":
    register()
