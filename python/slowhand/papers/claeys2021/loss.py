"""Section 3.3, Fig. 6 and 7: one fragment in twenty is lost."""

from __future__ import annotations

from pathlib import Path

from slowhand.estimate import Estimate, median
from slowhand.papers.claeys2021.handshake import BY_MTU, SCENARIO
from slowhand.papers.part import Values
from slowhand.papers.points import Laboratory, Point, Settings

LOSS = 0.05

TLS = {name: settings for name, settings in BY_MTU.items() if name.startswith("tls.")}
DTLS = {name: settings for name, settings in BY_MTU.items() if name.startswith("dtls.")}

QUANTITIES = {"bytes": "bytes_phy", "duration": "duration_s"}


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
