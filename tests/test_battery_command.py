"""`slowhand battery`: the answer in words and as JSON, its alternatives, its picture, bad input."""

import io
import json
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import slowhand
from conftest import COMMAND, ROOT, Cli, the_message
from slowhand import ScenarioError, lives, plot
from slowhand.keys import Setting
from slowhand.lives import alternatives, report, words
from slowhand.terminal import Terminal

HOURLY: dict[str, Setting] = {"application.pattern": "periodic", "application.period_s": 3600}


@pytest.fixture(scope="module")
def answer() -> lives.Answer:
    """That of the scenario that people start from, from a few worlds."""
    return lives.ask("battery", worlds=6)


def test_the_sentence_begins_the_text_and_says_what_the_tables_say(answer: lives.Answer) -> None:
    text = answer.text().replace("\N{NO-BREAK SPACE}", " ")
    document = answer.document
    assert " ".join(text.split("\n\n")[0].split()) == document["sentence"]
    assert max(map(len, text.splitlines())) <= 80
    found = re.fullmatch(
        r"([\d.]+) years \(([\d.]+) to ([\d.]+)\) from a CR2032; handshakes take ([\d.]+) % of it,"
        r" polls (\d+) %; a connection ID ([\d.]+); a poll every 10 s ([\d.]+)",
        document["sentence"],
    )
    assert found, document["sentence"]
    years, low, high, handshakes, polls, with_id, slower = map(float, found.groups())
    expected = [document["years"], *document["years_ci95"]]
    assert [years, low, high] == pytest.approx(expected, abs=5e-3)
    shares = {part["name"]: 100 * part["share"] for part in document["parts"]}
    assert handshakes == pytest.approx(shares["handshakes"], abs=0.05)
    assert polls == pytest.approx(shares["link_layer"], abs=0.5)
    of_name = {one["name"]: one for one in document["alternatives"]}
    assert with_id == pytest.approx(of_name["a connection ID"]["years"], abs=5e-3)
    assert slower == pytest.approx(of_name["a poll every 10 s"]["years"], abs=5e-3)


@pytest.mark.parametrize("width", [40, 80])
def test_the_text_fits_a_terminal_in_ascii(answer: lives.Answer, width: int) -> None:
    octets = io.BytesIO()
    printed = io.TextIOWrapper(octets, encoding="ascii")
    report.show(answer, Terminal(printed, width=width, styled=False))
    lines = octets.getvalue().decode("ascii").splitlines()
    table = lines[lines.index("") : lines.index(f"slowhand {slowhand.__version__}, repeat with:")]
    # A path is as long as its folders make it, and has no place to break.
    too_long = [line for line in table if len(line) > width and answer.scenario.path not in line]
    assert too_long == []
    assert any(line.lstrip().startswith("a poll every 10 s") for line in table)


def test_the_parts_are_all_of_the_charge(answer: lives.Answer) -> None:
    document = answer.document
    parts = document["parts"]
    assert sum(part["share"] for part in parts) == pytest.approx(1)
    days = document["life"]["seconds"] / 86_400
    energy = sum(document["life"]["energy"].values()) / days
    assert sum(part["mj"] for part in parts if part["mj"]) == pytest.approx(energy)
    # mAh of a day at the device's 3 V: mJ over volts and the 3,600 s of an hour.
    charge = sum(part["mah"] for part in parts if part["mj"] is not None)
    assert charge == pytest.approx(energy / 3.0 / 3600)
    assert 225 / 365.25 / sum(part["mah"] for part in parts) == pytest.approx(document["years"])


def test_an_alternative_is_the_scenario_with_its_settings(answer: lives.Answer) -> None:
    (one,) = (o for o in answer.document["alternatives"] if o["name"] == "a poll every 10 s")
    assert one["settings"] == ["mac.poll_period_ms=10000"]
    alone = slowhand.battery("battery", ["cr2032"], worlds=6, set={"mac.poll_period_ms": 10_000})
    assert alone["batteries"]["cr2032"]["life"]["years"] == one["years"]
    assert one["compared"] == "longer"


