"""Made-up explanations of a handshake, of any length and with any text, for tests of pages."""

import random
from typing import Any

from slowhand import Explanation

LANES = [
    ("client messages", "node 2", "messages"),
    ("server messages", "Internet", "messages"),
    ("client datagrams", "node 2", "datagrams"),
    ("server datagrams", "Internet", "datagrams"),
    ("fragments up", "node 2", "fragments"),
    ("fragments down", "node 0", "fragments"),
    ("frames of node 0", "node 0", "frames"),
    ("frames of node 2", "node 2", "frames"),
    ("radio of node 2", "node 2", "radio"),
    ("client computing", "node 2", "computing"),
    ("server timer", "Internet", "timers"),
]


def made(count: int = 400, seed: int = 1, text: str = "") -> Explanation:
    """An explanation with about `count` events. `text` is in every text that it has."""
    rng = random.Random(seed)
    events: list[dict[str, Any]] = []

    def add(
        lane: int, kind: str, begin: int, end: int, name: str, cause: int | None, **more: Any
    ) -> int:
        detail = [["octets", str(rng.randrange(40, 128))], ["to", f"node {rng.randrange(3)}{text}"]]
        if more.get("state") == "lost":
            detail.append(["lost", f"reassembly full at node 2{text}"])
        event = {"id": len(events), "lane": lane, "kind": kind, "name": name + text}
        event |= {"from_s": begin / 1e6, "to_s": end / 1e6, "cause": cause, "detail": detail}
        events.append({**event, "state": "ok", "critical": False, **more})
        return len(events) - 1

    now, last = 20_000, None
    path: list[tuple[int, int, int, int]] = []  # begin, end, part, event
    while len(events) < count:
        number = len(path) // 3
        up = number % 2 == 0
        compute = rng.randrange(1_000, 400_000)
        critical = {"critical": True}
        message = add(1 - up, "message", now, now, f"message {number}", last, **critical)
        worked = add(9, "computing", now, now + compute, "ECDSA sign", message, **critical)
        path.append((now, now + compute, 0, worked))
        now += compute
        begin = now
        state = rng.choices(["ok", "lost", "needed", "spurious"], [70, 10, 10, 10])[0]
        sent = add(3 - up, "datagram", now, now + 300_000, f"record {number}", worked, **critical)
        parts = rng.randrange(2, 9)
        for part in range(parts):
            wait = rng.randrange(5_000, 60_000)
            last = add(7 if up else 6, "frame", now + wait, now + wait + 4_256,
                       f"data, fragment {part + 1}", sent, critical=part == parts - 1,
                       state=state if part == 0 else "ok")  # fmt: skip
            add(8, "radio", now + wait, now + wait + 4_256, "transmit", last)
            add(8, "radio", now + wait + 5_000, now + wait + 5_900, "receive", last)
            add(8, "radio", now + wait + 6_000, now + wait + 9_000, "listen", last)
            path.append((now, now + wait, 1, last))
            path.append((now + wait, now + wait + 4_256, 2, last))
            now += wait + 4_256
        add(4 + (not up), "packet", begin, now, f"packet {number}", sent)
        if state == "lost":
            timer = add(10, "timer", now, now + 1_000_000, "flight timer", last, critical=True)
            path.append((now, now + 1_000_000, 3, timer))
            now, last = now + 1_000_000, timer
    order = sorted(events, key=lambda event: (event["from_s"], event["lane"]))
    kinds = [("computing", "node 2"), ("cells", "node 1"), ("air", "node 2"), ("timer", "Internet")]
    parts_made = []
    for number, (kind, host) in enumerate(kinds):
        spans = [[a / 1e6, b / 1e6] for a, b, part, _ in path if part == number]
        total = sum(b - a for a, b, part, _ in path if part == number)
        parts_made.append(
            {
                "kind": kind,
                "host": host,
                "seconds": total / 1e6,
                "microseconds": total,
                "text": f"{kind} at {host}, because it takes time{text}",
                "remedy": f"lower mac.slotframe{text}" if kind == "cells" else None,
                "causes": [step[3] for step in path if step[2] == number][:2],
                "spans": spans,
            }
        )
    steps = [
        {"from_s": a / 1e6, "to_s": b / 1e6, "part": part, "event": event}
        for a, b, part, event in path
    ]
    return Explanation(
        {
            "version": "0.1.0",
            "scenario": f"scenarios/made{text}.toml",
            "seed": seed,
            "client": 1,
            "outcome": "completed",
            "reason": "",
            "start_s": 0.02,
            "end_s": now / 1e6,
            "duration_s": (now - 20_000) / 1e6,
            "hosts": [{"name": "node 2", "role": f"client{text}", "device": ""}],
            "summary": f"{(now - 20_000) / 1e6} s: computing, waiting for cells{text}",
            "parts": parts_made,
            "path": steps,
            "lanes": [
                {"name": name + text, "host": host, "layer": layer} for name, host, layer in LANES
            ],
            "events": order,
        }
    )
