"""Pictures of runs and sweeps: they are drawn, say what they show, and are the same each time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest

import slowhand
from conftest import QUICKSTART
from slowhand import plot
from slowhand.keys import Setting
from slowhand.plot.pictures import _front

PSK = QUICKSTART.with_name("psk-tinydtls.toml")

SETTINGS: dict[str, Setting] = {
    "session.stack": "lean-dtls",
    "session.cryptography": "weightless",
    "network.link_pdr": 0.7,
}

Draw = Callable[[Path], None]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[polars.DataFrame, polars.DataFrame]:
    """The table of a sweep, and all its rows."""
    folder = tmp_path_factory.mktemp("sweep") / "r"
    vary = {"session.timeout_s": "0.5:8:*2", "network.link_pdr": "0.6,0.9"}
    table = slowhand.sweep(PSK, vary, set=SETTINGS, count=30, out=folder)
    return table, polars.read_parquet(folder)


def pictures(table: polars.DataFrame, rows: polars.DataFrame) -> dict[str, tuple[Draw, list[str]]]:
    """Each picture, and texts that it has."""
    samples = plot.groups(rows, "network.link_pdr")
    timeout, pdr = "session.timeout_s", "network.link_pdr"
    inspection = slowhand.Scenario(PSK, SETTINGS).inspect(seed=1)
    names = ["network.link_pdr=0.6", "network.link_pdr=0.9"]
    return {
        "ecdf": (lambda p: plot.ecdf(samples, p), [*names, "duration [s]", "[% of all]"]),
        "box": (lambda p: plot.box(samples, p, metric="bytes_phy"), [*names, "data [B]"]),
        "curve": (lambda p: plot.curve(table, p, x=timeout), [*names, timeout, "95 % interval"]),
        "heat_map": (lambda p: plot.heat_map(table, p, x=timeout, y=pdr), [timeout, pdr, "0.6"]),
        "pareto": (
            lambda p: plot.pareto(table, p),
            ["link_pdr=0.9", "duration, 95th percentile [s]"],
        ),
        "buffers": (lambda p: plot.buffers(inspection, p), ["node 1", "frames in the queue"]),
        "energy": (lambda p: plot.energy(samples, p), [*names, "idle listening", "[mJ]"]),
    }


NAMES = ["ecdf", "box", "curve", "heat_map", "pareto", "buffers", "energy"]


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_says_what_it_shows(
    swept: tuple[polars.DataFrame, polars.DataFrame], tmp_path: Path, name: str
) -> None:
    draw, texts = pictures(*swept)[name]
    for file in ("a.svg", "b.svg", "c.png"):
        draw(tmp_path / file)
    svg = (tmp_path / "a.svg").read_text()
    assert [text for text in texts if text not in svg] == []
    assert (tmp_path / "b.svg").read_text() == svg
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match=r"d\.pdf: the name must end in \.png or \.svg"):
        draw(tmp_path / "d.pdf")


def test_a_curve_of_shares_ends_at_the_share_that_completed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    frame = slowhand.run(PSK, count=40, set={"network.link_pdr": 0.5, "mac.max_retries": 2})
    completed = frame.filter(outcome="completed")
    assert 0 < len(completed) < 40
    ends: list[float] = []
    real = plot.Sheet.write

    def write(made: plot.Sheet, file: Path, kind: str) -> None:
        heights: Any = made.axes[0].lines[0].get_ydata()
        ends.append(heights[-1])
        real(made, file, kind)

    monkeypatch.setattr(plot.Sheet, "write", write)
    plot.ecdf({"all": frame}, tmp_path / "a.svg")
    assert ends == [pytest.approx(100 * len(completed) / 40)]


def test_a_front_has_what_nothing_beats() -> None:
    points = [(1.0, 5.0, "a"), (2.0, 3.0, "b"), (3.0, 4.0, "c"), (4.0, 1.0, "d"), (1.0, 6.0, "e")]
    assert [name for _, _, name in _front(points)] == ["a", "b", "d"]


def test_wrong_columns_and_too_many_curves_are_refused(
    swept: tuple[polars.DataFrame, polars.DataFrame], tmp_path: Path
) -> None:
    table, rows = swept
    with pytest.raises(ValueError, match=r"column: found 'session\.mtu', allowed: scenario, "):
        plot.curve(table, tmp_path / "a.svg", x="session.mtu")
    many = {str(number): rows for number in range(8)}
    with pytest.raises(ValueError, match="found 8 samples, allowed: at most 7"):
        plot.ecdf(many, tmp_path / "a.svg")
