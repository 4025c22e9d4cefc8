"""Pages in headless Chromium, used as a reader does: by pointer, by keys, in light and dark."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

import slowhand
from explanations import made
from programs import free_port
from slowhand import Explanation, pages
from slowhand.keys import Setting
from test_pages import HOSTILE

OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",  # a container has little of it
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1400,1000",
]


class Browser:
    """Chromium with one page."""

    def __init__(self, driver: webdriver.Chrome):
        self.driver = driver

    def open(self, file: Path) -> None:
        """Loads a page and waits until it is drawn."""
        self.driver.get(file.as_uri())
        self.settle()

    def show(self, explanation: Explanation, folder: Path) -> None:
        """Loads the timeline of a handshake."""
        pages.timeline(explanation, folder / "a.html")
        self.open(folder / "a.html")

    def run(self, script: str, *values: Any) -> Any:
        """The value of a script."""
        return self.driver.execute_script(script, *values)

    def settle(self) -> None:
        """Waits for two frames: the picture is drawn in the first."""
        self.driver.execute_async_script(
            "const done = arguments[0];"
            "requestAnimationFrame(() => requestAnimationFrame(() => done()))"
        )

    def one(self, selector: str) -> WebElement:
        """The first element that a selector finds."""
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        """The text of an element, as it is seen."""
        self.settle()
        return self.one(selector).text

    def keys(self, *keys: str) -> None:
        """Presses keys, where the focus is."""
        ActionChains(self.driver).send_keys(*keys).perform()
        self.settle()

    def focus(self) -> None:
        """Gives the timeline the focus."""
        self.run("document.querySelector('.tools').scrollIntoView()")
        self.run("document.querySelector('.lanes').focus()")
        self.settle()

    def shown(self) -> tuple[float, float]:
        """The time that is shown."""
        begin, end = re.findall(r"-?[\d.]+", self.text(".range"))
        return float(begin), float(end)

    def point(self, lane: str, share: float = 0.5) -> tuple[int, int]:
        """A point in the viewport: in the first row of a lane, this far between its ends."""
        x, width = self.run(
            "const {x, width} = document.querySelector('canvas').getBoundingClientRect();"
            "return [x, width]"
        )
        box = self.one(f"button[title^='{lane},']").rect
        top = box["y"] - self.run("return scrollY")
        return round(x + 190 + (width - 190) * share), round(top + 8)

    def move(self, *points: tuple[int, int], pressed: bool = False) -> None:
        """Moves the pointer from point to point. `pressed`: drags from the first to the last."""
        actions = ActionBuilder(self.driver, duration=20)
        pointer: Any = actions.pointer_action
        for number, (x, y) in enumerate(points):
            pointer.move_to_location(x, y)
            if pressed and not number:
                pointer.pointer_down()
        if pressed:
            pointer.pointer_up()
        actions.perform()
        self.settle()

    def pixels(self) -> str:
        """The picture of the lanes, without the head above them."""
        found: str = self.run(
            """
            const canvas = document.querySelector("canvas"), {width, height} = canvas;
            const part = document.createElement("canvas"), head = 44 * devicePixelRatio;
            [part.width, part.height] = [width, height - head];
            part.getContext("2d").drawImage(canvas, 0, -head);
            return part.toDataURL();
            """
        )
        return found

    def task_s(self) -> float:
        """The time that the page's main thread has worked until now."""
        metrics = self.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        values = {metric["name"]: float(metric["value"]) for metric in metrics}
        return values["TaskDuration"]

    def narrow(self) -> None:
        """Has the width of a telephone, until `wide`."""
        size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def wide(self) -> None:
        """Has the width of its window again."""
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def hidden(self) -> list[str]:
        """The elements beyond the right edge. A part that is longer than a line scrolls."""
        found: list[str] = self.run(
            """
            const edge = document.documentElement.clientWidth + 1;
            return [...document.querySelectorAll("body *")]
              .filter((e) => !e.closest("svg, pre, .labels"))
              .filter((e) => e.getBoundingClientRect().right > edge)
              .map((e) => `${e.tagName} ${e.className} ${e.textContent.slice(0, 40)}`);
            """
        )
        return found

    def colours(self, scheme: str) -> None:
        """Prefers `light` or `dark`."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def started(folder: Path) -> Iterator[Browser]:
    """Chromium with a folder of its own, until the caller goes on."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for option in [*OPTIONS, f"--user-data-dir={folder}"]:
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, Service(shutil.which("chromedriver"), port=free_port()))
    yield Browser(driver)
    driver.quit()


