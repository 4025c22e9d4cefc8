"""The two sides of a network with interfaces, for a user: namespaces and addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from slowhand._native import INTERNET_ADDRESS, mesh_address
from slowhand.terminal import printable

NAMESPACES = "/run/netns"
"""Where `ip netns` keeps the namespaces that have a name (ip-netns(8))."""

EMULATED = "the server of the scenario"
"""Who is on the Internet without an interface."""

MOST_NODES = 3
"""The nodes whose addresses are shown. Assumed: the others follow from them."""


def state(namespace: str) -> str:
    """Whether a namespace exists, before the network starts."""
    path = Path(namespace) if "/" in namespace else Path(NAMESPACES) / namespace
    return "existing" if path.exists() else "made now"


def places(given: Mapping[str, str], nodes: int) -> Iterator[str]:
    """A line for each side with an interface, by `sides`, in a network of so many nodes."""
    if "device" in given:
        shown = range(1, min(nodes, MOST_NODES + 1))
        addresses = [f"node {node}: {mesh_address(node)}" for node in shown]
        addresses += ["..."] * (nodes - 1 > MOST_NODES)
        yield f"devices: {given['device']}"
        yield from (f"  {address}" for address in addresses)
        yield "  a program that binds no address is at node 1"
    if given:
        yield f"Internet: {given.get('internet', EMULATED)}"
        yield f"  {INTERNET_ADDRESS}"


def sides(options: Mapping[str, str | None]) -> dict[str, str]:
    """The interface of each side in words, by the options of the command line."""
    found = {}
    for side in ("device", "internet"):
        if (namespace := options.get(f"{side}_netns")) is not None:
            found[side] = f"namespace {printable(namespace)}, {state(namespace)}"
        elif (tun := options.get(f"{side}_tun")) is not None:
            found[side] = f"interface {printable(tun)}, which has to have these addresses"
    return found
