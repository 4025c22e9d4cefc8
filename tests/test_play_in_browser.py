"""The network that moves, in headless Chromium: by pointer, by keys, in light and dark."""

import json
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

import slowhand
from slowhand import pages
from test_pages_in_browser import Browser
from test_play import changed


@pytest.fixture(scope="module")
def playback() -> slowhand.Playback:
    return slowhand.Scenario("lossy-line").play(seed=3)


def show(browser: Browser, playback: slowhand.Playback, folder: Path) -> None:
    """Loads the page of a world."""
    pages.playback(playback, folder / "a.html")
    browser.open(folder / "a.html")


def seek(browser: Browser, us: float) -> None:
    """Goes to a time."""
    browser.run("playbacks[0].seek(arguments[0])", us)
    browser.settle()


def test_keys_walk_through_the_frames_with_their_words(
    browser: Browser, playback: slowhand.Playback, tmp_path: Path
) -> None:
    show(browser, playback, tmp_path)
    browser.run("document.querySelector('.mesh').focus()")
    frames, texts = playback.document["frames"], playback.document["texts"]
    seek(browser, 0)
    for place in range(3):
        browser.keys("n")
        chosen = browser.text(".picked")
        assert chosen.startswith(texts[frames["name"][place]])
        assert f"node {frames['from'][place]}" in chosen
        assert playback.document["octets"][place][:2] in browser.text(".picked .bytes")
        middle = frames["from_us"][place] + frames["length_us"][place] / 2
        assert browser.run("return playbacks[0].us") == middle
        assert texts[frames["name"][place]] in browser.text(".onair")
    browser.keys("p")
    assert browser.text(".picked").startswith(texts[frames["name"][1]])


def test_a_page_that_is_loaded_shows_its_words_and_numbers(
    browser: Browser, playback: slowhand.Playback, tmp_path: Path
) -> None:
    show(browser, playback, tmp_path)
    assert browser.text(".clock").startswith("0.3")  # when the client begins
    assert browser.text(".now").startswith("Now: ")
    assert len(browser.driver.find_elements("css selector", ".energy tbody tr")) == 4
    assert "Choose a node" in browser.text(".picked")


def test_keys_walk_through_the_datagrams(
    browser: Browser, playback: slowhand.Playback, tmp_path: Path
) -> None:
    show(browser, playback, tmp_path)
    browser.run("document.querySelector('.sequence').focus()")
    browser.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    client = [d for d in playback.document["datagrams"] if d["handshake"] == 0]
    assert browser.run("return playbacks[0].us") == client[1]["sent_us"]
    chosen = browser.run(
        "const box = document.querySelector('.sequence');"
        "return document.getElementById(box.getAttribute('aria-activedescendant')).ariaLabel"
    )
    assert client[1]["name"] in chosen
    # An arrow of the slider is a tenth of a second.
    browser.run("document.querySelector('input[type=range]').focus()")
    browser.keys(Keys.ARROW_RIGHT)
    assert browser.run("return playbacks[0].us") == client[1]["sent_us"] + 100_000


def test_the_words_of_the_explanation_follow_the_time(
    browser: Browser, playback: slowhand.Playback, tmp_path: Path
) -> None:
    show(browser, playback, tmp_path)
    explanation = playback.explanation
    seek(browser, 0)
    assert browser.text(".now") == "Client 3 has not begun."
    for piece in explanation.document["path"][::9]:
        seek(browser, (piece["from_s"] + piece["to_s"]) / 2 * 1e6)
        assert browser.text(".now").startswith(f"Now: {explanation.parts[piece['part']]['text']}")
    seek(browser, 1e9)
    assert explanation.summary in browser.text(".now")


def test_numbers_are_those_of_the_inspection(
    browser: Browser, playback: slowhand.Playback, tmp_path: Path
) -> None:
    show(browser, playback, tmp_path)
    seek(browser, playback.document["end_us"])
    nodes = slowhand.Scenario("lossy-line").inspect(seed=3).nodes
    for row in nodes.iter_rows(named=True):
        cells: list[str] = browser.run(
            "return [...document.querySelectorAll('.energy tbody tr')[arguments[0]].cells]"
            ".map((cell) => cell.textContent)",
            row["node"],
        )
        radio = sum(row[f"energy_{state}_mj"] for state in ("tx", "rx", "listen"))
        asleep = row["energy_sleep_mj"]  # with the processor's
        assert radio <= float(cells[3]) + 1e-3
        assert float(cells[3]) <= radio + asleep + 1e-3
        on = row["radio_transmit_s"] + row["radio_receive_s"] + row["radio_listen_s"]
        assert float(cells[2].split()[0]) == pytest.approx(100 * on / row["elapsed_s"], abs=0.006)


def test_playing_passes_time_and_stops(
    browser: Browser, playback: slowhand.Playback, tmp_path: Path
) -> None:
    show(browser, playback, tmp_path)
    seek(browser, 0)
    before = drawn(browser)
    browser.run("playbacks[0].speed = 10")
    browser.one("[data-act=play]").click()
    assert browser.text("[data-act=play]") == "Pause"
    browser.driver.set_script_timeout(30)
    browser.driver.execute_async_script(
        "const done = arguments[0];"
        "const look = () => (playbacks[0].plays ? requestAnimationFrame(look) : done()); look();"
    )
    assert browser.text("[data-act=play]") == "Play"
    assert browser.run("return playbacks[0].us === playbacks[0].world.end")
    assert drawn(browser) != before


