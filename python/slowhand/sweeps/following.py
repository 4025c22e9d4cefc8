"""Keys that follow from a credential, protocol or library that is varied: they fit only one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import product
from typing import Any

from slowhand._native import ScenarioError
from slowhand.api import STACK_KEYS, Scenario
from slowhand.sweeps.vary import Plain

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


LENGTH = "session.max_fragment_length"
"""A key that some libraries do not have."""

SAID = ("credential", "suite", "auth", "max_fragment_length")
"""The keys that may follow, and are said where they do."""


def ways(scenario: Scenario, settings: Mapping[str, object]) -> list[tuple[str, ...]]:
    """The overrides that may follow in a sweep, the best first: nothing, if that is possible.

    A library that is varied may have neither the suite of the scenario nor the extension for the
    length of fragments: the suite follows as from a credential, and the extension is left out. The
    credential that the scenario has by its suite or library is the last to go.
    """
    found: list[tuple[str, ...]] = [(), *followings(scenario, settings)]
    if settings.keys() & {*STACK_KEYS}:
        if "session.suite" not in settings and not settings.keys() & {*FOLLOWED}:
            found += _suites(scenario)
        if LENGTH not in settings and scenario.value(LENGTH) is not None:
            lengths = ((), (f"{LENGTH}=",))
            found = [(*way, *length) for length, way in product(lengths, found)]
        found = [*_with_credential(scenario, settings, found), *found]
    return list(dict.fromkeys(found))


def _with_credential(
    scenario: Scenario, settings: Mapping[str, object], found: list[tuple[str, ...]]
) -> Iterator[tuple[str, ...]]:
    """The ways with the credential that the scenario resolves to, where it does not name it.

    Another library may have another default.
    """
    key = "session.credential"
    credential = _resolved(scenario).get("credential")
    if key in settings or scenario.value(key) is not None or credential not in SUITES:
        return
    for way in found:
        is_said = any(text.startswith(f"{key}=") for text in way)
        yield way if is_said else (f"{key}={credential}", *way)


def _suites(scenario: Scenario) -> Iterator[tuple[str, ...]]:
    """The suite of RFC 7925 for the credential of a scenario; then what the library chooses."""
    if scenario.value("session.suite") is not None:
        end = _resolved(scenario)
        protocol, credential = str(end.get("protocol")), str(end.get("credential"))
        suite = SUITE_13 if protocol.endswith("1.3") else SUITES.get(credential)
        if suite is not None:
            yield (f"session.suite={suite}",)
        yield ("session.suite=",)


def followed(
    base: Scenario, scenario: Scenario, settings: Mapping[str, object]
) -> dict[str, Plain | None]:
    """The values of a session that it would not have without what is varied, by key."""
    before, now = _resolved(base), _resolved(scenario)
    return {
        f"session.{key}": now.get(key)
        for key in SAID
        if f"session.{key}" not in settings and now.get(key) != before.get(key)
    }


def _resolved(scenario: Scenario) -> dict[str, Any]:
    """The session of the client with all defaults; empty if there is none."""
    with suppress(ScenarioError):
        end: dict[str, Any] = json.loads(scenario.native.settings())["client"]
        return end
    return {}
