"""`--fail-if` with a condition, and two branches of a library compared in their own CI."""

import json
import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from conftest import Cli, the_message
from slowhand import own_stacks
from slowhand.sweeps import UNITS, SweepError
from slowhand.sweeps.conditions import Condition
from test_settings import carrier

PAGE = Path(__file__).parents[1] / "docs" / "action.md"

SWEEP = ["sweep", "psk-tinydtls", "--vary", "network.link_pdr=1,0.8", "--count", 20]


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
        ("duration_s > 3", "--fail-if duration_s: found '', allowed: mean, p50, p95"),
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

    conditions = ["frames.mean > 1.05 * base", "frames.mean > 1000", "failed > 0"]
    found = json.loads(cli(*SWEEP, *fail(*conditions), "--json", code=1).stdout)
    base, other = (each["metrics"]["frames"]["mean"] for each in found["configurations"])
    assert other > 1.05 * base
    assert found["worse"] == [
        f"network.link_pdr=0.8: frames.mean is {other:g}, which is > 1.05 * base = {1.05 * base:g}"
    ]
    assert (found["fail_if"], found["conditions"]) == (None, conditions)
    said = " ".join(cli(*SWEEP, *fail(*conditions), code=1).stdout.split())
    assert f"worse: {found['worse'][0]}" in said
    # A bound without `base` is also for the first configuration.
    frames = json.loads(cli(*SWEEP, *fail("frames.p50 > 1"), "--json", code=1).stdout)["worse"]
    assert [text.partition(":")[0] for text in frames] == [
        "network.link_pdr=1",
        "network.link_pdr=0.8",
    ]
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


def commands() -> list[list[str]]:
    """The commands of the workflow for two branches of a library."""
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (workflow,) = (block for block in blocks if "stacks add" in block)
    found = [line.strip().removeprefix("- run: ") for line in workflow.splitlines()]
    return [shlex.split(line)[1:] for line in found if line.startswith("slowhand ")]


def test_the_workflow_has_two_builds_and_a_sweep() -> None:
    assert [words[0] for words in commands()] == ["stacks", "stacks", "sweep"]


PATCH = """
    unsigned char digest[32];
    static const unsigned char zeros[4096];
    for (int i = 0; i < 100; i++)
        mbedtls_sha256(zeros, sizeof zeros, digest, 0);
"""
"""What makes a handshake slower: 6,500 compressions of SHA-256."""


@pytest.mark.skipif("SLOWHAND_FULL" not in os.environ, reason="two builds; ./test --full")
def test_the_workflow_fails_if_the_new_branch_is_slower(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWHAND_STACKS", str(tmp_path / "stacks"))
    for branch in ("base", "new"):
        shutil.copytree(carrier("mbedtls-rs-sys") / "mbedtls", tmp_path / branch)
    (tmp_path / "network").mkdir()
    scenario = PAGE.parents[1] / "scenarios" / "psk-tinydtls.toml"
    shutil.copyfile(scenario, tmp_path / "network" / "sensor.toml")
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
