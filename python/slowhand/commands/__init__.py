"""The commands: their options, and what they do."""

from __future__ import annotations

from slowhand.commands import (
    advise,
    battery,
    bundled,
    capacity,
    completion,
    controlling,
    executing,
    extcap,
    joining,
    links,
    live,
    oscar,
    papers,
    playing,
    run,
    settings,
    stacks,
    sweeps,
)
from slowhand.commands.common import Command

COMMANDS = {
    "run": Command(
        "Run a scenario many times and print the results.",
        "quickstart --count 1000 --json",
        run.options,
        run.run,
    ),
    "sweep": Command(
        "Run a scenario with every value of some keys, and compare them.",
        "quickstart --vary session.timeout_s=1,3,9 --count 1000 --out timers",
        sweeps.sweep_options,
        sweeps.sweep,
    ),
    "compare": Command(
        "Run several scenarios with the same seeds, and compare them.",
        "quickstart xmac --count 1000",
        sweeps.compare_options,
        sweeps.compare,
    ),
    "play": Command(
        "Write a page in which the network of one seed moves.",
        "lossy-line --seed 3 --open",
        playing.options,
        playing.run,
    ),
    "advise": Command(
        "Find the best configuration for a network, and say what others would cost.",
        "--hops 3 --mac tsch --slotframe 101 --credential psk",
        advise.options,
        advise.run,
    ),
    "battery": Command(
        "Say how long a battery lasts, what takes it, and what would make it last longer.",
        "battery --battery l91-pair --plot day.svg",
        battery.options,
        battery.run,
    ),
    "join": Command(
        "Say how long the nodes of a 6TiSCH network take to join it, phase by phase.",
        "join --set network.profile=rfc --count 50",
        joining.options,
        joining.run,
    ),
    "oscar": Command(
        "Compare DTLS to each reader of a node's value with objects that are signed once.",
        "oscar --set readers.proxy=false --readers 1,10",
        oscar.options,
        oscar.run,
    ),
    "live": Command(
        "Run a network against the clock, for real programs at one end or at both.",
        "lossy-line --udp 5684=127.0.0.1:5685",
        live.options,
        live.run,
    ),
    "live set": Command(
        "Change keys of a network that runs.",
        "network.link_pdr=0.7",
        controlling.set_options,
        controlling.set_keys,
    ),
    "live node": Command(
        "Switch a node of a network that runs off or on.",
        "3 off",
        controlling.node_options,
        controlling.switch_node,
    ),
    "live status": Command(
        "Print what a network that runs says of itself: sessions, nodes, links, losses.",
        "--json",
        controlling.status_options,
        controlling.show_status,
    ),
    "live metrics": Command(
        "Print what a network that runs says of itself for Prometheus, or answer it.",
        "--listen 9464",
        controlling.metrics_options,
        controlling.show_metrics,
    ),
    "live extcap": Command(
        "Make the networks that run interfaces of Wireshark.",
        "--install",
        extcap.options,
        extcap.run,
    ),
    "exec": Command(
        "Run your own programs, unmodified, across a network in virtual time.",
        "lossy-line --client 'coap-client -m get coap://{server}/time' --server coap-server",
        executing.options,
        executing.run,
    ),
    "settings": Command(
        "Print what to type: a scenario's session in the settings of a library.",
        "lossy-line --library mbedtls",
        settings.options,
        settings.run,
    ),
    "stacks": Command(
        "List the TLS libraries, and what each can do.",
        "tinydtls",
        stacks.options,
        stacks.show,
    ),
    "stacks add": Command(
        "Add a library, or a stack of your own in C or Rust, for session.stack.",
        "toy toy.c",
        stacks.add_options,
        stacks.add,
    ),
    "stacks remove": Command(
        "Remove a stack of your own.",
        "toy",
        stacks.remove_options,
        stacks.remove,
    ),
    "stacks check": Command(
        "Try a stack: the same twice, each datagram lost once, small datagrams, no leak.",
        "toy",
        stacks.check_options,
        stacks.check,
    ),
    "profiles": Command(
        "List the software that nodes can run, and its numbers with their sources.",
        "riot",
        bundled.profile_option,
        bundled.profiles,
    ),
    "scenarios": Command(
        "List the scenarios that come with slowhand, or print one to start from.",
        "quickstart > mine.toml",
        bundled.SCENARIOS.options,
        bundled.SCENARIOS.run,
    ),
    "devices": Command(
        "List the devices that come with slowhand, or print one with its sources.",
        "openmote-cc2538",
        bundled.DEVICES.options,
        bundled.DEVICES.run,
    ),
    "batteries": Command(
        "List the batteries that come with slowhand, or print one with its sources.",
        "cr2032",
        bundled.BATTERIES.options,
        bundled.BATTERIES.run,
    ),
    "schema": Command(
        "Print the JSON Schema of a scenario, a device, a battery, or the rows of a table.",
        "> scenario.schema.json",
        bundled.schema_options,
        bundled.schema,
    ),
    "capacity": Command(
        "Compute how many requests a server with few session slots refuses (Engset).",
        "--slots 3 --clients 5 --rho 0.5 --json",
        capacity.options,
        capacity.run,
    ),
    "links": Command(
        "Convert measurements of real links into a scenario, or into ratios over time.",
        "sniffed.pcapng --scenario mine.toml",
        links.options,
        links.run,
    ),
    "papers": Command(
        "Reproduce a published paper: its numbers beside ours.",
        "vucinic2015 table1 --json",
        papers.options,
        papers.run,
    ),
    "completion": Command(
        "Print what lets a shell complete commands, options, names and keys.",
        "bash > slowhand.bash",
        completion.options,
        completion.run,
    ),
}
"""Every command, in the order of the help."""
