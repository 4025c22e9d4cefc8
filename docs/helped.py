"""Compares DTLS that has help on four networks: writes the tables and the figure of docs/helped.md.

Run it when results have changed: .venv/bin/python docs/helped.py. It takes some minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from measured import ROOT, Measured, Settings, fill, measure, number, table
from protocols import NETWORKS

from slowhand import plot

SCENARIO = ROOT / "scenarios" / "helped.toml"
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
    "DTLS 1.2, CoCoA": {**QUICK, "session.backoff": "cocoa"},
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
    "lean profile": {"session.lean": ["slides"]},
    **OF_BOTH,
    "pre-validation": {"gateway.pre_validation": True},
    "delegation": {"gateway.delegation": "border-router", "session.resumption": "id"},
    "QUIC": QUIC,
    "QUIC, with room": WITH_ROOM,
}
ROWS: Mapping[str, Settings] = {
    **{f"PSK: {name}": {**PSK, **settings} for name, settings in WITH_PSK.items()},
    **{f"cert: {name}": settings for name, settings in WITH_CERTIFICATES.items()},
}
"""The rows of each network. All DTLS is lean-dtls."""

COLUMNS = ("bytes_phy", "frames", "duration_s", "energy_client_mj")


def main(folder: Path) -> None:
    """Writes the tables and the figure."""
    text = (ROOT / "docs" / "helped.md").read_text()
    found: dict[tuple[str, str, str], Measured] = {}
    for network, mac in NETWORKS.items():
        for loss, share in LOSSES.items():
            for name, settings in ROWS.items():
                changes: Settings = {**mac, "lowpan.frame_loss": share, **settings}
                found[network, loss, name] = measure(SCENARIO, changes, COLUMNS, COUNT)
            rows = {name: found[network, loss, name] for name in ROWS}
            text = fill(text, f"{network}, {loss}", handshakes(rows))
    text = fill(text, "false start", false_start())
    for kind, settings in CROWDED.items():
        text = fill(text, f"crowd: {kind}", crowd(settings))
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs" / "helped.md").write_text(text)
    draw(found, folder / "docs")


def handshakes(rows: Mapping[str, Measured]) -> str:
    """The table of a network: what it takes until the session is open."""
    columns = ("session", "air [B]", "frames", "median [s]", "95 % [s]", "[mJ]", "failed [%]")
    cells = {}
    for name, found in rows.items():
        failed = number(100 * (1 - found.completed))
        if not found.worlds:
            cells[name] = [*("" for _ in columns[1:-1]), failed]
            continue
        cells[name] = [
            number(found.mean("bytes_phy").mean),
            number(found.mean("frames").mean),
            number(found.percentile("duration_s", 0.5)),
            number(found.percentile("duration_s", 0.95)),
            number(found.mean("energy_client_mj").mean),
            failed,
        ]
    return table(columns, cells)


def false_start() -> str:
    """The time until the first answer, by network, with and without False Start."""
    columns = ("session", *(f"{network} [s]" for network in NETWORKS))
    settings: Settings = {"session.protocol": "coap+dtls1.2", "application.requests": 1}
    cells: dict[str, list[str]] = {}
    for name, start in (("DTLS 1.2", False), ("DTLS 1.2, False Start", True)):
        cells[name] = []
        for mac in NETWORKS.values():
            changes: Settings = {**mac, **settings, "session.false_start": start}
            found = measure(SCENARIO, changes, ("duration_s", "data_s"), COUNT)
            pairs = zip(found.samples["duration_s"], found.samples["data_s"], strict=True)
            times = sorted(handshake + data for handshake, data in pairs)
            cells[name].append(number(times[len(times) // 2]))
    return table(columns, cells)


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
    "DTLS, 2 s, CoCoA": {**QUICK, "session.backoff": "cocoa"},
    "DTLS over DCCP": {"session.carrier": "dccp"},
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
    wanted = ("duration_s", "bytes_phy", "retransmissions_spurious")
    columns = ("session", "median [s]", "air [B]", "spurious", "failed [%]", "readings [%]")
    cells = {}
    for name, way in WAYS.items():
        found = measure(SCENARIO, {**settings, **way}, (*wanted, *TRAFFIC), CROWD_COUNT)
        failed = number(100 * (1 - len(found.worlds) / (CROWD_COUNT * len(LEAVES))))
        if not found.worlds:
            cells[name] = [*("" for _ in columns[1:-2]), failed, ""]
            continue
        sent, delivered = (sum(found.samples[column]) for column in TRAFFIC)
        cells[name] = [
            number(found.percentile("duration_s", 0.5)),
            number(found.mean("bytes_phy").mean),
            number(found.mean("retransmissions_spurious").mean),
            failed,
            number(100 * delivered / sent),
        ]
    return table(columns, cells)


TRAFFIC = ("traffic_sent", "traffic_delivered")


def draw(found: Mapping[tuple[str, str, str], Measured], folder: Path) -> None:
    """The client's energy where frames are lost: a panel a network."""
    title = "A session over two hops, where one frame in twenty is lost at each hop"
    heights = range(len(ROWS))
    with plot.sheet(len(NETWORKS), title=title, height=1.6 + 0.3 * len(ROWS)) as sheet:
        for axes, network in zip(sheet.axes, NETWORKS, strict=True):
            rows = [found[network, "5 %", name] for name in ROWS]
            energies = [row.mean("energy_client_mj").mean if row.worlds else 0.0 for row in rows]
            axes.barh(heights, energies, color=plot.COLOURS[0], alpha=0.8)
            for height, row, energy in zip(heights, rows, energies, strict=True):
                failed = number(100 * (1 - row.completed))
                axes.text(energy, height, f" {failed} % fail", va="center", fontsize=8)
            names = list(ROWS) if axes is sheet.axes[0] else [""] * len(ROWS)
            axes.set_yticks(heights, names)
            axes.invert_yaxis()
            axes.set_xlim(0, 1.35 * max(energies))
            axes.set_xlabel("client's energy [mJ]")
            axes.set_title(network)
        for drawn in sheet.save(folder, "helped"):
            if drawn.suffix == ".svg":
                drawn.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