def test_zooming_and_moving_by_keys(browser: Browser, tmp_path: Path) -> None:
    explanation = made()
    browser.show(explanation, tmp_path)
    browser.focus()
    begin, end = whole = browser.shown()
    browser.keys("+")
    assert browser.shown() == pytest.approx(
        (begin + (end - begin) / 4, end - (end - begin) / 4), abs=0.02
    )
    closer = browser.shown()
    browser.keys(Keys.ARROW_RIGHT)
    by = (closer[1] - closer[0]) / 10
    assert browser.shown() == pytest.approx((closer[0] + by, closer[1] + by), abs=0.02)
    browser.keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert browser.shown() == pytest.approx((closer[0] - by, closer[1] - by), abs=0.02)
    margin = (closer[1] - closer[0]) / 50
    browser.keys(Keys.HOME)
    assert browser.shown()[0] == pytest.approx(explanation.document["start_s"] - margin, abs=0.02)
    browser.keys(Keys.END)
    assert browser.shown()[1] == pytest.approx(explanation.document["end_s"] + margin, abs=0.02)
    browser.keys("-", "-", "-")
    assert browser.shown() == whole
    browser.keys(*"+" * 30)
    assert browser.shown()[1] - browser.shown()[0] == pytest.approx(50e-6, abs=2e-6)
    browser.keys("0")
    assert browser.shown() == whole


def test_zooming_and_moving_by_pointer(browser: Browser, tmp_path: Path) -> None:
    browser.show(made(), tmp_path)
    begin, end = whole = browser.shown()
    browser.run("document.querySelector('.tools').scrollIntoView()")
    wheel = ActionChains(browser.driver).scroll_from_origin
    canvas = webdriver.common.actions.wheel_input.ScrollOrigin.from_element(browser.one("canvas"))
    wheel(canvas, 0, -100).perform()
    assert browser.shown() == whole  # the page scrolls until the timeline is chosen
    browser.run("document.querySelector('.tools').scrollIntoView()")
    at = browser.point("client messages", 0.25)
    browser.move(at, pressed=True)
    ActionChains(browser.driver).scroll_from_origin(canvas, 0, -400).perform()
    browser.settle()
    near = browser.shown()
    assert near[1] - near[0] < 0.7 * (end - begin)
    browser.move(at, (at[0] + 100, at[1]), (at[0] + 200, at[1]), pressed=True)
    assert browser.shown()[0] < near[0]
    for label, zoomed in (("Zoom in", True), ("Zoom out", False)):
        before = browser.shown()
        browser.one(f"button[aria-label='{label}']").click()
        after = browser.shown()
        assert (after[1] - after[0] < before[1] - before[0]) == zoomed
    browser.one("button[data-do=whole]").click()
    assert browser.shown() == whole


def test_a_step_of_the_critical_path_is_shown_in_words(browser: Browser, tmp_path: Path) -> None:
    explanation = made()
    browser.show(explanation, tmp_path)
    browser.focus()
    events = {event["id"]: event for event in explanation.document["events"]}
    browser.keys("+", "+", "+")
    for key in ("n", "j", "n", "p", "k", "n"):
        browser.keys(key)
    step = explanation.document["path"][1]
    event = events[step["event"]]
    chosen = browser.text(".chosen")
    assert event["name"] in chosen
    assert f"{event['from_s']:.6f} s" in chosen
    assert all(f"{key}\n{value}" in chosen for key, value in event["detail"])
    row = browser.one(f"tr[data-part='{step['part']}'] button")
    assert row.get_attribute("aria-pressed") == "true"
    assert event["name"] in browser.text(".tip")  # for readers who see, beside it
    cause = events[event["cause"]]
    browser.one(".chosen dd button").click()
    assert browser.text(".chosen").startswith(cause["name"])


