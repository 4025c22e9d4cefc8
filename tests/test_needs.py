"""Programs that the tests start are those of the set-up; the steps of ./test are in documents."""

import re
import subprocess
import sys

import pytest

import needs
from conftest import ROOT


@pytest.fixture(scope="module")
def steps() -> set[str]:
    """The names of the steps."""
    command = [sys.executable, str(ROOT / "tools" / "checks.py"), "--list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in listed.splitlines()}


def test_a_program_that_no_line_asks_for_is_not_there() -> None:
    for program in ("/usr/bin/sed", "no-such-program"):
        with pytest.raises(FileNotFoundError, match="no line of tools/needs"):
            subprocess.run([program], check=False)


def test_the_set_up_asks_for_what_the_rust_tests_start() -> None:
    started = needs.started_by_rust()
    assert {"tshark", "ip", "openssl"} <= started, "the pattern finds nothing"
    assert started <= needs.declared("cargo-test", "rustdoc")


def test_every_line_names_a_step(steps: set[str]) -> None:
    lines = (ROOT / "tools" / "needs.txt").read_text().splitlines()
    when = {line.split()[0] for line in lines if not line.startswith("#")}
    assert when <= steps | {"run"}


def test_contributing_lists_the_steps(steps: set[str]) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    table = text.partition("| step | what it checks |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| `([\w-]+)` ", table, re.MULTILINE)) == steps
