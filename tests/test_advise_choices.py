"""Choices of an advice: values, libraries, suites, defaults, worse networks, simple questions."""

import json
import os
import random
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import slowhand
from advising import FAST, LOSSY, PSK
from conftest import Cli
from slowhand.advice import AdviceError, Adviser, defaults, networks
from slowhand.advice.forms import Question
from slowhand.advice.front import ALIKE, Numbers
from slowhand.advice.racing import least
from slowhand.advice.space import GROUPS, space
from slowhand.keys import Setting

# Defaults and worse networks


def test_every_library_has_the_timer_that_the_defaults_say() -> None:
    built_in = {stack["name"] for stack in slowhand.stacks() if "dtls1.2" in stack["protocols"]}
    assert {default.stack for default in defaults.LIBRARIES} == built_in
    for default in defaults.LIBRARIES:
        base: dict[str, Setting] = {"session.stack": default.stack or "", "mac.slotframe": 101}
        own = slowhand.run(PSK, count=20, set=base)
        said = slowhand.run(PSK, count=20, set={**base, "session.timeout_s": default.timeout_s})
        assert own.equals(said), default
        other = slowhand.run(PSK, count=20, set={**base, "session.timeout_s": 0.3})
        assert not own.equals(other), default


def test_defaults_that_are_the_same_have_one_row() -> None:
    scenario = slowhand.Scenario(LOSSY)
    rows = defaults.rows(scenario, stack_is_chosen=False)
    assert [(row.names, row.timeout_s, row.stack) for row in rows] == [
        (["RFC 6347, RFC 9147", "mbedTLS"], 1.0, "mbedtls"),
        (["Californium"], 2.0, "mbedtls"),
        (["OpenThread"], 8.0, "mbedtls"),
        (["RFC 7925, Contiki-NG"], 9.0, "mbedtls"),
    ]
    rows = defaults.rows(scenario, stack_is_chosen=True)
    assert (["tinyDTLS"], 2.0, "tinydtls") in [
        (row.names, row.timeout_s, row.stack) for row in rows
    ]


def worse(scenario: slowhand.Scenario) -> dict[str, list[str]]:
    """The overrides of each worse network."""
    return {
        stress.name: list(stress.overrides(scenario)) for stress in networks.applicable(scenario)
    }


def test_a_worse_network_is_worse_by_something_absolute() -> None:
    lost: dict[str, Setting] = {"lowpan.fragment_loss": 0.1, "server.internet_loss": 0.999}
    scenario = slowhand.Scenario(LOSSY, lost)
    assert worse(scenario) == {
        "links 10 points worse": ["network.link_pdr=0.8", "network.ack_pdr=0.9"],
        "2 % more fragments lost": ["lowpan.fragment_loss=0.12"],
        "the server 300 ms farther": ["server.internet_delay_ms=310.0"],
        "1 % lost on the Internet": ["server.internet_loss=1.0"],
        "all of these": [
            *("network.link_pdr=0.8", "network.ack_pdr=0.9", "lowpan.fragment_loss=0.12"),
            *("server.internet_delay_ms=310.0", "server.internet_loss=1.0"),
        ],
    }
    # Nothing is lost, and the server is on the border router.
    assert worse(slowhand.Scenario(PSK)) == {
        "links 10 points worse": ["network.link_pdr=0.9"],
        "2 % more fragments lost": ["lowpan.fragment_loss=0.02"],
        "all of these": ["network.link_pdr=0.9", "lowpan.fragment_loss=0.02"],
    }
    links = [{"from": 0, "to": 1, "pdr": 0.5}, {"from": 1, "to": 2, "pdr": 0.9, "reverse_pdr": 1.0}]
    explicit = slowhand.Scenario(
        PSK, {"network.topology": {"kind": "explicit", "links": links}, "client.nodes": [2]}
    )
    others, override = worse(explicit)["links 10 points worse"]
    assert others == "network.link_pdr=0.9"
    assert "pdr = 0.4" in override and "pdr = 0.8" in override and "reverse_pdr = 0.9" in override
    explicit.with_([others, override])


def test_a_worse_network_is_one_that_a_scenario_may_have() -> None:
    for share, expected in ((0.2, 0.1), (0.1, 0.01), (0.005, 0.005), (0.5, 0.4)):
        scenario = slowhand.Scenario(PSK, {"network.link_pdr": share})
        overrides = worse(scenario)["links 10 points worse"]
        assert overrides == [f"network.link_pdr={expected}"]
        scenario.with_(overrides)
    advice = slowhand.advise(
        PSK, choose={"session.timeout_s": [1, 9]}, fix={**FAST, "network.link_pdr": 0.2}, budget=480
    )
    assert [each["network"] for each in advice.json()["networks"]] == [*worse(scenario)]


