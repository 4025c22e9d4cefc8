"""Measures the libraries that `slowhand stacks add` makes beside those that are built in.

It writes the last tables of docs/reference/stacks.md, and the rows that decide into docs/stacks.md.
Run it when results have changed: .venv/bin/python docs/builds.py. The first time it compiles all of
them into target/stacks, which takes minutes, and needs a compiler of C++.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from measured import ROOT, Measured, Settings, cells, fill_pages, measure

# Before slowhand looks for stacks.
os.environ.setdefault("SLOWHAND_STACKS", str(ROOT / "target" / "stacks"))

import slowhand
from slowhand import _native, own_stacks
from slowhand.own_stacks.recipes import KNOWN

SCENARIO = ROOT / "scenarios" / "psk-tinydtls.toml"
COUNT = 200

HOPS = (1, 3)
LOSSES = (0.0, 0.05)
"""Of fragments of 6LoWPAN, on each hop."""

CERTIFICATES: Settings = {"session.auth": "mutual", "session.credential": "certificate"}

WAYS: dict[str, Settings] = {
    "": {},
    " (no cookie)": {"session.cookie": False},
    " (AES-256)": {"session.suite": "TLS_PSK_WITH_AES_256_CCM_8"},
    " (ECDHE, AES-GCM, no cookie)": {
        "session.cookie": False,
        "session.psk_mode": "psk_dhe_ke",
        "session.suite": "TLS_AES_128_GCM_SHA256",
    },
}
"""What a library needs that does not have a session as it is: the first that it takes."""

SESSIONS: dict[str, Settings] = {
    "DTLS 1.2, PSK, CCM_8": {
        "session.credential": "psk",
        "session.suite": "TLS_PSK_WITH_AES_128_CCM_8",
    },
    "DTLS 1.2, certificates, CCM_8": {
        **CERTIFICATES,
        "session.suite": "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
    },
    "DTLS 1.2, certificates, GCM": {
        **CERTIFICATES,
        "session.suite": "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    },
    "DTLS 1.3, PSK, CCM_8": {
        "session.protocol": "dtls1.3",
        "session.credential": "psk",
        "session.auth": "psk",
        "session.suite": "TLS_AES_128_CCM_8_SHA256",
    },
    "DTLS 1.3, certificates, GCM": {
        **CERTIFICATES,
        "session.protocol": "dtls1.3",
        "session.suite": "TLS_AES_128_GCM_SHA256",
    },
}

DECISIVE = "DTLS 1.2, certificates, CCM_8"
"""The session whose rows are on the page that is read."""

WANTED: dict[str, tuple[str, float | None]] = {
    "median [s]": ("duration_s", 0.5),
    "95 % [s]": ("duration_s", 0.95),
    "median [B]": ("bytes_phy", 0.5),
    "frames": ("frames", None),
    "computes [s]": ("compute_client_s", None),
    "energy [mJ]": ("energy_client_mj", None),
}
"""What stands in a row after the share that failed: a percentile or the mean of a column."""

COLUMNS = ("failed [%]", *WANTED)

KEPT = tuple(dict.fromkeys(column for column, _ in WANTED.values()))


def main(folder: Path) -> None:
    """Writes the tables."""
    make()
    tables = {name: table(session) for name, session in SESSIONS.items()}
    blocks = {f"decisive: {DECISIVE}": worst(tables[DECISIVE])}
    fill_pages(folder, {"stacks.md": blocks, "reference/stacks.md": tables})


def worst(table: str) -> str:
    """The rows of a table with the most hops and the most losses, without these two columns."""
    heading, line, *rows = table.splitlines()
    begin = f"| {max(HOPS)} | {max(LOSSES):.0%} "
    kept = [row.removeprefix(begin) for row in rows if row.startswith(begin)]
    shorter = [each.split(" | ", 2)[2] for each in (heading, line)]
    return "\n".join([*(f"| {each}" for each in shorter), *kept]) + "\n"


def make() -> None:
    """Compiles what is missing."""
    for name in KNOWN:
        if name not in _native.own_stacks():
            print(f"compiles {name}", file=sys.stderr)
            own_stacks.add(name)


def table(session: Settings) -> str:
    """The table of a session: the libraries that have it, on each network."""
    lines = [
        "| hops | fragments lost | stack | " + " | ".join(COLUMNS) + " |",
        "| ---: | ---: | :--- | " + " | ".join("---:" for _ in COLUMNS) + " |",
    ]
    for hops in HOPS:
        for loss in LOSSES:
            for stack, measured in rows(session, hops, loss).items():
                row = " | ".join(cells(measured, [*WANTED.values()]))
                lines.append(f"| {hops} | {loss:.0%} | {stack} | {row} |")
    return "\n".join(lines) + "\n"


def rows(session: Settings, hops: int, loss: float) -> Mapping[str, Measured]:
    """What each library that has this session takes."""
    found = {}
    for stack in sorted([*_native.built_in_stacks(), *KNOWN]):
        for words, way in WAYS.items():
            if "session.suite" in way and session["session.credential"] == "certificate":
                continue  # it is for pre-shared keys
            settings: Settings = {
                "network.topology": {"kind": "line", "hops": hops},
                "lowpan.fragment_loss": loss,
                "session.stack": stack,
                **session,
                **way,
            }
            if is_possible(settings):
                found[stack + words] = measure(SCENARIO, settings, KEPT, COUNT)
                break
    return found


def is_possible(settings: Settings) -> bool:
    """True if the library has this session."""
    try:
        slowhand.Scenario(SCENARIO, settings)
    except slowhand.ScenarioError:
        return False
    return True


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
