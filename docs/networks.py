"""Measures one handshake on every link layer: the tables of docs/networks.md and its reference.

Run it when results have changed: .venv/bin/python docs/networks.py. It takes some minutes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from measured import CREDENTIALS, QUEUE, ROOT, Measured, Settings, line, measure, number, write

import slowhand
from slowhand import Scenario

SCENARIO = ROOT / "scenarios" / "csma.toml"
COUNT = 1000
HOPS = (1, 3)

LINK_LAYERS: dict[str, Settings] = {
    "TSCH, slotframe of 89 slots of 10 ms": {
        "kind": "tsch",
        "slot_ms": 10,
        "slotframe": 89,
        "cells": {"shared": 1, "up": 1, "down": 1},
    },
    "X-MAC, every 780 ms": {
        "kind": "xmac",
        "check_interval_ms": 780,
        "data_ack": True,
    },
    "beacons every 6.144 s": {"kind": "beacon", "beacon_interval_ms": 6144, "cap_ms": 61.44},
    "CSMA, polls every 180 ms": {
        "kind": "csma",
        "sleepy": "leaves",
        "fast_poll": "never",
        "poll_period_ms": 180,
    },
    "CSMA, samples every 1 s (CSL)": {
        "kind": "csma",
        "sleepy": "leaves",
        "poll_period_ms": 96000,
        "csl": {"period_ms": 1000.0},
    },
    "CSMA, polls every 2 s, fast polls": {
        "kind": "csma",
        "sleepy": "leaves",
        "poll_period_ms": 2000,
    },
    "CSMA, always on": {"kind": "csma", "sleepy": "none"},
}
"""The nodes that sleep are awake for 1 % of the time where nothing else is said."""

COMMON: Settings = {
    "network.link_pdr": 0.95,
    "server.internet_delay_ms": 10,
    "session.timeout_s": 9,
}
"""Of 100 frames 5 are lost. The first timer of both ends is that of RFC 7925."""

KEPT = ("duration_s", "frames", "frames_ack", "frames_control", "energy_client_mj")

PAGE = "docs/networks.md"
LINK_LAYERS_PAGE = "docs/reference/link-layers.md"
PROFILES_PAGE = "docs/reference/nodes.md"

HEADER = (
    "| | hops | client on [%] | routers on [%] | median [s] | p95 [s] | frames | "
    "ACKs, strobes, polls | client [mJ] | failed [%] |\n"
    "| :--- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
)

DECISIVE = (
    "| three hops | client on [%] | routers on [%] | PSK: median [s] | client [mJ] | failed [%] | "
    "certificates: median [s] | client [mJ] | failed [%] |\n"
    "| :--- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
)
"""The columns of the page that is read, over the most hops."""

IDLE_S = (10.0, 1010.0)
"""Between these starts of the client the network is idle for 1000 s."""


def settings(link_layer: str, hops: int) -> Settings:
    """The network of a row."""
    return {
        **COMMON,
        "mac": {"queue": QUEUE, **LINK_LAYERS[link_layer]},
        "network.topology": {"kind": "line", "hops": hops},
    }


def duty_cycle(network: Settings, node: int) -> float:
    """The share of time for which a node's radio is on while nothing is sent."""
    (on_s, total_s), (later_on_s, later_total_s) = (
        radio_on(network, start_s, node) for start_s in IDLE_S
    )
    return (later_on_s - on_s) / (later_total_s - total_s)


def radio_on(network: Settings, start_s: float, node: int) -> tuple[float, float]:
    """How long a node's radio was on, and the length of the world, in seconds."""
    lossless: Settings = {**network, "network.link_pdr": 1, "client.start_s": start_s}
    of_node = Scenario(SCENARIO, lossless).inspect(seed=1).nodes.row(node, named=True)
    states = ("radio_transmit_s", "radio_receive_s", "radio_listen_s")
    return sum(float(of_node[state]) for state in states), float(of_node["elapsed_s"])


Cells = dict[tuple[str, int, str], list[str]]
"""The cells of a row, by link layer, hops and credential."""


