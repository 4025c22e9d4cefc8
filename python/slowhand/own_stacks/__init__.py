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
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from slowhand import _native, data
from slowhand.blame import refusal
from slowhand.own_stacks import building, crates
from slowhand.own_stacks.building import Part, StackError, words
from slowhand.own_stacks.recipes import KNOWN, LIBRARIES
from slowhand.terminal import escaped, printable

__all__ = ["Check", "StackError", "add", "builds", "check", "folder", "remove", "require", "words"]

SUFFIXES = (".c", ".cc", ".cpp")
"""The ends of the names of sources."""

FILES = ("about.json", "digest", "stack.so")
"""The files in the folder of a stack: it has nothing else."""

COMMANDS = ("add", "check", "remove")
"""No names of stacks: `slowhand stacks NAME` is a command then."""

TRIAL_S = 120
"""The time that a trial may take: assumed, a hundred times what the built-in libraries take."""

TRIED = "\x1eslowhand-trial:"
"""The mark before the result of a trial on stdout: a stack may print there, too."""

APART_S = 1.1
"""Two trials begin so far apart, so that a clock in seconds shows two times."""


class Check(NamedTuple):
    """The findings of `check`."""

    trial: Mapping[str, Any] | None
    """The protocols and credentials that were tried; `None` if the trial did not come to an end."""
    problems: Sequence[str]
    """The faults, each in words. Empty: nothing was found."""


def folder() -> Path:
    """Where the stacks are: `SLOWHAND_STACKS`, or `slowhand/stacks` among the user's data."""
    found = _native.stacks_folder()
    if found is None:
        raise StackError(
            "there is no folder for stacks: set SLOWHAND_STACKS, XDG_DATA_HOME or HOME"
        )
    return Path(found)


def add(
    name: str,
    sources: Sequence[str | os.PathLike[str]] = (),
    cflags: Sequence[str] = (),
    *,
    source: str | os.PathLike[str] | None = None,
    config: str | os.PathLike[str] | None = None,
) -> Path:
    """Compiles a stack from sources in C or C++, in the place of one of the same name.

    Or from a crate of Rust, if its `Cargo.toml` is the only one of `sources`: `cflags` are options
    of its compiler. Or from a library, if its name is the only one: from the folder `source`, or
    from the sources that slowhand knows; with slowhand's own options, and those that the header
    `config` changes. A name of `KNOWN` needs no sources.

    Returns its folder. The compiler is `CC`, or `cc`. What was there before stays if something is
    wrong. A process keeps a stack that it has loaded as it was, so it cannot add it again.
    """
    file = _file(name)
    if name in COMMANDS:
        raise StackError(f"NAME: found {name}, which is a command, allowed: another name")
    if name in _native.built_in_stacks():
        raise StackError(f"NAME: found {name}, which is built in, allowed: another name")
    if _native.is_stack_loaded(name):
        raise StackError(
            f"NAME: found {name}, which this process has loaded and keeps as it is: start a new"
            " process, or choose another name"
        )
    names = [os.fspath(each) for each in sources]
    options = {"source": source, "config": config}
    about = {
        "sources": names,
        "cflags": list(cflags),
        **{key: os.fspath(word) for key, word in options.items() if word is not None},
    }
    with tempfile.TemporaryDirectory() as work:
        _put(file, _made_from(name, names, source, config, Path(work)), cflags, about)
    return file.parent


