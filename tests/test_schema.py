"""The schemas: every file that comes along is right by them, and wrong files are wrong."""

import ast
import contextlib
import functools
import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

import slowhand
from conftest import ROOT, Cli, the_message

SCENARIOS = [
    *sorted((ROOT / "scenarios").glob("*.toml")),
    *sorted(
        file
        for file in (ROOT / "papers").glob("*/*.toml")
        if file.name not in ("reported.toml", "assumptions.toml", "openmote.toml")
    ),
]
DEVICES = [
    *sorted((ROOT / "devices").glob("*.toml")),
    ROOT / "papers" / "claeys2021" / "openmote.toml",
]
BATTERIES = sorted((ROOT / "batteries").glob("*.toml"))
WRONG = ROOT / "crates" / "slowhand-lab" / "tests"

BETWEEN_KEYS = {
    "scenario": {
        "ack-guard-before-frame-end",
        "application-anew-with-resumption",
        "application-bytes-periodic",
        "application-keep-alive-anew",
        "application-keep-alive-too-late",
        "application-no-period",
        "application-once-without-bytes",
        "application-period-once",
        "application-resumed-without-resumption",
        "backoff-in-coap",
        "backoff-reversed",
        "backoff-with-mbedtls",
        "beacon-cap-too-long",
        "beacon-exponents",
        "beacon-no-room",
        "beacon-nobody-listens",
        "capabilities-of-joiners",
        "capabilities-of-lithe",
        "capabilities-over-forwarding",
        "capabilities-with-mesh-under",
        "capabilities-without-compression",
        "carrier-dccp-joining",
        "carrier-dccp-suppression",
        "carrier-dccp-with-coap",
        "carrier-dccp-with-tls",
        "carrier-of-programs",
        "carrier-without-dtls",
        "cells-one-way",
        "certificate-compression-dtls12",
        "certificate-compression-in-tls12",
        "certificate-compression-with-mbedtls",
        "certificate-suite-with-psk",
        "certificate-too-short",
        "certificate-too-short-for-rsa",
        "certificate-with-psk",
        "certificate-without-der",
        "change-without-link",
        "client-count-beyond",
        "client-not-in-topology",
        "coap-keep-alive",
        "coap-request-too-short",
        "coap-request-too-short-for-a-life",
        "context-beyond-15",
        "context-twice",
        "context-with-host-bits",
        "credential-not-with-library",
        "credential-with-other-auth",
        "credentials-differ",
        "csma-csl-not-a-multiple",
        "csma-csl-timeout",
        "csma-csl-too-short",
        "csma-csl-uncertainty",
        "csma-csl-without-sleepy",
        "csma-exponents",
        "csma-fast-polls-slower",
        "csma-poll-too-short",
        "csma-poll-without-sleepy",
        "csma-sleepy-forwards",
        "csma-sleepy-unknown",
        "dccp-rto-too-long",
        "delegation-in-mesh",
        "delegation-over-tls",
        "delegation-with-pre-validation",
        "delegation-with-psk",
        "delegation-with-slots",
        "delegation-without-resumption",
        "delivery-not-a-number",
        "delivery-zero",
        "device-file-missing",
        "device-unknown",
        "dtls13-fragment-length",
        "ecjpake-auth-server",
        "ecjpake-curve",
        "ecjpake-resumption",
        "ecjpake-tls13",
        "ecjpake-with-openssl",
        "ecjpake-with-other-suite",
        "ecjpake-with-psk",
        "edhoc-combined-with-message-4",
        "edhoc-combined-without-request",
        "edhoc-resumed",
        "false-start-in-coap",
        "false-start-with-mbedtls",
        "false-start-with-psk",
        "false-start-with-resumption",
        "forwarding-without",
        "frame-handling-unknown",
        "gateway-nothing-crosses",
        "guard-before-slot",
        "hops-beyond-ports",
        "identity-with-nul",
        "join-without-beacons",
        "joining-forwarder",
        "joining-fragments-forwarded",
        "joining-over-tls",
        "joining-port",
        "joining-rpl",
        "joining-sleepy",
        "joining-suppression",
        "joining-traffic",
        "joining-under-tsch",
        "lean-with-certificates",
        "lean-with-key-agreement",
        "lean-with-mbedtls",
        "leaves-as-clients",
        "leaves-of-a-line",
        "less-short-key",
        "link-one-way",
        "link-power-without-capture",
        "link-to-itself",
        "link-twice",
        "load-too-fast",
        "load-without-cell",
        "loss-spread-with-recovery",
        "max-timeout-in-coap",
        "memory-beyond-limit",
        "mesh-under-forwarding",
        "mesh-under-forwarding-entries",
        "mesh-under-long-addresses",
        "mesh-under-recovery",
        "mesh-under-rpl",
        "mesh-under-tsch",
        "mtu-too-small",
        "node-buffers-of-nobody",
        "node-buffers-twice",
        "node-forwards-nothing",
        "node-payload-compression-without",
        "node-without-links",
        "openssl-server-timeout",
        "openssl-timeout",
        "oscore-anew",
        "oscore-rekeying",
        "outage-backwards",
        "outage-twice",
        "outage-under-beacons",
        "outage-unknown-node",
        "packing-mbedtls",
        "parent-loop",
        "parent-missing",
        "parent-of-nobody",
        "parent-of-the-root",
        "parent-out-of-range",
        "payload-compression-lithe-in-coap",
        "payload-compression-lithe-over-quic",
        "payload-compression-lithe-without-dtls",
        "payload-compression-over-tcp",
        "payload-compression-with-recovery",
        "port-of-delegation-beyond-16-bits",
        "pre-validation-less",
        "pre-validation-dtls13",
        "pre-validation-of-programs",
        "pre-validation-of-raw-keys",
        "pre-validation-resumed",
        "pre-validation-with-openssl",
        "programs-beyond",
        "programs-environment-name",
        "programs-of-many-servers",
        "programs-open-quote",
        "programs-stdin-after-end",
        "psk-mode-of-dtls13",
        "psk-suite-with-certificates",
        "psk-too-long",
        "quic-mtu",
        "quic-not-with-library",
        "quic-psk",
        "readers-producer-beyond",
        "readers-producer-is-server",
        "recovery-without",
        "requests-over-dtls",
        "retry-longest-before-first",
        "routing-beside-parents",
        "routing-without-acknowledgements",
        "rpl-encoding-without",
        "rpl-frame-too-small",
        "rsa-suite-with-psk",
        "schedule-beside-cells",
        "schedule-between-strangers",
        "schedule-in-shared-slot",
        "schedule-node-busy",
        "schedule-of-unknown-node",
        "schedule-one-way",
        "schedule-slot-beyond-slotframe",
        "security-index-without",
        "security-slots-under-beacons",
        "security-slots-under-csma",
        "security-slots-under-xmac",
        "server-in-mesh-with-dropped",
        "server-in-mesh-with-internet",
        "server-leaves-no-client",
        "server-not-in-topology",
        "server-where-the-client-is",
        "shared-cells-beyond-slotframe",
        "slot-too-short",
        "slot-too-short-secured",
        "slot-without-timing",
        "slotframe-autonomous",
        "slotframe-crowded",
        "slots-idle-missing",
        "slots-idle-with-refuse",
        "slots-in-coap",
        "slots-over-dccp",
        "slots-policy-without",
        "slots-with-trust-anchor",
        "slots-without-session",
        "source-route-octets-storing",
        "stack-without-datagrams",
        "stack-without-streams",
        "suite-left-out-credentials-differ",
        "suite-left-out-without-psk",
        "tcp-buffer-below-segment",
        "tcp-min-rto-above-max",
        "timeout-beyond-maximum",
        "timeout-floor-in-coap",
        "timeout-floor-with-mbedtls",
        "timing-ends-before-sfd",
        "tinydtls-certificate",
        "tinydtls-connection-id",
        "tinydtls-curve",
        "tinydtls-fragment-length",
        "tinydtls-fragmenting-mtu",
        "tinydtls-fragmenting-mtu-ecdhe",
        "tinydtls-max-timeout",
        "tinydtls-resumption",
        "tinydtls-rsa",
        "tinydtls-server-max-timeout",
        "tinydtls-suite",
        "cookie-before-signatures",
        "tinydtls-without-cookie",
        "tls13-resumption-by-id",
        "trace-missing",
        "traffic-all-to-all",
        "traffic-beyond-memory",
        "traffic-burst-without",
        "traffic-bursts-of-nothing",
        "traffic-outside",
        "traffic-to-itself",
        "traffic-unknown-node",
        "tree-too-large",
        "tree-without-room",
        "trust-anchor-in-coap",
        "trust-anchor-of-programs",
        "trust-anchor-resumed",
        "trust-anchor-with-certificate",
        "walk-beside-changes",
        "walk-of-a-line",
        "weightless-mbedtls",
        "wifi-always",
        "wifi-unknown-node",
        "xmac-always-awake",
    },
    "device": {"base-circular", "base-unknown", "clock-stands-still"},
}
"""Wrong files whose fault no schema can express: it is between keys, or outside the file."""


