"""Draws the dashboard and the page of `slowhand live` as docs/live.svg and docs/live-page.png.

Run it when they look different: .venv/bin/python docs/live.py. The network runs against the clock,
so the numbers differ each time.
"""

from __future__ import annotations

import io
import shutil
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.text import Text
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

import slowhand
from slowhand.keys import Settings
from slowhand.realtime.dashboard import UNICODE, Size, framed, picture
from slowhand.realtime.page import Page
from slowhand.realtime.status import told
from slowhand.terminal import WIDTH, Terminal

HERE = Path(__file__).resolve().parent

SIZE = Size(WIDTH, 28)


WORK: Settings = {
    "network.link_pdr": 0.85,
    "mac.slotframe": 17,
    "client.nodes": [4, 5, 7, 9, 10, 12],
    "client.start_s": 10,
    "client.start_spread_s": 30,
}


def main() -> None:
    """Runs a network at work until a session is complete, and draws it."""
    with slowhand.live("busy", set=WORK, speed=5) as net:
        net.node(11).off()
        net.wait(handshakes=1, timeout_s=60)
        snapshot = net.status()
        latest = next(filter(None, map(told, reversed(net.events))))
    assert snapshot
    rows = framed(picture(snapshot, "slowhand live: busy", [], SIZE, UNICODE), latest, SIZE)
    out = Terminal(io.StringIO(), width=WIDTH, styled=True)
    lines = ("".join(out.style(text, style) for text, style in row) for row in rows)
    drawing = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    drawing.print(Text.from_ansi("\n".join(lines)))
    title = "./slowhand live busy --watch"
    drawing.save_svg(str(HERE / "live.svg"), title=title, unique_id="live")
    draw_page()


def draw_page() -> None:
    """Switches a node and a link off in the page, and draws it."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    with TemporaryDirectory() as folder:
        for option in ("--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,1000"):
            options.add_argument(option)
        options.add_argument(f"--user-data-dir={folder}/chromium")
        driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
        socket = Path(folder) / "control.sock"
        with slowhand.live("busy", set=WORK, speed=2, control=socket), Page(socket) as page:
            driver.get(page.address)
            time.sleep(6)
            driver.execute_script("running[0].choose({ node: 11 }); running[0].toggle()")
            time.sleep(1)
            driver.execute_script("running[0].choose({ link: '1 4' }); running[0].toggle()")
            time.sleep(6)
            driver.save_screenshot(str(HERE / "live-page.png"))
        driver.quit()


if __name__ == "__main__":
    main()
