"""Stacks of the user's own: made from C, tried, and named in results.

A stack is a folder `NAME` with `stack.so`, in the folder that `folder` returns. Beside it are
`digest`, which says what was built, and `about.json`, which says how it is built again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from slowhand import _native, data
from slowhand.blame import refusal
from slowhand.terminal import printable

INCLUDE = data.INCLUDE
"""What `#include "slowhand/stack.h"` is found in."""

GUARD = INCLUDE / "slowhand" / "guard.c"
"""What is linked with each stack: it refuses clocks and the like."""

FLAGS = ("-std=gnu11", "-O2", "-g", "-fPIC", "-fvisibility=hidden", "-U_FORTIFY_SOURCE", "-pthread")
"""How a stack is compiled: only `slowhand_stack` is visible, and no call gets another name."""

DIGEST = 16
"""How many hexadecimal digits name a build."""

TRIAL_S = 120
"""The time that a trial may take: assumed, a hundred times what the built-in libraries take."""

APART_S = 1.1
"""Two trials begin so far apart, so that a clock in seconds shows two times."""


class StackError(Exception):
    """What is wrong with a stack, or with what it is to be made from."""


class Check(NamedTuple):
    """What `check` has found."""

    trial: Mapping[str, Any] | None
    """The protocols and credentials that were tried; `None` if the trial did not come to an end."""
    problems: Sequence[str]
    """What is wrong, each in words. Empty: nothing was found."""


def folder() -> Path:
    """Where the stacks are: `SLOWHAND_STACKS`, or `slowhand/stacks` among the user's data."""
    found = _native.stacks_folder()
    if found is None:
        raise StackError(
            "there is no folder for stacks: set SLOWHAND_STACKS, XDG_DATA_HOME or HOME"
        )
    return Path(found)


def add(name: str, sources: Sequence[str | os.PathLike[str]], cflags: Sequence[str] = ()) -> Path:
    """Compiles a stack from sources in C, in the place of one of the same name.

    Returns its folder. The compiler is `CC`, or `cc`. What was there before stays if something is
    wrong.
    """
    file = _file(name)
    if name in _native.built_in_stacks():
        raise StackError(f"NAME: found {name}, which is built in, allowed: another name")
    files = [Path(source) for source in sources]
    for source in files:
        if source.suffix != ".c" or not source.is_file():
            allowed = "a file that ends in .c"
            raise StackError(f"FILE: found {printable(os.fspath(source))}, allowed: {allowed}")
    target = file.parent
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".adding-", dir=target.parent) as made:
        new = Path(made) / name
        new.mkdir()
        _compile(files, cflags, new / file.name)
        about = {"sources": [os.fspath(source) for source in sources], "cflags": list(cflags)}
        (new / "digest").write_text(_digest(files, cflags) + "\n")
        (new / "about.json").write_text(json.dumps(about, indent=1) + "\n")
        if problem := _problem(name, Path(made)):
            raise StackError(problem)
        if target.exists():
            target.rename(Path(made) / "before")
        new.rename(target)
    return target


def remove(name: str) -> None:
    """Removes a stack."""
    file = _file(name)
    if not file.exists():
        raise StackError(_none_of(name))
    shutil.rmtree(file.parent)


def check(name: str) -> Check:
    """Tries a stack in two processes: both must give the same.

    Each handshake runs without losses, with each datagram lost once, and with small datagrams; and
    some more times, to look for memory that is not given back.
    """
    if name not in _names():
        raise StackError(_none_of(name))
    began = time.monotonic()
    first = _tried(name)
    if isinstance(first, str):
        return Check(None, [first])
    problems = [
        f"{each['protocol']}, {each['credential']}: {problem}"
        for each in first["sessions"]
        for problem in each["problems"]
    ]
    if not first["sessions"]:
        problems.append("no protocol has a suite that goes with a credential of the stack")
    problems += [
        f"{each['protocol']}, {each['credential']}: each session keeps {each['leaked']:,.0f} octets"
        " of memory when it has ended"
        for each in first["sessions"]
        if each["leaked"]
    ]
    if first["threads"]:
        problems.append(f"it has started {first['threads']} threads: a stack has none")
    handshakes = sum(1 + each["datagrams"] for each in first["sessions"])
    if first["waits"] >= handshakes:  # the system may wait for a page now and then
        problems.append(
            f"it has waited {first['waits']:,} times in {handshakes:,} handshakes: a stack neither"
            " sleeps nor waits, it returns a deadline"
        )
    if problems:
        return Check(first, problems)
    time.sleep(max(0, APART_S - (time.monotonic() - began)))
    second = _tried(name)
    if isinstance(second, str):
        problems.append(f"the second time: {second}")
    elif second["digest"] != first["digest"]:
        problems.append(
            "two processes give two results: it has a clock, randomness or memory that is not"
            " slowhand's (slowhand/stack.h)"
        )
    return Check(first, problems)


