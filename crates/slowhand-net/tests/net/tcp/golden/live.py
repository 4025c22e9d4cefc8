#!/usr/bin/env python3
"""The live kernel on the other end of a lossy path.

    live.py {sends|receives} COUNT LOSS DUPLICATE REORDER SEED

Standard input is a datagram socket that carries IPv6 packets to and from the TCP under test, which
is host `a`; the kernel, in a namespace of its own, is host `b`. Probabilities are in per mille. The
first line on standard output says that the kernel is ready, the second is a JSON object with what
it received. Standard library only; needs root and /dev/net/tun.
"""

import json
import os
import random
import sys

from path import Host, Path, now_us

DELAY_US = 1_000
LATE_US = 4_000  # what a reordered packet takes more
LIMIT_US = 110_000_000
TO_TEST = 0  # standard input, read and written


def main():
    role, count, loss, duplicate, reorder, seed = sys.argv[1], *map(int, sys.argv[2:])
    dice = random.Random(seed)
    chance = lambda per_mille: dice.randrange(1000) < per_mille

    def fate(side, segment):
        if chance(loss):
            return [], False
        copies = [0, 0] if chance(duplicate) else [0]
        return [LATE_US if chance(reorder) else 0 for _ in copies], False

    kernel = Host("b")
    # Timers that fit a path of 2 ms, so that much loss does not take minutes.
    kernel.do("sysctl", "tcp_rto_min_us", 20_000)
    kernel.do("sysctl", "tcp_rto_max_ms", 1_000)
    os.set_blocking(TO_TEST, False)
    path = Path({"a": TO_TEST, "b": kernel.tun}, DELAY_US, fate)
    end = now_us() + LIMIT_US

    def ask(*command):
        kernel.start(*command)
        if not path.run(end, extra=[kernel.control]):
            raise SystemExit(f"{command}: no answer in {LIMIT_US / 1e6:.0f} s")
        return kernel.answer()

    options = {"mss": 1220, "congestion": "cubic"}
    kernel.do("listen", options)
    print("ready", flush=True)
    ask("accept", LIMIT_US / 1e6, options)
    result = {"received": 0, "intact": True}
    if role == "sends":
        ask("write", 0, count, LIMIT_US / 1e6)
        ask("close")
        ask("read", 1, LIMIT_US / 1e6)  # returns with the end of the other side's data
    else:
        received, intact = ask("read", count, LIMIT_US / 1e6)
        result = {"received": received, "intact": intact}
        ask("close")
    path.run(end, done=lambda: path.has_ended)
    print(json.dumps(result), flush=True)
    kernel.end()


if __name__ == "__main__":
    main()
