"""The checks of ./test: which there are, what each needs, and two of them at a time.

./test has installed what they need of the system, and set SLOWHAND_PROFILE. What a step prints goes
into .state/checks/STEP.log, and to the terminal if the step fails.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / ".state" / "checks"
# SHA-256 of the inputs of a step when it passed. ./test writes it, you commit it.
PASSED = ROOT / "tools" / "passed.json"
# Steps that run at the same time. Each of them can use two cores, but not all the time.
AT_ONCE = 2
# Processes of pytest, each with whole files of tests. Many tests wait.
PYTESTS = min(1 + (os.cpu_count() or 1), 4)
# The exit code of a step that did not run, because the system lacks what few need. It says what.
NOT_RUN = 77
# A summary of Cargo, "test result: ok. 12 passed; ...", or of pytest, "== 3 passed in 2.00s ==".
SUMMARY = re.compile(r"^(?:test result:.*|=+ .* in [0-9.]+s.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """One check, a command for `sh`."""

    name: str
    checks: str
    command: str
    # Files and folders that alone decide what it finds: it runs if one of them has changed.
    inputs: tuple[str, ...] = ()
    # It begins when these have passed.
    needs: tuple[str, ...] = ()
    # Cargo lets one process at a time work on target/.
    in_target: bool = False
    # It runs with --full only, or alone after all others.
    only_full: bool = False
    alone: bool = False


def of_setup(function: str) -> str:
    """A function of tools/setup.sh as a command."""
    return f"root=$PWD; . tools/setup.sh; {function}"


LEAN_DTLS = ("crates/lean-dtls/src", "crates/lean-dtls/Cargo.toml")
COAP = ("crates/slowhand-coap/src", "crates/slowhand-coap/Cargo.toml")
WIRE = ("crates/slowhand-wire/src", "crates/slowhand-wire/Cargo.toml")
SESSIONS = (
    "crates/slowhand-sessions/build",
    "crates/slowhand-sessions/build.rs",
    "crates/slowhand-sessions/csrc",
    "crates/slowhand-sessions/credentials",
    "crates/slowhand-sessions/src",
    "crates/slowhand-sessions/Cargo.toml",
    "crates/slowhand-sessions/carriers.toml",
)
# Files that decide what the tests of interop/ find, for which more libraries are compiled.
INTEROP = (
    *LEAN_DTLS,
    "crates/slowhand-live",
    "crates/slowhand-sessions",
    "crates/slowhand-wire",
    "interop",
    "Cargo.toml",
    "Cargo.lock",
)

# Files that the laboratory in a page is made from: its module, and all of it.
PAGE_MODULE = (
    *LEAN_DTLS,
    *COAP,
    "crates/slowhand-lab/src",
    "crates/slowhand-lab/Cargo.toml",
    "crates/slowhand-net/src",
    "crates/slowhand-net/Cargo.toml",
    *SESSIONS,
    "crates/slowhand-wasm/src",
    "crates/slowhand-wasm/Cargo.toml",
    *WIRE,
    "batteries",
    "devices",
    "Cargo.toml",
    "Cargo.lock",
    "docs/lab/lab_page.py",
)
PAGE = (
    *PAGE_MODULE,
    "docs/lab",
    "python/slowhand/data/__init__.py",
    "python/slowhand/pages",
    "python/slowhand/report.py",
    "python/slowhand/sweeps/following.py",
    "scenarios",
)

# The packages whose tests are compiled and run only if one of their inputs has changed, with these.
IF_CHANGED = {
    "slowhand-interop": INTEROP,
    "lean-dtls": ("crates/lean-dtls", "Cargo.toml", "Cargo.lock"),
}

# In the order in which they begin if nothing holds them up: first what others wait for.
STEPS = (
    Step(
        "build",
        "the Rust code, its tests, benchmarks and examples and the libraries in C compile",
        of_setup("build_tests"),
        in_target=True,
    ),
    Step("python", "the packages of python/test.lock are installed", of_setup("make_venv test")),
    Step(
        "footprint",
        "images of lean-dtls for two processors have the recorded sizes and complete a handshake",
        "firmware/measure --check",
        inputs=(*LEAN_DTLS, "crates/lean-dtls-c", "firmware", "Cargo.toml", "Cargo.lock"),
    ),
    Step(
        "fuzz",
        "the fuzz targets of four crates, always with the same inputs",
        "tools/fuzz",
        inputs=(
            *LEAN_DTLS,
            *COAP,
            *SESSIONS,
            *WIRE,
            "crates/slowhand-net/Cargo.toml",
            "crates/slowhand-net/src/address.rs",
            "crates/slowhand-net/src/clock.rs",
            "crates/slowhand-net/src/cursor.rs",
            "crates/slowhand-net/src/datagram.rs",
            "crates/slowhand-net/src/ip",
            "crates/slowhand-net/src/lowpan",
            "crates/slowhand-net/src/network/gateway",
            "crates/slowhand-net/src/transport",
            "fuzz",
            "tools/fuzz",
            "Cargo.toml",
            "Cargo.lock",
        ),
    ),
    Step(
        "stacks",
        "common mistakes in the stacks in Rust, which Cargo has in a workspace of their own",
        "cargo clippy -q --manifest-path stacks/Cargo.toml --target-dir target/stacks --all-targets"
        " --locked -- -D warnings",
        inputs=(
            "crates/slowhand-stack",
            "crates/slowhand-sessions/csrc/slowhand/stack.h",
            "stacks",
        ),
    ),
    Step(
        "page",
        "the laboratory in a page gives the native numbers, and does what a reader asks",
        ".venv/bin/python docs/lab/lab_page.py && SLOWHAND_PAGE=1 .venv/bin/python -m pytest"
        " -o cache_dir=.state/pytest tests/test_lab_page.py",
        inputs=(
            *PAGE,
            "tests/test_lab_page.py",
            "tests/test_pages_in_browser.py",
            "tests/lab_page.cjs",
        ),
        needs=("build", "python"),
    ),
    Step(
        "rustfmt",
        "layout of the Rust code",
        "for folder in . fuzz firmware stacks; do"
        " cargo fmt --manifest-path $folder/Cargo.toml --all --check || exit; done",
    ),
    Step("ruff", "layout of the Python code, and common mistakes", "tools/ruff", needs=("python",)),
    Step(
        "circles",
        "modules do not import each other in a circle",
        "python3 tools/circles.py",
    ),
    Step(
        "mypy",
        "types of the Python code",
        ".venv/bin/python -m mypy --cache-dir .state/mypy",
        needs=("python",),
    ),
    Step(
        "cargo-deny",
        "licences, duplicates and sources of crates (deny.toml says what it does not check)",
        # Entries of deny.toml are for all of them, so one of them may not need it.
        ".venv/bin/cargo-deny --locked check licenses bans sources &&"
        " .venv/bin/cargo-deny --manifest-path stacks/Cargo.toml --config deny.toml --locked"
        " check -A license-not-encountered -A unmatched-skip-root licenses bans sources",
        needs=("python",),
    ),
    Step(
        "pytest",
        "the Python tests, paths in all Markdown files, the notebooks, the site",
        f".venv/bin/python -m pytest -n {PYTESTS} --dist loadfile -o cache_dir=.state/pytest",
        needs=("build", "python"),
    ),
    Step(
        "cargo-test",
        "the Rust tests; those of interop/ and lean-dtls if something that they test has changed",
        "tools/cargo-linted test -q $PACKAGES --tests --locked --no-fail-fast",
        # aiocoap is the peer of slowhand-coap.
        needs=("build", "python"),
    ),
    Step(
        "clippy",
        "common mistakes in the Rust code (clippy was the compiler of the build)",
        "! grep -A 20 '^warning' .state/checks/build.log",
        needs=("build",),
    ),
    Step(
        "rustdoc",
        "links in the documentation of the Rust code, all public items have one, its examples run",
        "RUSTDOCFLAGS='-D warnings' cargo doc -q --no-deps $PACKAGES --locked &&"
        " tools/cargo-linted test -q $PACKAGES --doc --locked --no-fail-fast",
        needs=("build",),
        in_target=True,
    ),
    Step(
        "sanitize",
        "every order of calls of every library, with the C code under AddressSanitizer",
        "tools/sanitize",
        only_full=True,
    ),
    Step(
        "boringssl",
        "BoringSSL as a peer of lean-dtls; it takes three minutes to compile",
        "cargo test -q --locked -p slowhand-interop --features boringssl --no-fail-fast",
        needs=("build",),
        in_target=True,
        only_full=True,
    ),
    Step(
        "wheel",
        "the wheel is small, has all licences, and works in a root with nothing but Python",
        "tools/wheel && SLOWHAND_WHEEL=1 .venv/bin/python -m pytest"
        " -o cache_dir=.state/pytest tests/test_wheel.py",
        needs=("build", "python"),
        in_target=True,
        only_full=True,
    ),
    Step(
        "floors",
        "tables, reports and figures are right with the lowest versions of the Python packages",
        "tools/floors",
        needs=("build",),
        only_full=True,
    ),
    Step(
        "bench",
        "the bounds of the benchmarks",
        "cargo bench -q --locked -p slowhand-lab --bench handshakes -- --check &&"
        " cargo bench -q --locked -p slowhand-lab --bench storm -- --check",
        in_target=True,
        only_full=True,
        alone=True,
    ),
)
BY_NAME = {step.name: step for step in STEPS}


def digest(inputs: Sequence[str]) -> str:
    """SHA-256 of all files in these places, with their names, without what was built there."""
    found = hashlib.sha256()
    for place in map(ROOT.joinpath, inputs):
        for file in sorted(place.rglob("*") if place.is_dir() else [place]):
            parts = file.relative_to(ROOT).parts
            if file.is_file() and not {"__pycache__", "target"}.intersection(parts):
                content = file.read_bytes()
                name = file.relative_to(ROOT).as_posix()
                found.update(f"{name} {len(content)}\n".encode() + content)
    return found.hexdigest()


def has_passed(name: str, inputs: Sequence[str]) -> bool:
    """True if this has passed with the inputs as they are."""
    recorded: dict[str, str] = json.loads(PASSED.read_text())
    return recorded.get(name) == digest(inputs)


def record(name: str, inputs: Sequence[str]) -> None:
    """Writes that this has passed."""
    recorded = json.loads(PASSED.read_text()) | {name: digest(inputs)}
    PASSED.write_text(json.dumps(recorded, indent=2, sort_keys=True) + "\n")


class Runner:
    """Runs steps, two at a time."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.waiting = list(steps)
        self.running: list[Step] = []
        self.good: list[str] = []
        self.broken: list[str] = []
        self.passed = self.failed = 0
        self._changed = threading.Condition()

    def run(self) -> None:
        """Runs all of them."""
        with self._changed:
            while self.waiting or self.running:
                while step := next(filter(self._can_begin, self.waiting), None):
                    self.waiting.remove(step)
                    if missing := [name for name in step.needs if name in self.broken]:
                        self._end(step, f"not run: {missing[0]} has failed", 0, 1)
                    else:
                        self.running.append(step)
                        threading.Thread(target=self._work, args=(step,)).start()
                if self.running:
                    self._changed.wait()

    def _can_begin(self, step: Step) -> bool:
        before = {other.name for other in [*self.waiting, *self.running]}
        return (
            len(self.running) < (1 if step.alone else AT_ONCE)
            and before.isdisjoint(step.needs)
            and not (step.in_target and any(other.in_target for other in self.running))
            and not (step.alone and any(not other.alone for other in self.waiting))
        )

    def _work(self, step: Step) -> None:
        began = time.monotonic()
        log = LOGS / f"{step.name}.log"
        with log.open("wb") as output:
            code = subprocess.run(
                ["sh", "-c", step.command],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            ).returncode
        said = log.read_text(errors="replace")
        if code == NOT_RUN:
            with self._changed:
                self.running.remove(step)
                self.good.append(step.name)
                print(f"-- {step.name:<12} not run: {said.strip()}", flush=True)
                self._changed.notify()
            return
        passed, failed = counted(said, "passed"), counted(said, "failed|errors?")
        if code != 0:  # if nothing was counted: a compile error, or a step without tests
            text = f"{said}\nIts command: {step.command}\nIts output: {log.relative_to(ROOT)}"
            failed = failed or 1
        else:
            text = f"{passed} passed" if passed else ""
            passed = passed or 1
        with self._changed:
            if step.inputs and not failed:
                record(step.name, step.inputs)
            self.running.remove(step)
            self._end(step, text, passed, failed, time.monotonic() - began)
            self._changed.notify()

    def _end(self, step: Step, text: str, passed: int, failed: int, took_s: float = 0.0) -> None:
        self.passed += passed
        self.failed += failed
        if failed:
            self.broken.append(step.name)
            print(f"== {step.name}\n{text}\nFAILED {step.name}", flush=True)
        else:
            self.good.append(step.name)
            print(f"ok {step.name:<12} {took_s:4.0f} s  {text}".rstrip(), flush=True)


