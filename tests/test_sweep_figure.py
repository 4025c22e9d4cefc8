"""The figure of a sweep over several keys: nothing is cramped, and nothing is hidden."""

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes

import slowhand
from slowhand.estimate import Estimate
from slowhand.keys import Setting
from slowhand.plot import Sheet, sheet

PDRS = [1.0, 0.9, 0.7]


def test_a_third_key_has_a_row_of_panels_for_each_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Sheet] = []
    boxes: list[Any] = []  # of panels with their titles and labels, and of the key
    write = Sheet.write

    def kept(sheet: Sheet, file: Path, kind: str) -> None:
        write(sheet, file, kind)
        drawn.append(sheet)
        boxes.extend(axes.get_tightbbox() for axes in sheet.axes)
        boxes.extend(legend.get_window_extent() for legend in sheet.figure.legends)

    monkeypatch.setattr(Sheet, "write", kept)
    keys: dict[str, list[Setting]] = {
        "session.timeout_s": [9, 0.5],
        "session.mtu": [200, 512],
        "network.link_pdr": [*PDRS],  # the last row is the highest
    }
    table = slowhand.sweep("psk-tinydtls", keys, count=5, plot=tmp_path / "f.png")
    (made,) = drawn
    assert len(made.axes) == 9
    for row, pdr in enumerate(PDRS):
        duration, energy, completed = made.axes[3 * row : 3 * row + 3]
        assert duration.get_ylabel().startswith(f"network.link_pdr={pdr:g}\n")
        at = (table["network.link_pdr"] == pdr) & (table["session.timeout_s"] == 0.5)
        assert sorted(heights(energy)) == pytest.approx(
            sorted(table.filter(at)["energy_client_mj_mean"])
        )
        assert len(heights(completed)) == 2
    for axes in made.axes:  # the rows have the same limits, and nothing is beyond them
        low, high = axes.get_ylim()
        ends: list[Any] = [y for line in axes.lines for y in list(line.get_ydata())]  # type: ignore[arg-type]
        assert low <= min(ends) <= max(ends) <= high
    (legend,) = made.figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["session.mtu=200", "session.mtu=512"]
    assert [(a, b) for a, b in combinations(boxes, 2) if a.overlaps(b)] == []
    widths = [axes.get_position().width for axes in made.axes]
    assert min(widths) > 0.75 / 3


def heights(axes: Axes) -> list[float]:
    """Where the solid curves of a panel begin."""
    solid: list[Any] = [line for line in axes.lines if line.get_linestyle() == "-"]
    return [float(line.get_ydata()[0]) for line in solid]


def test_a_curve_below_another_can_be_seen() -> None:
    with sheet() as made:
        (axes,) = made.axes
        alike = [Estimate(100.0), Estimate(100.0)]
        made.curves(axes, [1, 2], dict.fromkeys("abc", alike), named=False)
        widths = [line.get_linewidth() for line in axes.lines if line.get_linestyle() == "-"]
    assert widths == sorted(set(widths), reverse=True)
    assert len(widths) == 3
