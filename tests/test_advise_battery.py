"""An advice by the life of a battery: years, ties, what may be chosen, bad input."""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import slowhand
from advising import LOSSY, refused
from conftest import Cli
from slowhand.advice import Adviser, front, life
from slowhand.advice.answer import Advice
from slowhand.advice.front import FAILURES, UNANSWERED, Judged, Sample, Scale, ranking, weights
from slowhand.advice.life import Lived
from slowhand.advice.space import GROUPS, OF_APPLICATION, USUAL, USUAL_LIFE, space
from slowhand.lives.alternatives import OF_KEPT

QUICK = [
    *("network.topology.hops=1", "server.at=0", "server.internet_delay_ms="),
    *("session.stack=lean-dtls", "session.suite=TLS_PSK_WITH_AES_128_CCM_8", "session.auth=psk"),
    *("session.cryptography=weightless", "application.period_s=600"),
]
"""A world of a life takes some milliseconds, and there are three other networks, not five."""

CHOOSE = ["session.connection_id=,8", "session.max_timeout_s=60,120"]
"""The NAT forgets what has no connection ID. No timer waits for a minute."""


@pytest.fixture(autouse=True, scope="module")
def few_worlds() -> Iterator[None]:
    """The lives of a race have the same few worlds as in each other part."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(life, "FEWEST", 3)
        yield


def asked(**more: Any) -> Advice:
    """The advice about what a session does where a NAT forgets it."""
    arguments: dict[str, Any] = {"choose": CHOOSE, "budget": 900, "battery": "ls14250", **more}
    return slowhand.advise(slowhand.Scenario("battery", QUICK), weights="battery=1", **arguments)


@pytest.fixture(scope="module")
def advice() -> Advice:
    return asked()


def test_the_years_are_those_of_slowhand_battery(advice: Advice) -> None:
    worlds = advice.adviser.worlds
    for row in advice.finalists:
        assert row.configuration
        alone = slowhand.battery(
            row.configuration.scenario,
            ["ls14250"],
            seed=1 + worlds,
            worlds=life.worlds(worlds),
        )
        lasts = alone["batteries"]["ls14250"]["life"]
        found = row.json(advice.best)["metrics"]["battery"]
        assert found == {"value": lasts["years"], "ci95": lasts["years_ci95"]}
        charge = lasts["charge_a_day_mah"] + lasts["self_discharge_a_day_mah"]
        assert row.judged.values[front.CHARGE] == pytest.approx(charge)


def test_what_lasts_longest_is_recommended_and_ties_are_named(advice: Advice) -> None:
    found = advice.json()
    assert found["recommended"]["settings"]["session.connection_id"] == 8
    (tie,) = found["ties"]
    assert tie["settings"] == {"session.connection_id": 8, "session.max_timeout_s": 120}
    assert found["equal"] == [tie["settings"]]
    years = found["recommended"]["metrics"]["battery"]["value"]
    second = found["second"]
    assert second["settings"]["session.connection_id"] is None
    # Twice the years are half of the charge a day.
    assert second["weighted"] == pytest.approx(years / second["metrics"]["battery"]["value"])
    assert second["weighted"] > 1.05 and found["sure"] > 0.95
    assert found["weights"]["battery"] == 1 and found["units"]["battery"] == "years"
    assert found["battery"] == "ls14250" and "ls14250" in found["assumed"]["battery"]
    assert found["worlds_of_lives"] == advice.adviser.lived > 0
    assert advice.adviser.done + advice.adviser.lived <= advice.adviser.total
    # A request waits for no handshake.
    assert found["recommended"]["requests_s_p95"] < second["requests_s_p95"]
    assert found["recommended"]["requests_unanswered"] <= 0.01


def test_the_text_and_the_frame_have_years(advice: Advice) -> None:
    text = advice.text
    assert max(map(len, text.partition("What to type")[0].splitlines())) <= 80
    lasts = re.search(r"\n([\d.]+) years \(([\d.]+) to ([\d.]+)\) from a Saft LS 14250\.", text)
    assert lasts, text
    low, high = map(float, lasts.groups()[1:])
    assert low <= advice.front.row(0, named=True)["battery_years"] <= high
    assert re.search(r"^ +battery .*\n(.*\n)?.* years ", text, re.MULTILINE)
    words = " ".join(text.split())
    assert "The same in every world: session.max_timeout_s=120." in words
    assert "battery: ls14250, client 1, weighed by the charge of a day" in words
    assert "assumed: the server answers at once" in words
    # The last lines tell the same years.
    *_, last = text.replace("\\\n", " ").strip().splitlines()
    options = dict(re.findall(r"--(battery|seed|count) (\S+)", last))
    seed, count = 1 + advice.adviser.worlds, life.worlds(advice.adviser.worlds)
    assert options == {"battery": "ls14250", "seed": str(seed), "count": str(count)}
    assert last.split()[:3] == ["slowhand", "battery", "battery"]
    assert {"battery_years_low", "battery_years_high", "requests_s_p95"} <= {*advice.front.columns}


def test_the_answer_is_the_same_on_any_number_of_threads(advice: Advice) -> None:
    one = asked(threads=1).json()
    assert {**one, "wall_s": 0} == {**advice.json(), "wall_s": 0}


def test_without_a_weight_nothing_of_a_battery_is_there() -> None:
    assert "battery" not in weights(None) and "battery" not in weights("energy=1,battery=0")
    plain = slowhand.advise(
        "battery", choose=["session.timeout_s=9"], fix={"network.topology.hops": 1}, budget=400
    )
    found = plain.json()
    assert not {"battery", "assumed", "worlds_of_lives"} & {*found}
    for part in (found["recommended"]["metrics"], found["units"], found["weights"]):
        assert "battery" not in part
    assert "battery_years" not in plain.front.columns and "years" not in plain.text


class Known(Lived):
    """A life that is known."""

    def __init__(self, charges: list[float], unanswered: float):
        self._charges, self._unanswered = numpy.array(charges), unanswered

    def charges(self, count: int) -> front.Numbers:
        """The charges of any number of worlds."""
        return self._charges

    def unanswered(self, count: int) -> float:
        """The share for any number of worlds."""
        return self._unanswered


def lived(charges: list[float], unanswered: float = 0.0) -> Sample:
    """A configuration whose handshakes all complete, with a life."""
    sample = Sample(0.0, None, Known(charges, unanswered))
    sample._append(numpy.ones((4, 40, 1)))
    return sample


def test_a_battery_that_lasts_as_nothing_is_answered_is_not_recommended() -> None:
    scale = Scale(weights("battery=1"), 300.0)
    samples = [lived([0.1, 0.1], unanswered=0.5), lived([0.3, 0.3]), lived([0.2, 0.2], 0.04)]
    values = {one: sample.values(40) for one, sample in enumerate(samples)}
    assert ranking(values, values, scale) == [2, 1, 0]
    assert ranking(values, values, scale, racing=40) == [2, 1, 0]
    judged = Judged(samples[0], 40, scale)
    assert judged.completes and not judged.is_reliable
    assert judged.values[FAILURES] == 0 and judged.values[UNANSWERED] == 0.5
    assert front.sureness(Judged(samples[1], 40, scale), judged) == 1


def test_lives_in_the_same_worlds_are_told_apart_by_their_differences() -> None:
    """A world that takes more of one takes more of the other too."""
    scale = Scale(weights("battery=1"), 300.0)
    common = numpy.random.default_rng(1).uniform(1, 2, 12)
    less, more = (Judged(lived((common * by).tolist()), 40, scale) for by in (1.0, 1.02))
    assert front.is_apart(less, more)
    other = Judged(lived((common[::-1] * 1.02).tolist()), 40, scale)
    assert not front.is_apart(less, other)
    ratio = math.exp(more.score - less.score)
    assert ratio == pytest.approx(1.02)


def test_what_an_interrupt_leaves_has_the_lives_of_its_worlds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = 0
    sample = Lived.sample

    def interrupted(self: Lived, *arguments: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 7:
            raise KeyboardInterrupt
        sample(self, *arguments)

    monkeypatch.setattr(Lived, "sample", interrupted)
    base = slowhand.Scenario("battery", QUICK)
    adviser = Adviser(base, choose=["session.connection_id=2,8"], weights="battery=1", budget=700)
    with pytest.raises(KeyboardInterrupt):
        adviser.run()
    stopped = Advice(adviser, interrupted=True)
    assert stopped.known and stopped.json()["recommended"]["metrics"]["battery"]["value"] > 0
    assert "years" in stopped.text


# Choices


def test_what_matters_for_a_life_may_be_chosen_but_is_not_by_default() -> None:
    base = slowhand.Scenario("battery")
    named = ["sessions", "connection_id", "keep_alives", "rekeying", "polls"]
    for name in named:
        assert len(space(base, [name], []).configurations) > 1, name
    usual = space(base, [], [], lives=True)
    assert usual.keys == ["session.stack", "session.resumption", "session.connection_id"]
    assert not any(key.startswith(OF_APPLICATION) for key in usual.keys)
    assert {*USUAL} & {*named} == set() and {*USUAL_LIFE} & {*named} == {"connection_id"}
    assert {*named} < {*GROUPS}


def test_only_sessions_that_are_kept_have_keep_alives() -> None:
    base = slowhand.Scenario("battery", {"application.keep_alive_s": 200})
    found = space(base, ["sessions,keep_alives"], []).configurations
    of: dict[Any, set[Any]] = {}
    for one in found:
        use, alive = (one.settings[f"application.{key}"] for key in ("session", "keep_alive_s"))
        of.setdefault(use, set()).add(alive)
        assert one.scenario.value("application.keep_alive_s") == alive
        assert (use == "kept") == (one.scenario.value("application.idle_timeout_s") == 300)
        kind = one.settings["session.resumption"]
        assert one.scenario.value("session.resumption") == kind
    assert of == {"kept": {200, 270}, "resumed": {None}, "anew": {None}}
    refused = space(base, ["sessions", "application.keep_alive_s=60,90"], [])
    assert {one.settings["application.session"] for one in refused.configurations} == {"kept"}
    assert any(key.startswith(OF_KEPT[1]) for key in refused.refused)


# Bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["lossy-line", "--weights", "battery=1"],
            r".*lossy-line\.toml: application\.pattern: found nothing, allowed: .*--period 1h, the"
            r" long one --fix application\.pattern=periodic --fix application\.period_s=3600",
        ),
        (["battery", "--battery", "cr2032"], r"--battery: found cr2032, but .*--weights battery=1"),
        (
            ["battery", "--battery", "cr2033", "--weights", "battery=1"],
            "battery: found cr2033, allowed: cr2032",
        ),
        (
            ["battery", "--weights", "battery=1", "--fix", "client.device=linux-host"],
            r"client\.device: found one that runs on mains power .*, allowed: a device",
        ),
        (["battery", "--period", "1h", "--choose", "timers"], "--period: only where a battery"),
        (
            ["battery", "--period", "1h", "--fix", "application.period_s=60"],
            r"--period: found --fix application\.period_s too, allowed: one of the two",
        ),
        (["battery", "--period", "0", "--weights", "battery=1"], "--period: found 0, allowed: sec"),
        (
            ["battery", "--choose", "sessions,resumption"],
            r"--choose resumption: found session\.resumption twice",
        ),
    ],
)
def test_bad_input_is_one_message(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert re.match(message, refused(arguments, capsys))


def test_a_question_without_a_file_may_ask_for_a_battery(cli: Cli) -> None:
    options = ["--mac", "csma", "--hops", "1", "--credential", "psk", "--period", "1h"]
    options += ["--weights", "battery=1,duration=0.1", "--battery", "l91-pair", "--budget", "400"]
    done = cli("advise", *options, "--choose", "session.timeout_s=9", "--json")
    found = json.loads(done.stdout)
    assert found["recommended"]["metrics"]["battery"]["value"] > 0
    assert "application.period_s=3600" in found["overrides"]
    with pytest.raises(slowhand.ScenarioError, match=r"application\.pattern: found nothing"):
        slowhand.advise(LOSSY, weights={"battery": 1})
