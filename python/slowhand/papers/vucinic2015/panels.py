"""The panels that Fig. 2 and Fig. 3 both have."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def name(single: Axes, multi: Axes, energy: Axes) -> None:
    """Gives the three panels their titles and units."""
    single.set(title="(a) duration, single hop", ylabel="handshake [s]")
    multi.set(title="(b) duration, multi-hop", ylabel="handshake [s]")
    energy.set(title="(c) energy of the client, single hop", ylabel="energy [mJ]")