def builds(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What results say of the stacks of one's own among these names: version, digest, sources."""
    found = {}
    for name in dict.fromkeys(names):
        build = _native.stack_build(name)
        if build is not None:
            version, digest = build
            found[name] = {"version": version, "digest": digest, **_about(name)}
    return found


def require(wanted: Any, *, place: str) -> None:
    """Raises `ScenarioError` if a result was made with a stack that is not here as it was there."""
    if not isinstance(wanted, dict):
        return
    for name, build in wanted.items():
        if not isinstance(build, dict):
            continue
        there = f"{printable(name)} {printable(str(build.get('version')))}"
        there += f" ({printable(str(build.get('digest')) or 'of no name')})"
        try:
            here = _native.stack_build(name)
        except ValueError:
            here = None
        if here is None:
            is_here = "there is no such stack here"
        elif here[1] != build.get("digest"):
            is_here = f"here {name} is {here[0]} ({here[1] or 'of no name'})"
        else:
            continue
        sources = " ".join(printable(str(source)) for source in build.get("sources") or ["FILE.c"])
        command = f"slowhand stacks add {printable(name)} {sources}"
        flags = [printable(str(flag)) for flag in build.get("cflags") or []]
        command += f" --cflags {shlex.quote(shlex.join(flags))}" if flags else ""
        raise refusal(
            f"was made with the stack {there}, and {is_here}: `{command}` makes it",
            place=place,
        )


def _file(name: str) -> Path:
    file = _native.stack_file(name)
    if file is None:
        allowed = "1 to 40 small letters, digits, hyphens, points and underscores"
        raise StackError(f"NAME: found '{printable(name)}', allowed: {allowed}")
    return Path(file)


def _names() -> list[str]:
    """Every library of TLS and DTLS, also those of one's own that cannot be used."""
    return [*_native.built_in_stacks(), *_native.own_stacks()]


def _none_of(name: str) -> str:
    own = ", ".join(_native.own_stacks()) or "none is there"
    return f"NAME: found '{printable(name)}', allowed: a stack of your own ({own})"


def _about(name: str) -> dict[str, Any]:
    """How a stack is built again, as far as it is known."""
    try:
        about = json.loads(_file(name).with_name("about.json").read_text())
    except (OSError, ValueError):
        return {}
    return {"sources": [Path(s).name for s in about["sources"]], "cflags": about["cflags"]}


def _compiler() -> list[str]:
    return shlex.split(os.environ.get("CC", "")) or ["cc"]


def _compile(files: Sequence[Path], cflags: Sequence[str], made: Path) -> None:
    wrapped = re.findall(r"__wrap_(\w+)\(|^REFUSED\((\w+)", GUARD.read_text(), re.MULTILINE)
    names = [plain or refused for plain, refused in wrapped]
    done = _run(
        [
            *_compiler(),
            *FLAGS,
            *("-isystem", os.fspath(INCLUDE)),
            *cflags,
            *("-shared", "-Wl,-Bsymbolic", "-Wl,-z,defs", "-Wl,--exclude-libs,ALL"),
            *(f"-Wl,--wrap={name}" for name in names),
            *("-o", os.fspath(made)),
            *map(os.fspath, files),
            os.fspath(GUARD),
        ]
    )
    if done.stderr:
        sys.stderr.write(done.stderr)
    if done.returncode:
        raise StackError(f"{_compiler()[0]} could not make the stack: its messages are above")


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise StackError(
            f"{command[0]}: cannot be run: {error.strerror}: install a compiler of C, or name it"
            " with CC"
        ) from error


def _digest(files: Sequence[Path], cflags: Sequence[str]) -> str:
    """Names what was built: the texts of the sources and their own headers, and the options."""
    listed = _run(
        [
            *_compiler(),
            "-MM",
            *("-isystem", os.fspath(INCLUDE)),
            *cflags,
            *map(os.fspath, files),
        ]
    )
    read = shlex.split(listed.stdout.replace("\\\n", " "))
    texts = {Path(word).read_bytes() for word in read if Path(word).is_file()}
    digest = hashlib.sha256(json.dumps([*FLAGS, *cflags]).encode())
    for text in sorted(texts):
        digest.update(hashlib.sha256(text).digest())
    return digest.hexdigest()[:DIGEST]


def _problem(name: str, folder: Path) -> str | None:
    """Why a stack in a folder cannot be used. Another process loads it: it may crash."""
    code = f"from slowhand import _native; _native.stack_build({name!r})"
    done = _child(code, {"SLOWHAND_STACKS": os.fspath(folder)})
    if done.returncode < 0:
        return f"the stack {name} has crashed with {_signal(done)} when it was loaded"
    if done.returncode:
        message = done.stderr.strip().rpartition("\n")[2]
        return message.partition(": ")[2].replace(os.fspath(folder), "").replace("; /", "; ", 1)
    return None


def _tried(name: str) -> dict[str, Any] | str:
    """A trial of a stack in another process, or why there is none."""
    code = f"from slowhand import _native; print(_native.try_stack({name!r}))"
    try:
        done = _child(code, {})
    except subprocess.TimeoutExpired:
        return f"the stack {name} does not come to an end: the trial was stopped after {TRIAL_S} s"
    if done.returncode < 0:
        return f"the stack {name} has crashed with {_signal(done)}"
    if done.returncode:
        return done.stderr.strip().rpartition("\n")[2].partition(": ")[2]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _child(code: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    package = os.fspath(Path(__file__).resolve().parent.parent)
    paths = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={**os.environ, "PYTHONPATH": paths, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=TRIAL_S,
    )


def _signal(done: subprocess.CompletedProcess[str]) -> str:
    return signal.Signals(-done.returncode).name