def _put(
    file: Path, made_from: Sequence[Part] | Path, cflags: Sequence[str], about: Mapping[str, Any]
) -> None:
    """Makes the stack `file`, and what stands beside it. Its folder is replaced at the end."""
    target = file.parent
    name = target.name
    _check_free(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        found = printable(os.fspath(target.parent))
        reason = f"found {found}, where no folder can be made ({error.strerror})"
        raise StackError(f"SLOWHAND_STACKS: {reason}, allowed: a folder") from error
    with tempfile.TemporaryDirectory(prefix=".adding-", dir=target.parent) as made:
        new = Path(made) / name
        new.mkdir()
        if isinstance(made_from, Path):
            digest = crates.make(made_from, cflags, new / file.name)
        else:
            digest = building.make(made_from, cflags, new / file.name)
        # The second word says which object the first one names.
        made_of = hashlib.sha256((new / file.name).read_bytes()).hexdigest()
        (new / "digest").write_text(f"{digest} {made_of}\n")
        (new / "about.json").write_text(json.dumps(about, indent=1) + "\n")
        if problem := _problem(name, Path(made)):
            raise StackError(problem)
        _check_free(target)
        if target.exists():
            target.rename(Path(made) / "before")
        new.rename(target)


def _check_free(target: Path) -> None:
    """Raises `StackError` if a stack would take the place of something that is no stack."""
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        others = [target]
    else:
        others = [each for each in target.glob("*") if each.name not in FILES]
    if others:
        found = printable(os.fspath(others[0]))
        raise StackError(
            f"NAME: found {found}, which is not of a stack: choose another name, or another folder"
            " by SLOWHAND_STACKS"
        )


def _made_from(
    name: str,
    sources: Sequence[str],
    source: str | os.PathLike[str] | None,
    config: str | os.PathLike[str] | None,
    work: Path,
) -> Sequence[Part] | Path:
    """The parts that are compiled for a stack, or the `Cargo.toml` of the crate that it is.

    `work` is an empty folder, which stays until it is compiled.
    """
    if config is not None and not Path(config).is_file():
        raise StackError(f"--config: found {printable(os.fspath(config))}, which is no file")
    header = None if config is None else Path(config)
    if not sources and name in KNOWN:
        known = KNOWN[name]
        if known.crate is not None:
            return _our_crate(known.crate, source, config)
        return _of_library(known.library, source, header or known.config, work, known.carrier)
    if len(sources) == 1 and sources[0] in LIBRARIES:
        return _of_library(sources[0], source, header, work)
    if source is not None or config is not None:
        found = printable(" ".join(sources))
        option = "--config" if source is None else "--source"
        raise StackError(f"FILE: found {found}, allowed with {option}: {', '.join(LIBRARIES)}")
    files = [Path(each) for each in sources]
    if len(files) == 1 and (files[0] / crates.MANIFEST).is_file():
        files = [files[0] / crates.MANIFEST]
    if [file.name for file in files] == [crates.MANIFEST] and files[0].is_file():
        return files[0]
    for file in files or [Path()]:
        if file.suffix not in SUFFIXES or not file.is_file():
            found = printable(os.fspath(file)) if files else "none"
            if files and not file.exists():
                found += ", which does not exist"
            allowed = (
                f"files that end in {' or '.join(SUFFIXES)}, the {crates.MANIFEST} of a crate, or"
                f" one of {', '.join(LIBRARIES)}"
            )
            if not files:
                allowed += f"; none with one of the names {', '.join(KNOWN)}"
            raise StackError(f"FILE: found {found}, allowed: {allowed}")
    return [Part(files)]


def _our_crate(
    folder: str,
    source: str | os.PathLike[str] | None,
    config: str | os.PathLike[str] | None,
) -> Path:
    """The `Cargo.toml` of a crate that is in a clone of slowhand."""
    for option, word in (("--source", source), ("--config", config)):
        if word is not None:
            found = printable(os.fspath(word))
            raise StackError(f"{option}: found {found}, allowed: none (the stack is a crate)")
    manifest = data.CRATES / folder / crates.MANIFEST
    if not manifest.is_file():
        raise StackError(
            f"NAME: found {folder}, whose crate is only in a clone of slowhand (stacks/{folder}):"
            f" name it there, `slowhand stacks add {folder} stacks/{folder}/{crates.MANIFEST}`"
        )
    return manifest


def _of_library(
    name: str,
    source: str | os.PathLike[str] | None,
    config: Path | None,
    work: Path,
    carrier: str | None = None,
) -> Sequence[Part]:
    library = LIBRARIES[name]
    root = library.carried(carrier) if source is None else Path(source)
    return library.parts(library.prepare(root, work) if library.prepare else root, config)


def remove(name: str) -> None:
    """Removes a stack: its own files, and its folder if nothing else is there."""
    file = _file(name)
    if not file.exists():
        raise StackError(_none_of(name))
    for each in FILES:
        file.with_name(each).unlink(missing_ok=True)
    with suppress(OSError):  # other files stay
        file.parent.rmdir()


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
    if first["waits"] >= first["handshakes"] > 0:  # the system may wait now and then
        problems.append(
            f"it has waited {first['waits']:,} times in {first['handshakes']:,} handshakes: a stack"
            " neither sleeps nor waits, it returns a deadline"
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
    """The stacks of one's own among these names, as results have them: version, digest, sources."""
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
        there += f" ({printable(str(build.get('digest')))})"
        try:
            here = _native.stack_build(name)
        except ValueError:
            here = None
        if here is None:
            is_here = "there is no such stack here"
        elif here[1] != build.get("digest"):
            is_here = f"here {name} is {here[0]} ({here[1]})"
        else:
            continue
        raise refusal(
            f"was made with the stack {there}, and {is_here}: `{_command(name, build)}` makes it",
            place=place,
        )


def _command(name: str, build: Mapping[str, Any]) -> str:
    """The command that makes a build, as a shell reads it."""
    sources = _texts(build.get("sources")) or ([] if name in KNOWN else ["FILE.c"])
    typed = ["slowhand", "stacks", "add", name, *sources]
    for option in ("source", "config"):
        if isinstance(build.get(option), str):
            typed += [f"--{option}", build[option]]
    if flags := _texts(build.get("cflags")):
        typed.append(f"--cflags={shlex.join(map(printable, flags))}")
    return shlex.join(map(printable, typed))


def _texts(found: Any) -> list[str]:
    """A list of texts that was read from a file; empty if it is something else."""
    is_list = isinstance(found, list) and all(isinstance(each, str) for each in found)
    return list(found) if is_list else []


def _file(name: str) -> Path:
    folder()
    file = _native.stack_file(name)
    if file is None:
        allowed = (
            "1 to 40 small letters, digits, hyphens, points and underscores, a letter first; not"
            " true, false, inf, nan, lakers or slowhand-coap, which say something else"
        )
        raise StackError(f"NAME: found '{printable(name)}', allowed: {allowed}")
    return Path(file)


def _names() -> list[str]:
    """Every library of TLS and DTLS, also those of one's own that cannot be used."""
    return [*_native.built_in_stacks(), *_native.own_stacks()]


def _none_of(name: str) -> str:
    own = ", ".join(_native.own_stacks()) or "none is there"
    return f"NAME: found '{printable(name)}', allowed: a stack of your own ({own})"


def _about(name: str) -> dict[str, Any]:
    """The sources and options with which a stack is built again, as far as they are known."""
    try:
        about = json.loads(_file(name).with_name("about.json").read_text())
    except (OSError, ValueError):
        return {}
    if not isinstance(about, dict):
        return {}
    options = {key: about.get(key) for key in ("source", "config")}
    return {
        "sources": [Path(source).name for source in _texts(about.get("sources"))],
        "cflags": _texts(about.get("cflags")),
        **{key: Path(word).name for key, word in options.items() if isinstance(word, str)},
    }


def _problem(name: str, folder: Path) -> str | None:
    """Why a stack in a folder cannot be used. Another process loads it: it may crash."""
    code = f"from slowhand import _native; _native.stack_build({name!r})"
    try:
        done = _child(code, {"SLOWHAND_STACKS": os.fspath(folder)})
    except subprocess.TimeoutExpired:
        return f"the stack {name} does not come to an end when it is loaded, in {TRIAL_S} s"
    if done.returncode < 0:
        return f"{_crash(name, done)} when it was loaded"
    if done.returncode:
        message = done.stderr.strip().rpartition("\n")[2]
        message = message.partition(": ")[2].replace(os.fspath(folder), "")
        return escaped(message.replace("; /", "; ", 1))
    return None


def _tried(name: str) -> dict[str, Any] | str:
    """A trial of a stack in another process, or why there is none."""
    code = f"from slowhand import _native; print({TRIED!r} + _native.try_stack({name!r}))"
    try:
        done = _child(code, {})
    except subprocess.TimeoutExpired:
        return f"the stack {name} does not come to an end: the trial was stopped after {TRIAL_S} s"
    if done.returncode < 0:
        return _crash(name, done)
    if done.returncode:
        return escaped(done.stderr.strip().rpartition("\n")[2].partition(": ")[2])
    before, _, rest = done.stdout.partition(TRIED)
    result, _, after = rest.partition("\n")
    if printed := (before + after).strip():
        return f"it prints to stdout, where results are: {printable(printed)}"
    try:
        found: dict[str, Any] = json.loads(result)
    except ValueError:
        return f"the trial of the stack {name} has ended without a result"
    return found


def _child(code: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    package = os.fspath(Path(__file__).resolve().parents[2])
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


def _crash(name: str, done: subprocess.CompletedProcess[str]) -> str:
    number = signal.Signals(-done.returncode).name
    called = re.search(r"^slowhand: a stack (has called .*)", done.stderr, re.MULTILINE)
    why = f" ({called[1]})" if called else ""
    return f"the stack {name} has crashed with {number}{why}"
