"""Prints how fast the laboratory in a page answers, for docs/reference/performance.md.

.venv/bin/python docs/lab_times.py, after tools/lab-page. The computer should be idle.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from browser import browser
from selenium import webdriver
from selenium.webdriver.support.wait import WebDriverWait

PAGE = Path(__file__).resolve().parent.parent / "target" / "lab-page" / "slowhand.html"

SCENARIOS = ("csma", "psk-tinydtls", "quickstart")

LOADS = 5
CHANGES = 12
"""How often the page is loaded, and a control is changed."""

CHANGE = """
const input = document.getElementById("control-network-link_pdr-input");
const data = document.documentElement.dataset;
input.value = arguments[0];
data.explainedMs = "";
const began = performance.now(), done = arguments[1];
input.dispatchEvent(new Event("input"));
input.dispatchEvent(new Event("change"));
const look = () => data.explainedMs && data.running === "false"
  ? done([Number(data.explainedMs), performance.now() - began]) : setTimeout(look, 1);
look();
"""
"""Changes the losses. Gives the times until one handshake is drawn and until all worlds are run."""


def main() -> None:
    """Loads and changes the page."""
    with browser() as (driver, _):
        driver.set_script_timeout(60)
        tell("ready", [load(driver, "csma", 1) for _ in range(LOADS)])
        for name in SCENARIOS:
            for count in (1, 200):
                load(driver, name, count)
                took = [change(driver, number) for number in range(CHANGES)]
                tell(f"{name}, {count} worlds", [each[count > 1] for each in took])


def load(driver: webdriver.Chrome, name: str, count: int) -> float:
    """Loads the page with a scenario. Returns how long it took until the module was ready."""
    driver.get("about:blank")
    driver.get(f"{PAGE.as_uri()}#a={name}&count={count}")
    data = "return document.documentElement.dataset"
    ready = f"{data}.readyMs && document.documentElement.dataset.running === 'false'"
    WebDriverWait(driver, 60).until(lambda _: driver.execute_script(ready))
    return float(driver.execute_script(f"{data}.readyMs"))


def change(driver: webdriver.Chrome, number: int) -> tuple[float, float]:
    """Changes the losses to another value, and waits for the answer."""
    time.sleep(0.1)
    first, last = driver.execute_async_script(CHANGE, str(number % 5 + 1))
    return first, last


def tell(what: str, took: list[float]) -> None:
    """Prints the least and the median."""
    print(f"{what}: {min(took):.0f} ms, {statistics.median(took):.0f} ms")


if __name__ == "__main__":
    main()
