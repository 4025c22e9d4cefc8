"""RAM and flash, from the images for the ATmega128RFA1."""

from __future__ import annotations

from slowhand.estimate import Estimate
from slowhand.papers.pittoli2016 import measured
from slowhand.papers.points import Laboratory, Values

KB = 1000
"""Octets of a kB: as the slides' units, see `kb` in assumptions.toml."""

RAM_KB, FLASH_KB = 16, 128
"""Of the device: the slides' gains are shares of them."""


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part."""
    ram = {variant: measured.ram(variant) / KB for variant in ("plain", "slides")}
    flash = {variant: measured.flash(variant) / KB for variant in ("plain", "slides")}
    return {
        "ram.original": Estimate(ram["plain"]),
        "ram.optimised": Estimate(ram["slides"]),
        "ram.saved": Estimate(100 * (ram["plain"] - ram["slides"]) / RAM_KB),
        "flash.original": Estimate(flash["plain"]),
        "flash.optimised": Estimate(flash["slides"]),
        "flash.saved": Estimate(100 * (flash["plain"] - flash["slides"]) / FLASH_KB),
        "flash.bare": Estimate(measured.measured()["images"]["bare"]["flash"] / KB),
        "ram.saved.reported": Estimate(100 * (11.2 - 10.3) / 11.2),
        "flash.saved.reported": Estimate(100 * (49 - 46.6) / 49),
    }
