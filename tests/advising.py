"""Scenarios, values that may be chosen, and an advice, which the tests of advices share."""

import signal
from typing import Any

import pytest

import slowhand
from conftest import QUICKSTART
from slowhand import cli as command_line
from slowhand import signals
from slowhand.advice.answer import Advice
from slowhand.advice.front import Scale, weights
from slowhand.keys import Setting

PSK = QUICKSTART.with_name("psk-tinydtls.toml")
LOSSY = QUICKSTART.with_name("lossy-line.toml")

FAST: dict[str, Setting] = {
    "session.stack": "lean-dtls",
    "session.cryptography": "weightless",
    "network.topology.hops": 2,
    "network.link_pdr": 0.8,
    "mac.max_retries": 1,
}
"""Some thousand handshakes take a second, and many datagrams are lost."""

TIMEOUTS = (0.5, 1, 2, 3, 4, 6, 9, 12)
MTUS = (78, 100, 200)
SCALE = Scale(weights(None), 300.0)
SMALL = {"session.timeout_s": TIMEOUTS, "session.mtu": MTUS}


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one message of `slowhand advise` about arguments that are wrong."""
    before = {number: signal.getsignal(number) for number in signals.SIGNALS}
    try:
        code = command_line.execute(["advise", *arguments])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    output, errors = capsys.readouterr()
    assert (code, output, len(errors.splitlines())) == (2, "", 1)
    assert errors.startswith("slowhand: ")
    return errors.removeprefix("slowhand: ")


def fast(**more: Any) -> Advice:
    """The advice for that scenario."""
    return slowhand.advise(PSK, **{"choose": SMALL, "fix": FAST, "budget": 6_000, **more})
