"""`--fail-if` with a condition, and two branches of a library compared in their own CI."""

import json
import os
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import Cli, the_message
from slowhand import own_stacks
from slowhand.sweeps import UNITS, SweepError
from slowhand.sweeps.conditions import Condition
from test_settings import carrier

PAGE = Path(__file__).parents[1] / "docs" / "action.md"

SWEEP = ["sweep", "psk-tinydtls", "--vary", "network.link_pdr=1,0.8", "--count", 5]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("duration_s.p95 >> 3", "--fail-if: found duration_s.p95 >> 3, allowed: COLUMN.STATISTIC"),
        ("duration_s.p95 > 3 * foo", "allowed: COLUMN.STATISTIC or failed, then >"),
        ("duration_s.p95 > 3 base", "allowed: COLUMN.STATISTIC or failed, then >"),
        ("duration_s.p95 > base / 3", "allowed: COLUMN.STATISTIC or failed, then >"),
        ("duration_s.p95 > base * 0", "allowed: COLUMN.STATISTIC or failed, then >"),
        ("duration_s.p95 >", "allowed: COLUMN.STATISTIC or failed, then >"),
        ("3 > duration_s.p95", "allowed: COLUMN.STATISTIC or failed, then >"),
        ("__import__('os') > 3", "allowed: COLUMN.STATISTIC or failed, then >"),
        ("durations.p95 > 3", "found 'durations', allowed: failed, duration_s, .*did you mean dur"),
        ("duration_s.max > 3", "--fail-if duration_s: found 'max', allowed: mean, p50, p95"),
        ("duration_s > 3", "--fail-if: found duration_s, allowed: duration_s.mean, duration_s.p50"),
        ("failed.mean > 3", "found failed.mean, allowed: failed, a share, which has no statistics"),
        ("duration_s.p95 == 3", "found duration_s.p95 == 3, allowed: COLUMN.STATISTIC or failed"),
        ("duration_s.p95 > 1e999", "allowed: COLUMN.STATISTIC or failed, then >"),
        ("duration_s.p95 > base + 5%", r"found base \+ 5%, .*; did you mean 1.05 \* base\?"),
        ("duration_s.p95 > base - 5%", r"did you mean 0.95 \* base\?"),
        ("duration_s.p95 > base-5%", r"did you mean 0.95 \* base\?"),
        ("duration_s.p95 > 5%", r"found 5%, allowed: a share with failed alone; did you mean 1.05"),
    ],
)
def test_what_is_no_condition_says_what_is(text: str, said: str) -> None:
    with pytest.raises(SweepError, match=said):
        Condition.read(text, list(UNITS))


@pytest.mark.parametrize(
    ("text", "base", "bound"),
    [
        ("failed > 1%", None, 0.01),
        ("failed>=0.5", None, 0.5),
        ("failed > base + 5%", 0.1, 0.15),
        ("duration_s.p95 > 1e3", None, 1000),
        ("duration_s.p95 > .5", None, 0.5),
        ("duration_s.p95 > base +1", 2, 3),
        ("duration_s.p95 < -2", None, -2),
        ("duration_s.p95 > base", 3, 3),
        ("duration_s.p95 > 1.05 * base", 2, 2.1),
        ("duration_s.p95 > 105%*base", 2, 2.1),
        ("duration_s.p95 <= base * 2", 3, 6),
        ("duration_s.mean > base + 0.5", 3, 3.5),
        ("duration_s.mean > base - 0.5", 3, 2.5),
        ("duration_s.mean > base-0.5", 3, 2.5),
    ],
)
def test_a_bound_is_a_number_or_follows_from_the_baseline(
    text: str, base: float | None, bound: float
) -> None:
    assert Condition.read(text, list(UNITS)).bound.of(base) == pytest.approx(bound)


def test_a_condition_decides_on_the_exit_code_and_names_what_failed(cli: Cli) -> None:
    def fail(*conditions: str) -> list[object]:
        return [word for text in conditions for word in ("--fail-if", text)]

    base_too = "frames.p50 > 1"  # a bound without `base` is also for the first configuration
    conditions = ["frames.mean > 1.05 * base", "frames.mean > 1000", "failed > 0", base_too]
    found = json.loads(cli(*SWEEP, *fail(*conditions), "--json", code=1).stdout)
    base, other = (each["metrics"]["frames"]["mean"] for each in found["configurations"])
    assert other > 1.05 * base
    assert [text.partition(":")[0] for text in found["worse"][1:]] == [
        "network.link_pdr=1",
        "network.link_pdr=0.8",
    ]
    assert found["worse"][:1] == [
        f"network.link_pdr=0.8: frames.mean is {other:g}, which is > 1.05 * base = {1.05 * base:g}"
    ]
    assert (found["fail_if"], found["conditions"]) == (None, conditions)
    said = " ".join(cli(*SWEEP, *fail(*conditions), code=1).stdout.split())
    assert f"worse: {found['worse'][0]}" in said
    assert "none is worse (--fail-if)" in cli(*SWEEP, *fail("frames.mean > 9 * base")).stdout
    refused = cli(*SWEEP, *fail("5%", "6%"), code=2)
    assert "--fail-if: found two shares, allowed: one, and conditions" in the_message(refused)
    assert "or a condition in quotes" in the_message(cli(*SWEEP, *fail("frames.mean"), code=2))