def test_events_are_walked_through_and_tab_leaves(browser: Browser, tmp_path: Path) -> None:
    explanation = made()
    browser.show(explanation, tmp_path)
    browser.focus()
    names = [event["name"] for event in explanation.document["events"]]
    browser.keys(Keys.ENTER)
    assert browser.text(".chosen strong") == names[0]
    browser.keys(Keys.TAB, Keys.TAB)
    assert browser.text(".chosen strong") == names[2]
    ActionChains(browser.driver).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(
        Keys.SHIFT
    ).perform()
    assert browser.text(".chosen strong") == names[1]
    whole = browser.shown()
    browser.keys(Keys.ENTER)
    assert browser.shown()[1] - browser.shown()[0] < (whole[1] - whole[0]) / 2
    browser.keys(Keys.ESCAPE)
    assert browser.text(".chosen") == "No event is chosen."
    browser.keys(Keys.TAB)
    assert browser.run("return document.activeElement.title").startswith("client messages")
    browser.keys(Keys.ARROW_DOWN)
    assert browser.run("return document.activeElement.title").startswith("server messages")
    browser.keys(Keys.TAB)
    assert browser.run("return document.activeElement.closest('.lanes')") is None


def test_hovering_shows_the_details_of_an_event(browser: Browser, tmp_path: Path) -> None:
    explanation = made()
    browser.show(explanation, tmp_path)
    browser.focus()
    timer = next(e for e in explanation.document["events"] if e["kind"] == "timer")
    browser.one("input[type=search]").send_keys("flight timer", Keys.ENTER)
    browser.run("document.querySelector('.lanes').focus()")
    browser.keys(Keys.ENTER)  # zooms to it
    browser.run("document.querySelector('.lanes').scrollIntoView({block: 'center'})")
    begin, end = browser.shown()
    middle = (timer["from_s"] + timer["to_s"]) / 2
    browser.move((5, 5), browser.point("server timer", (middle - begin) / (end - begin)))
    tip = browser.text(".tip")
    assert tip.startswith("flight timer")
    assert f"{timer['from_s']:.6f} s to {timer['to_s']:.6f} s, 1.000 s" in tip
    browser.move((5, 5))
    assert not browser.one(".tip").is_displayed()


def test_events_are_found_by_their_words(browser: Browser, tmp_path: Path) -> None:
    explanation = made(2000)
    browser.show(explanation, tmp_path)
    browser.focus()
    browser.keys("/")
    before = browser.pixels()
    browser.keys("LOST reassembly")
    lost = [event for event in explanation.document["events"] if event["state"] == "lost"]
    count = f"{len(lost)} of {len(explanation.document['events']):,} events"
    assert browser.text(".count") == count
    assert browser.pixels() != before
    browser.keys(Keys.ENTER, Keys.ENTER)
    assert f"{lost[1]['from_s']:.6f} s" in browser.text(".chosen")
    assert "state\nlost" in browser.text(".chosen")
    browser.one(".list summary").click()
    items = browser.text(".list ol").splitlines()
    assert len(items) == len(lost)
    browser.one(".list li:first-child button").click()
    assert f"{lost[0]['from_s']:.6f} s" in browser.text(".chosen")
    browser.one("input[type=search]").send_keys(Keys.ESCAPE)
    assert browser.text(".count") == ""
    assert browser.run("return document.activeElement.className") == "lanes"


def test_lanes_are_collapsed_and_opened(browser: Browser, tmp_path: Path) -> None:
    browser.show(made(), tmp_path)
    height = "return document.querySelector('.sheet').offsetHeight"
    browser.focus()
    tall = browser.run(height)
    label = browser.one("button[title^='client datagrams,']")
    label.click()
    browser.settle()
    assert label.get_attribute("aria-expanded") == "false"
    less = browser.run(height)
    assert less < tall
    label.click()
    browser.focus()
    assert browser.run(height) == tall
    browser.keys("a")
    assert browser.run(height) < less
    assert browser.text("button[data-do=all]") == "Open all"
    browser.keys("n")  # the lane of what is chosen opens
    assert (
        browser.one("button[title^='client computing,']").get_attribute("aria-expanded") == "true"
    )
    browser.keys("c")
    assert (
        browser.one("button[title^='client computing,']").get_attribute("aria-expanded") == "false"
    )


