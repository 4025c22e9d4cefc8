"""Prints how long Chromium draws one picture of a network that moves, for docs/reference/play.md.

.venv/bin/python docs/play_times.py. The computer should be idle.
"""

from __future__ import annotations

import statistics

from browser import browser

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
        with browser("--window-size=1400,1000") as (driver, folder):
            page = folder / "played.html"
            playback = slowhand.Scenario(name).play(seed=1)
            slowhand.pages.playback(playback, page)
            driver.get(page.as_uri())
            took = sorted(driver.execute_script(PICTURES))  # in milliseconds
            frames = len(playback.document["frames"]["from_us"])
            print(
                f"{name}: {len(playback.document['nodes']):,} nodes, {frames:,} frames,"
                f" {page.stat().st_size / 1e6:.0f} MB: a picture takes"
                f" {statistics.median(took):.1f} ms (median), {took[94]:.1f} ms (p95)"
            )


if __name__ == "__main__":
    main()
