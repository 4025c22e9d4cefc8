"""Puts what `slowhand oscar` measures into docs/oscar.md and its reference.

Run it when the output has changed: .venv/bin/python docs/oscar.py.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from measured import ROOT, number, printed, table, write

from slowhand import Scenario
from slowhand.reading import COSTS, WAYS, Comparison, crossing, show

Results = list[dict[str, Any]]
"""What each number of readers gave."""

PAGE = "docs/oscar.md"
REFERENCE = "docs/reference/oscar.md"
SCENARIO = "scenarios/oscar.toml"
WORLDS = 3

VARIANTS = {
    "as it is": [],
    "without the proxy": ["readers.proxy=false"],
    "`readers.max_age_s=600`": ["readers.max_age_s=600"],
    "`readers.readings=1`": ["readers.readings=1"],
    "one hop": ["network.topology.hops=1"],
    "raw public keys, ECDHE": [
        "session.suite=TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
        "session.credential=raw_public_key",
    ],
    "DTLS 1.3, pre-shared key": [
        "session.protocol=dtls1.3",
        "session.suite=TLS_AES_128_CCM_8_SHA256",
        "session.auth=psk",
    ],
    "`readers.secret_lifetime_s=120`": ["readers.secret_lifetime_s=120"],
    "frames lost: `network.link_pdr=0.7`": ["network.link_pdr=0.7"],
}
"""What is changed in the example."""


def compared(settings: list[str], worlds: int = WORLDS) -> Comparison:
    """The example with these keys replaced."""
    return Comparison(Scenario(SCENARIO, settings), None, worlds, 1)


def main(folder: Path) -> None:
    """Writes both pages into `folder`."""
    os.chdir(ROOT)
    found = {name: compared(settings).results() for name, settings in VARIANTS.items()}
    blocks = {
        "output": printed(f"oscar {SCENARIO}", partial(show, compared([], 5))),
        "variants": variants(found),
        "rule": rule(found),
    }
    write(PAGE, folder, blocks)
    write(REFERENCE, folder, {"fifty": fifty(found)})


def variants(found: Mapping[str, Results]) -> str:
    """From how many readers on objects cost less, and which readings brought a value."""
    cells = {}
    for name, rows in found.items():
        from_on = [crossing(rows, cost)["objects"] for cost in COSTS]
        shares = dict.fromkeys(got(rows[-1][way]) for way in WAYS)
        cells[name] = [*(str(readers or "-") for readers in from_on), " / ".join(shares)]
    return table(("changed", "octets", "producer", "others", "first value", "got"), cells)


def got(of: Mapping[str, Any]) -> str:
    """The share of the readings that brought a value."""
    share = 100 * of["got"] / of["readings"]
    return f"{share:.0f} %" if share in (0, 100) else f"{share:.1f} %"


def fifty(found: Mapping[str, Results]) -> str:
    """What 50 readers cost in both ways."""
    cells = {
        name: [number(rows[-1][way][cost]) for cost in ("octets", "producer_mj") for way in WAYS]
        for name, rows in found.items()
    }
    return table(("50 readers", "octets, DTLS", "objects", "producer mJ, DTLS", "objects"), cells)


def rule(found: Mapping[str, Results]) -> str:
    """How many readings an object has to serve, for the producer of some variants."""
    cells = {}
    for name in ("as it is", "raw public keys, ECDHE"):
        of_dtls, of_objects = (found[name][-1][way] for way in WAYS)
        reading = of_dtls["producer_mj"] * of_dtls["worlds"] / of_dtls["got"]
        made = of_objects["producer_mj"] / of_objects["signatures"]
        cells[name] = [f"{number(reading)} mJ", f"{number(made)} mJ", f"{made / reading:.1f}"]
    columns = ("50 readers", "reading by DTLS", "energy of an object", "readings it must serve")
    return table(columns, cells)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
