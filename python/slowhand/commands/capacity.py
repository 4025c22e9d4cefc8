"""`slowhand capacity`."""

from __future__ import annotations

import argparse

from slowhand.arguments import Complaint, Parser, integer, number
from slowhand.commands.common import DONE, print_json
from slowhand.commands.options import take
from slowhand.terminal import Terminal

ABOUT = "Compute how many requests a server with few session slots refuses (Engset)."
EXAMPLE = "--slots 3 --clients 5 --rho 0.5 --json"


def options(parser: Parser) -> None:
    """The options of `capacity`."""
    from slowhand.api import SEED
    from slowhand.capacity import HANDSHAKE_SHARE, MAX_CLIENTS, MAX_SLOTS

    parser.add_argument(
        "--slots", metavar="N", type=integer(1, MAX_SLOTS), help="Session slots (R)."
    )
    parser.add_argument("--clients", metavar="N", type=integer(1, MAX_CLIENTS), help="Clients (N).")
    parser.add_argument(
        "--rho",
        metavar="ERLANG",
        type=number,
        help="Erlang that a client without a session offers: rate x mean session.",
    )
    parser.add_argument(
        "--policy",
        metavar="POLICY",
        help="What to do when all slots are taken. [default: compare all]",
    )
    parser.add_argument(
        "--handshake-share",
        metavar="SHARE",
        type=number,
        default=HANDSHAKE_SHARE,
        help="How long a handshake takes, as a share of the mean session."
        f" [default: {HANDSHAKE_SHARE:g}]",
    )
    take(parser, "--seed", "The seed of the simulation.", default=SEED)
    take(parser, "--device", "Instead of --slots: as many as fit into this device.")
    parser.add_argument(
        "--bytes-per-session",
        metavar="N",
        type=integer(1),
        help="RAM that a session takes, with --device.",
    )
    parser.add_argument(
        "--reserved-bytes",
        metavar="N",
        type=integer(0),
        help="RAM that everything else takes, with --device.",
    )


def run(arguments: argparse.Namespace, out: Terminal) -> int:
    """Computes the capacity of a server."""
    from slowhand import capacity

    slots, clients, rho = arguments.slots, arguments.clients, arguments.rho
    device = arguments.device
    if (slots is None) == (device is None):
        raise Complaint("give either --slots or --device, for the number of session slots")
    if (clients is None) != (rho is None) or (device is None and clients is None):
        raise Complaint("give --clients and --rho together")
    memory = result = None
    try:
        if device is not None:
            if arguments.bytes_per_session is None or arguments.reserved_bytes is None:
                raise Complaint("--device needs --bytes-per-session and --reserved-bytes")
            memory = capacity.memory(
                device,
                bytes_per_session=arguments.bytes_per_session,
                reserved_bytes=arguments.reserved_bytes,
            )
        if clients is not None:
            result = capacity.compute(
                slots=memory.slots if memory else slots,
                clients=clients,
                rho=rho,
                policy=arguments.policy,
                handshake_share=arguments.handshake_share,
                seed=arguments.seed,
            )
    except ValueError as error:
        raise Complaint(str(error)) from error
    if arguments.json:
        print_json({**(result or {}), **({"memory": memory.about()} if memory else {})}, out)
    else:
        capacity.show(result, memory, out)
    return DONE
