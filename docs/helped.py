"""Compares DTLS that has help on four networks: writes the tables of two pages, and a figure.

The pages are docs/helped.md and docs/reference/helped.md.

Run it when results have changed: .venv/bin/python docs/helped.py. It takes some minutes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from measured import ROOT, Settings, draw_energies, fill_pages, number, save_picture, table
from protocols import NETWORKS

from slowhand import Run, Scenario, plot
from slowhand.estimate import percentile

SCENARIO = ROOT / "scenarios" / "helped.toml"
REFERENCE = "docs/reference/helped.md"
COUNT = 300
LOSSES = {"0 %": 0.0, "5 %": 0.05}
"""The share of frames that are lost at each hop although the link layer has delivered them."""

WITH_13: Settings = {
    "session.protocol": "dtls1.3",
    "session.suite": "TLS_AES_128_CCM_8_SHA256",
}
QUICK: Settings = {"session.timeout_s": 2}
"""As CoAP has it (RFC 7252 section 4.8). All other DTLS waits 9 s (RFC 7925 section 11)."""
OF_BOTH: Mapping[str, Settings] = {
    "DTLS 1.2, 2 s": QUICK,
    "DTLS 1.2, back-off": {**QUICK, "session.backoff": "cocoa"},
    "GHC": {"lowpan.payload_compression": "ghc"},
    "Lithe": {"lowpan.payload_compression": "lithe"},
    "in CoAP": {"session.carrier": "coap"},
    "in CoAP, 64 B": {"session.carrier": "coap", "session.coap.block_bytes": 64},
    "over DCCP": {"session.carrier": "dccp"},
}
"""What a session of either credential may have."""

PSK: Settings = {
    "session.suite": "TLS_PSK_WITH_AES_128_CCM_8",
    "session.credential": "psk",
    "session.auth": "psk",
}
WITH_PSK: Mapping[str, Settings] = {
    "DTLS 1.2": {},
    "DTLS 1.3": WITH_13,
    "lean profile": {"session.lean": ["slides"]},
    **OF_BOTH,
    "LESS": {"session.protocol": "less"},
    "S3K": {"session.trust_anchor": True},
}
QUIC: Settings = {
    "session.protocol": "quic",
    "session.stack": "rustls",
    "session.suite": "TLS_AES_128_GCM_SHA256",
    "session.timeout_s": 9,
}
WITH_ROOM: Settings = {**QUIC, "mac.queue": 64, "lowpan.reassembly_buffers": 4}
"""A datagram of 1,200 octets has 13 frames. Queues of Contiki have 8 places."""
WITH_CERTIFICATES: Mapping[str, Settings] = {
    "DTLS 1.2": {},
    "DTLS 1.3": WITH_13,
    "DTLS 1.2, MTU 256": {"session.mtu": 256},
    **OF_BOTH,
    "pre-validation": {"gateway.pre_validation": True},
    "delegation": {"gateway.delegation": "border-router", "session.resumption": "id"},
    "QUIC": QUIC,
    "QUIC, with room": WITH_ROOM,
}
WITHOUT_HELP: Mapping[str, Settings] = {
    "DTLS 1.2, resumed": {"session.resumption": "id"},
    "DTLS 1.2, raw keys": {"session.credential": "raw_public_key"},
    "EDHOC": {"session.protocol": "edhoc"},
}
ROWS: Mapping[str, Settings] = {
    **{f"PSK: {name}": {**PSK, **settings} for name, settings in WITH_PSK.items()},
    **{f"cert: {name}": settings for name, settings in WITH_CERTIFICATES.items()},
    **WITHOUT_HELP,
}
"""The rows of each network. All DTLS is lean-dtls. The last ones need no help."""


class Tried:
    """Handshakes of a scenario. One that fails costs what it costs, and takes for ever."""

    def __init__(self, settings: Settings, count: int = COUNT) -> None:
        """Runs so many worlds."""
        self.columns: Mapping[str, Sequence[Any]]
        self.columns = Run(Scenario(SCENARIO, settings), count=count, seed=1).columns()
        self._done: list[bool] = [outcome == "completed" for outcome in self.columns["outcome"]]

    def per_session(self, column: str) -> float:
        """What all handshakes together take of a column, for each that completes."""
        done = sum(self._done)
        total: float = sum(self.columns[column])
        return total / done if done else math.inf

    def percentile(self, share: float) -> float:
        """A percentile of the durations."""
        pairs = zip(self.columns["duration_s"], self._done, strict=True)
        return percentile_of([duration if done else math.inf for duration, done in pairs], share)

    @property
    def failed(self) -> float:
        """The share of handshakes that fail, in percent."""
        return 100 * (1 - sum(self._done) / len(self._done))


def percentile_of(values: list[float], share: float) -> float:
    """A percentile, infinite where it lies between one that is and one that is not."""
    found: float = percentile(values, share)
    return math.inf if math.isnan(found) else found


def cell(value: float) -> str:
    """A number, or a word where there is none."""
    return number(value) if math.isfinite(value) else "never"


def main(folder: Path) -> None:
    """Writes the tables and the figure."""
    reference: dict[str, str] = {}
    found: dict[tuple[str, str, str], Tried] = {}
    for network, mac in NETWORKS.items():
        for loss, share in LOSSES.items():
            for name, settings in ROWS.items():
                changes: Settings = {**mac, "lowpan.frame_loss": share, **settings}
                found[network, loss, name] = Tried(changes)
            rows = {name: found[network, loss, name] for name in ROWS}
            reference[f"{network}, {loss}"] = handshakes(rows)
    page = {"summary": summary(found), "false start": false_start()}
    page |= {f"crowd: {kind}": crowd(settings) for kind, settings in CROWDED.items()}
    fill_pages(folder, {"helped.md": page, "reference/helped.md": reference})
    draw(found, folder / "docs")


COMPARED = tuple(dict.fromkeys([*WITH_PSK, *WITH_CERTIFICATES, *WITHOUT_HELP]))
"""The rows of either credential, and those that need no help."""


def summary(found: Mapping[tuple[str, str, str], Tried]) -> str:
    """The client's energy as a share of that of plain DTLS 1.2: its range over the networks."""
    columns = ("session", "PSK [%]", "PSK, lost", "cert [%]", "cert, lost", "failed [%]")

    def energies(credential: str, row: str, loss: str) -> str:
        if row not in ROWS:
            return ""
        shares = []
        for network in NETWORKS:
            plain = found[network, loss, f"{credential}: DTLS 1.2"]
            energy = found[network, loss, row].per_session("energy_client_mj")
            shares.append(100 * energy / plain.per_session("energy_client_mj"))
        return span(shares)

    cells = {}
    for name in COMPARED:
        psk, certificates = f"PSK: {name}", name if name in ROWS else f"cert: {name}"
        of_psk = [energies("PSK", psk, loss) for loss in LOSSES]
        of_certificates = [energies("cert", certificates, loss) for loss in LOSSES]
        failed = ""
        if certificates in ROWS:
            failed = span([found[network, "5 %", certificates].failed for network in NETWORKS])
        cells[name] = [*of_psk, *of_certificates, failed]
    return table(columns, cells)


