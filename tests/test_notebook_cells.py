"""Cells of a notebook and their content, and what `dir` lists there."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import slowhand
from conftest import QUICKSTART
from test_pages import HOSTILE


class Structure(HTMLParser):
    """The elements of a page, and its text. Every element that was begun must end."""

    def __init__(self, page: str):
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page)
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins."""
        self.tags.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """An element ends."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Text."""
        self.text += f"{data} "


def cell(thing: object) -> Structure:
    """The content that IPython would show."""
    page: str = thing._repr_html_()  # type: ignore[attr-defined]
    found = Structure(page)
    assert set(found.tags) <= {
        *("div", "p", "b", "code", "ul", "li"),
        *("table", "thead", "tbody", "tr", "th", "td"),
    }
    return found


def test_a_run_shows_how_far_it_is_and_then_what_came_out() -> None:
    run = slowhand.Run(slowhand.Scenario(QUICKSTART), count=100_000, records=False)
    try:
        assert re.search(r"[\d,]+ of 100,000 worlds are done", cell(run).text)
    finally:
        run.cancel()
    run.finish()
    assert "Interrupted" in cell(run).text
    run = slowhand.Run(slowhand.Scenario(QUICKSTART), count=20)
    run.finish()
    found = cell(run)
    assert "20 of 20 handshakes completed" in found.text
    mean = run.summary()["metrics"]["duration_s"]["mean"]
    assert f"duration s {mean:.3f}" in " ".join(found.text.split())
    assert "p95" in found.text
    assert 5 <= found.tags.count("tr") <= 15


def test_one_handshake_shows_its_values() -> None:
    run = slowhand.Run(slowhand.Scenario(QUICKSTART), count=1)
    run.finish()
    found = cell(run)
    assert "p95" not in found.text
    assert "4.266" in found.text


def test_a_run_that_fails_says_why() -> None:
    never = {"network.link_pdr": 0.3, "mac.max_retries": 1}
    run = slowhand.Run(slowhand.Scenario(QUICKSTART, never), count=3)
    run.finish()
    assert "0 of 3 handshakes completed" in cell(run).text
    assert "3 timed out at the client" in cell(run).text


def test_a_live_network_shows_where_it_listens_and_then_what_came_out() -> None:
    with slowhand.live("quickstart", udp="0=5685") as net:
        ((host, port),) = net.udp
        shown = cell(net).text
        assert f"It runs; it listens at {host}, port {port}." in shown
        assert re.search(r"0:00:0\d  (late [\d.]+ ms \(p99\), )?no sessions", shown)
    with slowhand.live("quickstart", speed=100) as net:
        net.wait(timeout_s=60)
    assert "1 of 1 handshakes completed" in cell(net).text


def test_an_advice_shows_what_it_recommends_and_the_front() -> None:
    found = slowhand.advise("quickstart", choose=["session.timeout_s=1,9"], budget=480)
    shown = cell(found)
    assert "Recommended:  session.timeout_s = 9" in shown.text
    assert shown.tags.count("tr") == 1 + len(found.front_rows)
    assert "duration" in shown.text
    # The library of quickstart was measured on this computer only.
    assert all(row.judged.ram_of == "host" for row in found.front_rows)
    assert shown.text.count(" host") == len(found.front_rows)


def test_every_text_is_escaped(tmp_path: Path) -> None:
    name = HOSTILE.replace("/", "")
    file = tmp_path / f"{name}.toml"
    file.write_text(QUICKSTART.read_text())
    run = slowhand.Run(slowhand.Scenario(file), count=1)
    run.finish()
    assert name.partition("\u2028")[0] in cell(run).text  # and no element that was not expected
    run._repr_html_().encode()
    with slowhand.live(file, speed=100) as net:
        net.wait(timeout_s=60)
    assert name.partition("\u2028")[0] in cell(net).text


def test_dir_lists_the_public_names_also_after_imports() -> None:
    code = (
        "import slowhand\n"
        "public = {n for n in dir(slowhand) if not n.startswith('__')}\n"
        "assert public == {n for n in slowhand.__all__ if n != '__version__'}, public\n"
        "import slowhand.plot, slowhand.advice, slowhand.terminal, slowhand.sweeps\n"
        "slowhand.run, slowhand.live, slowhand.advise, slowhand.papers\n"
        "assert {n for n in dir(slowhand) if not n.startswith('__')} == public\n"
        "assert {'__version__', '__doc__', '__file__', '__name__'} <= set(dir(slowhand))\n"
        "assert all(hasattr(slowhand, n) for n in dir(slowhand))\n"
    )
    subprocess.run([sys.executable, "-P", "-c", code], check=True, timeout=60)
