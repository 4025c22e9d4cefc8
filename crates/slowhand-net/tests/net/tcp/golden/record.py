#!/usr/bin/env python3
"""Records how the TCP of this Linux kernel behaves: two network namespaces, 50 ms each way.

    python3 record.py            all scenarios, into the *.trace files beside this script
    python3 record.py NAME ...   some

A trace has one line for each segment: when it left (us since the first), when it arrived or `lost`,
who sent it, flags, sequence and acknowledgement number and SACK blocks relative to the two SYNs,
payload octets, window field, options (timestamps relative to the sender's first). Lines that begin
with `@` are what the applications did. Both applications read all that comes at once.
"""

import os
import platform
import sys

from path import ACK, CWR, ECE, FIN, PSH, RST, SYN, URG, Host, Path, now_us

DELAY_US = 50_000
LATE_US = 350_000
LETTERS = [(SYN, "S"), (FIN, "F"), (RST, "R"), (PSH, "P"), (ECE, "E"), (CWR, "W"), (URG, "U"), (ACK, ".")]

# What hosts may have set differently from the kernel's defaults.
DEFAULT = {"tcp_timestamps": 1, "tcp_sack": 1, "tcp_early_retrans": 3, "tcp_recovery": 1, "tcp_ecn": 2}
# RFC 5681 and RFC 6298 as near as the kernel comes: no timestamps, no tail loss probe.
BARE = {"tcp_timestamps": 0, "tcp_early_retrans": 0, "tcp_sack": 0}
SACK = BARE | {"tcp_sack": 1}


def lose(side, kind, *numbers):
    """Loses the numbered segments of a kind: `data`, `syn`, `fin`, counted from 1."""
    return ("lose", side, kind, set(numbers))


def bulk(count):
    return [(0, "a", "write", count), (0, "a", "close")]


SCENARIOS = {
    "default": dict(sysctl=DEFAULT, congestion="cubic", mss=1220, app=bulk(40_000)),
    "sack": dict(sysctl=SACK, mss=256, app=bulk(6_000), faults=[lose("a", "data", 4)]),
    "new-reno": dict(sysctl=BARE, mss=256, app=bulk(6_000), faults=[lose("a", "data", 4)]),
    "two-losses-sack": dict(settle=False, sysctl=SACK, mss=256, app=bulk(3_000), faults=[lose("a", "data", 2, 5)]),
    "two-losses-new-reno": dict(settle=False, sysctl=BARE, mss=256, app=bulk(3_000), faults=[lose("a", "data", 2, 5)]),
    "nagle": dict(sysctl=BARE, mss=256, app=[(5_000, "a", "write", 20)] * 30),
    # Nine: the kernel counts its window in segments, RFC 5681 in octets; both let ten small ones out.
    "no-nagle": dict(sysctl=BARE, mss=256, nodelay=True, app=[(5_000, "a", "write", 20)] * 9),
    "delayed-ack": dict(
        sysctl=BARE,
        mss=256,
        # A question that is answered makes the answering side interactive; the next ones are
        # not answered: first one segment, then a burst.
        app=[(0, "a", "write", 20), (60_000, "b", "write", 20), (300_000, "a", "write", 20),
             (300_000, "a", "write", 1_024)],
    ),
    "lost-syn": dict(
        sysctl=BARE, mss=256, app=[(0, "a", "write", 100), (4_500_000, "a", "close")], faults=[lose("a", "syn", 1, 2, 3, 4, 5, 6), lose("a", "data", 1)],
        seconds=15,
    ),
    "lost-syn-ack": dict(sysctl=BARE, mss=256, app=[(0, "a", "write", 100), (1_000_000, "b", "write", 100)],
                         faults=[lose("b", "syn", 1), lose("b", "data", 1)], seconds=6),
    "lost-fin": dict(sysctl=BARE, mss=256, app=[(0, "a", "write", 100), (300_000, "a", "close")],
                     faults=[lose("a", "fin", 1)]),
    "timeouts": dict(sysctl=BARE, mss=256, app=bulk(1_280), faults=[lose("a", "data", 4, 5, 6, 7, 8)], seconds=6),
    # What a handshake's flights meet: the tail lost, and one of three lost.
    "tail-loss": dict(sysctl=SACK | {"tcp_early_retrans": 3}, mss=256, app=[(0, "a", "write", 1_280)],
                      faults=[lose("a", "data", 5)]),
    "small-flight": dict(sysctl=SACK | {"tcp_early_retrans": 3}, mss=256, app=[(0, "a", "write", 768)],
                         faults=[lose("a", "data", 2)]),
    # Nothing is lost, the path stalls: the flight, and its first retransmission behind it, arrive 350 ms late.
    "spurious-timeout": dict(sysctl=SACK, mss=256, app=[(0, "a", "write", 1_280)],
                             faults=[("late", "a", "data", {1, 2, 3, 4, 5, 6})]),
    "ecn": dict(sysctl=BARE | {"tcp_ecn": 1}, mss=256, app=bulk(6_000), faults=[("mark", "a", "data", {3})]),
}


