"""The action for GitHub, in a repository with two commits, with the variables of a runner."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import action
import pytest
import yaml

import slowhand
from conftest import ROOT

SCENARIO = (ROOT / "scenarios" / "quickstart.toml").read_text()
SLOWER = SCENARIO.replace("link_pdr = 0.95 ", "link_pdr = 0.7 ")
ASKS = '[application]\npattern = "periodic"\nperiod_s = 3600\n\n[client]\n'
LIVES = SCENARIO.replace("[client]\n", ASKS).replace("slotframe = 5 ", "slotframe = 31 ")


def git(folder: Path, *words: str) -> str:
    """The words that git prints."""
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    command = ["git", *who, *words]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


class Runner:
    """A runner with a repository: `head` is checked out, `base` is the commit before."""

    def __init__(self, folder: Path, base: dict[str, str], head: dict[str, str]):
        self.folder = folder
        self.workspace = folder / "repository"
        self.workspace.mkdir()
        git(self.workspace, "init", "-q")
        self.commits = []
        for files in (base, head):
            for name, text in files.items():
                (self.workspace / name).write_text(text)
            git(self.workspace, "add", "--all")
            git(self.workspace, "commit", "-q", "--allow-empty", "-m", "x")
            self.commits.append(git(self.workspace, "rev-parse", "HEAD"))

    def run(self, scenarios: str, code: int, **inputs: str) -> str:
        """Runs the action; what it prints."""
        done = subprocess.run(
            [ROOT / "tools" / "action"],
            cwd=self.workspace,
            env={**os.environ, **self.variables(scenarios, **inputs)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout

    def variables(self, scenarios: str, **inputs: str) -> dict[str, str]:
        """The environment of the action."""
        given = {"base": self.commits[0], "count": "20", "days": "1", "wheel": "", **inputs}
        return {
            **{f"INPUT_{name.upper()}": value for name, value in given.items()},
            "INPUT_SCENARIOS": scenarios,
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "RUNNER_TEMP": str(self.folder / "temporary"),
        }

    def written(self, name: str) -> str:
        """A file that the action has written."""
        return (self.folder / name).read_text()


def test_a_slower_handshake_fails_it(tmp_path: Path) -> None:
    """The numbers are those of `slowhand compare`; what is new is compared with nothing."""
    runner = Runner(tmp_path, {"a.toml": SCENARIO}, {"a.toml": SLOWER, "b|<b>.toml": SCENARIO})
    said = runner.run("a.toml\n\n  b|<b>.toml\n", 1)
    text = runner.written("summary.md")
    assert said.endswith(f"{text}\n")
    means = [
        slowhand.Run(slowhand.Scenario(runner.workspace / file), count=20).summary()["metrics"][
            "duration_s"
        ]["mean"]
        for file in ("a.toml", "b|<b>.toml")
    ]
    assert f"| a.toml | {means[1]:.4g} → {means[0]:.4g} (+23.2% ± 3.4%) |  |" in text
    assert "| b&#124;&#60;b&#62;.toml | new |  |" in text
    assert "- a.toml: duration +23.2% ± 3.4%\n" in text
    assert "worse=true" in runner.written("output")
    report = runner.folder / "temporary" / "slowhand-report"
    assert {file.name for file in report.iterdir()} == {
        *("a.toml.html", "a.toml.compare.json", "b-b-.toml.html")
    }


def test_a_shorter_life_fails_it(tmp_path: Path) -> None:
    """Cells three times as often; handshakes get faster by it. The same again fails nothing."""
    often = LIVES.replace("slotframe = 31 ", "slotframe = 11 ")
    runner = Runner(tmp_path, {"a.toml": LIVES}, {"a.toml": often})
    runner.run("a.toml", 1)
    text = runner.written("summary.md")
    reason = re.search(r"- a\.toml: the battery's life is shorter: (.*)", text)
    assert reason
    was, now = map(float, re.findall(r"[\d.]+(?= →|&| years| days)", reason[1])[:2])
    assert now < was / 1.5
    assert "duration" not in reason[1]
    # Another use in the same job. Nothing of the first is in its way, nor in its report.
    assert git(runner.workspace, "worktree", "list").count("\n") == 0
    (tmp_path / "temporary" / "slowhand-report" / "old.html").touch()
    runner.run("a.toml", 0, base=runner.commits[1], battery="cr2032")
    assert "nothing got worse" in runner.written("summary.md")
    assert runner.written("output").endswith("worse=false\n")
    left = [file.name for file in (tmp_path / "temporary").rglob("*")]
    assert sorted(left) == ["a.toml.compare.json", "a.toml.html", "slowhand-report"]


@pytest.mark.parametrize(
    ("scenarios", "inputs", "message"),
    [
        ("", {}, "scenarios: found none, allowed"),
        ("a.toml", {"base": "0" * 40}, "base: found no commit"),
        ("a.toml", {"base": "--upload-pack=x"}, "base: found '--upload-pack=x', allowed: a commit"),
        ("a.toml", {"base": "nowhere"}, "git fetch"),
        ("none.toml", {}, "none.toml"),
        ("a.toml", {"metric": "speed"}, "--metric: found 'speed'"),
    ],
)
def test_what_cannot_be_compared(
    scenarios: str,
    inputs: dict[str, str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    runner = Runner(tmp_path, {"a.toml": SCENARIO}, {})
    for name, value in runner.variables(scenarios, **inputs).items():
        monkeypatch.setenv(name, value)
    assert action.main() == 2
    said = capsys.readouterr().out
    assert said.startswith("::error::") and said.count("\n") == 1 and message in said


def test_a_crash_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python's exit code after a traceback is 1, as that of a run in which something failed."""
    runner = Runner(tmp_path, {"a.toml": SCENARIO}, {})
    for name, value in runner.variables("a.toml").items():
        monkeypatch.setenv(name, value)
    crash = "import sys; sys.exit('a crash\\r100%')"
    monkeypatch.setattr(action, "SLOWHAND", [sys.executable, "-c", crash])
    assert action.main() == 2
    assert capsys.readouterr().out == "::error::a crash%0A100%25\n"
    assert action.failed("a\r\n") == 2
    assert capsys.readouterr().out == "::error::a%0D%0A\n"
    monkeypatch.setattr(action.Action, "run", lambda self: self.inputs["x"])
    assert action.main() == 2
    assert capsys.readouterr().out == "::error::unexpected: KeyError('x')\n"


