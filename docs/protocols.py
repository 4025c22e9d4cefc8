"""Compares ways to protect a CoAP request on four networks: writes the tables of docs/protocols.md.

The table of one network is on that page, all others are in docs/reference/protocols.md.
Run it when results have changed: .venv/bin/python docs/protocols.py. It takes some minutes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from measured import ROOT, Settings, draw_energies, fill_pages, number, save_picture, table

from slowhand import Run, Scenario, plot
from slowhand.estimate import percentile

SCENARIO = ROOT / "scenarios" / "edhoc.toml"
COUNT = 500
HOPS = 2

NETWORKS: dict[str, Settings] = {
    "TSCH": {},  # as in the scenario: a slotframe of 25 slots of 10 ms, a cell up and a cell down
    "X-MAC": {"mac": {"kind": "xmac", "check_interval_ms": 125, "data_ack": True}},
    "beacons": {"mac": {"kind": "beacon", "beacon_interval_ms": 245.76, "cap_ms": 61.44}},
    "CSMA": {"mac": {"kind": "csma", "sleepy": "leaves", "poll_period_ms": 1000}},
}

READ = "TSCH"
"""The network whose table is on the page that is read. The reference has the others."""

PSK = {"session.suite": "TLS_PSK_WITH_AES_128_CCM_8", "session.credential": "psk"}
KEYS = {
    "session.suite": "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
    "session.credential": "raw_public_key",
}
CERTIFICATES = {**KEYS, "session.credential": "certificate"}
SUITE_13 = {"session.suite": "TLS_AES_128_CCM_8_SHA256"}

PROTOCOLS: dict[str, Settings] = {
    "nothing": {"session.protocol": "coap"},
    "OSCORE": {"session.protocol": "oscore"},
    "EDHOC, combined": {"session.protocol": "edhoc", "session.edhoc.combined": True},
    "EDHOC": {"session.protocol": "edhoc"},
    "EDHOC, by value": {"session.protocol": "edhoc", "session.edhoc.credentials": "ccs"},
    "DTLS 1.2, PSK": {"session.protocol": "coap+dtls1.2", **PSK},
    "DTLS 1.3, PSK": {
        "session.protocol": "coap+dtls1.3",
        **PSK,
        **SUITE_13,
        "session.auth": "psk",
    },
    "DTLS 1.2, raw keys": {"session.protocol": "coap+dtls1.2", **KEYS},
    "DTLS 1.3, raw keys": {
        "session.protocol": "coap+dtls1.3",
        **KEYS,
        **SUITE_13,
        "session.auth": "mutual",
    },
    "DTLS 1.2, certificates": {"session.protocol": "coap+dtls1.2", **CERTIFICATES},
}
"""A row each. All DTLS is lean-dtls."""

SIZES = (1, 16, 64, 256, 1000)
"""Octets of the payloads of the second table."""


def main(folder: Path) -> None:
    """Writes the tables and the figure."""
    found = {
        (network, protocol): Row({**NETWORKS[network], **PROTOCOLS[protocol]})
        for network in NETWORKS
        for protocol in PROTOCOLS
    }
    of_each = {
        network: first({protocol: found[network, protocol] for protocol in PROTOCOLS})
        for network in NETWORKS
    }
    of_all = {protocol: [found[each, protocol] for each in NETWORKS] for protocol in PROTOCOLS}
    looked_up = {
        **{network: of_each[network] for network in NETWORKS if network != READ},
        "later octets": later_octets(of_all),
        "later energy": later_energy(of_all),
        "notifications": notifications(),
        "sizes": sizes(),
    }
    pages = {"protocols.md": {READ: of_each[READ]}, "reference/protocols.md": looked_up}
    fill_pages(folder, pages)
    draw(found, folder / "docs")


class Answered:
    """Worlds in which a client asked for a session, then for an answer."""

    def __init__(self, settings: Settings) -> None:
        """Runs them."""
        network: Settings = {"network.topology": {"kind": "line", "hops": HOPS}}
        scenario = Scenario(SCENARIO, {**network, **settings})
        records: Mapping[str, list[float]] = Run(scenario, count=COUNT, seed=1).columns()
        self.records = [
            dict(zip(records, values, strict=True))
            for values in zip(*records.values(), strict=True)
        ]
        self.done = [each for each in self.records if each["data_outcome"] == "completed"]
        memory = json.loads(scenario.native.session_memory())["client"]
        self.memory: float | None = memory

    def mean(self, *columns: str) -> float:
        """The mean of a sum of columns over the worlds with an answer."""
        total: float = sum(each[name] for each in self.done for name in columns)
        return total / len(self.done)

    def percentile(self, share: float, *columns: str) -> float:
        """A percentile of such a sum."""
        return percentile([sum(each[name] for name in columns) for each in self.done], share)

    @property
    def failed(self) -> float:
        """The share of worlds without an answer."""
        return 1 - len(self.done) / len(self.records)


class Row(Answered):
    """The worlds of a row."""

    def __init__(self, settings: Settings) -> None:
        """Runs them with one request each, and then with two."""
        super().__init__(settings)
        self._two = Answered({**settings, "application.requests": 2})

    def second(self, *columns: str) -> float:
        """What the second request has more of a sum of columns, in the mean."""
        return self._two.mean(*columns) - self.mean(*columns)


def first(rows: Mapping[str, Row]) -> str:
    """The table of a network: what it takes until the first answer."""
    columns = ("handshake [B]", "median [s]", "95 % [s]", "frames", "air [B]", "[mJ]")
    cells = {
        name: [
            number(row.mean("bytes_payload")),
            number(row.percentile(0.5, "duration_s", "data_s")),
            number(row.percentile(0.95, "duration_s", "data_s")),
            number(row.mean("frames", "data_frames")),
            number(row.mean("bytes_phy", "data_bytes_phy")),
            number(row.mean("energy_client_mj", "energy_client_data_mj")),
        ]
        for name, row in rows.items()
    }
    return table(("protection", *columns), cells)


def later_octets(found: Mapping[str, Sequence[Row]]) -> str:
    """What a later request has of octets, by network; and the worlds without an answer."""
    columns = (*(f"{network} [B]" for network in NETWORKS), "failed [%]")
    cells = {
        name: [
            *(number(row.second("bytes_payload", "data_bytes_payload")) for row in rows),
            number(100 * sum(row.failed for row in rows) / len(rows)),
        ]
        for name, rows in found.items()
    }
    return table(("protection", *columns), cells)


def later_energy(found: Mapping[str, Sequence[Row]]) -> str:
    """What a later request takes of the client's energy, by network; and the session's memory."""
    columns = (*(f"{network} [mJ]" for network in NETWORKS), "heap [B]")
    cells = {
        name: [
            *(number(row.second("energy_client_mj", "energy_client_data_mj")) for row in rows),
            "" if rows[0].memory is None else f"{rows[0].memory:,}",
        ]
        for name, rows in found.items()
    }
    return table(("protection", *columns), cells)


OBSERVED: dict[str, Settings] = {
    name: PROTOCOLS[name]
    for name in ("nothing", "OSCORE", "EDHOC", "DTLS 1.2, PSK", "DTLS 1.3, PSK")
} | {
    "nothing, TCP": {"session.protocol": "coap+tcp"},
    "TLS 1.2, PSK": {"session.protocol": "coap+tls1.2", "session.stack": "mbedtls", **PSK},
}

WAYS: tuple[Settings, ...] = (
    {},
    {"application.observe.period_s": 10},
    {"application.observe.period_s": 10, "application.observe.confirmable": False},
)
"""The client asks each time; confirmable notifications; those that are not."""


def notifications() -> str:
    """What a later value costs on the first network, by how the client gets it."""
    names = ("poll", "CON", "NON")
    columns = (*(f"{name} [B]" for name in names), *(f"{name} [mJ]" for name in names))
    idle = idle_power()
    cells = {}
    for name, settings in OBSERVED.items():
        values = [later_value({**settings, **way}, idle) for way in WAYS]
        carried = [f"{number(octets)}/{number(frames)}" for octets, frames, _ in values]
        cells[name] = [*carried, *(number(energy) for *_, energy in values)]
    return table(("protection", *columns), cells)


def later_value(settings: Settings, idle: float) -> tuple[float, float, float]:
    """Octets, frames, and the client's energy beyond what it takes to wait."""
    one, two = Answered(settings), Answered({**settings, "application.requests": 2})

    def more(*columns: str) -> float:
        return two.mean(*columns) - one.mean(*columns)

    energy = more("energy_client_mj", "energy_client_data_mj")
    return (
        more("bytes_payload", "data_bytes_payload"),
        more("frames", "data_frames"),
        energy - idle * more("duration_s", "data_s"),
    )


