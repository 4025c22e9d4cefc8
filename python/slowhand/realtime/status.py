"""The state of a network that runs, in a few words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from slowhand._native import FAR_BEHIND_MS, LATENESS_LIMIT_MS
from slowhand.terminal import printable

if TYPE_CHECKING:
    from slowhand.realtime import Live

LONGEST_PATH = 4096
"""The longest path that is shown whole (Linux: PATH_MAX)."""

Snapshot: TypeAlias = Mapping[str, Any]
"""The state of the network in its own words; docs/reference/live.md has its keys."""


def line(snapshot: Snapshot, width: int) -> str:
    """One line about the network, no longer than this. What is not there is left out."""
    datagrams = snapshot["datagrams"]
    parts = [late(snapshot)] if is_late(snapshot) else []
    parts += _sessions(snapshot)
    if lost(snapshot):
        parts.append(f"{lost(snapshot):,} of {datagrams['sent']:,} datagrams lost")
    if snapshot["queued"]:
        parts.append(f"{snapshot['queued']:,} queued")
    if snapshot["bytes_phy"]:
        parts.append(f"{snapshot['bytes_phy']:,} B on the air")
    text = clock(snapshot["time_s"])
    for place, part in enumerate(parts):
        longer = f"{text}{', ' if place else '  '}{part}"
        if len(longer) > width:
            break
        text = longer
    return text


def sessions(snapshot: Snapshot) -> str:
    """The number of sessions that there are, and what became of the others."""
    return ", ".join(_sessions(snapshot))


def _sessions(snapshot: Snapshot) -> list[str]:
    found = snapshot["sessions"]
    kinds = ("open", "completed", "failed", "refused")
    return [f"{found[kind]:,} {kind}" for kind in kinds if found[kind]] or ["no sessions"]


def lost(snapshot: Snapshot) -> int:
    """The number of datagrams that were lost."""
    return sum(snapshot["datagrams"]["lost"].values())


def account(network: Live) -> str:
    """The account of a network until now, in lines: its sessions, its losses and its lateness."""
    state = network.report() if network.is_closed else network.status()
    title = f"{printable(network.scenario.path)}, seed {network.seed}"
    if state is None:
        return f"{title}: it does not answer"
    datagrams = state["datagrams"]
    reasons = sorted(datagrams["lost"].items(), key=lambda item: -item[1])
    why = ", ".join(f"{reason.replace('_', ' ')} {count:,}" for reason, count in reasons)
    time_s = f", at {state['time_s']:.1f} s" if "time_s" in state else ", closed"
    lines = [
        f"{title}{time_s}",
        f"sessions   {sessions(state)}",
        f"datagrams  {datagrams['sent']:,} sent, {datagrams['delivered']:,} delivered,"
        f" {lost(state):,} lost{f' ({why})' if why else ''}, {datagrams['waiting']:,} waiting",
        *(f"refused    {count:,}: {reason}" for reason, count in state["refused"].items()),
        lateness(state),
        *warnings(state, network.speed),
    ]
    if network.capture is not None:
        lines.append(f"capture    {printable(network.capture, LONGEST_PATH)}")
    return "\n".join(lines)


def is_late(snapshot: Snapshot) -> bool:
    """True if the network did not keep up with the clock."""
    return bool(snapshot["lateness_ms"]["p99"] > LATENESS_LIMIT_MS)


def late(snapshot: Snapshot) -> str:
    """The lateness of events."""
    return f"late {snapshot['lateness_ms']['p99']:.1f} ms (p99)"


def lateness(summary: Snapshot) -> str:
    """The lateness of events in a run that is over."""
    found = summary["lateness_ms"]
    return (
        f"late by the clock: p50 {found['p50']:.1f} ms, p99 {found['p99']:.1f} ms,"
        f" at most {found['max']:.1f} ms, {found['count']:,} events"
    )


def warnings(summary: Snapshot, speed: float) -> Iterator[str]:
    """The warnings at the end of a run that was late."""
    found = summary["lateness_ms"]
    if is_late(summary):
        slower = ", or a lower speed" if speed > 1 else ""
        yield (
            f"the network was late: p99 {found['p99']:.1f} ms, allowed:"
            f" {LATENESS_LIMIT_MS:.0f} ms. Its times are too long. Give it an idle processor"
            f"{slower}; docs/reference/live.md has a way for root"
        )
    if found["max"] > FAR_BEHIND_MS:
        yield (
            f"the network stood still for up to {found['max'] / 1000:.1f} s, by the clock. What"
            " crossed it then is late by that: do not count the sessions of that time. Its process"
            " was stopped, or other work kept its processor"
        )


def clock(seconds: float) -> str:
    """A time of the network.

    >>> clock(83.4)
    '0:01:23'
    """
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def stood_still(event: Mapping[str, Any]) -> str:
    """The event `late` in words."""
    return f"the network stood still for {event['late_ms'] / 1000:.1f} s, by the clock"


def told(event: Mapping[str, Any]) -> str:
    """An event in words. Empty: there is nothing to say."""
    time = clock(event.get("time_s", 0))
    session = f"{time}  session {event.get('session')} of node {event.get('node')}"
    match event["event"]:
        case "opened":
            return f"{session} began"
        case "established":
            return f"{session} is established after {event['duration_s']:.2f} s"
        case "closed":
            record = event["record"]
            outcome = record["outcome"].replace("_", " ") if record else "neither DTLS nor TLS"
            return f"{session} ended: {outcome}"
        case "refused":
            return f"{time}  refused {event['count']:,}: {event['reason']}"
        case "changed":
            return f"{time}  {event['change']}"
        case "late":
            return f"{time}  {stood_still(event)}"
        case "warning":
            return f"{time}  {event['message']}"
    return ""
