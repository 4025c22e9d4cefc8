"""Section 5.2, Fig. 6, and sections 5.4 and 7: duration and energy by key and authentication."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from slowhand import plot
from slowhand.estimate import Estimate, least
from slowhand.papers.kothmayr2013 import opal
from slowhand.papers.points import Laboratory, Point, Values

BITS = (1024, 2048)
TOO_LONG = 3072
"""A key that is too long for the TPM. It is measured over one hop only."""

AUTHENTICATIONS = ("mutual", "server")
HOPS = (1, 2, 3, 4)
CURVES = ("secp192r1", "secp256r1")
LOSS = 0.02
TIMER_S = 5.0

FASTER = 0.75
"""The share of the time in devices/opal-tpm.toml that software takes, in a note on the energy."""

CONSUMERS = {
    "TPM": ("tpm",),
    "processor": ("cpu", "sleep"),
    "radio": ("tx", "rx"),
    "idle listening": ("listen",),
}
"""The consumers of energy in the figure, with their columns of a record."""

WIDTH = 0.7
"""The width of a bar."""

REPORTED = (
    ("RSA-2048\nboth ends", "488 mJ", 488.0),
    ("secp256r1\nboth ends", "100 mJ", 100.0),
)

FIGURE = list(itertools.product(BITS, AUTHENTICATIONS, HOPS))
SINGLE_HOP = [(bits, auth, 1) for bits in (*BITS, TOO_LONG) for auth in AUTHENTICATIONS]


def rsa(bits: int, auth: str, hops: int) -> Point:
    """A point of Fig. 6."""
    return opal.point(hops, rsa_bits=bits, auth=auth)


def ecc(curve: str) -> Point:
    """A handshake with elliptic curves, all in software."""
    return opal.point(suite=opal.ECC, curve=curve)


def quick() -> Point:
    """A handshake with faster software."""
    return opal.point(1, {"client.compute_factor": FASTER}, suite=opal.ECC, curve=CURVES[-1])


def lossy() -> Point:
    """RSA-2048 at both ends, with loss of fragments."""
    return opal.lossy(LOSS, "flight", rsa_bits=2048, auth="mutual")


POINTS = [
    *(rsa(*where) for where in FIGURE + SINGLE_HOP),
    *(ecc(curve) for curve in CURVES),
    quick(),
    lossy(),
]


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part."""

    def duration(bits: int, auth: str, hops: int = 1) -> Estimate:
        return laboratory.mean(rsa(bits, auth, hops), "duration_s")

    def saved(bits: int, hops: int) -> Estimate:
        return duration(bits, "mutual", hops) - duration(bits, "server", hops)

    def energy(at: Point, of: str = "") -> Estimate:
        return laboratory.mean(at, f"energy_client_{of}mj")

    def used(at: Point) -> Estimate:
        """The energy of computing, sending and receiving: all but idle listening and sleep."""
        return energy(at) - energy(at, "listen_") - energy(at, "sleep_")

    full = rsa(2048, "mutual", 1)
    gains = [
        duration(2048, auth, hops) - duration(1024, auth, hops)
        for auth in AUTHENTICATIONS
        for hops in HOPS
    ]
    whole_s, lossy_s = (_of_all(laboratory, at) for at in (full, lossy()))
    late = [
        seconds - min(whole_s)
        for seconds, lost in zip(
            lossy_s, laboratory.measure(lossy()).samples["datagrams_lost"], strict=True
        )
        if lost
    ]
    return {
        "saved.1": saved(2048, 1),
        "saved.4": saved(2048, 4),
        "saved.1024": saved(1024, 1),
        "smaller": least(gains),
        "mutual.1024": duration(1024, "mutual"),
        "mutual.2048": duration(2048, "mutual"),
        "mutual.2048.4": duration(2048, "mutual", 4),
        "mutual.3072": duration(TOO_LONG, "mutual"),
        "energy.rsa": used(full),
        "energy.rsa.listening": energy(full),
        "energy.ecc": used(ecc(CURVES[-1])),
        "energy.ecc.listening": energy(ecc(CURVES[-1])),
        "energy.ecc.192": used(ecc(CURVES[0])),
        "energy.ecc.quick": used(quick()),
        "energy.tpm": energy(full, "tpm_") - energy(full, "cpu_"),
        "loss.completed": laboratory.completed(lossy()),
        "loss.longer": laboratory.mean(lossy(), "duration_s") - laboratory.mean(full, "duration_s"),
        "loss.deviation": _variance(laboratory, lossy()) - _variance(laboratory, full),
        "loss.timer": Estimate(min(late)) if late else None,
        "loss.tpm": energy(lossy(), "tpm_") / energy(full, "tpm_") / Estimate(0.01),
        "loss.energy": used(lossy()) / used(full),
        "loss.energy.listening": energy(lossy()) / energy(full),
    }