def idle_power() -> float:
    """What the client takes while it waits, in milliwatts: what a longer period costs."""
    settings = {**OBSERVED["nothing"], **WAYS[-1], "application.requests": 2}
    short, long = (Answered({**settings, "application.observe.period_s": s}) for s in (10, 100))
    energy = long.mean("energy_client_data_mj") - short.mean("energy_client_data_mj")
    return energy / (long.mean("data_s") - short.mean("data_s"))


PROTECTIONS: dict[str, Settings] = {
    name: PROTOCOLS[name]
    for name in ("nothing", "OSCORE", "EDHOC", "DTLS 1.2, PSK", "DTLS 1.3, PSK")
} | {
    "DTLS 1.2, connection ID": {**PROTOCOLS["DTLS 1.2, PSK"], "session.connection_id": 1},
    "DTLS 1.3, connection ID": {**PROTOCOLS["DTLS 1.3, PSK"], "session.connection_id": 1},
}

HOP: Settings = {
    "network.topology": {"kind": "line", "hops": 1},
    "network.link_pdr": 1,
    "mac": {"kind": "csma", "sleepy": "none"},
    "client.compute_factor": 0.001,
}
"""Nothing is sent again: all is fast."""

COAP = {"request": 11, "response": 9}
"""Octets of a message beside its payload (slowhand_sessions::REQUEST_OVERHEAD)."""