def test_a_network_that_is_not_possible_is_left_out_and_named() -> None:
    longest = {"server.internet_delay_ms": 999_900}  # 1,000,000 are allowed
    advice = slowhand.advise(LOSSY, choose={"session.timeout_s": [9]}, fix=longest, budget=400)
    names = [each["network"] for each in advice.json()["networks"]]
    assert "links 10 points worse" in names and "the server 300 ms farther" not in names
    reasons = advice.json()["networks_not_possible"]
    assert [reason.partition(":")[0] for reason in reasons] == [
        "the server 300 ms farther",
        "all of these",
    ]
    assert all("--set server.internet_delay_ms: found 1000200" in reason for reason in reasons)
    assert "not possible: the server 300 ms farther: --set server" in advice.text


# Choices


def test_a_value_is_that_of_the_last_override() -> None:
    line: Setting = {"kind": "line", "hops": 2}
    settings: dict[str, Setting] = {"network.topology": line, "network.topology.hops": 4}
    scenario = slowhand.Scenario(LOSSY, settings)
    assert scenario.value("network.topology") == {"kind": "line", "hops": 4}
    assert scenario.value("network.topology.hops") == 4
    assert scenario.value("session.mtu") is None
    again = scenario.with_(["network.topology.hops=5"])
    assert again.value("network.topology.hops") == 5
    assert len(again.overrides) == 2


def test_a_scenario_in_newer_toml_has_its_values(tmp_path: Path) -> None:
    states = "gilbert_elliott = {\n good_ms = 900,\n bad_ms = 100,\n}\n"
    text = PSK.read_text().replace("[network]\n", f"[network]\n{states}")
    file = tmp_path / "newer.toml"
    file.write_text(text)  # TOML 1.1: an inline table over several lines, and a comma at its end
    with pytest.raises(tomllib.TOMLDecodeError):
        tomllib.loads(text)
    scenario = slowhand.Scenario(file)
    assert scenario.value("network.gilbert_elliott") == {"good_ms": 900, "bad_ms": 100}
    assert scenario.value("session.stack") == "tinydtls"
    (_, override) = worse(scenario)["links 10 points worse"]
    assert "bad_ms = 100" in override


def test_options_that_are_not_possible_are_left_out_and_counted() -> None:
    found = slowhand.advise(
        PSK,
        choose=["session.mtu=100,200,300", "stack"],
        budget=2_000,
        fix={"network.link_pdr": 0.9},
    ).json()
    # mbedTLS needs 192 octets, OpenSSL 208.
    assert found["configurations"] == 9
    assert sum(each["count"] for each in found["refused"]) == 3
    assert any("192 octets or more" in each["reason"] for each in found["refused"])


def test_reasons_of_impossible_options_are_whole_and_their_counts_add_up() -> None:
    fix: dict[str, Setting] = {"network.link_pdr": 0.9}
    choose = ["session.mtu=78,96,250", "stack"]
    advice = slowhand.advise(PSK, choose=choose, budget=2_000, fix=fix)
    said = " ".join(advice.text.split())
    said = said.partition(" other combinations are not possible: ")[2]
    said = said.partition(" psk-tinydtls.toml: ")[0]
    counts = [int(count) for count in re.findall(r"(\d+): (?:session\.mtu|\d+ other)", said)]
    assert sum(counts) == sum(each["count"] for each in advice.json()["refused"])
    assert "; the client runs mbedtls" in said
    assert "..." not in said
    assert said.endswith("other reasons (--json has them)")