def record(name, scenario):
    hosts = {side: Host(side) for side in "ab"}
    entries, actions = [], []
    seen = {}

    def fate(side, segment):
        delays, marked = [0], False
        kinds = []
        if segment.flags & SYN:
            kinds.append("syn")
        if segment.flags & FIN:
            kinds.append("fin")
        if segment.payload:
            kinds.append("data")
        for kind in kinds:
            seen[side, kind] = seen.get((side, kind), 0) + 1
            for what, where, of, numbers in scenario.get("faults", []):
                if (where, of) == (side, kind) and seen[side, kind] in numbers:
                    delays = {"lose": [], "late": [LATE_US], "mark": delays}[what]
                    marked = marked or what == "mark"
        return delays, marked

    path = Path({side: host.tun for side, host in hosts.items()}, DELAY_US, fate, entries)
    options = {key: scenario.get(key) for key in ("mss", "nodelay")}
    options["congestion"] = scenario.get("congestion", "reno")
    for host in hosts.values():
        for knob, value in scenario["sysctl"].items():
            host.do("sysctl", knob, value)
    hosts["b"].do("listen", options)
    hosts["a"].do("connect", options)
    hosts["b"].start("accept", 30, options)
    established = lambda: any(e["side"] == "a" and e["segment"].flags == ACK for e in entries)
    path.run(now_us() + 20_000_000, established)
    if scenario.get("settle", True):
        path.run(now_us() + 500_000)
        hosts["b"].answer()
    written = {"a": 0, "b": 0}
    for wait, side, do, *count in scenario["app"]:
        path.run(now_us() + wait)
        if do == "write":
            at = hosts[side].do("write", written[side], count[0])
            written[side] += count[0]
        else:
            at = hosts[side].do("close")
        actions.append((at, side, do, *count))
    if not scenario.get("settle", True):
        path.run(now_us() + 2 * DELAY_US)
        hosts["b"].answer()
    reads = [(hosts["b"], written["a"]), (hosts["a"], written["b"])]
    for host, count in reads:
        host.start("read", count, 30)
    path.run(now_us() + int(scenario.get("seconds", 3) * 1e6))
    for host, count in reads:
        assert host.answer() == [count, True], f"{name}: the content differs"
    for host in hosts.values():
        host.end()
    return entries, actions


def letters(flags):
    return "".join(letter for bit, letter in LETTERS if flags & bit)


def describe(name, scenario, entries, actions):
    start = entries[0]["sent"]
    base, clock = {}, {}
    for entry in entries:
        segment = entry["segment"]
        if segment.flags & SYN:
            base.setdefault(entry["side"], segment.seq)
        if "ts" in segment.options:
            clock.setdefault(entry["side"], segment.options["ts"][0])
    knobs = " ".join(f"{k}={v}" for k, v in scenario["sysctl"].items())
    knobs += " congestion=" + scenario.get("congestion", "reno")
    yield 0, f"# {name}: Linux {platform.release().split('-')[0]}, {knobs}, mss={scenario['mss']}, " \
             f"nodelay={int(scenario.get('nodelay', False))}, {DELAY_US} us each way"
    for at, side, do, *count in actions:
        yield at, " ".join(["@", str(at - start), side, do, *map(str, count)])
    for entry in entries:
        segment, side = entry["segment"], entry["side"]
        other = "b" if side == "a" else "a"
        relative = lambda value, of: (value - base.get(of, 0)) % 2**32
        fields = [
            f"{entry['sent'] - start:8}",
            f"{entry['arrived'][0] - start:8}" if entry["arrived"] else "    lost",
            side,
            letters(segment.flags),
            f"seq={relative(segment.seq, side)}",
            f"ack={relative(segment.ack, other) if segment.flags & ACK else 0}",
            f"len={len(segment.payload)}",
            f"win={segment.window}",
        ]
        if segment.mark or entry["marked"]:
            fields.append(f"ecn={3 if entry['marked'] else segment.mark}")
        for key, value in segment.options.items():
            if key == "sack":
                blocks = ",".join(f"{relative(l, other)}-{relative(r, other)}" for l, r in value)
                fields.append(f"sack={blocks}")
            elif key == "ts":
                echo = (value[1] - clock[other]) % 2**32 if segment.flags & ACK else 0
                fields.append(f"ts={(value[0] - clock[side]) % 2**32}/{echo}")
            else:
                fields.append(f"{key}={value}")
        yield entry["sent"], " ".join(fields)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    for name in sys.argv[1:] or SCENARIOS:
        scenario = SCENARIOS[name]
        entries, actions = record(name, scenario)
        lines = sorted(describe(name, scenario, entries, actions), key=lambda line: line[0])
        with open(os.path.join(here, name + ".trace"), "w") as trace:
            trace.writelines(line + "\n" for _, line in lines)
        # From the SYN to the arrival of the last new octet.
        total = max(e["arrived"][0] for e in entries if e["arrived"] and e["segment"].payload)
        print(f"{name}: {len(entries)} segments, last data arrived {(total - entries[0]['sent']) / 1e3:.1f} ms after the SYN")


if __name__ == "__main__":
    main()
