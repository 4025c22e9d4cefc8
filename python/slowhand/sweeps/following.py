"""What follows from a credential or a protocol that is varied: keys that fit only one of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from slowhand.api import Scenario

FOLLOWED = ("session.protocol", "session.credential")
"""If one of these keys is varied, the suite and who authenticates follow."""

SUITES = {
    "psk": "TLS_PSK_WITH_AES_128_CCM_8",
    "raw_public_key": "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
    "certificate": "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
    "ecjpake": "TLS_ECJPAKE_WITH_AES_128_CCM_8",
}
"""The suite that goes with a credential in version 1.2: RFC 7925 sections 4.2 to 4.4; that of a
password is Thread's."""

SUITE_13 = "TLS_AES_128_CCM_8_SHA256"
"""The suite of version 1.3: as short on the air as those."""


def auth_of(credential: str) -> str:
    """Who authenticates with a credential, if nothing else is said: both ends."""
    return "psk" if credential == "psk" else "mutual"


BELONGS = {
    "session.psk": "psk",
    "session.psk_identity": "psk",
    "session.psk_mode": "psk",
    "session.cryptography": "psk",
    "session.certificate_length": "certificate",
    "session.rsa_bits": "certificate",
}
"""Keys that belong to one credential: with another one they are left out."""


def followings(scenario: Scenario, settings: Mapping[str, object]) -> Iterator[tuple[str, ...]]:
    """The overrides that may follow from what is varied, the best first.

    The suite of RFC 7925; or none, so that the libraries choose, where they do not have it.
    """
    if "session.suite" in settings or not settings.keys() & {*FOLLOWED}:
        yield ()
        return
    end = json.loads(scenario.native.settings())["client"]
    protocol = str(settings.get("session.protocol") or end["protocol"])
    credential = str(settings.get("session.credential") or end["credential"])
    is_key_pair = credential not in ("psk", "ecjpake")  # those authenticate both ends
    auth = "server" if end["auth"] == "server" and is_key_pair else auth_of(credential)
    others = [f"session.auth={auth}"]
    if "session.credential" not in settings:
        others.append(f"session.credential={credential}")
    others += [
        f"{key}="
        for key, owner in BELONGS.items()
        if owner != credential and key not in settings and scenario.value(key) is not None
    ]
    suite = SUITE_13 if protocol.endswith("1.3") else SUITES.get(credential)
    if suite is not None:
        yield (*others, f"session.suite={suite}")
    removed = [] if scenario.value("session.suite") is None else ["session.suite="]
    yield (*others, *removed)