def test_the_suite_follows_from_the_protocol_and_the_credential() -> None:
    adviser = Adviser(
        slowhand.Scenario(LOSSY), choose=["protocol", "credential", "stack", "session.mtu=256,512"]
    )
    found = set()
    for each in adviser.space.configurations:
        end = json.loads(each.scenario.native.settings())["client"]
        settings = each.settings
        assert end["protocol"] == settings["session.protocol"]
        assert end["credential"] == settings["session.credential"]
        assert end["stack"] == settings["session.stack"]
        found.add((end["protocol"], end["credential"], end["suite"]))
        # Without effect on TLS: only one of them is tried.
        assert not end["protocol"].startswith("tls") or settings["session.mtu"] == 256
    assert found == {
        ("dtls1.2", "psk", "TLS_PSK_WITH_AES_128_CCM_8"),
        ("dtls1.2", "certificate", "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8"),
        ("tls1.2", "psk", "TLS_PSK_WITH_AES_128_CCM_8"),
        ("tls1.2", "certificate", "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8"),
        ("tls1.3", "certificate", "TLS_AES_128_CCM_8_SHA256"),
        # rustls has no CCM_8: its own first choice that the server has too.
        ("tls1.2", "certificate", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"),
        ("tls1.3", "certificate", "TLS_AES_256_GCM_SHA384"),
    }


def test_many_configurations_get_a_larger_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    def adviser() -> Adviser:
        return Adviser(slowhand.Scenario(PSK), choose=["timers", "mtu"])

    assert adviser().budget == 60_000
    monkeypatch.setattr("slowhand.advice.HANDSHAKES", 1_000)
    monkeypatch.setattr("slowhand.advice.FINALISTS", 1)
    monkeypatch.setattr("slowhand.advice.ENOUGH", 1)
    race = least(len(adviser().space.configurations), 1)
    assert adviser().budget == race * 3 // 2


def test_tls_over_tcp_has_other_timers() -> None:
    adviser = Adviser(slowhand.Scenario(LOSSY, {"session.protocol": "tls1.2"}), fix=["recovery"])
    assert adviser.space.keys == [
        *("transport.client.initial_rto_s", "transport.server.initial_rto_s"),
        *("transport.client.mss", "transport.server.mss"),
        "session.stack",
    ]
    for each in adviser.space.configurations:
        client, server = (each.settings[f"transport.{end}.mss"] for end in ("client", "server"))
        assert client == server


def test_keys_of_one_protocol_make_no_equal_configurations() -> None:
    base = slowhand.Scenario("edhoc")

    def of_each(*choose: str) -> Counter[object]:
        found = space(base, ["session.protocol=coap,oscore,edhoc,coap+dtls1.2", *choose], [])
        return Counter(one.settings["session.protocol"] for one in found.configurations)

    assert of_each("session.edhoc.message_4=false,true") == {
        **{"coap": 1, "oscore": 1, "edhoc": 2, "coap+dtls1.2": 1}
    }
    assert of_each("session.coap.max_retransmit=2,4") == {
        **{"coap": 2, "oscore": 2, "edhoc": 2, "coap+dtls1.2": 2}
    }
    keys = "736c6f7768616e642d746573746b6579", "00ff00ff00ff00ff00ff00ff00ff00ff"
    of_keys = of_each("session.psk=" + ",".join(f'"{key}"' for key in keys))
    assert (of_keys["coap"], of_keys["oscore"], of_keys["edhoc"]) == (1, 2, 1)
    for protocol, key in [
        ("oscore", "session.edhoc.message_4=false,true"),
        ("dtls1.2", "session.coap.max_retransmit=2,4"),
        ("coap+tcp", "session.coap.max_retransmit=2,4"),
        ("edhoc", "session.psk_mode=psk_ke,psk_dhe_ke"),
    ]:
        other = slowhand.Scenario(LOSSY, {"session.protocol": protocol})
        with pytest.raises(AdviceError, match=f"has no effect on {re.escape(protocol)}"):
            space(other, [key], [])


def test_keys_of_what_carries_dtls_count_with_it() -> None:
    """`session.coap` has the timers of a handshake in CoAP, and the library's have no effect."""
    coap, timer = "session.coap.max_retransmit=2,4", "session.timeout_s=1,2"
    dccp, block = "transport.dccp.ack_ratio=1,2", "session.coap.block_bytes=32,64"

    def each(key: str, **session: Setting) -> int:
        changes = {f"session.{k}": v for k, v in session.items()}
        return len(space(slowhand.Scenario(PSK, changes), [key], []).configurations)

    for session, keys in (
        ({"carrier": "coap"}, (coap, block)),
        ({"carrier": "dccp"}, (dccp, timer)),
        ({"trust_anchor": True}, (coap, block, timer)),
        ({}, (timer,)),
    ):
        for key in (coap, block, timer, dccp):
            if key in keys:
                assert each(key, **session) == 2, (session, key)
            else:
                with pytest.raises(AdviceError, match=r"has no effect on dtls1\.2"):
                    each(key, **session)
    # Where the carrier is chosen, each way has its own.
    found = space(
        slowhand.Scenario(PSK), ["session.carrier=udp,coap", coap, timer], []
    ).configurations
    assert Counter(each.settings["session.carrier"] for each in found) == {"udp": 2, "coap": 2}


def test_timers_of_dtls_have_no_effect_in_coap() -> None:
    changes: dict[str, Setting] = {"session.carrier": "coap", "session.stack": "lean-dtls"}
    base = slowhand.run(PSK, count=2, set=changes)
    for key, value in (("timeout_s", 0.7), ("server_timeout_s", 0.7), ("datagram_packing", False)):
        found = slowhand.run(PSK, count=2, set={**changes, f"session.{key}": value})
        assert found.equals(base), key
    for key, word in (("max_timeout_s", 30), ("timeout_floor_s", 2), ("backoff", "cocoa")):
        with pytest.raises(slowhand.ScenarioError, match=rf"session\.{key}"):
            slowhand.Scenario(PSK, {**changes, f"session.{key}": word})


@pytest.mark.parametrize("name", GROUPS)
def test_every_name_that_may_be_chosen_has_possible_values(name: str) -> None:
    base: dict[str, Setting] = {"session.stack": "mbedtls"}
    if name in ("tcp_timers", "segments"):
        base["session.protocol"] = "tls1.2"
    file = "battery" if name in ("keep_alives", "polls") else LOSSY  # a NAT, a sleepy device
    found = Adviser(slowhand.Scenario(file, base), choose=[name]).space
    assert len(found.configurations) > 1
    assert len({each.overrides for each in found.configurations}) == len(found.configurations)


# Questions without a file


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "--hops 2 --slotframe 31 --credential psk",
            ["run lossy-line", "hops=2", "slotframe=31", "TLS_PSK_WITH_AES_128_CCM_8"],
        ),
        ("--mac xmac --loss 2%", ["run xmac", "link_pdr=0.98"]),
        ("--mac csma --hops 1 --credential certificate", ["run csma", "TLS_ECDHE_ECDSA"]),
        ("--mac beacon --hops 1 --device telosb", ["run beacon", "client.device"]),
        ("--mac thread", ["run thread"]),
    ],
)
def test_a_question_without_a_file_shows_its_scenario(
    cli: Cli, question: str, expected: list[str]
) -> None:
    arguments = [*question.split(), "--choose", "session.timeout_s=2,9", "--budget", "2400"]
    text = cli("advise", *arguments).stdout
    command = text.partition("try it with:")[2].replace("\\\n", "")
    for part in expected:
        assert part in command, text
    words = command.replace("'", "").split()[1:]
    assert "completed" in cli(*words, "--count", 3).stdout