def test_a_part_is_highlighted(browser: Browser, tmp_path: Path) -> None:
    explanation = made()
    browser.show(explanation, tmp_path)
    browser.focus()
    plain = browser.pixels()
    button = browser.one("tr[data-part='1'] button")
    button.send_keys(Keys.ENTER)
    browser.settle()
    assert button.get_attribute("aria-pressed") == "true"
    assert browser.pixels() != plain
    part = explanation.document["parts"][1]
    assert part["text"] in browser.text(".chosen")
    button.send_keys(Keys.ENTER)
    browser.settle()
    assert browser.pixels() == plain
    assert browser.text(".chosen") == "No event is chosen."
    button.send_keys(Keys.ENTER)
    browser.one(".chosen dd button").click()
    event = next(e for e in explanation.document["events"] if e["id"] == part["causes"][0])
    assert browser.text(".chosen strong") == event["name"]
    assert f"{event['from_s']:.6f} s" in browser.text(".chosen")


def test_the_keys_are_explained(browser: Browser, tmp_path: Path) -> None:
    browser.show(made(), tmp_path)
    browser.focus()
    browser.keys("?")
    assert browser.one("dialog").is_displayed()
    assert "critical path" in browser.text("dialog")
    browser.keys(Keys.ESCAPE)
    assert not browser.one("dialog").is_displayed()
    assert browser.run("return document.activeElement.className") == "lanes"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_contrast(browser: Browser, tmp_path: Path, scheme: str) -> None:
    browser.colours(scheme)
    browser.show(made(), tmp_path)
    names = ["--back", "--raised", "--text", "--soft", "--accent", "--bad"]
    values = browser.run(
        "const s = getComputedStyle(document.documentElement);"
        "return arguments[0].map((name) => s.getPropertyValue(name).trim())",
        names,
    )
    back, raised, *fronts = map(luminance, values)
    assert (back > 0.5) == (scheme == "light")
    for front in fronts:
        for behind in (back, raised):
            light, dark = max(front, behind), min(front, behind)
            assert (light + 0.05) / (dark + 0.05) >= 4.5  # WCAG 2.2, 1.4.3
    if folder := os.environ.get("SLOWHAND_SCREENSHOTS"):
        browser.focus()
        browser.keys("+", "+", "n", "n", "n", "n")
        browser.driver.save_screenshot(f"{folder}/{scheme}.png")


