"""Makes docs/timeline.png and docs/play.png: pages of one handshake, as Chromium shows them.

.venv/bin/python docs/reports.py [FOLDER]
"""

import sys
from pathlib import Path

from browser import browser
from selenium.webdriver.common.by import By

import slowhand

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Writes the pictures into the folder, as docs/timeline.png and docs/play.png."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    (folder / "docs").mkdir(exist_ok=True)
    with browser("--window-size=1200,1100") as (driver, temporary):
        page = temporary / "one.html"
        slowhand.pages.timeline(slowhand.Scenario("lossy-line").explain(seed=1), page)
        driver.get(page.as_uri())
        lanes = driver.find_element(By.CSS_SELECTOR, ".lanes")
        lanes.send_keys("+++", "n" * 6)
        lanes.screenshot(str(folder / "docs" / "timeline.png"))
        page = temporary / "played.html"
        slowhand.pages.playback(slowhand.Scenario("lossy-line").play(seed=3), page)
        driver.get(page.as_uri())
        driver.execute_script("playbacks[0].seek(5.07e6)")
        driver.find_element(By.CSS_SELECTOR, ".mesh").send_keys("n")
        driver.execute_script("document.querySelector('.play').scrollIntoView()")
        driver.save_screenshot(str(folder / "docs" / "play.png"))


if __name__ == "__main__":
    main()
