"""Section 5.2, Fig. 6, and sections 5.4 and 7: duration and energy by key and authentication."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from slowhand.estimate import Estimate, least
from slowhand.papers.kothmayr2013 import opal
from slowhand.papers.part import Values
from slowhand.papers.points import Laboratory, Point

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

FIGURE = list(itertools.product(BITS, AUTHENTICATIONS, HOPS))
SINGLE_HOP = [(bits, auth, 1) for bits in (*BITS, TOO_LONG) for auth in AUTHENTICATIONS]


def points() -> list[Point]:
    """The points to run."""
    return [
        *(rsa(*where) for where in FIGURE + SINGLE_HOP),
        *(ecc(curve) for curve in CURVES),
        quick(),
        lossy(),
    ]


def rsa(bits: int, auth: str, hops: int) -> Point:
    """A point of Fig. 6."""
    return opal.point(hops, rsa_bits=bits, auth=auth)


def ecc(curve: str) -> Point:
    """A handshake with elliptic curves, all in software."""
    return opal.point(suite=opal.ECC, curve=curve)


def quick() -> Point:
    """A handshake with faster software."""
    return opal.faster(FASTER, suite=opal.ECC, curve=CURVES[-1])


def lossy() -> Point:
    """RSA-2048 at both ends, with loss of fragments."""
    return opal.lossy(LOSS, "flight", rsa_bits=2048, auth="mutual")


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
    """Draws Fig. 6, and the consumers of energy."""
    from slowhand.papers.kothmayr2013 import figures

    durations = {where: laboratory.mean(rsa(*where), "duration_s") for where in FIGURE}
    handshakes = {
        f"RSA-{bits}\n{'both ends' if auth == 'mutual' else 'server'}": rsa(bits, auth, hops)
        for bits, auth, hops in SINGLE_HOP
    } | {f"{curve}\nboth ends": ecc(curve) for curve in CURVES}
    energies = {name: laboratory.measure(at) for name, at in handshakes.items()}
    return figures.keys(durations, energies, folder)


def _of_all(laboratory: Laboratory, at: Point) -> Sequence[float]:
    laboratory.mean(at, "duration_s")  # raises if no handshake completed
    return laboratory.measure(at).samples["duration_s"]


def _variance(laboratory: Laboratory, at: Point) -> Estimate:
    """The variance of the duration, in square seconds, with the interval of a mean of squares."""
    mean = laboratory.mean(at, "duration_s").mean
    measured = laboratory.measure(at)
    squares = [(seconds - mean) ** 2 for seconds in measured.samples["duration_s"]]
    return Estimate.of(squares, measured.clusters)