def test_a_statistic_without_a_value_has_failed(cli: Cli) -> None:
    lost = ["compare", "psk-tinydtls", "--set", "session.give_up_s=1", "--count", 2]
    lost += ["--set", "network.link_pdr=0.02", "--json"]
    bound, of_base = (
        json.loads(cli(*lost, "--fail-if", f"duration_s.p95 > {text}", code=1).stdout)["worse"]
        for text in ("99999", "99999 * base")
    )
    assert bound == [
        "psk-tinydtls.toml: duration_s.p95 has no value: no handshake completed",
    ]
    assert "base has no value" in of_base[0]
    (none,) = json.loads(cli(*lost, "--fail-if", "failed > base", code=1).stdout)["worse"]
    assert none == "no handshake completed with any configuration"


def test_a_column_that_the_scenario_does_not_have_is_an_error(cli: Cli) -> None:
    done = cli(*SWEEP[:-1], 1, "--fail-if", "data_s.mean > 1", "--json", code=2)
    assert "--fail-if data_s: found no value with network.link_pdr=1" in done.stderr
    found = json.loads(done.stdout)  # what has run is told
    assert found["worse"] is None
    assert [each["completed"] for each in found["configurations"]] == [1, 1]


def test_the_first_of_several_keys_is_no_base(cli: Cli) -> None:
    two = [*SWEEP, "--vary", "session.timeout_s=1,2", "--fail-if", "duration_s.p95 > base"]
    assert "with --vary of 2 keys, allowed: base with one" in the_message(cli(*two, code=2))


def commands() -> list[list[str]]:
    """The commands of the workflow for two branches of a library."""
    lines = [line for each in steps() for line in each.get("run", "").splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("slowhand ")]


def steps() -> list[dict[str, Any]]:
    """The steps of that workflow."""
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (workflow,) = (block for block in blocks if "stacks add" in block)
    found: list[dict[str, Any]] = yaml.safe_load(workflow)["jobs"]["slowhand"]["steps"]
    return found


def test_the_workflow_finds_what_it_has_checked_out() -> None:
    assert [words[0] for words in commands()] == ["stacks", "stacks", "sweep"]
    folders = {each["with"]["path"] for each in steps() if "with" in each}
    assert folders == {"base", "new"}
    # Files that a command names are in one of these folders, or in one that a step makes.
    words = [word for each in steps() for word in shlex.split(each.get("run", ""), comments=True)]
    files = [word for word in words if re.match(r"[\w.-]+/", word)]
    assert "new/network/sensor.toml" in files
    assert {file.partition("/")[0] for file in files} <= {*folders, "venv"}


PATCH = """
    unsigned char digest[32];
    static const unsigned char zeros[4096];
    for (int i = 0; i < 100; i++)
        mbedtls_sha256(zeros, sizeof zeros, digest, 0);
"""
"""A patch that makes a handshake slower: 6,500 compressions of SHA-256."""


@pytest.mark.skipif("SLOWHAND_FULL" not in os.environ, reason="two builds; ./test --full")
def test_the_workflow_fails_if_the_new_branch_is_slower(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWHAND_STACKS", str(tmp_path / "stacks"))
    for branch in ("base", "new"):
        shutil.copytree(carrier("mbedtls-rs-sys") / "mbedtls", tmp_path / branch)
    (tmp_path / "new" / "network").mkdir()
    scenario = PAGE.parents[1] / "scenarios" / "psk-tinydtls.toml"
    shutil.copyfile(scenario, tmp_path / "new" / "network" / "sensor.toml")
    base, new, sweep = commands()
    cli(*base)
    cli(*new)
    assert "none is worse (--fail-if)" in cli(*sweep).stdout
    file = tmp_path / "new" / "library" / "ssl_tls.c"
    text = file.read_text()
    start = re.search(r"^int mbedtls_ssl_derive_keys\(.*?\)\n\{\n", text, re.M | re.S)
    assert start is not None
    file.chmod(0o644)
    file.write_text(text[: start.end()] + PATCH + text[start.end() :])
    cli(*new)
    said = " ".join(cli(*sweep, code=1).stdout.split())
    assert "worse: session.stack=new: duration_s.p95 is " in said
    assert own_stacks.builds(["base", "new"]).keys() == {"base", "new"}