def counted(said: str, words: str) -> int:
    """The sum of the numbers before these words, in the summaries of test runners."""
    found = re.findall(rf"(\d+) (?:{words})\b", "\n".join(SUMMARY.findall(said)))
    return sum(map(int, found))


def chosen(names: Sequence[str], is_full: bool) -> list[Step]:
    """The steps with these names and what they need; without names, all of this size."""
    if not names:
        return [step for step in STEPS if is_full or not step.only_full]
    wanted = {*names, *(needed for name in names for needed in BY_NAME[name].needs)}
    return [step for step in STEPS if step.name in wanted]


def main() -> int:
    """./test, without its set-up."""
    parser = argparse.ArgumentParser(
        prog="./test",
        description="Sets everything up and runs every check that CI runs, two at a time.",
        epilog="Example: ./test clippy cargo-test",
    )
    parser.add_argument("step", nargs="*", help="run these alone, and what they need")
    parser.add_argument("--full", action="store_true", help="in the slow sizes too")
    parser.add_argument("--list", action="store_true", help="name the steps")
    parser.add_argument("--names", action="store_true", help=argparse.SUPPRESS)  # for the set-up
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.step if name not in BY_NAME]:
        parser.error(f"there is no step {unknown[0]}; there are: {', '.join(BY_NAME)}")
    steps = chosen(arguments.step, arguments.full)
    if arguments.names:
        print(" ".join(step.name for step in steps))
        return 0
    if arguments.list:
        for step in STEPS:
            print(f"{step.name:<11} {step.checks}{' (--full)' if step.only_full else ''}")
        return 0
    LOGS.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    if not arguments.full and not arguments.step:
        unchanged = [step for step in steps if step.inputs and has_passed(step.name, step.inputs)]
        steps = [step for step in steps if step not in unchanged]
        for step in unchanged:
            print(f"ok {step.name:<12} not run: its inputs are those with which it has passed")
    settled = {name for name, inputs in IF_CHANGED.items() if has_passed(name, inputs)}
    left_out = set() if arguments.full else settled
    os.environ["SLOWHAND_STACKS"] = os.devnull  # stacks of who runs this are no part of it
    os.environ["PACKAGES"] = " --exclude ".join(["--workspace", *sorted(left_out)])
    runner = Runner(steps)
    runner.run()
    if "cargo-test" in runner.good:
        for name in IF_CHANGED.keys() - left_out:
            record(name, IF_CHANGED[name])
    if runner.broken:
        print(f"failed steps: {' '.join(runner.broken)}")
    took_s = time.monotonic() - began
    print(
        f"{runner.passed} passed, {runner.failed} failed, {took_s:.0f} s on {os.cpu_count()} cores"
    )
    return min(runner.failed, 1)


if __name__ == "__main__":
    sys.exit(main())
