"""Prints how long Chromium draws one picture of a network that moves, for docs/reference/play.md.

.venv/bin/python docs/play_times.py. The computer should be idle.
"""

from __future__ import annotations

import shutil
import statistics
from pathlib import Path
from tempfile import TemporaryDirectory

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

import slowhand

SCENARIOS = ("storm-csma", "storm-tsch")
"""Those with 10,000 nodes."""

PICTURES = """
const { mesh, world } = playbacks[0], took = [];
for (let i = 0; i < 100; i++) {
  const begin = performance.now();
  mesh.draw(world.end * (i + 0.5) / 100, FADES_S * 1e6, { node: -1, frame: -1 });
  took.push(performance.now() - begin);
}
return took;
"""
"""Draws a hundred, evenly over the time of the world, at the speed of the clock."""


def main() -> None:
    """Measures each scenario in a browser of its own."""
    for name in SCENARIOS:
        with TemporaryDirectory() as folder:
            page = Path(folder) / "played.html"
            playback = slowhand.Scenario(name).play(seed=1)
            slowhand.pages.playback(playback, page)
            took = sorted(pictures(page, folder))
            frames = len(playback.document["frames"]["from_us"])
            print(
                f"{name}: {len(playback.document['nodes']):,} nodes, {frames:,} frames,"
                f" {page.stat().st_size / 1e6:.0f} MB: a picture takes"
                f" {statistics.median(took):.1f} ms (median), {took[94]:.1f} ms (p95)"
            )


def pictures(page: Path, folder: str) -> list[float]:
    """How long the pictures of a page took, in milliseconds."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for option in ("--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000"):
        options.add_argument(option)
    options.add_argument(f"--user-data-dir={folder}/chromium")
    driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
    try:
        driver.get(page.as_uri())
        took: list[float] = driver.execute_script(PICTURES)
        return took
    finally:
        driver.quit()


if __name__ == "__main__":
    main()
