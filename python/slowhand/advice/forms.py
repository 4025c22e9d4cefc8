"""Simple questions: a scenario from a few words about the network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from slowhand.advice.lookup import AdviceError
from slowhand.api import Scenario
from slowhand.blame import blaming
from slowhand.keys import toml
from slowhand.known import link_layers
from slowhand.sweeps.following import SUITES, auth_of
from slowhand.terminal import printable

SERVERS = {"psk": "mbedtls", "raw_public_key": "tinydtls", "certificate": "mbedtls"}
"""A library that has such a credential: the server's, and the client's unless another one is
chosen. (Assumed: the most common one that is built in.)"""


OPTIONS = {
    "network.topology.hops": "--hops",
    "mac.slotframe": "--slotframe",
    "client.device": "--device",
}
"""The options that messages about keys name."""


@cache
def macs() -> dict[str, str]:
    """The scenario that comes with slowhand for each link layer, which a question starts from.

    It has the name of the link layer, but for TSCH. Thread is CSMA/CA with more.
    """
    return {kind: kind for kind in link_layers()} | {"tsch": "lossy-line", "thread": "thread"}


class Question(NamedTuple):
    """A description of the network; `None` leaves a part as the scenario has it."""

    mac: str | None = None
    hops: int | None = None
    slotframe: int | None = None
    loss: float | None = None
    credential: str | None = None
    device: str | None = None

    def scenario(self) -> Scenario:
        """The scenario that it describes: one that comes with slowhand, with keys replaced."""
        name = macs()[_one_of("--mac", self.mac or "tsch", macs())]
        with blaming(OPTIONS):
            return Scenario(name, list(self._overrides()))

    def _overrides(self) -> Iterator[str]:
        if self.hops is not None:
            yield f"network.topology.hops={self.hops}"
        if self.loss is not None:
            if not 0 <= self.loss < 1:
                raise AdviceError(f"--loss: found {self.loss:g}, allowed: from 0 to below 1")
            yield f"network.link_pdr={round(1 - self.loss, 6)}"
            if (self.mac or "tsch") == "tsch":  # its scenario has another one
                yield f"network.ack_pdr={round(1 - self.loss / 2, 6)}"
        if self.slotframe is not None:
            if (self.mac or "tsch") != "tsch":
                raise AdviceError(f"--slotframe: only TSCH has one, found --mac {self.mac}")
            yield f"mac.slotframe={self.slotframe}"
        if self.device is not None:
            yield f"client.device={toml(self.device)}"
        if self.credential is not None:
            credential = _one_of("--credential", self.credential, SERVERS)
            yield f"session.suite={SUITES[credential]}"
            yield f"session.auth={auth_of(credential)}"
            yield f"session.credential={credential}"
            yield f"session.stack={SERVERS[credential]}"


def _one_of(option: str, found: str, allowed: Mapping[str, object]) -> str:
    if found not in allowed:
        raise AdviceError(f"{option}: found '{printable(found)}', allowed: {', '.join(allowed)}")
    return found
