"""The figures, drawn from the captures and from our measurements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from slowhand import plot
from slowhand.papers.iotops_comparison import air as measured
from slowhand.papers.iotops_comparison import draft, dtls13, edhoc, tls13
from slowhand.papers.iotops_comparison.fields import Fields
from slowhand.papers.points import Laboratory

FLIGHTS = ("flight 1", "flight 2", "flight 3")

NAMES = {
    "combined": "EDHOC, combined",
    "edhoc": "EDHOC",
    "psk": "DTLS 1.3, PSK",
    "psk_ecdhe": "DTLS 1.3, PSK + ECDHE",
    "rpk": "DTLS 1.3, RPK",
}

QUANTITIES = {"time": "time until a response [s]", "energy": "energy of the client [mJ]"}

LINK_LAYERS = {"tsch": "TSCH", "xmac": "X-MAC", "beacon": "beacons", "csma": "CSMA"}


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
    words = {"rpk": "RPK", "psk_ecdhe": "PSK + ECDHE", "psk": "PSK"}
    for kind, name in words.items():
        ours = dtls13.flights(laboratory, kind, has_cid=False)[:3]
        rows[f"DTLS 1.3, {name}"] = (_sums(draft.flights("dtls13", kind)), _sums(ours))
    psk = tls13.with_a_key(laboratory)
    for kind, ours in (
        ("rpk", tls13.with_raw_public_keys(laboratory, "mbedtls")),
        ("psk_ecdhe", psk),
        ("psk", [tls13.without_key_agreement(flight) for flight in psk]),
    ):
        rows[f"TLS 1.3, {words[kind]} *"] = (_sums(draft.flights("tls13", kind)), _sums(ours))
    found = [len(message) for message in edhoc.messages(laboratory)]
    for name, x5t, signature in edhoc.VARIANTS:
        theirs = [_reported(f"edhoc.{name}.{flight}") for flight in (1, 2, 3)]
        is_measured = not x5t and not signature
        label = f"EDHOC, {edhoc.NAMES[name]}" + ("" if is_measured else " *")
        rows[label] = (theirs, edhoc.variant(found, x5t=x5t, signature=signature))
    return rows


def _sums(flights: Sequence[Fields]) -> list[float]:
    return [sum(flight.values()) for flight in flights]


def _reported(id: str) -> float:
    """The number of a row that the draft reports."""
    from slowhand import papers

    return papers.find("iotops-comparison").number(id)


def air(laboratory: Laboratory, folder: Path) -> list[Path]:
    """Time and energy of a session and its first request, by hops and link layer."""
    with plot.sheet(
        len(LINK_LAYERS), rows=len(QUANTITIES), width=3.6, height=3.0, alike=False
    ) as sheet:
        panels = iter(sheet.axes)
        for quantity, label in QUANTITIES.items():
            for mac, name in LINK_LAYERS.items():
                axes = next(panels)
                for loss in measured.LOSSES:
                    curves = {
                        session: [
                            measured.total(
                                laboratory, measured.point(mac, session, hops, loss), quantity
                            )
                            for hops in measured.HOPS
                        ]
                        for session in measured.SESSIONS
                    }
                    sheet.curves(axes, measured.HOPS, curves, dashed=loss > 0, named=False)
                axes.set_ylim(0, None)
                axes.set_xticks(measured.HOPS)
                axes.set_title(name)
                axes.set_ylabel(label)
                axes.set_xlabel("hops; solid: no loss, dashed: 5 %")
        sheet.key([NAMES[session] for session in measured.SESSIONS])
        return sheet.save(folder, "air")
