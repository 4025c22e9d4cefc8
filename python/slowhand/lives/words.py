"""Lives of batteries in words: years with their interval, shares, what a battery is called."""

from __future__ import annotations

import math
from collections.abc import Sequence

from slowhand._native import DAY_S, LONGEST_LIFE_S, YEAR_S

DAYS_A_YEAR = YEAR_S / DAY_S
UNITS = (("years", 1.0), ("months", 12.0), ("days", DAYS_A_YEAR), ("hours", 24 * DAYS_A_YEAR))
"""The units of a life, and how many of these a year has. The first that is reached is told."""

LONGEST_YEARS = LONGEST_LIFE_S / YEAR_S
"""A longer life is told as longer than this: no battery is that old. (Assumed.)"""

IDLE = "idle: "
"""The word before a part that is there while nobody asks for anything."""

PARTS = {
    "sleeping": f"{IDLE}sleeping",
    "link_layer": f"{IDLE}{{}}",
    "handshakes": "handshakes",
    "requests": "requests",
    "keep_alives": "keep-alives",
    "closing": "closing sessions",
    "self_discharge": "self-discharge",
}
"""Where the charge of a battery goes. What the link layer does depends on its kind."""

DIGITS = 3
"""A life is told with so many digits at most: constants are not known better. (Assumed.)"""


def life(years: float | None, interval: Sequence[float] | None, *, brief: bool = False) -> str:
    """The life of a battery, with the interval.

    >>> life(2.913, [2.71, 3.11]), life(2.9, None), life(None, None)
    ('2.9 years (2.7 to 3.1)', '2.90 years', 'for ever')
    >>> life(0.19365, [0.19362, 0.19368]), life(2.913, [2.71, 3.11], brief=True)
    ('70.7 days (±0.02 %)', '2.9 years')
    """
    if years is None:
        return "for ever"
    if years > LONGEST_YEARS:
        return f"more than {LONGEST_YEARS:g} years"
    unit, each = next(((u, n) for u, n in UNITS if years * n >= 1), UNITS[-1])
    if unit == "months" and years * 12 < DIGITS:
        unit, each = "days", DAYS_A_YEAR
    value = years * each
    low, high = (each * end for end in interval) if interval else (value, value)
    decimals = _decimals(value, (high - low) / 2)
    told = f"{value:,.{decimals}f} {unit}"
    if brief or not interval:
        return told
    ends = f"{low:,.{decimals}f}", f"{high:,.{decimals}f}"
    if ends[0] == ends[1]:
        return f"{told} (±{_percent_of(value, high - value)} %)"
    return f"{told} ({ends[0]} to {ends[1]})"


def _decimals(value: float, half: float) -> int:
    """As many decimals as the interval has a first digit for, and as few as `DIGITS` allows."""
    most = max(0, DIGITS - 1 - math.floor(math.log10(value))) if value > 0 else 0
    if half <= 0:
        return most
    return min(most, max(0, -math.floor(math.log10(half))))


def _percent_of(value: float, half: float) -> str:
    percent = 100 * half / value
    return "0.01" if percent < 0.01 else f"{percent:.1g}"


def part(name: str, link_layer: str) -> str:
    """The use of a part of the charge; `link_layer` is what that does.

    >>> part("link_layer", "polls"), part("closing", "polls")
    ('idle: polls', 'closing sessions')
    """
    return PARTS[name].format(link_layer)


def share(part: float) -> str:
    """A share in percent.

    >>> share(0.712), share(0.0412), share(0.0001), share(0)
    ('71 %', '4.1 %', 'less than 0.1 %', '0 %')
    """
    percent = 100 * part
    if percent >= 9.95:
        return f"{percent:.0f} %"
    if percent >= 0.1:
        return f"{percent:.1f} %"
    return "less than 0.1 %" if percent > 0 else "0 %"


def battery(description: str) -> str:
    """The name of a battery, with an article.

    >>> battery("CR2032: a coin cell, 3 V"), battery("Two Energizer L91 in series: AA cells")
    ('a CR2032', 'two Energizer L91 in series')
    >>> battery("My cell: 500 mAh")
    'my cell'
    """
    name = description.partition(":")[0].strip() or "battery"
    first, _, rest = name.partition(" ")
    if first.lower() in ("a", "an", "the", "my", "our", "one", "two", "three", "four"):
        return f"{first.lower()} {rest}"
    return f"{'an' if first[0].lower() in 'aeiou' else 'a'} {name}"
