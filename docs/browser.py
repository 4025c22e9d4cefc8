"""The browser of scripts that measure or show pages: Chromium without a window."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from selenium import webdriver
from selenium.webdriver.chrome.service import Service


@contextmanager
def browser(*more: str) -> Iterator[tuple[webdriver.Chrome, Path]]:
    """A browser with these further options, and a folder for its pages. Both end with the block."""
    with TemporaryDirectory() as folder:
        options = webdriver.ChromeOptions()
        options.binary_location = str(shutil.which("chromium"))
        for option in ("--headless", "--no-sandbox", "--disable-gpu", *more):
            options.add_argument(option)
        options.add_argument(f"--user-data-dir={folder}/chromium")
        driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
        try:
            yield driver, Path(folder)
        finally:
            driver.quit()
