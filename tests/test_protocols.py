"""CoAP, OSCORE and EDHOC beside DTLS: one key changes from one to the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import slowhand
from conftest import Cli
from slowhand.keys import Setting

OVER_DTLS = {"session.protocol": "coap+dtls1.2"}


def test_the_same_scenario_runs_with_every_protection() -> None:
    frames = {
        protocol: slowhand.run("edhoc", count=5, set={"session.protocol": protocol})
        for protocol in ("coap", "oscore", "edhoc", "coap+dtls1.2")
    }
    for protocol, frame in frames.items():
        assert frame["data_outcome"].to_list() == ["completed"] * 5, protocol
    octets = {protocol: frame["bytes_payload"][0] for protocol, frame in frames.items()}
    assert octets["coap"] == octets["oscore"] == 0
    assert octets["edhoc"] == 180 < octets["coap+dtls1.2"]
    energy = {p: sum(f["energy_client_mj"].to_list()) for p, f in frames.items()}
    assert energy["oscore"] == 0 < energy["edhoc"] < energy["coap+dtls1.2"]


def test_a_run_without_requests_has_no_data() -> None:
    frame = slowhand.run("quickstart", count=2)
    assert frame["data_s"].to_list() == frame["data_outcome"].to_list() == [None, None]


def test_the_report_has_the_requests(cli: Cli) -> None:
    printed = cli("run", "edhoc", "--count", 3).stdout
    assert "The requests after the handshake" in printed
    assert "slowhand's own, edhoc" in printed
    assert "The requests" not in cli("run", "quickstart", "--count", 3).stdout
    metrics = json.loads(cli("run", "edhoc", "--count", 3, "--json").stdout)["metrics"]
    assert metrics["data_datagrams"]["mean"] == 2


def test_a_sweep_compares_them(cli: Cli) -> None:
    varied = "session.protocol=oscore,edhoc,coap+dtls1.2"
    printed = cli("sweep", "edhoc", "--vary", varied, "--count", 3).stdout
    assert all(f" {protocol} " in f" {printed} " for protocol in ("oscore", "edhoc"))


def test_an_explanation_names_the_messages() -> None:
    document = slowhand.Scenario("edhoc").explain(seed=1).document
    names = {event["name"] for event in document["events"] if event["kind"] == "message"}
    assert {"CON POST with EDHOC message_1", "CON POST with EDHOC message_3"} <= names


def test_a_notification_is_cheaper_than_a_request() -> None:
    ways: list[dict[str, Setting]] = [
        {},
        {"application.observe.period_s": 10},
        {"application.observe.period_s": 10, "application.observe.confirmable": False},
    ]
    common: dict[str, Setting] = {
        "session.protocol": "oscore",
        "application.requests": 4,
        "network.link_pdr": 1,
    }
    frames = [slowhand.run("edhoc", count=2, set={**common, **way}) for way in ways]
    octets = [frame["data_bytes_payload"][0] for frame in frames]
    assert octets[0] > octets[1] > octets[2]
    assert [frame["data_datagrams"][0] for frame in frames] == [8, 8, 5]


def test_a_library_has_no_settings_for_what_it_does_not_do(cli: Cli) -> None:
    failed = cli("settings", "oscore", code=2)
    assert "found oscore, allowed: a protocol that has TLS or DTLS" in failed.stderr
    below = cli("settings", "coap-dtls", "--library", "mbedtls").stdout
    assert "DTLS 1.2" in below or "mbedtls_ssl" in below


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"session.edhoc.combined": True, "application.requests": 0}, "session.edhoc.combined"),
        ({"session.protocol": "dtls1.2"}, "application.requests"),
        ({"server.slots": 2}, "server.slots"),
        (
            {
                "session.protocol": "dtls1.2",
                "application.requests": 0,
                "application.observe.period_s": 10,
            },
            "application.observe",
        ),
    ],
)
def test_bad_combinations_are_named(changes: dict[str, object], said: str) -> None:
    with pytest.raises(slowhand.ScenarioError, match=said):
        slowhand.Scenario("edhoc", changes)  # type: ignore[arg-type]


def test_two_processes_write_the_same_bytes(tmp_path: Path) -> None:
    """Records and captures of every protocol of CoAP, where frames are lost."""
    suite = "session.suite=TLS_AES_128_CCM_8_SHA256"
    changes = {
        **{"coap": [], "oscore": [], "edhoc": [], "coap+tcp": [], "coap+dtls1.2": []},
        "coap+dtls1.3": [suite],
        "coap+tls1.3": [suite, "session.stack=mbedtls", "session.credential=certificate"],
    }
    observed = ("coap", "oscore", "coap+tcp")
    commands = [
        [
            *("run", "edhoc", "--count", "3"),
            *("--records", f"{protocol}.parquet", "--pcap", f"{protocol}.pcapng"),
            *("--set", f"session.protocol={protocol}", "--set", "network.link_pdr=0.8"),
            *(word for change in own for word in ("--set", change)),
        ]
        for protocol, own in changes.items()
    ] + [
        [
            *("run", "edhoc", "--count", "3"),
            *("--records", f"{protocol}-observed.parquet", "--pcap", f"{protocol}-observed.pcapng"),
            *("--set", f"session.protocol={protocol}", "--set", "network.link_pdr=0.8"),
            *("--set", "application.requests=3", "--set", "application.observe.period_s=10"),
        ]
        for protocol in observed
    ]
    program = f"from slowhand.cli import execute\nfor each in {commands}: assert not execute(each)"
    written = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        folder.mkdir()
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", program], cwd=folder, env=environment, check=True)
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert len(written[0]) == 2 * (len(changes) + len(observed))
    assert written[0] == written[1]


def test_advice_for_a_session_without_a_library_has_no_settings_of_one() -> None:
    own = {
        "session.stack": "mbedtls",
        "session.suite": "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
        "session.credential": "certificate",
    }
    advice = slowhand.advise(
        slowhand.Scenario("edhoc", own),
        choose={"session.edhoc.message_4": [False, True]},
        budget=320,
    )
    assert advice.json()["type"] == []
    assert "session.edhoc.message_4" in advice.text