def row(link_layer: str, hops: int, credential: str) -> list[str]:
    """The cells of a row of a table."""
    network = settings(link_layer, hops)
    client, router = (100 * duty_cycle(network, node) for node in (hops, hops - 1))
    ours = measure(SCENARIO, {**network, **CREDENTIALS[credential]}, KEPT, COUNT)
    return [link_layer, str(hops), number(client), number(router), *results(ours)]


def decisive(cells: Cells) -> str:
    """The rows that decide: the duty cycles, medians, energies and failures of both credentials."""
    text = DECISIVE
    for name in LINK_LAYERS:
        psk, certificates = (cells[name, HOPS[-1], credential] for credential in CREDENTIALS)
        both = [each[at] for each in (psk, certificates) for at in (4, 8, 9)]
        text += line([name, *psk[2:4], *both])
    return text


def results(ours: Measured) -> list[str]:
    """What was measured, for the columns behind the duty cycles."""
    failed = number(100 * (1 - ours.completed))
    if not ours.worlds:
        return ["", "", "", "", "", failed]
    return [
        number(ours.percentile("duration_s", 0.5)),
        number(ours.percentile("duration_s", 0.95)),
        number(ours.mean("frames").mean),
        number(ours.mean("frames_ack").mean + ours.mean("frames_control").mean),
        number(ours.mean("energy_client_mj").mean),
        failed,
    ]


LINE = ROOT / "scenarios" / "lossy-line.toml"
"""Three hops of TSCH with a slotframe of 340 ms, certificates on both sides."""

PATIENT: Settings = {"session.give_up_s": 900}
LONG_FLIGHT: Settings = {
    "session.protocol": "tls1.2",
    "session.stack": "openssl",
    "session.certificate_length": 1500,
}
"""The server's first flight has more than 3,000 octets, in segments of TCP."""
DEFAULT_TSCH: Settings = {"mac": {"kind": "tsch"}, "network.link_pdr": 0.9}
CSMA: Settings = {"mac": {"kind": "csma"}, "network.link_pdr": 0.6, "network.ack_pdr": 0.7}

NETWORKS: dict[str, tuple[Settings, int]] = {
    "`lossy-line`": ({}, 1),
    "2 % of fragments lost": ({"lowpan.fragment_loss": 0.02}, 1),
    "TLS": (LONG_FLIGHT, 1),
    "default TSCH": ({**DEFAULT_TSCH, **PATIENT}, 1),
    "5 clients": (
        {**DEFAULT_TSCH, **PATIENT, "network.topology": {"kind": "star", "leaves": 5}},
        5,
    ),
    "CSMA": (CSMA, 1),
}
"""What tells the profiles apart, and how many clients each network has."""

PROFILE_COUNT = 200


def compared(profile: str) -> str:
    """A row of the table of profiles: the median of each network, and how many completed."""
    cells = [f"`{profile}`"]
    for changes, clients in NETWORKS.values():
        own = {**changes, "network.profile": profile}
        ours = measure(LINE, own, ("duration_s",), PROFILE_COUNT)
        share = f"{100 * ours.completed / clients:.0f} %"
        took = f"{number(ours.percentile('duration_s', 0.5))} s, " if ours.worlds else ""
        cells.append(took + share)
    return line(cells)


def profiles() -> str:
    """The table of profiles."""
    head = line(["network.profile", *NETWORKS]) + line([":---", *["---:"] * len(NETWORKS)])
    return head + "".join(compared(profile["name"]) for profile in slowhand.profiles())


def main(folder: Path) -> None:
    """Writes the tables."""
    cells = {
        (name, hops, credential): row(name, hops, credential)
        for credential in CREDENTIALS
        for name in LINK_LAYERS
        for hops in HOPS
    }
    tables = {
        credential: HEADER
        + "".join(line(of) for (*_, its), of in cells.items() if its == credential)
        for credential in CREDENTIALS
    }
    write(LINK_LAYERS_PAGE, folder, tables)
    write(PROFILES_PAGE, folder, {"profiles": profiles()})
    write(PAGE, folder, {"three hops": decisive(cells)})


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