def test_reports_have_names_of_their_own(tmp_path: Path) -> None:
    this = action.Action({}, tmp_path, tmp_path)
    this.report.mkdir()
    names = []
    for scenario in ("a/b.toml", "a-b.toml", "a b.toml"):
        place = this._place(scenario)
        Path(f"{place}.html").touch()
        names.append(place.name)
    assert names == ["a-b.toml", "a-b.toml-2", "a-b.toml-3"]


def configuration(mean: float | None, completed: int = 20) -> dict[str, Any]:
    """A configuration as `slowhand compare --json` has it; one world has no interval."""
    metrics = {} if mean is None else {"duration_s": {"mean": mean}}
    difference = {"mean": 1.0, "half": None} if mean else None
    about = {"scenario": "/tmp/x: y/a.toml", "completed": completed, "worlds": 20}
    return {**about, "metrics": metrics, "difference": difference}


def test_the_words_for_what_was_compared() -> None:
    """A life or an interval may be missing; a reason may have a colon, as a path may."""
    reason = "clearly fewer handshakes complete: 50.0%, and 99.0% of the baseline"
    both = [configuration(2.0), configuration(3.0)]
    compared = {"configurations": both, "worse": [f"/tmp/x: y/a.toml: {reason}"]}
    assert action.reasons(compared, "duration_s") == [reason]
    assert action.told(compared, "duration_s") == "2 → 3 (+50.0%)"
    # The commit that lets handshakes complete again must not fail.
    mended = [configuration(None, 0), configuration(3.0)]
    compared = {"configurations": mended, "worse": ["no handshake completed with the baseline"]}
    assert action.reasons(compared, "duration_s") == []
    assert action.told(compared, "duration_s") == "0 of 20 and 20 complete"
    none = [configuration(None, 0), configuration(None, 0)]
    assert action.reasons({**compared, "configurations": none}, "duration_s")
    life, nothing = {"years": 2.0, "years_ci95": [1.9, 2.1]}, {"years": None, "years_ci95": None}
    assert action.life_told(life, nothing) == "2 years → no life"
    assert action.life_told(nothing, life) == "no life → 2 years"
    assert not action.is_shorter(life, nothing, 0.05)
    assert action.is_shorter(life, {"years": 1.0, "years_ci95": [0.9, 1.1]}, 0.05)


def test_the_action_gives_its_script_what_it_reads() -> None:
    """Inputs reach the script as variables alone, and other actions have a commit."""
    described = yaml.safe_load((ROOT / "action.yml").read_text())
    assert described["runs"]["using"] == "composite"
    compare, upload = described["runs"]["steps"]
    assert compare["shell"] == "sh" and "${{" not in compare["run"]
    assert (ROOT / compare["run"].strip('"').removeprefix("$GITHUB_ACTION_PATH/")).is_file()
    inputs = set(described["inputs"])
    given = {name: f"INPUT_{name.upper().replace('-', '_')}" for name in inputs - {"artefact"}}
    assert compare["env"] == {
        variable: f"${{{{ inputs.{name} }}}}" for name, variable in given.items()
    }
    script = (ROOT / "tools" / "action.py").read_text() + (ROOT / "tools" / "action").read_text()
    for variable in given.values():
        assert f'"{variable.removeprefix("INPUT_").lower()}"' in script or variable in script
    output = f"${{{{ steps.{compare['id']}.outputs.worse }}}}"
    assert described["outputs"]["worse"]["value"] == output
    assert upload["if"] == "always()"
    assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", upload["uses"])
    page = (ROOT / "docs" / "action.md").read_text()
    for name in inputs:
        assert f"`{name}`" in page