@functools.cache
def validator(kind: str) -> jsonschema.Draft202012Validator:
    schema = slowhand.schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("kind", ["scenario", "device", "battery"])
def test_every_file_that_comes_along_is_right(kind: str) -> None:
    files = {"scenario": SCENARIOS, "device": DEVICES, "battery": BATTERIES}[kind]
    assert len(files) >= (4 if kind == "battery" else 5)
    for file in files:
        error = jsonschema.exceptions.best_match(
            validator(kind).iter_errors(tomllib.loads(file.read_text()))
        )
        assert error is None, f"{file}: {error}"


@pytest.mark.parametrize(
    ("key", "value"),
    [("capacity_mah", -1), ("nominal_v", "3 V"), ("self_discharge_percent", 101), ("colour", 1)],
)
def test_a_wrong_battery_is_wrong(key: str, value: object) -> None:
    battery = tomllib.loads(BATTERIES[0].read_text())
    constant = {"value": value, "assumed": "for a test"}
    assert validator("battery").is_valid(battery)
    assert not validator("battery").is_valid({**battery, key: constant})


@pytest.mark.parametrize(("kind", "folder"), [("scenario", "bad"), ("device", "bad_device")])
def test_every_wrong_file_is_wrong(kind: str, folder: str) -> None:
    checks, passed, found = validator(kind), set(), set()
    for file in sorted((WRONG / folder).glob("*.toml")):
        try:
            content = tomllib.loads(file.read_text())
        except tomllib.TOMLDecodeError:
            continue
        found.add(file.stem)
        if checks.is_valid(content):
            passed.add(file.stem)
    assert passed == BETWEEN_KEYS[kind]
    assert len(found - passed) > len(found) / 3, "the schema finds too few"