def draw(laboratory: Laboratory, folder: Path) -> list[Path]:
    """Draws Fig. 6: duration of a handshake by hops, and its energy over one hop by consumer."""
    handshakes = {
        f"RSA-{bits}\n{'both ends' if auth == 'mutual' else 'server'}": rsa(bits, auth, hops)
        for bits, auth, hops in SINGLE_HOP
    } | {f"{curve}\nboth ends": ecc(curve) for curve in CURVES}
    names = list(handshakes)
    title = "DTLS handshake with RSA and a TPM (Kothmayr et al. 2013, Fig. 6)"
    with plot.sheet(2, title=title, width=7.2) as sheet:
        duration, energy = sheet.axes
        for auth in AUTHENTICATIONS:
            curves = {
                f"RSA-{bits}": [laboratory.mean(rsa(bits, auth, h), "duration_s") for h in HOPS]
                for bits in BITS
            }
            sheet.curves(duration, HOPS, curves, dashed=auth == "server")
        duration.set_xticks(HOPS)
        duration.set_xlabel("hops; solid: both ends authenticated, dashed: the server alone")
        duration.set(title="(a) duration", ylabel="handshake [s]", ylim=(0, None))
        bottoms = [0.0] * len(names)
        for colour, (name, columns) in zip(plot.COLOURS, CONSUMERS.items(), strict=False):
            heights = [_energy(laboratory, at, columns) for at in handshakes.values()]
            energy.bar(
                range(len(heights)), heights, WIDTH, bottom=bottoms, color=colour, label=name
            )
            bottoms = [bottom + height for bottom, height in zip(bottoms, heights, strict=True)]
        energy.set_xticks(range(len(names)), names, fontsize=8)
        energy.grid(axis="x", visible=False)
        energy.set(title="(b) energy, one hop", ylabel="energy of the client [mJ]")
        sheet.note(energy, "stars: reported")
        energy.legend(loc="upper right")
        energy.set(xlim=(-0.6, len(names) + 0.3), ylim=(0, 1.25 * max(bottoms)))
        for name, text, reported_mj in REPORTED:
            edge = names.index(name) + WIDTH / 2
            sheet.mark(energy, (edge, reported_mj), text)
        return sheet.save(folder, "fig6")


def _energy(laboratory: Laboratory, at: Point, consumers: Sequence[str]) -> float:
    columns = (f"energy_client_{name}_mj" for name in consumers)
    found = [laboratory.measure(at).estimate(column) for column in columns]
    return sum(estimate.mean for estimate in found if estimate)


def _of_all(laboratory: Laboratory, at: Point) -> Sequence[float]:
    laboratory.mean(at, "duration_s")  # raises if no handshake completed
    return laboratory.measure(at).samples["duration_s"]


def _variance(laboratory: Laboratory, at: Point) -> Estimate:
    """The variance of the duration, in square seconds, with the interval of a mean of squares."""
    mean = laboratory.mean(at, "duration_s").mean
    measured = laboratory.measure(at)
    squares = [(seconds - mean) ** 2 for seconds in measured.samples["duration_s"]]
    return Estimate.of(squares, measured.clusters)
