"""Writes what `slowhand settings` prints for lean-dtls, so that the compiler reads it.

Run it when the snippets have changed: .venv/bin/python crates/lean-dtls/tests/settings/make.py
"""

from __future__ import annotations

import sys
from pathlib import Path

from slowhand import Scenario, Setting
from slowhand.settings import snippets

HERE = Path(__file__).resolve().parent

SESSIONS: dict[str, dict[str, Setting]] = {
    "psk": {},
    "agreement": {"suite": "TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256"},
    "lean": {"lean": ["all"], "mtu": 96, "timeout_floor_s": 0.4},
    "resumed": {"resumption": "ticket", "psk_identity": '\x01?"\\é9'},
    "raw_public_key": {
        "credential": "raw_public_key",
        "suite": "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
        "connection_id": 8,
        "timeout_s": 2.5,
    },
    "certificate": {
        "suite": "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        "max_fragment_length": 512,
        "connection_id": 0,
    },
    "psk13": {
        "protocol": "dtls1.3",
        "suite": "TLS_AES_128_CCM_8_SHA256",
        "auth": "psk",
        "cookie": False,
    },
    "agreement13": {
        "protocol": "dtls1.3",
        "suite": "TLS_AES_128_CCM_SHA256",
        "auth": "psk",
        "psk_mode": "psk_dhe_ke",
    },
    "certificate13": {
        "protocol": "dtls1.3",
        "suite": "TLS_AES_128_GCM_SHA256",
        "credential": "certificate",
    },
}
"""The keys of `[session]` that are replaced in the scenario `psk-tinydtls`."""


def scenario(name: str) -> Scenario:
    """The scenario of a session."""
    session = {"stack": "lean-dtls", **SESSIONS[name]}
    return Scenario("psk-tinydtls", {f"session.{key}": value for key, value in session.items()})


def main(folder: Path) -> None:
    """Writes a module for each session."""
    for name in SESSIONS:
        made = snippets(scenario(name), "lean-dtls")
        rust = next(snippet for snippet in made if snippet.language == "rust")
        (folder / f"{name}.rs").write_text(rust.text)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else HERE)
