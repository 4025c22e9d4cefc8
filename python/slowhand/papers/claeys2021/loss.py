"""Section 3.3, Fig. 6 and 7: one fragment in twenty is lost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from slowhand.estimate import Estimate, least, median, percentile
from slowhand.papers.claeys2021 import fragments
from slowhand.papers.claeys2021.handshake import BY_MTU, LARGE_MSS, SCENARIO, SMALL_MSS
from slowhand.papers.part import Values
from slowhand.papers.points import Laboratory, Point, Settings

LOSS = 0.05

TLS = {name: settings for name, settings in BY_MTU.items() if name.startswith("tls.")}
DTLS = {name: settings for name, settings in BY_MTU.items() if name.startswith("dtls.")}

QUANTITIES = {"bytes": "bytes_phy", "duration": "duration_s"}

WORST = 0.95
"""The percentile of the worst case."""

TIMER_S = 4
"""A first timeout of the client's DTLS with which one timeout doubles the duration."""


class Boxes:
    """A figure of boxes: the handshakes of some configurations under loss."""

    def __init__(self, name: str, configurations: dict[str, Settings]):
        self.name = name
        self.configurations = configurations

    def points(self) -> list[Point]:
        """Each configuration with losses and without."""
        return [point(s, loss) for s in self.configurations.values() for loss in (0.0, LOSS)]

    def measure(self, laboratory: Laboratory) -> Values:
        """The median with losses compared with a handshake without, in percent."""
        values: dict[str, Estimate | None] = {}
        for name, settings in self.configurations.items():
            values[f"{name}.completed"] = laboratory.completed(point(settings, LOSS))
            for quantity, column in QUANTITIES.items():
                values[f"{name}.{quantity}"] = increase(laboratory, settings, column)
        return values

    def draw(self, laboratory: Laboratory, folder: Path) -> list[Path]:
        """Draws the boxes."""
        from slowhand.papers.claeys2021 import figures

        measured = {
            name: laboratory.measure(point(settings, LOSS))
            for name, settings in self.configurations.items()
        }
        without = {
            name: laboratory.measure(point(settings, 0.0))
            for name, settings in self.configurations.items()
        }
        return figures.boxes(self.name, measured, without, folder)


BY_NAGLE = {
    "nagle": (TLS["tls.864.nagle"], TLS["tls.356.nagle"]),
    "plain": (TLS["tls.864"], TLS["tls.356"]),
}
"""A large MTU and a small one."""


class Fig6(Boxes):
    """TLS: also the large MTU against the small one, and two numbers of the paper exchanged."""

    def measure(self, laboratory: Laboratory) -> Values:
        """The boxes, what a small MTU changes, and the frames of a full segment."""
        values = dict(super().measure(laboratory))
        for name, pair in BY_NAGLE.items():
            values[f"worst.{name}"] = worse(laboratory, *pair, "duration_s")
            values[f"worst.bytes.{name}"] = worse(laboratory, *pair, "bytes_phy")
            values[f"small.bytes.{name}"] = repeated_less(laboratory, *pair)
            values[f"small.duration.{name}"] = sooner(laboratory, *pair)
        return {
            **values,
            "exchanged.864": values["tls.864.nagle.bytes"],
            "exchanged.356": values["tls.356.nagle.bytes"],
            "segment.864": fragments.frames(laboratory, LARGE_MSS),
            "segment.356": fragments.frames(laboratory, SMALL_MSS),
        }


class Fig7(Boxes):
    """DTLS: also what a later first timeout would do."""

    def points(self) -> list[Point]:
        """The points of the boxes, and the one with the other timeout."""
        return [*super().points(), *(point(LATER, loss) for loss in (0.0, LOSS))]

    def measure(self, laboratory: Laboratory) -> Values:
        """The boxes, and by how much the duration is more than double."""
        values = dict(super().measure(laboratory))
        durations = [values[f"{name}.duration"] for name in DTLS]
        doubled = [one - Estimate(100.0) for one in durations if one is not None]
        return {
            **values,
            "beyond.double": least(doubled) if doubled else None,
            "timer": increase(laboratory, LATER, "duration_s"),
        }


LATER: Settings = {**BY_MTU["dtls.1041"], "session.timeout_s": TIMER_S}


def point(settings: Settings, loss: float) -> Point:
    """A configuration under this loss of fragments."""
    return Point.of(SCENARIO, {**settings, "lowpan.fragment_loss": loss})


def increase(laboratory: Laboratory, settings: Settings, column: str) -> Estimate | None:
    """The paper's measure: by how many percent losses raise the median."""
    without = laboratory.measure(point(settings, 0.0)).estimate(column)
    lossy = laboratory.measure(point(settings, LOSS)).samples[column]
    if without is None or not lossy:
        return None
    return Estimate(100 * (median(lossy) / without.mean - 1))


def worse(
    laboratory: Laboratory, settings: Settings, than: Settings, column: str
) -> Estimate | None:
    """The distance of the worst case of a configuration above that of a second one."""
    worst = [
        worst_case(laboratory.measure(point(each, LOSS)).samples[column])
        for each in (settings, than)
    ]
    return worst[0] - worst[1] if worst[0] and worst[1] else None


def repeated_less(laboratory: Laboratory, settings: Settings, than: Settings) -> Estimate:
    """The octets that a second configuration sends again less, on average."""
    again = [
        laboratory.mean(point(each, LOSS), "bytes_phy")
        - laboratory.mean(point(each, 0.0), "bytes_phy")
        for each in (settings, than)
    ]
    return again[0] - again[1]


def sooner(laboratory: Laboratory, settings: Settings, than: Settings) -> Estimate:
    """The time by which a second configuration ends sooner, on average."""
    first, second = (laboratory.mean(point(each, LOSS), "duration_s") for each in (settings, than))
    return first - second


def worst_case(values: Sequence[float]) -> Estimate | None:
    """The percentile `WORST`.

    Its interval is between two of the sorted values: how many of them lie below the true percentile
    has a binomial distribution.
    """
    if not values:
        return None
    spread = 1.96 * math.sqrt(WORST * (1 - WORST) / len(values))
    low, high = (percentile(values, min(1.0, WORST + side * spread)) for side in (-1, 1))
    return Estimate(percentile(values, WORST), (high - low) / 2)
