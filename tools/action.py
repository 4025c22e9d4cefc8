"""The action of action.yml: compares scenarios of a commit with those of another one.

It reads its inputs and the paths of the runner from the environment, runs the command line, and
writes a report into RUNNER_TEMP/slowhand-report and a summary for the page of the job. Exit code 1:
something is worse. 2: it could not be compared.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

SLOWHAND = [sys.executable, "-P", "-m", "slowhand"]
WORSE, FAILED = 1, 2
# A name of a commit or a branch. It cannot be taken for an option.
COMMIT = re.compile(r"[0-9A-Za-z][\w./-]*")
NO_COMMIT = re.compile(r"0*")


class Failed(Exception):
    """A comparison that is not possible. The message says why, and what to do."""


@dataclass
class Compared:
    """The findings on a scenario."""

    name: str
    metric: str = ""
    life: str = ""
    worse: list[str] = field(default_factory=list)


@dataclass
class Action:
    """The inputs of the action, and the folders in which it works."""

    inputs: Mapping[str, str]
    workspace: Path
    temporary: Path

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Action:
        """From the environment of a runner. Raises `Failed`."""
        prefix = "INPUT_"
        inputs = {
            name.removeprefix(prefix).lower(): value.strip()
            for name, value in environment.items()
            if name.startswith(prefix)
        }
        places = [environment.get(name) for name in ("GITHUB_WORKSPACE", "RUNNER_TEMP")]
        if not all(places):
            raise Failed("GITHUB_WORKSPACE and RUNNER_TEMP are missing: this runs in a workflow")
        workspace, temporary = (Path(place or "") for place in places)
        return cls(inputs, workspace, temporary)

    @property
    def report(self) -> Path:
        """The folder that becomes the artefact. A later use in the same job begins anew."""
        return self.temporary / "slowhand-report"

    def run(self) -> list[Compared]:
        """Compares all scenarios. Raises `Failed`."""
        scenarios = [line.strip() for line in self.inputs.get("scenarios", "").splitlines()]
        scenarios = [scenario for scenario in scenarios if scenario]
        if not scenarios:
            raise Failed("scenarios: found none, allowed: one or more paths, one a line")
        shutil.rmtree(self.report, ignore_errors=True)
        self.report.mkdir(parents=True)
        with self._checked_out() as base:
            return [self._compare(scenario, base) for scenario in scenarios]

    @contextmanager
    def _checked_out(self) -> Iterator[Path]:
        """The folder with the files of the commit to compare with, while it is needed."""
        base = self.inputs.get("base", "")
        if NO_COMMIT.fullmatch(base):
            raise Failed("base: found no commit, allowed: one, as on a pull request")
        if not COMMIT.fullmatch(base):
            raise Failed(f"base: found {base!r}, allowed: a commit or a branch")
        if not self._git("cat-file", "-e", f"{base}^{{commit}}", check=False):
            self._git("fetch", "-q", "--no-tags", "--depth=1", "origin", base)
            base = "FETCH_HEAD"
        folder = tempfile.mkdtemp(prefix="slowhand-base-", dir=self.temporary)
        try:
            self._git("worktree", "add", "-q", "--force", "--detach", folder, base)
            yield Path(folder)
        finally:
            self._git("worktree", "remove", "--force", folder, check=False)
            shutil.rmtree(folder, ignore_errors=True)

    def _git(self, *words: str, check: bool = True) -> bool:
        done = subprocess.run(
            ["git", *words], cwd=self.workspace, stderr=subprocess.PIPE, text=True, check=False
        )
        if check and done.returncode:
            raise Failed(f"git {' '.join(words)}: {done.stderr.strip()}")
        return done.returncode == 0

    def _compare(self, scenario: str, base: Path) -> Compared:
        """Compares one scenario with what it was."""
        found = Compared(scenario)
        before, after = base / scenario, self.workspace / scenario
        place = self._place(scenario)
        self._slowhand("run", after, "--count", self._count, "--report", f"{place}.html")
        if not before.exists():
            found.metric = "new"
            return found
        metric = self.inputs.get("metric") or "duration_s"
        most = self.inputs.get("fail_if") or "5%"
        options = ["--count", self._count, "--metric", metric, "--fail-if", most]
        compared = self._slowhand("compare", before, after, *options, "--json")
        Path(f"{place}.compare.json").write_text(json.dumps(compared, indent=2))
        found.metric = told(compared, metric)
        found.worse += reasons(compared, metric)
        lives = [self._life(file) for file in (before, after)]
        if lives[0] and lives[1]:
            found.life = life_told(*lives)
            if is_shorter(lives[0], lives[1], compared["fail_if"]):
                found.worse.append(f"the battery's life is shorter: {found.life}")
        return found

    def _place(self, scenario: str) -> Path:
        """Where the report on a scenario goes, without the suffix: names that are alike differ."""
        name = re.sub(r"[^\w.-]+", "-", scenario)
        names = (name if number == 1 else f"{name}-{number}" for number in count(1))
        return next(p for p in map(self.report.joinpath, names) if not Path(f"{p}.html").exists())

    @property
    def _count(self) -> str:
        return self.inputs.get("count") or "100"

    def _life(self, file: Path) -> dict[str, Any]:
        """The answer of `slowhand battery`; nothing if the scenario says no requests."""
        if not asks(file):
            return {}
        options: list[str] = []
        for name in ("battery", "days"):
            if value := self.inputs.get(name):
                options += [f"--{name}", value]
        return self._slowhand("battery", file, *options, "--json")

    def _slowhand(self, *words: str | Path) -> dict[str, Any]:
        """The JSON that a command prints, or nothing if it ends with `--report FILE`.

        Raises `Failed`, also if there is neither: a crash has an exit code of its own.
        """
        command = [*SLOWHAND, *map(str, words)]
        done = subprocess.run(
            command, cwd=self.workspace, capture_output=True, text=True, check=False
        )
        is_there = Path(words[-1]).exists() if "--report" in words else done.stdout
        if done.returncode not in (0, 1) or not is_there:
            raise Failed(done.stderr.strip() or f"slowhand {words[0]} ended with {done.returncode}")
        return dict(json.loads(done.stdout)) if "--json" in words else {}


def asks(file: Path) -> bool:
    """True if the scenario says what its client asks for over a long time."""
    import slowhand

    return slowhand.Scenario(file).value("application.pattern") is not None


def reasons(compared: Mapping[str, Any], metric: str) -> list[str]:
    """Why it is worse. It is not if there is a value now and was none before."""
    before, after = compared["configurations"]
    if metric not in before["metrics"] and metric in after["metrics"]:
        return []
    # The label is the path of a file; the reason is behind it.
    return [text.removeprefix(f"{after['scenario']}: ") for text in compared["worse"]]


def told(compared: Mapping[str, Any], metric: str) -> str:
    """Means before and after, and the difference with its interval."""
    before, after = compared["configurations"]
    if metric not in before["metrics"] or metric not in after["metrics"]:
        return f"{before['completed']} of {before['worlds']} and {after['completed']} complete"
    was, now = (each["metrics"][metric]["mean"] for each in (before, after))
    text = f"{was:.4g} → {now:.4g}"
    if (difference := after["difference"]) and was:
        half = difference["half"]  # one world has none
        about = "" if half is None else f" ± {half / was:.1%}"
        text += f" ({difference['mean'] / was:+.1%}{about})"
    return text


def life_told(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Lives before and after."""
    was, now = before["years"], after["years"]
    if not was or now is None:
        lives = ("no life" if years is None else f"{years:.3g} years" for years in (was, now))
        return " → ".join(lives)
    if was < 1:
        return f"{was * 365.25:.3g} → {now * 365.25:.3g} days ({now / was - 1:+.1%})"
    return f"{was:.3g} → {now:.3g} years ({now / was - 1:+.1%})"


