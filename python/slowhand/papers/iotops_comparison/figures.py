"""The figure of octets, in the draft and in our captures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from slowhand import plot
from slowhand.papers import find
from slowhand.papers.iotops_comparison import draft, dtls13, edhoc, tls13
from slowhand.papers.iotops_comparison.fields import Fields
from slowhand.papers.points import Laboratory

FLIGHTS = ("flight 1", "flight 2", "flight 3")


def handshakes(laboratory: Laboratory, folder: Path) -> list[Path]:
    """Octets of the flights of each handshake, in the draft and here."""
    rows = _octets(laboratory)
    title = "Octets of handshakes with P-256 and tags of 8 octets, without connection IDs"
    with plot.sheet(1, title=title, width=10.0, height=5.4) as sheet:
        (axes,) = sheet.axes
        for which, (offset, alpha) in enumerate(((-0.19, 0.45), (0.19, 1.0))):
            for flight in range(3):
                axes.barh(
                    [place + offset for place in range(len(rows))],
                    [both[which][flight] for both in rows.values()],
                    0.34,
                    left=[sum(both[which][:flight]) for both in rows.values()],
                    color=plot.COLOURS[flight],
                    alpha=alpha,
                    label=FLIGHTS[flight] if which else None,
                )
            for place, both in enumerate(rows.values()):
                total = sum(both[which])
                axes.text(total + 8, place + offset, f"{total:.0f}", va="center", fontsize=8)
        axes.set_yticks(range(len(rows)), list(rows))
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("octets; pale: in the draft, full: here; *: computed in part")
        axes.legend(loc="lower right")
        return sheet.save(folder, "handshakes")


def _octets(laboratory: Laboratory) -> dict[str, tuple[Sequence[float], Sequence[float]]]:
    """The draft's flights and ours."""
    rows: dict[str, tuple[Sequence[float], Sequence[float]]] = {}
    kinds = {"rpk": "RPK", "psk_ecdhe": "PSK + ECDHE", "psk": "PSK"}
    for kind, name in kinds.items():
        ours = dtls13.flights(laboratory, kind, has_cid=False)[:3]
        rows[f"DTLS 1.3, {name}"] = (_sums(draft.flights("dtls13", kind)), _sums(ours))
    psk = tls13.with_a_key(laboratory)
    for kind, ours in (
        ("rpk", tls13.with_raw_public_keys(laboratory, "mbedtls")),
        ("psk_ecdhe", psk),
        ("psk", [tls13.without_key_agreement(flight) for flight in psk]),
    ):
        rows[f"TLS 1.3, {kinds[kind]} *"] = (_sums(draft.flights("tls13", kind)), _sums(ours))
    found = [len(message) for message in edhoc.messages(laboratory)]
    paper = find("iotops-comparison")
    for name, words in edhoc.VARIANTS.items():
        theirs = [paper.number(f"edhoc.{name}.{flight}") for flight in (1, 2, 3)]
        label = f"EDHOC, {words}" + ("" if name == edhoc.MEASURED else " *")
        rows[label] = (theirs, edhoc.variant(found, name))
    return rows


def _sums(flights: Sequence[Fields]) -> list[float]:
    return [sum(flight.values()) for flight in flights]