def test_every_default_of_a_schema_is_right_by_it() -> None:
    """An editor writes defaults into a file."""
    compared = 0
    for kind in ("scenario", "device"):
        schema = slowhand.schema(kind)
        for part in _objects(schema):
            if "default" in part:
                rest = {"$defs": schema["$defs"], **part}
                jsonschema.Draft202012Validator(rest).validate(part["default"])
                compared += 1
        assert '"null"' not in json.dumps(schema), "TOML has no null"
    assert compared > 40


def test_every_key_has_a_use() -> None:
    """A key that nothing sets might do nothing: tests/test_keys.py sets those that are left."""
    schema = slowhand.schema("scenario")
    used: set[str] = set()
    for text in _texts():
        # A name in braces is a number in most texts that are filled in.
        for filled in (text, re.sub(r"\{\w*\}", "0", text.replace("{{", "{").replace("}}", "}"))):
            with contextlib.suppress(tomllib.TOMLDecodeError):
                used.update(_set_keys(tomllib.loads(filled)))
        if key := re.match(r"([a-z_0-9.]+) ?=", text):
            used.add(re.sub(r"\.\d+\b", "", key[1]))
    keys = set(_keys(schema, schema["$defs"]))
    assert len(keys) > 300
    assert not sorted(keys - used)


def _keys(part: dict[str, Any], defs: dict[str, Any], path: str = "") -> Iterator[str]:
    """The paths of all keys of a schema. Those in a list, or behind a number, have no number."""
    if "$ref" in part:
        yield from _keys(defs[part["$ref"].rpartition("/")[2]], defs, path)
    below = [*part.get("oneOf", []), *part.get("anyOf", [])]
    below += [part.get("items"), part.get("additionalProperties")]
    for one in [*below, *part.get("patternProperties", {}).values()]:
        if isinstance(one, dict):
            yield from _keys(one, defs, path)
    for key, value in part.get("properties", {}).items():
        own = f"{path}.{key}".removeprefix(".")
        yield own
        yield from _keys(value, defs, own)


def _set_keys(value: Any, path: str = "") -> Iterator[str]:
    """The same paths of the keys that a document sets."""
    for item in value if isinstance(value, list) else ():
        yield from _set_keys(item, path)
    for key, item in value.items() if isinstance(value, dict) else ():
        own = path if key.isdecimal() else f"{path}.{key}".removeprefix(".")
        yield own
        yield from _set_keys(item, own)


def _texts() -> Iterator[str]:
    """What may set a key: scenarios, examples in documents, and strings in tests and scripts."""
    for folder in ("scenarios", "papers"):
        yield from (file.read_text() for file in (ROOT / folder).rglob("*.toml"))
    for file in (ROOT / "docs").rglob("*.md"):
        yield from re.findall(r"```toml\n(.*?)```", file.read_text(), re.DOTALL)
    for folder in ("tests", "docs", "papers"):
        for file in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.JoinedStr):
                    parts = (getattr(part, "value", 0) for part in node.values)
                    yield "".join(part if isinstance(part, str) else "0" for part in parts)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value
                elif isinstance(node, ast.Dict):
                    names = (getattr(key, "value", None) for key in node.keys)
                    yield from (f"{name}=" for name in names if isinstance(name, str))
    crates = ROOT / "crates"
    for file in (*crates.glob("*/tests/**/*.rs"), *crates.glob("*/src/**/tests.rs")):
        strings = r"r(#*)\"(.*?)\"\1|\"((?:[^\"\\]|\\.)*)\""
        for _, raw, plain in re.findall(strings, file.read_text(), re.DOTALL):
            lines = re.sub(r"\\\n\s*", "", plain)
            yield raw or lines.replace(r"\"", '"').replace(r"\n", "\n")


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in items:
        yield from _objects(item)


def test_the_command_prints_both(cli: Cli) -> None:
    for arguments, title in (
        ((), "Scenario"),
        (("scenario",), "Scenario"),
        (("device",), "Device"),
        (("battery",), "Battery"),
    ):
        assert json.loads(cli("schema", *arguments).stdout)["title"] == title
    message = the_message(cli("schema", "devise", code=2))
    assert message == (
        "slowhand: schema: found 'devise', allowed: scenario, device, battery, join, oscar, "
        "records, nodes, timeline, buffers; did you mean device?"
    )