def is_shorter(before: Mapping[str, Any], after: Mapping[str, Any], most: float) -> bool:
    """True if the whole interval of the life is shorter by more than this share."""
    was, now = before["years_ci95"], after["years_ci95"]
    return bool(was and now and now[1] < (1 - most) * was[0])


def summary(found: list[Compared], metric: str) -> Iterator[str]:
    """The lines of the page of the job, as Markdown."""
    worse = [(each, reason) for each in found for reason in each.worse]
    title = "something got worse" if worse else "nothing got worse"
    yield f"### slowhand: {title}\n\n| scenario | {cell(metric)} | battery's life |\n"
    yield "| --- | --- | --- |\n"
    for each in found:
        yield f"| {cell(each.name)} | {cell(each.metric)} | {cell(each.life)} |\n"
    yield "\n" if worse else ""
    for each, reason in worse:
        yield f"- {cell(each.name)}: {cell(reason)}\n"


def cell(text: str) -> str:
    """Text as it is, in Markdown: no character of it means anything."""
    return "".join(c if c.isalnum() or c in " .,:+%±→-/()'" else f"&#{ord(c)};" for c in text)


def failed(reason: str) -> int:
    """Says why, by a command of the runner: it shows the line in the page of the job."""
    for character in "%\r\n":
        reason = reason.replace(character, f"%{ord(character):02X}")
    print(f"::error::{reason}")
    return FAILED


def main() -> int:
    """Runs the action."""
    try:
        action = Action.read(os.environ)
        found = action.run()
    except Failed as error:
        return failed(str(error))
    except Exception as error:  # exit code 1 would say that something is worse
        traceback.print_exc()
        return failed(f"unexpected: {error!r}")
    is_worse = any(each.worse for each in found)
    lines = "".join(summary(found, action.inputs.get("metric") or "duration_s"))
    print(lines)
    for name, text in (("STEP_SUMMARY", lines), ("OUTPUT", f"worse={str(is_worse).lower()}\n")):
        if place := os.environ.get(f"GITHUB_{name}"):
            with Path(place).open("a", encoding="utf-8") as file:
                file.write(text)
    return WORSE if is_worse else 0


if __name__ == "__main__":
    sys.exit(main())