@pytest.mark.parametrize(
    ("scenario", "settings", "expected"),
    [
        (
            "battery",
            {},
            [
                "a connection ID",
                "resumption when the NAT has forgotten",
                "keep-alives every 4.5 min",
                "a poll every 10 s",
                "a poll every 400 ms",
            ],
        ),
        (
            "sensor",
            HOURLY,
            [
                "sessions resumed each time",
                "a new session each time",
                "a slotframe of 203 slots",
                "a slotframe of 51 slots",
            ],
        ),
        (
            "xmac",
            {**HOURLY, "application.session": "anew"},
            [
                "sessions kept, if no NAT forgets them",
                "a check every 250 ms",
                "a check every 62.5 ms",
            ],
        ),
        # tinyDTLS, also that of xmac.toml, resumes nothing. A device that listens could sleep.
        (
            "csma",
            {**HOURLY, "session.stack": "tinydtls", "mac": {"kind": "csma"}},
            ["a new session each time", "a device that sleeps, with a poll every 5 s"],
        ),
        (
            "csma",
            {**HOURLY, "mac.csl.period_ms": 496, "mac.poll_period_ms": 96_000},
            [
                "sessions resumed each time",
                "a new session each time",
                "a sample every 992 ms",
                "a sample every 248 ms",
            ],
        ),
    ],
)
def test_the_alternatives_are_what_library_and_link_layer_can_do(
    scenario: str, settings: dict[str, Setting], expected: list[str]
) -> None:
    found = alternatives.chosen(slowhand.Scenario(scenario, settings))
    assert [one.name for one in found] == expected


def test_what_makes_no_difference_is_a_tie() -> None:
    # Without losses, and with a session that is kept, there is one handshake in a year.
    settings: dict[str, Setting] = {**HOURLY, "network.link_pdr": 1.0}
    found = lives.ask("sensor", worlds=3, set=settings).document
    (resumed,) = (o for o in found["alternatives"] if o["name"] == "sessions resumed each time")
    assert resumed["compared"] == "tie"
    assert "sessions resumed each time: about as long" in found["sentence"]


def test_the_command_prints_json_and_draws(cli: Cli, tmp_path: Path) -> None:
    done = cli("battery", "battery", "--count", 3, "--json", "--plot", "day.svg")
    document = json.loads(done.stdout)
    again = lives.ask("battery", worlds=3).document
    for name in ("sentence", "parts", "alternatives", "life", "seed", "count"):
        assert document[name] == again[name], name
    assert document["assumed"]["device"]["nrf52840"]
    drawn = (tmp_path / "day.svg").read_text()
    for text in ("handshakes", "idle: polls", "a poll every 10 s", "[mAh]", "as it is"):
        assert text in drawn, text
    assert "a poll every 400 ms" not in drawn, "it takes far more than the others"