def luminance(colour: str) -> float:
    """The relative luminance of a colour, `#rrggbb` (WCAG 2.2)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(a * b for a, b in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_each_control_has_a_name(browser: Browser, tmp_path: Path) -> None:
    browser.show(made(), tmp_path)
    browser.driver.execute_cdp_cmd("Accessibility.enable", {})
    nodes = browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    browser.driver.execute_cdp_cmd("Accessibility.disable", {})
    roles: dict[str, list[str]] = {}
    for node in nodes:
        if not node["ignored"]:
            roles.setdefault(node["role"]["value"], []).append(node["name"]["value"])
    for role in ("button", "searchbox", "application", "table", "toolbar"):
        assert roles[role]
        assert all(roles[role])
    assert "Timeline of the handshake" in roles["application"]
    assert "Zoom in" in roles["button"]


def test_hostile_text_stays_text(browser: Browser, tmp_path: Path) -> None:
    browser.show(made(40, text=HOSTILE[:-1]), tmp_path)
    assert browser.run("return document.images.length") == 0
    browser.focus()
    browser.keys("n")
    assert "onerror=alert(1)" in browser.text(".chosen")
    assert browser.run("return document.images.length") == 0


def test_ten_thousand_events_are_fluid(browser: Browser, tmp_path: Path) -> None:
    browser.show(made(10_000), tmp_path)
    browser.focus()
    # Times on a processor: other work of this computer is not in them.
    browser.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    before = browser.task_s()
    browser.driver.execute_async_script(
        """
        const done = arguments[0], canvas = document.querySelector("canvas");
        const {x, y} = canvas.getBoundingClientRect();
        let frames = 0;
        requestAnimationFrame(function turn() {
          if (++frames > 40) return done();
          const deltaY = frames % 20 < 10 ? -120 : 120;
          const at = {clientX: x + 700, clientY: y + 100, bubbles: true, cancelable: true};
          canvas.dispatchEvent(new WheelEvent("wheel", {deltaY, ...at}));
          requestAnimationFrame(turn);
        });
        """
    )
    # 100 ms is what feels immediate (Nielsen 1993, section 5.5).
    assert 0 < (browser.task_s() - before) / 40 < 0.1
    browser.driver.execute_cdp_cmd("Performance.disable", {})


def test_a_report_has_two_timelines_and_readable_pictures(browser: Browser, tmp_path: Path) -> None:
    run = slowhand.Run(slowhand.Scenario("quickstart"), count=5)
    pages.report(run, tmp_path / "a.html")
    browser.open(tmp_path / "a.html")
    seen = []
    for scheme in ("light", "dark"):
        browser.colours(scheme)
        colours = browser.run(
            "const text = document.querySelector('figure text');"
            "return [getComputedStyle(text).fill, getComputedStyle(document.body).color]"
        )
        assert colours[0] == colours[1]
        seen.append(colours[0])
        if folder := os.environ.get("SLOWHAND_SCREENSHOTS"):
            browser.driver.save_screenshot(f"{folder}/report-{scheme}.png")
    assert seen[0] != seen[1]
    first, second = browser.driver.find_elements(By.CSS_SELECTOR, "section.handshake")
    first.find_element(By.CSS_SELECTOR, "button[data-do=forth]").click()
    browser.settle()
    assert "lane" in first.find_element(By.CSS_SELECTOR, ".chosen").text
    assert second.find_element(By.CSS_SELECTOR, ".chosen").text == "No event is chosen."
    browser.one("nav a[href='#worst-handshake']").click()
    heading = "return document.getElementById('worst-handshake').getBoundingClientRect().y"
    assert browser.run(heading) == pytest.approx(0, abs=2)


@pytest.mark.parametrize("count", [1, 30])
def test_a_telephone_shows_every_column_of_a_report(
    browser: Browser, tmp_path: Path, count: int
) -> None:
    lossy: dict[str, Setting] = {"network.link_pdr": 0.7, "mac.max_retries": 2}
    run = slowhand.Run(slowhand.Scenario("quickstart", lossy), count=count)
    pages.report(run, tmp_path / "a.html")
    browser.open(tmp_path / "a.html")
    headings = browser.text(".metrics thead").split("\n")[0].split()[2:]
    wide = browser.text(".metrics tbody").split()
    browser.narrow()
    browser.open(tmp_path / "a.html")
    assert browser.run("return document.documentElement.scrollWidth") == 390
    assert browser.hidden() == []
    assert sorted(browser.text(".metrics tbody").split()) == sorted(wide)
    labels = browser.run(
        "return [...document.querySelector('.metrics td.number').parentElement.querySelectorAll"
        "('.number')].map((e) => getComputedStyle(e, '::before').content).join(' ')"
    )
    assert [word for word in headings if word not in labels] == []
    assert len(labels.split('" "')) == (1 if count == 1 else 7)


def test_a_telephone_shows_every_column_of_a_timeline(browser: Browser, tmp_path: Path) -> None:
    explanation = made()
    browser.narrow()
    browser.show(explanation, tmp_path)
    assert browser.run("return document.documentElement.scrollWidth") == 390
    assert browser.hidden() == []
    shown = browser.text(".parts")
    for part in explanation.document["parts"]:
        assert part["text"] in shown
        assert part["remedy"] is None or part["remedy"] in shown
