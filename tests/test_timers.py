"""The search for the best timer, and its page."""

import os
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
import timers
from timers import Measured, Timed

from conftest import ROOT

PAGE = ROOT / "docs" / "reference" / "timers.md"
NAN = float("nan")


def test_what_fails_is_not_the_best_however_fast_the_rest_is() -> None:
    measured = {
        1.0: Measured(0.30, 5, 10, 100),
        2.0: Measured(0.02, 9, 10, 100),
        4.0: Measured(0.015, 8, 10, 100),  # as reliable as the next, within 1 %
        8.0: Measured(0.01, 10, 10, 100),
        16.0: Measured(1.0, NAN, NAN, NAN),
    }
    assert timers.best_of(measured) == 4


def test_of_equal_durations_energy_decides_then_octets_then_the_shorter() -> None:
    fast = {
        1.0: Measured(0, 10.4, 10, 100),
        2.0: Measured(0, 10.0, 9.4, 60),
        4.0: Measured(0, 10.2, 9.0, 50),
        8.0: Measured(0, 10.2, 9.0, 50),
        16.0: Measured(0, 10.6, 1.0, 10),
    }
    assert list(timers.among_best(fast)) == [1, 2, 4, 8]
    assert timers.best_of(fast) == 4
    del fast[4], fast[8]
    assert timers.best_of(fast) == 2


def test_where_most_fail_no_timer_is_the_best() -> None:
    assert timers.best_of({1.0: Measured(0.51, 5, 10, 100)}) is None
    assert timers.best_of({1.0: Measured(0.5, 5, 10, 100)}) == 1


def test_the_steps_beside_the_best_are_halved() -> None:
    assert timers.neighbours(4.0, [1.0, 2.0, 4.0, 8.0]) == [2.8, 5.7]
    assert timers.neighbours(1.0, [1.0, 2.0]) == [1.4]


def test_a_timer_is_measured_over_the_handshakes_that_completed() -> None:
    durations = numpy.array([1.0, NAN, 3.0, 3.0])
    timed = Timed(durations, numpy.array([2.0, NAN, 4.0, 6.0]), numpy.array([10.0, NAN, 20, 30]))
    assert Measured.of(timed) == Measured(0.25, 3.0, 4.0, 20.0)
    assert Measured.of(timed, numpy.array([0, 1])) == Measured(0.5, 1.0, 2.0, 10.0)
    assert Measured.of(timed, numpy.array([1])).failed == 1


def test_how_sure_the_best_is() -> None:
    def constant(value: float) -> Timed:
        values = numpy.full(50, value)
        return Timed(values, values, values)

    assert timers.certainty({1.0: constant(3), 2.0: constant(4)}, 1.0) == 1
    assert timers.certainty({1.0: constant(3), 2.0: constant(4)}, 2.0) == 0
    # One world in 20 of the first takes long: in every other resample more do, and its 95th
    # percentile is a long one.
    rare = numpy.full(50, 3.0)
    rare[:2] = 9
    assert 0.2 < timers.certainty({1.0: Timed(rare, rare, rare), 2.0: constant(4)}, 1.0) < 0.8


def test_a_row_of_the_page_is_what_is_measured() -> None:
    place = ("TSCH, 17 slots of 20 ms", 1, "10 %")
    found = timers.search(timers.scenario_of(*place, "PSK"))
    assert timers.row(*place, found) in PAGE.read_text(), "run: .venv/bin/python docs/timers.py"


@pytest.mark.skipif("SLOWHAND_FULL" not in os.environ, reason="minutes; ./test --full")
def test_the_pages_and_the_picture_are_what_is_measured(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "docs" / "timers.py", tmp_path], check=True)
    for file in ("timers.md", "reference/timers.md", "timers.svg"):
        assert (tmp_path / "docs" / file).read_text() == (ROOT / "docs" / file).read_text()