def sizes() -> str:
    """What a request and its response are on the air of a hop, by the octets of their payloads."""
    columns = ("overhead [B]", "room [B]", *(f"{size} B" for size in SIZES))
    cells = {}
    for name, settings in PROTECTIONS.items():
        found, overhead = [], 0.0
        for size in SIZES:
            record = over_a_hop(settings, size, size)
            if size == SIZES[0]:
                overhead = record["data_bytes_payload"][0] - sum(COAP.values()) - 2 * size
            found.append(f"{record['data_bytes_phy'][0]:,}/{record['data_frames'][0]}")
        cells[name] = [f"{overhead:.0f}", str(room(settings)), *found]
    return table(("protection", *columns), cells)


def over_a_hop(settings: Settings, request: int, response: int) -> Mapping[str, list[float]]:
    """The record of an exchange with payloads of so many octets."""
    lengths: Settings = {
        "application.request_bytes": COAP["request"] + request,
        "application.response_bytes": COAP["response"] + response,
    }
    scenario = Scenario(SCENARIO, {**settings, **HOP, **lengths})
    return Run(scenario, count=1, seed=1).columns()


def room(settings: Settings) -> int:
    """The most octets of payload of a request that needs one frame a hop."""
    fits = [size for size in range(1, 128) if over_a_hop(settings, size, 1)["data_frames"][0] == 2]
    return max(fits)


def draw(found: Mapping[tuple[str, str], Answered], folder: Path) -> None:
    """How long until the first answer, and what it costs: a panel a network."""
    title = "The first answer to a protected request over two hops"
    with plot.sheet(len(NETWORKS), title=title, height=1.6 + 0.3 * len(PROTOCOLS)) as sheet:
        for axes, network in zip(sheet.axes, NETWORKS, strict=True):
            bars = {}
            for protocol in PROTOCOLS:
                row = found[network, protocol]
                energy = row.mean("energy_client_mj", "energy_client_data_mj")
                median = row.percentile(0.5, "duration_s", "data_s")
                bars[protocol] = (energy, f"{number(median)} s")
            draw_energies(axes, network, bars, room=1.25, named=axes is sheet.axes[0])
            axes.invert_yaxis()
        save_picture(sheet, folder, "protocols")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