def test_the_same_answer_gives_the_same_picture(answer: lives.Answer, tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        plot.life(answer.document, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_the_last_lines_repeat_the_answer(cli: Cli) -> None:
    options = ("--period", "30min", "--session", "resumed", "--count", 3, "--battery", "ls14250")
    first = cli("battery", "csma", *options).stdout
    command = first.partition("repeat with:\n")[2].replace("\\\n", " ").split()
    assert command[:2] == ["slowhand", "battery"]
    assert cli(*command[1:]).stdout == first
    assert "application.session=resumed" in command
    assert "session.resumption=id" in command


def test_short_ways_to_say_what_a_client_asks_for(cli: Cli) -> None:
    def life(*options: str) -> Any:
        return json.loads(cli("battery", "csma", "--count", 2, "--json", *options).stdout)["life"]

    long = ["--set", "application.pattern=periodic", "--set", "application.period_s=5400"]
    anew = ["--set", "application.session=anew"]
    assert life("--period", "1.5h") == life(*long)
    assert life("--period", "90min", "--session", "anew") == life(*long, *anew)


def test_a_month_in_full_has_no_alternatives(cli: Cli) -> None:
    done = cli("battery", "csma", "--period", "1h", "--full", "--days", 2, "--json")
    document = json.loads(done.stdout)
    assert (document["full"], document["alternatives"], document["count"]) == (True, [], 1)
    assert document["years_ci95"] is None
    assert document["life"]["counts"]["requests"] == 48


def test_a_life_past_the_shelf_life_says_so(answer: lives.Answer) -> None:
    """Two L91 would last 20 years and more. Their shelf life is 15."""
    assert not [text for text in answer.document["assumed"]["model"] if "shelf life" in text]
    longer = lives.ask("battery", "l91-pair", worlds=2)
    life = longer.document["batteries"]["l91-pair"]["life"]
    assert life["years"] > life["past_shelf_life_years"] == 15
    assert "after 15 years, its shelf life" in " ".join(longer.text().split())
    table = " ".join(answer.text().partition("battery  ")[2].split())
    assert "it works after 15 years, its shelf life" in table, "of the batteries beside it too"


def test_a_handshake_is_compared_with_a_request_that_was_answered(tmp_path: Path) -> None:
    """The first of three requests is sent: then the router is off."""
    text = (ROOT / "scenarios" / "battery.toml").read_text()
    scenario = tmp_path / "cut.toml"
    cut = "[network]\noutages = [{ node = 1, from_s = 1000, until_s = 3600 }]"
    scenario.write_text(text.replace("[network]", cut))
    with pytest.raises(ScenarioError, match="--full"):
        lives.ask(str(scenario), worlds=2)
    asks = {"application.period_s": 1000}
    found = lives.ask(str(scenario), full=True, days=3000 / 86_400, set=asks)
    life, counts = found.document["life"], found.document["life"]["counts"]
    answered = counts["requests"] - counts["failed"]
    assert 0 < answered < counts["requests"]
    ratio = found.document["handshake_mj"] / (life["purposes"]["requests_mj"] / answered)
    assert f"as {ratio:,.1f} requests" in " ".join(found.text().split())


def test_requests_more_often_than_a_thousand_a_day_have_no_exponent() -> None:
    found = lives.ask("battery", worlds=2, days=1, set={"application.period_s": 60})
    assert "Requests: 1,440 a day; 1,440 of 1,440" in found.text()


def test_what_was_interrupted_in_full_is_repeated_as_far_as_it_came() -> None:
    found = lives.ask("battery", full=True, days=0.25)
    found.days, found.interrupted = 3000, True
    assert "--days 0.25" in report.command(found)


def test_no_request_that_is_answered_is_no_answer(cli: Cli) -> None:
    options = ("--period", "1h", "--count", 2, "--set", "network.link_pdr=0.01")
    done = cli("battery", "csma", *options, code=1)
    assert done.stdout.startswith("no request is answered: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["quickstart"], r"application\.pattern: found nothing, allowed: .*--period 1h"),
        (["battery", "--period", "soon"], "--period: found soon, allowed: a time, such as"),
        (["battery", "--period", "0"], "--period: found 0, allowed: seconds, above 0"),
        (["battery", "--session", "new"], "--session: found 'new', allowed: kept, resumed, anew"),
        (
            ["battery", "--session", "anew", "--set", "application.session=kept"],
            r"--session: found --set application\.session too",
        ),
        (["battery", "--battery", "cr2033"], "battery: found cr2033, allowed: cr2032"),
        (["battery", "--battery", "none.toml"], r"none\.toml"),
        (["battery", "--count", "1"], "--count: found 1, allowed: a whole number from 2"),
        (["battery", "--count", "9", "--full"], "--count: found --full too"),
        (["battery", "--days", "1", "--years", "1"], "--years: found --days too"),
        (["battery", "--days", "0"], "--days: found 0, allowed: above 0, at most 36525"),
        (["battery", "--years", "nan"], "--years: found nan, allowed: above 0, at most 100"),
        (["battery", "--client", "1"], "client: found 1, allowed: the node of a client"),
        (["battery", "--plot", "day.pdf"], r"--plot day\.pdf: the name must end in"),
    ],
)
def test_bad_input_is_one_message(arguments: list[str], message: str, cli: Cli) -> None:
    done = cli("battery", *arguments, code=2)
    assert re.search(message, the_message(done)), done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("full", [False, True])
def test_ctrl_c_keeps_what_is_complete(full: bool) -> None:
    scenario = str(ROOT / "scenarios" / "battery.toml")
    size = ["--full", "--years", "100"] if full else ["--count", "10000"]
    output = ""
    for patience in (3, 12, 48):  # a busy computer needs longer for two worlds
        process = subprocess.Popen(
            [*COMMAND, "battery", scenario, *size, "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            time.sleep(patience)
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=60)
        finally:
            process.kill()
        assert process.returncode in (-signal.SIGINT, 128 + signal.SIGINT)
        if output:
            assert errors == ""
            break
    document = json.loads(output)
    assert document["interrupted"]
    assert document["alternatives"] == []
    life = document["life"]
    if full:
        assert 0 < life["seconds"] < 100 * 365.25 * 86_400
    else:
        assert 2 <= document["count"] == life["worlds"] < 10_000
        assert document["years_ci95"][0] < document["years"] < document["years_ci95"][1]


def test_batteries_are_listed_and_printed(cli: Cli) -> None:
    listed = json.loads(cli("batteries", "--json").stdout)
    assert [one["battery"] for one in listed] == sorted(slowhand._native.batteries())
    assert "cr2032" in cli("batteries").stdout
    assert json.loads(cli("batteries", "cr2032", "--json").stdout)["capacity_mah"]["value"] == 225
    assert "did you mean cr2032?" in the_message(cli("batteries", "cr2031", code=2))


@pytest.mark.parametrize(
    ("years", "interval", "expected"),
    [
        (2.9, [2.7, 3.1], "2.9 years (2.7 to 3.1)"),
        (12.3, [9.0, 16.0], "12 years (9 to 16)"),
        (0.5, [0.49, 0.51], "6.0 months (5.9 to 6.1)"),
        (0.001, None, "8.77 hours"),
        (400.0, [390.0, 410.0], "more than 100 years"),
        (None, None, "for ever"),
    ],
)
def test_a_life_in_words(years: float, interval: list[float] | None, expected: str) -> None:
    assert words.life(years, interval) == expected
