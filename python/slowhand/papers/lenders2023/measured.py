"""The rows' numbers from the captures and logs: `extract` writes the file."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from slowhand import data
from slowhand.papers.lenders2023 import exchanges

FILE = data.PAPERS / "lenders2023" / "measured.json"

SERVER_DELAY_MS = 80.0
"""The wait of the server of the captures over two hops, see `delay` in assumptions.toml."""


def numbers() -> dict[str, float]:
    """The number of each row, by its id, as the file has it."""
    hops = _hops()
    return {**_octets(hops), **_gaps(hops), **_handshakes(hops), **_queries(hops)}


def gaps_ms(hops: str) -> list[tuple[float, float, float]]:
    """From each message of a handshake to the next: 5 %, median and 95 %, in milliseconds."""
    times = _hops()[hops]["times_ms"]
    found = [times[f"handshake.{first}-{second}"] for first, second in pairwise(exchanges.MESSAGES)]
    return [(each["p05"], each["p50"], each["p95"]) for each in found]


def _hops() -> dict[str, Any]:
    hops: dict[str, Any] = json.loads(FILE.read_text())["hops"]
    return hops


def _octets(hops: dict[str, Any]) -> dict[str, float]:
    near, client = (hops[number]["octets"]["client"] for number in "12")
    router = hops["2"]["octets"]["border_router"]
    found = exchanges.octets(near, client, router)
    found["record"] = client["query.dtls.A"]["payload"] - client["query.udp.A"]["payload"]
    for transport, theirs in (
        ("udp", "udp"), ("dtls", "dtls"), ("coap", "coap-fetch"), ("coaps", "coaps-fetch")
    ):  # fmt: skip
        found[f"{transport}.query"] = sum(client[f"query.{theirs}.A"]["frames"])
        found[f"{transport}.a"] = sum(client[f"response.{theirs}.A"]["frames"])
        found[f"{transport}.aaaa"] = sum(client[f"response.{theirs}.AAAA"]["frames"])
    return {f"octets.{name}": float(octets) for name, octets in found.items()}


def _gaps(hops: dict[str, Any]) -> dict[str, float]:
    near, far = (hops[number]["times_ms"] for number in "12")
    counts = hops["1"]["counts"]
    return {
        "gaps.acknowledgement": far["acknowledgement"]["p50"],
        "gaps.fragments": near["gap.fragments"]["mean"],
        "gaps.fragments.device": near["gap.fragments"]["mean"],
        "gaps.forwarding": far["gap.forwarding.udp"]["mean"],
        "gaps.forwarding.device": far["gap.forwarding.udp"]["mean"],
        "gaps.early": 100 * counts["frames.early.repeated"] / counts["frames.early"],
        "gaps.later": 100 * counts["frames.later.repeated"] / counts["frames.later"],
    }


def _handshakes(hops: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for number, delay_ms in (("1", 0.0), ("2", SERVER_DELAY_MS)):
        times = hops[number]["times_ms"]
        found |= {
            f"handshake.{number}.duration": times["handshake.duration"]["p50"] - delay_ms,
            f"handshake.{number}.until_finished": times["handshake.until_finished"]["p50"]
            - delay_ms,
            f"handshake.{number}.client": times["handshake.client"]["p50"],
            f"handshake.{number}.last": times["handshake.fin-ccs2"]["p50"],
            f"handshake.{number}.repeated": hops[number]["counts"]["handshake.repeated"]
            / hops[number]["handshakes"],
        }
    return found


def _queries(hops: dict[str, Any]) -> dict[str, float]:
    near = hops["1"]["times_ms"]
    found: dict[str, float] = {}
    for number in "12":
        for record in ("A", "AAAA"):
            ends = near[f"log.dtls.{record}"]["mean"] - near[f"query.dtls.{record}"]["mean"]
            median = hops[number]["times_ms"][f"query.dtls.{record}"]["p50"]
            found[f"query.{number}.{record.lower()}"] = median + ends
    return found