def questions(count: int) -> Iterator[Question]:
    """Networks at random, the same each time: every link layer and credential among them."""
    chance = random.Random(12)
    macs = ["tsch", "csma", "thread", "xmac", "beacon"]
    for number in range(count):
        mac = macs[number % len(macs)]
        yield Question(
            mac=mac,
            hops=chance.choice([1, 2, 3]),
            slotframe=chance.choice([17, 51, 101]) if mac == "tsch" else None,
            loss=chance.choice([0, 0.02, 0.05, 0.1]),
            credential=["psk", "certificate"][chance.randrange(2)],
        )


@pytest.mark.skipif("SLOWHAND_FULL" not in os.environ, reason="two minutes; ./test --full")
def test_on_many_networks_the_advice_is_not_dominated_and_beats_the_defaults() -> None:
    beats = 0
    for question in questions(12):
        advice = slowhand.advise(
            question.scenario(), choose=["timers", "mtu", "stack"], budget=16_000
        )
        adviser = advice.adviser

        def fresh(scenario: slowhand.Scenario, adviser: Adviser = adviser) -> Numbers:
            sample = adviser.sample(scenario)
            sample.add(slowhand.Run(scenario, seed=10**6, count=400))
            return sample.values(400)

        best = fresh(advice.scenario)
        for row in advice.finalists:
            assert row.configuration
            other = fresh(row.configuration.scenario)
            is_better = (other <= best).all() and (other < best * (1 - ALIKE)).any()
            assert not is_better, (question, row.name, advice.recommended.label)
        base = adviser.space.scenario
        scores = [
            adviser.scale.score(fresh(base.with_(default.row.overrides)))
            for default in adviser.defaults
        ]
        beats += all(adviser.scale.score(best) <= score + 1e-3 for score in scores)
    assert beats >= 11
