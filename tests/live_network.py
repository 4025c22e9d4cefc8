"""The network of the tests in which programs of others are at its ends."""

import time
from typing import Any

from programs import PATIENCE_S
from slowhand.realtime import Live

# One hop of 6TiSCH, with slots of 10 ms and a short slotframe, so that the tests do not take long.
# The buffers are those of larger devices. A server with Linux's TCP sends up to four segments at
# once, and what a smaller queue or fewer reassembly buffers lose is sent again after seconds. There
# is room also for flights of DTLS that a slow computer repeats.
NETWORK: dict[str, Any] = {
    "network": {"topology": {"kind": "star", "leaves": 2}},
    "mac": {
        "kind": "tsch",
        "slot_ms": 10,
        "slotframe": 9,
        "cells": {"shared": 1, "up": 2, "down": 2},
        "queue": 100,
    },
    "lowpan": {"reassembly_buffers": 4},
    "client": {"device": "openmote-cc2538"},
    "session": {"stack": "mbedtls"},
}


def wait_until_closed(net: Live, sessions: int) -> None:
    until = time.monotonic() + PATIENCE_S
    while sum(event["event"] == "closed" for event in net.events) < sessions:
        assert time.monotonic() < until, net.status()
        time.sleep(0.05)
