"""The report of a run as a page, and the timeline of one of its handshakes, from real runs."""

import json
import re
import sys
from pathlib import Path

import pytest

import slowhand
from conftest import QUICKSTART, Cli, the_message
from slowhand import pages, report
from slowhand.keys import Setting
from test_pages import HOSTILE, LINKS, Tags

LOSSY: dict[str, Setting] = {"network.link_pdr": 0.7, "mac.max_retries": 2}
NEVER: dict[str, Setting] = {"network.link_pdr": 0.3, "mac.max_retries": 1}

HOSTILE_NAME = "<img src=x onerror=alert(1)>&amp;.toml"


def report_of(path: Path | str, settings: dict[str, Setting], count: int, folder: Path) -> str:
    run = slowhand.Run(slowhand.Scenario(path, settings), count=count)
    pages.report(run, folder / "a.html")
    return (folder / "a.html").read_text()


def plain(page: str) -> str:
    """The text of a page, without elements, in one line."""
    body = re.sub(r"<(script|style|svg).*?</\1>", " ", page, flags=re.DOTALL)
    text = re.sub(r"<[^>]*>", " ", body)
    for entity, character in {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'"}.items():
        text = text.replace(entity, character)
    return " ".join(text.replace("&amp;", "&").split())


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of 30 handshakes on a bad link."""
    return report_of(QUICKSTART, LOSSY, 30, tmp_path_factory.mktemp("report"))


def test_a_report_has_what_judges_and_repeats_a_run(page: str) -> None:
    text = plain(page)
    scenario = slowhand.Scenario(QUICKSTART, LOSSY)
    run = slowhand.Run(scenario, count=30)
    summary = run.summary()
    assert report.outcomes(summary) in text
    assert " ".join(QUICKSTART.read_text().split()) in text
    assert "network.link_pdr=0.7" in text
    for device, names in scenario.about()["assumed"].items():
        assert f"{device} {len(names)} {', '.join(names)}" in text
    for line, _ in report.losses(summary["losses"]):
        assert line in text
    mean = summary["metrics"]["duration_s"]["mean"]
    assert re.search(rf"duration s {mean:.1f}", text)
    assert " ".join(report.command(run)) in text
    assert slowhand.__version__ in text
    assert page.count("<svg role=") == 3


def test_a_report_without_matplotlib_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = report_of(QUICKSTART, {}, 2, tmp_path)
    assert page.count("<svg role=") == 0
    assert "matplotlib, which draws the figures, is not installed" in plain(page)


def test_its_two_handshakes_are_the_median_and_the_worst(page: str) -> None:
    text = plain(page)
    frame = slowhand.run(QUICKSTART, count=30, set=LOSSY)
    done = frame.filter(outcome="completed").sort("duration_s")
    median, worst = (int(seed) for seed in re.findall(r"Seed (\d+), client 1\.", text))
    duration = {row["seed"]: row["duration_s"] for row in done.iter_rows(named=True)}
    faster = sum(value < duration[median] for value in duration.values())
    assert faster == (len(done) - 1) // 2
    failed = frame.filter(frame["outcome"] != "completed")["seed"].to_list()
    assert worst == (failed or done["seed"].to_list()[-1:])[0]
    assert re.search(rf"--seed {worst} --explain --client 1 Where the time went", text)
    for seed in (median, worst):
        assert slowhand.Scenario(QUICKSTART, LOSSY).explain(seed=seed).summary in text


def test_a_run_without_a_completed_handshake_says_why(tmp_path: Path) -> None:
    page = report_of(QUICKSTART, NEVER, 3, tmp_path)
    text = plain(page)
    assert "0 of 3 handshakes completed, 3 timed out" in text
    assert "3 timed out at the client: SSL - The operation timed out" in text
    assert "The first one that failed. Seed 1, client 1." in text
    assert page.count("<svg role=") == 0


def test_one_handshake_is_shown_once(tmp_path: Path) -> None:
    text = plain(report_of(QUICKSTART, {}, 1, tmp_path))
    assert text.count("Where the time went") == 1
    assert "Seed 1, client 1." in text


def test_the_same_run_gives_the_same_report_which_loads_nothing(page: str, tmp_path: Path) -> None:
    assert report_of(QUICKSTART, LOSSY, 30, tmp_path) == page
    found = Tags(page).found
    links = {value for _, values in found for key, value in values.items() if key in LINKS}
    assert all(value and value.startswith(("#", "data:,")) for value in links)
    names = [values["id"] for _, values in found if "id" in values]
    assert len(names) == len(set(names))
    assert {value for value in links if value and value.startswith("#")} <= {f"#{n}" for n in names}


def test_no_text_of_a_scenario_becomes_markup(tmp_path: Path) -> None:
    text = QUICKSTART.read_text()
    hostile, usual = tmp_path / HOSTILE_NAME, tmp_path / "usual.toml"
    hostile.write_text(f"# {HOSTILE[:-1]}\n{text}")
    usual.write_text(text)
    page = report_of(hostile, {}, 3, tmp_path)
    tags = [tag for tag, _ in Tags(page).found]
    assert tags == [tag for tag, _ in Tags(report_of(usual, {}, 3, tmp_path)).found]
    assert "onerror=alert(1)&gt;" in page


def test_run_writes_the_pages(cli: Cli, tmp_path: Path) -> None:
    files = ("--timeline", "one.html", "--report", "all.html")
    cli("run", QUICKSTART, "--count", 2, "--seed", 5, *files)
    scenario = slowhand.Scenario(str(QUICKSTART))
    pages.timeline(scenario.explain(seed=5), tmp_path / "timeline.html")
    pages.report(slowhand.Run(scenario, count=2, seed=5), tmp_path / "report.html")
    assert (tmp_path / "one.html").read_text() == (tmp_path / "timeline.html").read_text()
    assert (tmp_path / "all.html").read_text() == (tmp_path / "report.html").read_text()


def test_the_timeline_is_that_of_what_is_explained(cli: Cli, tmp_path: Path) -> None:
    settings = ("--set", "network.link_pdr=0.8", "--count", 6, "--json")
    done = cli("run", QUICKSTART, *settings, "--slowest", "--timeline", "one.json")
    explained = json.loads(done.stdout)["explanation"]
    frame = slowhand.run(QUICKSTART, count=6, set={"network.link_pdr": 0.8})
    assert explained["seed"] == frame.sort("duration_s")["seed"][-1] != 1
    about = json.loads((tmp_path / "one.json").read_text())["otherData"]
    assert (about["seed"], about["summary"]) == (explained["seed"], explained["summary"])


@pytest.mark.parametrize(
    "option, allowed",
    {"--timeline": ".html or .json or .parquet or .csv", "--report": ".html"}.items(),
)
def test_pages_need_a_known_format(cli: Cli, option: str, allowed: str) -> None:
    message = the_message(cli("run", QUICKSTART, option, "t.txt", code=2))
    assert message == f"slowhand: {option} t.txt: the name must end in {allowed}"
