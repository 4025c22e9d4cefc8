"""The sessions that a server with few session slots can hold, and what it refuses.

>>> import slowhand
>>> round(slowhand.capacity.compute(slots=3, clients=5, rho=0.5)["call_congestion"], 6)
0.1
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from slowhand import _native
from slowhand.api import SEED
from slowhand.bounds import natural
from slowhand.estimate import of_metric
from slowhand.nearest import none_of

if TYPE_CHECKING:
    from slowhand.terminal import Terminal

MAX_SLOTS = 1_000
MAX_CLIENTS = 100_000

MIN_RHO, MAX_RHO = 1e-9, 1e9
"""Erlang that a client offers. Beyond, a simulation sees no session, or no request is served."""

MAX_HANDSHAKE_SHARE = 1e6
"""Beyond, no handshake of a simulation ends."""

HANDSHAKE_SHARE = 0.0
"""The duration of a handshake as a share of the mean session, if not given."""

ROWS = {
    "time_congestion": ("all slots taken", "% of time"),
    "call_congestion": ("refused", "% of requests"),
    "evicted": ("evicted", "% of sessions"),
    "served": ("served", "% of wanted"),
    "handshakes_per_session": ("handshakes", "a session"),
    "occupied": ("slots taken", ""),
    "half_open": ("half-open", ""),
}
"""The results of the simulation: the label and the unit of each row."""


@dataclass(frozen=True)
class Memory:
    """The session slots that fit into the memory of a device."""

    device: str
    ram_bytes: int
    ram_source: str
    reserved_bytes: int
    bytes_per_session: int

    @property
    def slots(self) -> int:
        """Slots that fit into the memory that the rest of the firmware does not use."""
        return max(0, self.ram_bytes - self.reserved_bytes) // self.bytes_per_session

    def about(self) -> dict[str, Any]:
        """The fields and the slots, for JSON."""
        return {**asdict(self), "slots": self.slots}


HEADINGS = {
    "refuse": "\nrefuse",
    "evict-least-recently-used": "evict least\nrecently used",
    "evict-oldest": "evict\noldest",
    "evict-idle-longest": "evict idle\nlongest",
}


def policies() -> list[str]:
    """The names of the policies for a request that arrives when all slots are taken."""
    return _native.policies()


def memory(device: str, *, bytes_per_session: int, reserved_bytes: int) -> Memory:
    """The sessions of `bytes_per_session` that fit a device that uses `reserved_bytes` otherwise.

    `device` is the name of a built-in device, or the path of a device file. Raises
    `ScenarioError` if there is no such device.
    """
    if bytes_per_session < 1 or reserved_bytes < 0:
        raise ValueError("a session takes at least one byte, and what is reserved is not negative")
    ram, source = _native.ram(device)
    return Memory(device, ram, source, reserved_bytes, bytes_per_session)


def compute(
    *,
    slots: int,
    clients: int,
    rho: float,
    policy: str | None = None,
    handshake_share: float = HANDSHAKE_SHARE,
    seed: int = SEED,
) -> dict[str, Any]:
    """The refusals of `slots` session slots to `clients` clients, by formula and by simulation.

    `rho` is the traffic that a client offers while it has no session, in Erlang: the rate of its
    requests times the duration of a mean session. A handshake takes `handshake_share` of a mean
    session, and holds a slot during that time. `time_congestion` is the share of time in which all
    slots are taken, `call_congestion` the probability that a request is refused. Both follow from
    Engset's formula, in which a server can only refuse. `simulated` has both with their intervals
    for `policy` (default: refuse). `policies` has the same for `policy`, or for all policies if
    none is given.
    """
    for name, value, least, most in (
        ("slots", slots, 0, MAX_SLOTS),
        ("clients", clients, 1, MAX_CLIENTS),
        ("rho", rho, MIN_RHO, MAX_RHO),
        ("handshake share", handshake_share, 0, MAX_HANDSHAKE_SHARE),
    ):
        if not least <= value <= most:  # not true of nan
            raise ValueError(f"{name}: found {value}, allowed: {least:g} to {most:g}")
    natural("seed", seed)
    known = policies()
    if policy is not None and policy not in known:
        raise ValueError(none_of("policy", policy, known))
    wanted = known if policy is None else [policy]
    found = json.loads(_native.capacity(slots, clients, rho, handshake_share, wanted, seed))
    without = json.loads(_native.capacity(slots, clients, rho, 0.0, [], seed))
    simulated = found["policies"]
    named = policy or "refuse"
    return {
        "slots": slots,
        "clients": clients,
        "rho": rho,
        "handshake_share": handshake_share,
        "policy": named,
        "time_congestion": found["time_congestion"],
        "call_congestion": found["call_congestion"],
        "without_handshake": {key: without[key] for key in ("time_congestion", "call_congestion")},
        "simulated": simulated[named],
        # In the order in which the laboratory lists them.
        "policies": {name: simulated[name] for name in wanted},
    }


def show(result: dict[str, Any] | None, memory: Memory | None, out: Terminal) -> None:
    """Prints how many slots fit, and formula and simulation with a column for each policy."""
    if memory:
        slots = (
            "1 session slot fits" if memory.slots == 1 else f"{memory.slots:,} session slots fit"
        )
        out.paragraph(f"{slots} the {memory.device}", "bold")
        out.paragraph(
            f"{memory.ram_bytes:,} B of RAM ({memory.ram_source}), {memory.reserved_bytes:,} B in"
            f" use, {memory.bytes_per_session:,} B a session",
            "dim",
        )
    if memory and result:
        out.print()
    if result:
        _show_congestion(result, out)


def _show_congestion(result: dict[str, Any], out: Terminal) -> None:
    from slowhand.table import Column, Table

    policies = [Column(HEADINGS[name]) for name in result["policies"]]
    table = Table([Column(right=False, wraps=True), Column("\nEngset"), *policies])
    for key, (label, unit) in ROWS.items():
        formula = _number(unit, result[key]) if key in result else ""
        simulated = [_cell(unit, policy[key]) for policy in result["policies"].values()]
        table.add(f"{label}, {unit}" if unit else label, formula, *simulated)
    out.paragraph(
        f"{result['slots']} session slots, {result['clients']} clients of {result['rho']:g} Erlang,"
        f" handshakes of {result['handshake_share']:g} sessions"
    )
    out.print()
    table.print(out)
    out.print()
    for remark in _remarks(result):
        out.paragraph(remark, "dim")


def _remarks(result: dict[str, Any]) -> list[str]:
    remarks = ["Simulated: the mean of 20 replications ± half of its 95 % interval."]
    if result["handshake_share"] > 0:
        time, call = result["without_handshake"].values()
        remarks.append(
            "A half-open session holds a slot, as in the formula above. If handshakes took no time,"
            f" all slots would be taken {time:.2%} of the time and {call:.2%} of requests refused."
        )
    remarks.append(
        "Assumed: the duration of sessions is exponential; a client that was refused or evicted"
        " waits as long as one whose session has ended; an established session is used 10 times on"
        " average, and becomes idle a tenth of the mean session after its last use."
    )
    return remarks


def _cell(unit: str, metric: dict[str, Any]) -> str:
    found = of_metric(metric)
    return _number(unit, found.mean) + (f" ± {_number(unit, found.half)}" if found.half else "")


def _number(unit: str, value: float) -> str:
    return f"{100 * value:.2f}" if unit.startswith("%") else f"{value:.2f}"
