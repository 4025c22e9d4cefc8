"""Lives of batteries, from Python."""

from pathlib import Path

import pytest

import slowhand
from slowhand.keys import Setting

HOURLY: dict[str, Setting] = {"application.pattern": "periodic", "application.period_s": 3600}


def test_a_battery_loses_what_the_device_draws() -> None:
    answer = slowhand.battery("quickstart", set=HOURLY)
    life = answer["life"]
    assert life["worlds"] == 30
    assert life["counts"]["requests"] == 8766
    assert sum(life["purposes"].values()) == pytest.approx(sum(life["energy"].values()))
    low, high = life["energy_a_day_ci95"]
    assert low < life["energy_a_day_mj"] < high
    assert list(answer["batteries"]) == ["cr2032", "eneloop-pair", "l91-pair", "ls14250"]
    cell = answer["batteries"]["l91-pair"]
    lasts = cell["life"]
    drawn = life["energy_a_day_mj"] / life["supply_v"] / 3600
    assert lasts["charge_a_day_mah"] == pytest.approx(drawn)
    lost = cell["capacity_mah"] * 0.007 / 365.25
    assert lasts["years"] == pytest.approx(cell["capacity_mah"] / (drawn + lost) / 365.25)
    assert sum(lasts["shares"]) == pytest.approx(1)
    fewest, most = lasts["years_ci95"]
    assert fewest < lasts["years"] < most
    assert "cut_off_v" in cell["assumed"]


def test_a_month_in_full_is_near_the_estimate() -> None:
    settings = {**HOURLY, "application.pattern": "poisson"}
    estimated = slowhand.battery("quickstart", ["cr2032"], days=30, set=settings)["life"]
    full = slowhand.battery("quickstart", ["cr2032"], days=30, full=True, set=settings)["life"]
    assert full["energy_a_day_ci95"] is None
    assert full["worlds"] == 1
    low, high = estimated["energy_a_day_one95"]
    assert low <= full["energy_a_day_mj"] <= high


def test_what_protects_coap_decides_what_a_session_costs() -> None:
    """A NAT forgets the session of DTLS between two reports, and nothing of OSCORE."""
    answers = {
        protocol: slowhand.lives.ask("battery", worlds=5, set={"session.protocol": protocol})
        for protocol in ("oscore", "edhoc", "coap+dtls1.2")
    }
    counts = {name: each.document["life"]["counts"] for name, each in answers.items()}
    assert {name: each["handshakes_full"] for name, each in counts.items()} == {
        "oscore": 0,
        "edhoc": 1,
        "coap+dtls1.2": 8766,
    }
    years = {name: each.document["years"] for name, each in answers.items()}
    assert years["coap+dtls1.2"] < years["edhoc"]
    assert years["edhoc"] == pytest.approx(years["oscore"], rel=0.01)
    oscore = answers["oscore"]
    assert oscore.document["handshake_mj"] is None
    assert "handshake" not in oscore.document["sentence"]
    assert "Handshakes:" not in oscore.text()
    about_sessions = {
        name: [one["name"] for one in each.document["alternatives"] if one["about"] == "session"]
        for name, each in answers.items()
    }
    assert about_sessions == {
        "oscore": [],
        "edhoc": ["a new session each time"],
        "coap+dtls1.2": [
            "a connection ID",
            "resumption when the NAT has forgotten",
            "sessions resumed each time",
        ],
    }


def test_bad_input_names_the_key(tmp_path: Path) -> None:
    with pytest.raises(slowhand.ScenarioError, match=r"^application\.pattern: found nothing"):
        slowhand.battery("quickstart")
    with pytest.raises(slowhand.ScenarioError, match="battery: found cr2033, allowed: cr2032"):
        slowhand.battery("quickstart", ["cr2033"], set=HOURLY)
    with pytest.raises(slowhand.ScenarioError, match=r"application\.period_s: found 0"):
        slowhand.battery("quickstart", set={**HOURLY, "application.period_s": 0})
    with pytest.raises(slowhand.ScenarioError, match="days: found -1, allowed: above 0, at most 3"):
        slowhand.battery("quickstart", days=-1, set=HOURLY)
    with pytest.raises(TypeError, match="batteries: found 'cr2032' of type str, allowed: a list"):
        slowhand.battery("quickstart", "cr2032", set=HOURLY)
    with pytest.raises(slowhand.ScenarioError, match="worlds: found 1, allowed: 2 to 10000"):
        slowhand.battery("quickstart", worlds=1, set=HOURLY)
    empty = tmp_path / "empty.toml"
    empty.write_text(
        """description = "a battery without capacity"
capacity_mah = { value = 0, assumed = "for a test" }
nominal_v = { value = 3, assumed = "for a test" }
cut_off_v = { value = 2, assumed = "for a test" }
self_discharge_percent = { value = 1, assumed = "for a test" }
"""
    )
    with pytest.raises(slowhand.ScenarioError, match="capacity_mah: found 0, allowed: a number"):
        slowhand.battery("quickstart", [str(empty)], set=HOURLY)
