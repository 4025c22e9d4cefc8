"""`slowhand play`: one world as a page, and what is in it."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

import slowhand
from conftest import Cli
from slowhand import pages
from slowhand.pages import moving
from slowhand.pages.decoded import decoded
from test_pages import HOSTILE, LINKS, Tags


def data(page: str) -> dict[str, Any]:
    """The data that the picture is drawn from."""
    found = re.search(
        r'<script type="application/json" class="data">(\{"version".*?)</script>', page
    )
    assert found is not None
    document: dict[str, Any] = json.loads(found[1])
    return document


def test_the_page_asks_for_nothing_and_is_the_same_each_time(tmp_path: Path) -> None:
    scenario = slowhand.Scenario("csma")
    for name in ("one.html", "two.html"):
        pages.playback(scenario.play(seed=2), tmp_path / name)
    page = (tmp_path / "one.html").read_text()
    assert page == (tmp_path / "two.html").read_text()
    links = [value for _, a in Tags(page).found for key, value in a.items() if key in LINKS]
    assert links == ["data:,"]
    assert not re.findall(r"@import|url\(|fetch\(|XMLHttpRequest", page)
    assert "default-src 'none'" in page


def test_the_command_writes_what_the_library_gives(cli: Cli, tmp_path: Path) -> None:
    said = cli("play", "csma", "--seed", "2", "--client", "3")
    assert "csma-seed-2.html" in said.stdout
    document = data((tmp_path / "csma-seed-2.html").read_text())
    told = slowhand.Scenario("csma").play(seed=2, client=3).document
    for key in ("nodes", "links", "frames", "datagrams", "radios", "buffers", "octets"):
        assert document[key] == told[key], key
    # tshark has decoded the frames: it knows more than slowhand's own words.
    assert len(document["decoded"]["frames"]) == len(told["frames"]["from_us"])
    assert any("Frame Control Field" in line for line in document["decoded"]["lines"])


def test_json_is_the_document_and_a_result_is_played_too(cli: Cli, tmp_path: Path) -> None:
    cli("run", "csma", "--count", "3", "--seed", "5", "--records", "r.parquet")
    said = cli("play", "r.parquet", "--json")
    told = slowhand.Scenario("csma").play(seed=5).document
    assert json.loads(said.stdout)["frames"] == told["frames"]
    assert list(tmp_path.glob("*.html")) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--client", "1"), "--client: found 1, allowed: the node of a client (3)"),
        (("--page", "a.txt"), "--page a.txt: the name must end in .html"),
        (("--json", "--open"), "--open: found --json without --page; name the page"),
    ],
)
def test_bad_options_are_named(
    cli: Cli, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    assert message in cli("play", "csma", *words, code=2).stderr
    assert list(tmp_path.iterdir()) == []


def test_no_text_becomes_markup() -> None:
    playback = slowhand.Scenario("csma").play(seed=2)
    plain = moving.encoded(playback).decode()
    document = json.loads(json.dumps(playback.document))
    hostile = moving.encoded(slowhand.Playback(changed(document))).decode()
    assert [tag for tag, _ in Tags(plain).found] == [tag for tag, _ in Tags(hostile).found]
    assert "onerror=alert(1)&gt;" in hostile


def changed(value: Any) -> Any:
    """The value with a hostile end of each text that no reader matches with others."""
    if isinstance(value, dict):
        kept = ("layer", "state", "version", "outcome", "kind")
        return {key: item if key in kept else changed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [changed(item) for item in value]
    if isinstance(value, str) and not re.fullmatch(r"([0-9a-f]{2})+", value):
        return value + HOSTILE
    return value


def test_too_many_frames_are_not_decoded() -> None:
    scenario = slowhand.Scenario("csma")
    assert decoded(scenario, 2, 1_000_000) is None


def test_a_tshark_that_fails_costs_no_page(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "tshark").write_text("#!/bin/sh\nexit 3\n")
    (folder / "tshark").chmod(0o755)
    os.environ["PATH"], before = f"{folder}:{os.environ['PATH']}", os.environ["PATH"]
    try:
        said = cli("play", "csma", "--page", "a.html")
    finally:
        os.environ["PATH"] = before
    assert "tshark does not decode the frames" in said.stderr
    lines = data((tmp_path / "a.html").read_text())["decoded"]["lines"]
    assert any(line.startswith("IEEE 802.15.4: ") for line in lines)
