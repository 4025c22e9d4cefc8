"""Which programs the tests may start: those that the set-up asks for (tools/needs.txt)."""

import errno
import os
import re
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# Programs that the README asks for, and that each Debian has (its packages with "Essential: yes").
ALWAYS = {"bash", "cargo", "git", "ldd", "python3", "rustc", "sh", "true", "uname"}
# Programs that not every computer has: shells that read the scripts of completion, what makes
# programs for `slowhand exec`, what runs the module of the laboratory in a page, and what compiles
# stacks in C++. The tests of those that are not there are left out.
OPTIONAL = {"zsh", "fish", "go", "mvn", "javac", "node", "c++"}
# Programs in these folders are the project's own, or packages of Python.
OWN = [ROOT, Path(sysconfig.get_path("scripts")), Path(tempfile.gettempdir())]


def declared(*steps: str) -> set[str]:
    """The programs that the set-up asks for, for these steps and for ./slowhand."""
    lines = (ROOT / "tools" / "needs.txt").read_text().splitlines()
    words = [line.split() for line in lines if not line.startswith("#")]
    names = {
        name for when, kind, name, *_ in words if kind == "program" and when in ("run", *steps)
    }
    return {Path(name).name for name in names} | ALWAYS


def refuse_others(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: for the tests, a program that no line asks for is not there.

    A fresh computer may not have it. A library that can do without it still does.
    """
    if event != "subprocess.Popen":
        return
    program = Path(os.fsdecode(arguments[0]))
    is_own = program.is_absolute() and any(program.is_relative_to(folder) for folder in OWN)
    allowed = declared("pytest", "wheel") | OPTIONAL
    if not is_own and program != Path(sys.executable) and program.name not in allowed:
        reason = "no line of tools/needs.txt asks for it, for pytest"
        raise FileNotFoundError(errno.ENOENT, reason, str(program))


def started_by_rust() -> set[str]:
    """The programs that the Rust tests start, by their names in the code."""
    names: set[str] = set()
    for folder in ("crates", "interop"):
        for file in (ROOT / folder).rglob("*.rs"):
            if "build" not in file.parts:
                pattern = r'(?:Command::new|wireshark::run|\brun)\(\s*"([\w.-]+)"'
                names.update(re.findall(pattern, file.read_text()))
    return names