def span(values: Sequence[float]) -> str:
    """The lowest and the highest of these, without decimals."""
    ends = (min(values), max(values))
    low, high = (f"{each:.0f}" if math.isfinite(each) else "never" for each in ends)
    return low if low == high else f"{low} to {high}"


def handshakes(rows: Mapping[str, Tried]) -> str:
    """The table of a network: what it takes until the session is open."""
    columns = ("session", "air [B]", "frames", "median [s]", "95 % [s]", "[mJ]", "failed [%]")
    cells = {
        name: [
            cell(found.per_session("bytes_phy")),
            cell(found.per_session("frames")),
            cell(found.percentile(0.5)),
            cell(found.percentile(0.95)),
            cell(found.per_session("energy_client_mj")),
            cell(found.failed),
        ]
        for name, found in rows.items()
    }
    return table(columns, cells)


def false_start() -> str:
    """The time until the first answer, and how many have none, with and without False Start."""
    settings: Settings = {"session.protocol": "coap+dtls1.2", "application.requests": 1}
    cells: dict[str, list[str]] = {}
    for loss, share in LOSSES.items():
        for name, start in (("DTLS 1.2", False), ("False Start", True)):
            changes: Settings = {
                **settings,
                "lowpan.frame_loss": share,
                "session.false_start": start,
            }
            found = [answers({**mac, **changes}) for mac in NETWORKS.values()]
            medians = [percentile_of(times, 0.5) for times in found]
            cells[f"{name}, {loss} lost: median [s]"] = [cell(median) for median in medians]
            failed = [100 * times.count(math.inf) / len(times) for times in found]
            cells[f"{name}, {loss} lost: no answer [%]"] = [cell(each) for each in failed]
    return table(("", *NETWORKS), cells)


