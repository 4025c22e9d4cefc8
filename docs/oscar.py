"""Puts what `slowhand oscar` measures into docs/oscar.md.

Run it when the output has changed: .venv/bin/python docs/oscar.py.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

from measured import ROOT, fill, number

from slowhand import Scenario
from slowhand.reading import COSTS, Comparison, crossing, show
from slowhand.terminal import Terminal

PAGE = "docs/oscar.md"
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
    "frames are lost: `network.link_pdr=0.7`": ["network.link_pdr=0.7"],
}
"""What is changed in the example."""


def compared(settings: list[str], worlds: int = WORLDS) -> Comparison:
    """The example with these keys replaced."""
    return Comparison(Scenario(SCENARIO, settings), None, worlds, 1)


def main(folder: Path) -> None:
    """Writes the page into `folder`."""
    os.chdir(ROOT)
    page = (ROOT / PAGE).read_text()
    blocks = {"output": output(), "variants": variants(), "rule": rule()}
    for name, block in blocks.items():
        page = fill(page, name, f"\n{block}\n")
    (folder / "docs").mkdir(exist_ok=True)
    (folder / PAGE).write_text(page)


def output() -> str:
    """What the command prints."""
    text = io.StringIO()
    show(compared([], 5), Terminal(text, width=80, styled=False))
    plain = text.getvalue().replace("\N{NO-BREAK SPACE}", " ")
    return f"```text\n$ ./slowhand oscar {SCENARIO}\n{plain}```\n"


def variants() -> str:
    """From how many readers on objects cost less, and what 50 readers cost in both ways."""
    lines = [
        "| changed | from: octets | energy of the producer | of the others | first value "
        "| 50 readers: octets, DTLS | objects | producer, DTLS | objects |",
        "| --- | --: | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for name, settings in VARIANTS.items():
        found = compared(settings).results()
        from_on = [crossing(found, cost)["objects"] for cost in COSTS]
        most = found[-1]
        octets = [number(most[way]["octets"]) for way in ("dtls", "oscar")]
        energy = [f"{number(most[way]['producer_mj'])} mJ" for way in ("dtls", "oscar")]
        cells = [*(str(readers or "-") for readers in from_on), *octets, *energy]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def rule() -> str:
    """How many readings an object has to serve, for the producer of some variants."""
    lines = [
        "| 50 readers | DTLS: a reading and its share of the handshake | an object | is worth |",
        "| --- | --: | --: | --: |",
    ]
    for name in ("as it is", "raw public keys, ECDHE"):
        most = compared(VARIANTS[name]).results()[-1]
        of_dtls, of_objects = most["dtls"], most["oscar"]
        reading = of_dtls["producer_mj"] * of_dtls["worlds"] / of_dtls["got"]
        made = of_objects["producer_mj"] / of_objects["signatures"]
        worth = f"{made / reading:.1f} readings"
        lines.append(f"| {name} | {number(reading)} mJ | {number(made)} mJ | {worth} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
