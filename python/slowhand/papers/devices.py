"""The constants of built-in devices."""

from __future__ import annotations

import tomllib

from slowhand import data


def constant(device: str, *keys: str) -> float:
    """A number of a device's file, as in `constant("wismote", "current", "radio_rx_ma")`."""
    found = tomllib.loads((data.DEVICES / f"{device}.toml").read_text())
    for key in keys:
        found = found[key]
    return float(found["value"])