def answers(settings: Settings) -> list[float]:
    """How long each client waits for the first answer, for ever if none comes."""
    columns = Tried(settings).columns
    rows = zip(columns["data_outcome"], columns["duration_s"], columns["data_s"], strict=True)
    return [
        duration + data if outcome == "completed" else math.inf for outcome, duration, data in rows
    ]


LEAVES = list(range(11, 31))
CROWD: Settings = {
    "network.topology": {"kind": "tree", "depth": 2, "fan_out": 5},
    "client.nodes": LEAVES,
    "client.start_s": 60,
    "client.start_spread_s": 1,
    "lowpan.ecn_threshold": 0.75,
    "traffic": [
        {
            "from": "nodes",
            "to": "internet",
            "pattern": "periodic",
            "interval_ms": 20000,
            "octets": 40,
        },
        {
            "from": "internet",
            "to": "nodes",
            "pattern": "poisson",
            "interval_ms": 60000,
            "octets": 20,
        },
    ],
}
"""Twenty nodes at the leaves of a tree begin within a second, while thirty nodes report."""

CROWDED: Mapping[str, Settings] = {
    "TSCH": {**CROWD, "mac.cells.up": 2, "mac.cells.down": 2, "mac.slotframe": 101},
    "CSMA": {**CROWD, "mac": {"kind": "csma"}},
}
WAYS: Mapping[str, Settings] = {
    "DTLS, 2 s timer": QUICK,
    "DTLS, 9 s timer": {},
    "DTLS, 2 s, back-off": {**QUICK, "session.backoff": "cocoa"},
    "DTLS over DCCP": {"session.carrier": "dccp"},
    "DTLS 1.3, 9 s timer": WITH_13,
    "TLS 1.3 over TCP": {
        "session.protocol": "tls1.3",
        "session.stack": "rustls",
        "session.suite": "TLS_AES_128_GCM_SHA256",
        "transport.client.ecn": "request",
        "transport.server.ecn": "accept",
    },
    "QUIC": QUIC,
    "QUIC, with room": WITH_ROOM,
}
CROWD_COUNT = 20


def crowd(settings: Settings) -> str:
    """What happens to twenty handshakes at once, and to the traffic beside them."""
    columns = ("session", "median [s]", "air [B]", "spurious", "failed [%]", "readings [%]")
    cells = {}
    for name, way in WAYS.items():
        found = Tried({**settings, **way}, CROWD_COUNT)
        sent, delivered = (sum(found.columns[f"traffic_{what}"]) for what in ("sent", "delivered"))
        cells[name] = [
            cell(found.percentile(0.5)),
            cell(found.per_session("bytes_phy")),
            cell(found.per_session("retransmissions_spurious")),
            cell(found.failed),
            cell(100 * delivered / sent),
        ]
    return table(columns, cells)


def draw(found: Mapping[tuple[str, str, str], Tried], folder: Path) -> None:
    """The client's energy where frames are lost: a panel a network and a credential."""
    title = "An open session over two hops, where one frame in twenty is lost at each hop"
    drawn = [name for name in ROWS if "QUIC" not in name]  # it is far beyond the others
    groups = [[name for name in drawn if name.startswith("PSK") is psk] for psk in (True, False)]
    with plot.sheet(len(NETWORKS), rows=2, title=title, height=4.6, alike=False) as sheet:
        places = [(names, network) for names in groups for network in NETWORKS]
        for axes, (names, network) in zip(sheet.axes, places, strict=True):
            bars = {}
            for name in names:
                row = found[network, "5 %", name]
                energy = row.per_session("energy_client_mj")
                bars[name] = (energy if math.isfinite(energy) else 0, f"{row.failed:.0f} % fail")
            draw_energies(axes, network, bars, room=1.3, named=network == next(iter(NETWORKS)))
            axes.set_ylim(len(names) - 0.4, -0.6)
        save_picture(sheet, folder, "helped")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
