"""Section 3.3, Fig. 6 and 7: one fragment in twenty is lost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from slowhand import plot
from slowhand.estimate import Estimate, least, median, percentile
from slowhand.papers.claeys2021 import buffers
from slowhand.papers.claeys2021.handshake import BY_MTU, LARGE_MSS, SMALL_MSS, handshake, label
from slowhand.papers.points import Laboratory, Part, Point, Settings, Values

LOSS = 0.05

TLS = {name: settings for name, settings in BY_MTU.items() if name.startswith("tls.")}
DTLS = {name: settings for name, settings in BY_MTU.items() if name.startswith("dtls.")}

QUANTITIES = {"bytes": "bytes_phy", "duration": "duration_s"}

WORST = 0.95
"""The percentile of the worst case."""

TIMER_S = 4
"""A first timeout of the client's DTLS with which one timeout doubles the duration."""


BY_NAGLE = {
    "nagle": (TLS["tls.864.nagle"], TLS["tls.356.nagle"]),
    "plain": (TLS["tls.864"], TLS["tls.356"]),
}
"""A large MTU and a small one."""


LATER: Settings = {**BY_MTU["dtls.1041"], "session.timeout_s": TIMER_S}


def point(settings: Settings, loss: float) -> Point:
    """A configuration under this loss of fragments."""
    return handshake(settings, {"lowpan.fragment_loss": loss})


def fig6(laboratory: Laboratory) -> Values:
    """TLS: the boxes, what a small MTU changes, and two numbers of the paper exchanged."""
    values = boxes(laboratory, TLS)
    for name, pair in BY_NAGLE.items():
        values[f"worst.{name}"] = worse(laboratory, *pair, "duration_s")
        values[f"worst.bytes.{name}"] = worse(laboratory, *pair, "bytes_phy")
        values[f"small.bytes.{name}"] = repeated_less(laboratory, *pair)
        values[f"small.duration.{name}"] = sooner(laboratory, *pair)
    return {
        **values,
        "exchanged.864": values["tls.864.nagle.bytes"],
        "exchanged.356": values["tls.356.nagle.bytes"],
        "segment.864": buffers.frames(laboratory, LARGE_MSS),
        "segment.356": buffers.frames(laboratory, SMALL_MSS),
    }


def fig7(laboratory: Laboratory) -> Values:
    """DTLS: the boxes, by how much the duration is more than double, and a later timeout."""
    values = boxes(laboratory, DTLS)
    durations = [values[f"{name}.duration"] for name in DTLS]
    doubled = [one - Estimate(100.0) for one in durations if one is not None]
    return {
        **values,
        "beyond.double": least(doubled) if doubled else None,
        "timer": increase(laboratory, LATER, "duration_s"),
    }


def boxes(
    laboratory: Laboratory, configurations: Mapping[str, Settings]
) -> dict[str, Estimate | None]:
    """The median with losses compared with a handshake without, in percent."""
    values: dict[str, Estimate | None] = {}
    for name, settings in configurations.items():
        values[f"{name}.completed"] = laboratory.completed(point(settings, LOSS))
        for quantity, column in QUANTITIES.items():
            values[f"{name}.{quantity}"] = increase(laboratory, settings, column)
    return values


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


def draw(
    name: str, configurations: Mapping[str, Settings], laboratory: Laboratory, folder: Path
) -> list[Path]:
    """Draws the boxes: bytes and duration with loss; a star for a handshake without loss."""
    title = f"5 % of fragments lost (Claeys et al. 2021, Fig. {name.removeprefix('fig')})"
    names = [label(row).replace(" Nagle", "\nNagle") for row in configurations]
    with plot.sheet(2, title=title) as sheet:
        for axes, column in zip(sheet.axes, QUANTITIES.values(), strict=True):
            lossy = [laboratory.measure(point(each, LOSS)) for each in configurations.values()]
            values = [measured.samples[column] for measured in lossy]
            places = sheet.boxes(axes, values, width=0.5)
            for place, settings in zip(places, configurations.values(), strict=True):
                if estimate := laboratory.measure(point(settings, 0.0)).estimate(column):
                    axes.plot(place, estimate.mean, "*", color="black", markersize=9)
            axes.set_xticks(places, names)
            axes.set_xlabel("whiskers: 5 % and 95 %; star: no loss")
        octets, duration = sheet.axes
        octets.set(title="bytes", ylabel="PSDU octets on the air [B]", ylim=(0, None))
        duration.set(title="duration", ylabel="handshake [s]", yscale="log")
        seconds = [3, 5, 10, 20, 50, 100, 200]
        duration.set_yticks(seconds, [str(s) for s in seconds])
        duration.minorticks_off()
        return sheet.save(folder, name)


def _points(configurations: Mapping[str, Settings]) -> list[Point]:
    """Each configuration with losses and without."""
    return [point(settings, loss) for settings in configurations.values() for loss in (0.0, LOSS)]


FIG_6 = Part(fig6, _points(TLS), partial(draw, "fig6", TLS))
FIG_7 = Part(fig7, _points({**DTLS, "later": LATER}), partial(draw, "fig7", DTLS))