def drawn(browser: Browser) -> str:
    """The picture of the mesh."""
    return str(browser.run("return document.querySelector('.mesh canvas').toDataURL()"))


def test_nodes_and_datagrams_are_chosen(
    browser: Browser, playback: slowhand.Playback, tmp_path: Path
) -> None:
    show(browser, playback, tmp_path)
    browser.run("document.querySelector('.mesh').focus()")
    browser.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert browser.text(".picked strong") == "node 1"
    assert "openmote-cc2538" in browser.text(".picked")
    x, y = browser.run(
        "const {x, y} = document.querySelector('.mesh').getBoundingClientRect();"
        "return [x + playbacks[0].mesh.px[2], y + playbacks[0].mesh.py[2]]"
    )
    browser.move((round(x), round(y)), pressed=True)
    assert browser.text(".picked strong") == "node 2"
    browser.run(
        "const arrow = document.querySelectorAll('.arrow')[2];"
        "arrow.dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    client = [d for d in playback.document["datagrams"] if d["handshake"] == 0]
    assert browser.run("return playbacks[0].us") == client[2]["sent_us"]
    # An event of the timeline is a time of the mesh.
    browser.run("timelines[0].choose(5)")
    assert browser.run("return playbacks[0].us === timelines[0].events.from[5]")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1024, 1600])
def test_all_of_it_fits_the_screen(
    browser: Browser, playback: slowhand.Playback, tmp_path: Path, width: int, scheme: str
) -> None:
    browser.colours(scheme)
    show(browser, playback, tmp_path)
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.settle()
    assert browser.hidden() == []
    nameless: list[str] = browser.run(
        """
        const words = (e) => e.getAttribute("aria-label") || e.textContent.trim();
        const named = (e) => e.labels?.length || words(e);
        return [...document.querySelectorAll(".play :is(button, input, select, meter)")]
          .filter((e) => !named(e)).map((e) => e.outerHTML);
        """
    )
    assert nameless == []


def test_hostile_text_stays_text(
    browser: Browser, playback: slowhand.Playback, tmp_path: Path
) -> None:
    document = changed(json.loads(json.dumps(playback.document)))
    show(browser, slowhand.Playback(document), tmp_path)
    browser.run("playbacks[0].step(1); playbacks[0].step(1)")
    browser.settle()
    picked = "document.querySelector('.picked').textContent"
    assert browser.run(f"return {picked}.includes('onerror=alert(1)')")
    assert browser.run("return document.querySelectorAll('img').length") == 0


def test_a_frame_of_the_picture_costs_the_same_in_a_long_world(
    browser: Browser, tmp_path: Path
) -> None:
    """Ten times the events, as many at a time: the cost may grow by a search, not tenfold."""
    costs = []
    for frames in (5_000, 50_000):
        show(browser, crowded(frames), tmp_path)
        costs.append(
            browser.run(
                """
                const {mesh, world} = playbacks[0], took = [];
                for (let i = 0; i < 60; i++) {
                  const begin = performance.now();
                  mesh.draw(world.end * (i + 1) / 62, 2e5, {node: -1, frame: -1});
                  took.push(performance.now() - begin);
                }
                return took.sort((a, b) => a - b)[30];
                """
            )
        )
    assert costs[1] < 3 * costs[0], costs


def crowded(count: int) -> slowhand.Playback:
    """2,000 nodes in a tree, and so many frames, one each millisecond."""
    nodes = 2_000
    document: dict[str, Any] = json.loads(
        json.dumps(slowhand.Scenario("csma").play(seed=2).document)
    )
    parents = [None, *((node - 1) // 10 for node in range(1, nodes))]
    device = document["nodes"][0]
    document["nodes"] = [{**device, "parent": parent} for parent in parents]
    ups = [[node, parents[node], 0.9] for node in range(1, nodes)]
    document["links"] = [link for up in ups for link in (up, [up[1], up[0], 0.8])]
    document["frames"] = {
        "from_us": [1000 * i for i in range(count)],
        "length_us": [4000] * count,
        "from": [1 + i * 7 % (nodes - 1) for i in range(count)],
        "to": [parents[1 + i * 7 % (nodes - 1)] for i in range(count)],
        "name": [0] * count,
        "datagram": [None] * count,
        "state": [i % 7 == 0 for i in range(count)],
        "comment": [None] * count,
        "attempt": [1] * count,
        "channel": [11] * count,
        "octets": [100] * count,
    }
    each = range(0, 1000 * count, 50 * count)
    radio = {"from_us": [*each], "length_us": [5000] * len(each), "state": [2] * len(each)}
    levels: dict[str, list[int]] = {"from_us": [], "queued": [], "octets": [], "forwarding": []}
    document |= {"radios": [radio] * nodes, "buffers": [levels] * nodes, "end_us": 1000 * count}
    document |= {"octets": [], "decoded": {"lines": [], "frames": []}, "texts": ["data"]}
    return slowhand.Playback(document)
