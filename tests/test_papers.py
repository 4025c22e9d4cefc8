"""`slowhand papers`: the comparison, its verdicts, and that a verdict can be `no`."""

import io
import json
import random
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

import slowhand
from conftest import ROOT, Cli, the_message
from slowhand import papers, plot
from slowhand.estimate import Estimate, median, percentile, r_squared
from slowhand.papers import report
from slowhand.papers.capture import FINISHED, finished_octets
from slowhand.papers.claeys2021 import (
    acknowledgements,
    alternatives,
    buffers,
    burst,
    duty,
    fit,
    resumption,
    tls13,
)
from slowhand.papers.claeys2021 import loss as fragment_loss
from slowhand.papers.comparison import Paper, Reported, Tally
from slowhand.papers.kothmayr2013 import finished, fragments, keys, round_trip
from slowhand.papers.points import COLUMNS, Laboratory, Measured, Point
from slowhand.papers.vucinic2015 import beacon, tables, tsch, xmac
from slowhand.terminal import Terminal

FOLDER = ROOT / "papers" / "vucinic2015"
CLAEYS = ROOT / "papers" / "claeys2021"
KOTHMAYR = ROOT / "papers" / "kothmayr2013"
ROW = {
    "id", "quantity", "unit", "reported", "ours", "ci95", "ratio", "tolerance", "verdict",
    "evidence",
}  # fmt: skip
EXPLANATION = re.compile(r"^\| (`[^|]*) \|[^|]*\| ([^|]*) \| ([^|]*) \|$", re.MULTILINE)
"""A row of a README that names rows of the paper: which, ours, and why it does not agree."""

each = pytest.mark.parametrize("paper", papers.papers(), ids=lambda paper: paper.id)


def reported(
    kind: str, number: object, tolerance: float | None = None, evidence: str | None = "independent"
) -> Reported:
    proves = None if kind == "note" else "sign" if kind == "positive" else evidence
    return Reported("x", "x", "x", "s", number, kind, "x", proves, tolerance)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("row", "ours", "verdict"),
    [
        (reported("exact", 3.467), Estimate(3.46667), "yes"),
        (reported("exact", 3.467), Estimate(3.4676), "no"),
        (reported("exact", 17.0), Estimate(17.24), "yes"),
        (reported("ratio", 29.05, 0.25), Estimate(36.3), "yes"),
        (reported("ratio", 29.05, 0.25), Estimate(36.4), "no"),
        (reported("ratio", 29.05, 0.25), Estimate(21.7), "no"),
        (reported("range", (2.5, 3.5)), Estimate(3.5), "yes"),
        (reported("range", (2.5, 3.5)), Estimate(2.4), "no"),
        (reported("least", 0.99), Estimate(0.989), "no"),
        (reported("interval", 10.0), Estimate(10.2, 0.3), "yes"),
        (reported("interval", 10.0), Estimate(10.2, 0.1), "no"),
        (reported("word", 3.0), Estimate(3.59), "yes"),
        (reported("word", 3.0), Estimate(3.61), "no"),
        (reported("positive", None), Estimate(0.2, 0.1), "yes"),
        (reported("positive", None), Estimate(0.2, 0.3), "no"),
        (reported("note", 5.5), Estimate(1.0), "note"),
        (reported("ratio", 29.05, 0.25), None, "no"),
    ],
)
def test_verdicts(row: Reported, ours: Estimate | None, verdict: str) -> None:
    assert row.judge(ours).verdict == verdict


def test_a_row_is_nearer_to_its_number_than_to_those_that_differ_in_one_setting() -> None:
    row = Reported("n", "x", "x", "s", 10.0, "nearer", "x", "independent", than=("a", "b"))
    row = row.apart_from([reported("note", 4.0, evidence=None), reported("word", 13.0)])
    # By hand: half of the way to 13, on both sides.
    assert row.margin == 1.5
    verdicts = {ours: row.judge(Estimate(ours)).verdict for ours in (8.5, 8.6, 11.4, 11.5)}
    assert verdicts == {8.5: "no", 8.6: "yes", 11.4: "yes", 11.5: "no"}
    assert row.judge(Estimate(10.0)).json()["tolerance"] == "± 1.5"
    with pytest.raises(ValueError, match=r"^n: than: a row has the same number"):
        row.apart_from([reported("word", 10.0)])
    with pytest.raises(ValueError, match=r"^n: than: each row has to be one number"):
        row.apart_from([reported("range", (1.0, 2.0))])


@pytest.mark.parametrize(
    ("kind", "number", "evidence", "said"),
    [
        ("exact", 1.0, None, "evidence: found None"),
        ("exact", 1.0, "fitted", "evidence: found fitted"),
        ("note", 1.0, "independent", "evidence: found independent, allowed: none, fitted"),
        ("positive", None, "independent", "evidence: found independent"),
        ("positive", 1.0, "sign", "reported: found 1.0"),
        ("word", None, "independent", "reported: found None"),
        ("about", 1.0, "independent", "kind: found about"),
        ("ratio", 1.0, "independent", "tolerance"),
        ("nearer", 1.0, "independent", "than"),
    ],
)
def test_a_row_that_cannot_be_judged_is_refused(
    kind: str, number: object, evidence: str, said: str
) -> None:
    with pytest.raises(ValueError, match=f"^x: .*{said}"):
        Reported("x", "x", "x", "s", number, kind, "x", evidence)  # type: ignore[arg-type]


def test_rows_that_do_not_exist_or_are_there_twice_are_refused(tmp_path: Path) -> None:
    paper = '[paper]\ntitle = ""\nauthors = ""\npublished = ""\nparts = { x = "" }\n'
    row = '[[row]]\nid = "x.d"\npart = "x"\nquantity = ""\nunit = ""\nwhere = "x"\n'
    kind = 'kind = "nearer"\nevidence = "independent"\nreported = 1\nthan = ["x.a", "x.d"]\n'
    (tmp_path / "assumptions.toml").write_text("")
    (tmp_path / "reported.toml").write_text(paper + row + kind)
    with pytest.raises(ValueError, match=r"x\.d: than: no such row: x\.a"):
        Paper.load(tmp_path)
    (tmp_path / "reported.toml").write_text(paper + row + kind + row + kind)
    with pytest.raises(ValueError, match=r"x\.d: two rows have this id"):
        Paper.load(tmp_path)


def test_rows_are_counted_by_what_they_prove() -> None:
    tally = Tally.of(
        [
            ("yes", "independent"),
            ("no", "independent"),
            ("no", "independent"),
            ("yes", "sign"),
            ("no", "sign"),
            ("yes", "construction"),
            ("note", "fitted"),
            ("note", None),
            ("note", None),
        ]
    )
    others = "signs 1 of 2, by construction 1 of 1, fitted 1, not judged 2"
    assert (tally.independent, tally.others) == ("1 of 3 independent rows agree", others)
    assert tally.cells == ["1 of 3", "1 of 2", "1 of 1", "1", "2"]
    assert Tally.read(json.loads(json.dumps(tally.json()))) == tally


def test_estimates_by_hand() -> None:
    # 1..9: standard deviation sqrt(7.5), t for 8 degrees of freedom 2.306004135204.
    nine = Estimate.of(range(1, 10))
    assert nine.mean == 5
    assert nine.half == pytest.approx(2.306004135204 * 7.5**0.5 / 3, rel=1e-11)
    assert nine.ci95 == (5 - nine.half, 5 + nine.half)
    # Only clusters are independent: with those of each alike, twice 1 and twice 3 are as 1 and 3.
    assert Estimate.of([1, 1, 3, 3], [7, 7, 8, 8]) == Estimate.of([1, 3])
    assert Estimate.of([2.0, 2.0]).ci95 is None
    with pytest.raises(ValueError, match="no values"):
        Estimate.of([])
    with pytest.raises(ValueError, match="found 1, allowed: 2"):
        Estimate.of([1, 2], [1])
    # Relative errors of 3 % and 4 % make 5 %.
    ratio = Estimate(10, 0.3) / Estimate(5, 0.2)
    assert (ratio.mean, ratio.half) == pytest.approx((2.0, 0.1))
    difference = Estimate(10, 0.3) - Estimate(4, 0.4)
    assert (difference.mean, difference.half) == pytest.approx((6.0, 0.5))
    with pytest.raises(ZeroDivisionError):
        Estimate(10) / Estimate(0)
    assert Estimate.mean_of([Estimate(1, 0.3), Estimate(3, 0.4)]) == Estimate(2, 0.25)
    # numpy.percentile([4, 1, 2, 3], [50, 95]) is 2.5, 3.85.
    assert (median([4, 1, 2, 3]), percentile([4, 1, 2, 3], 0.95)) == pytest.approx((2.5, 3.85))
    with pytest.raises(ValueError, match="from 0 to 1"):
        percentile([1], 95)
    # y = 0, 1, 4 over 0, 1, 2: the line explains 4^2 / (2 x 26/3) of the variance.
    assert r_squared([0, 1, 2], [0, 1, 4]) == pytest.approx(16 / (2 * 26 / 3))


def test_tables_are_reproduced_to_the_digit(cli: Cli) -> None:
    for part, rows in (("table1", 8), ("table2", 6)):
        result = json.loads(cli("papers", "vucinic2015", part, "--json").stdout)
        assert result["paper"] == "vucinic2015"
        assert len(result["rows"]) == rows
        assert all(row.keys() >= ROW for row in result["rows"])
        assert {row["verdict"] for row in result["rows"]} <= {"yes", "note"}
    # By hand: a frame waits 101 / 2 slots and takes one; ten frames of four hops, 10 ms slots.
    assert tables.handshake_s(101, [1] * 4) == pytest.approx(4 * 10 * 0.01 * 51.5)
    assert tables.latency(101, [1], pdr=0.5) == 103


def test_the_conclusion_contradicts_the_table(cli: Cli) -> None:
    result = json.loads(cli("papers", "vucinic2015", "table1", "--json").stdout)
    (slip,) = (row for row in result["rows"] if row["reported"] == 5.5)
    assert slip["ours"] == pytest.approx(5.15)
    assert "slip" in slip["remark"]


def test_engset_is_confirmed(cli: Cli) -> None:
    result = json.loads(cli("papers", "vucinic2015", "memory", "--json").stdout)
    rows = {row["id"]: row for row in result["rows"]}
    assert rows["memory.blocking"]["ours"] == pytest.approx(100 * 1.25 / 7.25)
    assert rows["memory.refused"]["ours"] == pytest.approx(10)
    assert {row["verdict"] for row in result["rows"]} <= {"yes", "note"}


def test_a_no_ends_with_1_and_says_what_was_assumed(cli: Cli) -> None:
    done = cli("papers", "vucinic2015", "fig3", "--count", 10, code=1)
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    (row,) = (line for line in lines if line.strip().startswith("longest at BI 3.93 s"))
    assert " 35 " in row and row.split()[-2:] == ["no", "independent"]
    assert lines[-2].endswith(" independent rows agree")
    assert lines[-1].startswith("others: signs ")
    assert any("next active period" in line for line in lines)


def test_the_rows_are_those_that_the_file_lists(cli: Cli) -> None:
    result = json.loads(cli("papers", "vucinic2015", "fig3", "--count", 5, "--json", code=1).stdout)
    listed = tomllib.loads((FOLDER / "reported.toml").read_text())["row"]
    assert [row["id"] for row in result["rows"]] == [r["id"] for r in listed if r["part"] == "fig3"]
    used = {name for row in result["rows"] for name in row["assumed"]}
    assert result["assumptions"].keys() == used


def test_every_row_names_its_place_and_its_assumptions() -> None:
    for paper in papers.papers():
        ids = [row.id for row in paper.rows]
        assert len(ids) == len(set(ids))
        assert all(row.where and row.part in paper.parts for row in paper.rows)
        used = {name for row in paper.rows for name in row.assumed}
        assert used == paper.assumptions.keys(), "an assumption that nothing rests on"


@each
def test_an_independent_row_can_fail(paper: Paper) -> None:
    """No effect agrees with none, and one number with no more than half of the rows of a unit."""
    rows = [row for row in paper.rows if row.evidence == "independent"]
    assert all(row.judge(Estimate(0.0)).verdict == "no" for row in rows)
    nearer = [row for row in rows if row.margin]
    for unit in {row.unit for row in nearer}:
        alike = [row for row in nearer if row.unit == unit]
        # The number with which the most agree may be just inside the margin of one of them.
        ends = [
            paper.number(row.id) + side * (row.margin or 0.0)
            for row in alike
            for side in (-0.999, 0.999)
        ]
        agree = [sum(row.judge(Estimate(end)).verdict == "yes" for row in alike) for end in ends]
        assert max(agree) <= (len(alike) + 1) // 2, unit


@each
def test_the_readme_explains_each_row_that_does_not_agree(paper: Paper) -> None:
    recorded = paper.recorded()
    assert recorded
    missed = {id: ours for id, (verdict, ours, _) in recorded["rows"].items() if verdict == "no"}
    assert all(row.remark for row in paper.rows if row.id in missed)
    explained = {
        id: (number, cause)
        for ids, number, cause in EXPLANATION.findall((paper.folder / "README.md").read_text())
        for id in re.findall(r"`([^`]+)`", ids)
    }
    assert explained.keys() == missed.keys()
    for id, (number, cause) in explained.items():
        assert says(number, missed[id]), f"{id}: found {number}, recorded {missed[id]}"
        assert cause, id


def says(text: str, ours: float) -> bool:
    """True if a number in the text is ours, to the decimals that it has."""
    return any(
        round(ours, len(decimals)) == float(number.replace(",", ""))
        for number, decimals in re.findall(r"(-?\d[\d,]*(?:\.(\d+))?)", text)
    )


def test_figures_are_drawn(cli: Cli, tmp_path: Path) -> None:
    arguments = ("papers", "claeys2021", "fig8", "--count", 2, "--out", tmp_path / "f", "--json")
    result = json.loads(cli(*arguments).stdout)
    assert [Path(file).name for file in result["figures"]] == ["fig8.png", "fig8.svg"]
    png, svg = (Path(file).read_bytes() for file in result["figures"])
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert b"the client computes [s]" in svg, "text stays text"


def test_names_at_the_ends_of_curves_do_not_lie_on_each_other() -> None:
    places = plot.spread([50.0, 0.0, 51.0, 49.0, 200.0])
    assert sorted(places)[0] == 0 and sorted(places)[-1] == 200
    assert places[3] < places[0] < places[2], "in the order of the curves"
    assert [places[0] - places[3], places[2] - places[0]] == [plot.LINE, plot.LINE]


def test_the_point_of_a_figure_is_the_scenario_with_its_settings() -> None:
    """Duration by hand: a frame at the first wake-up, no loss, so that the order is CI's."""
    laboratory = Laboratory(FOLDER, count=40, update=lambda done: None)
    durations = [
        laboratory.measure(xmac.point(check, 1)).estimate("duration_s") for check in (125, 500)
    ]
    assert durations[0] and durations[1]
    # Six flights wait half a check interval on average, one and two frames behind them two each.
    assert durations[1].mean - durations[0].mean == pytest.approx(0.375 * 11, rel=0.15)
    assert laboratory.measure(xmac.point(125, 1)) is laboratory.measure(xmac.point(125, 1))


def test_beacon_mode_takes_half_an_interval_and_one_for_each_change_of_direction() -> None:
    laboratory = Laboratory(FOLDER, count=200, update=lambda done: None)
    duration = laboratory.measure(beacon.point(983.04, 61.44, 1)).estimate("duration_s")
    assert duration
    assert duration.mean / 0.98304 == pytest.approx(5.5, rel=0.03)


def test_a_flight_fits_the_shortest_active_period_unless_frames_take_longer() -> None:
    laboratory = Laboratory(FOLDER, count=50, update=lambda done: None)

    def durations(at: Point) -> list[float]:
        return laboratory.measure(at).samples["duration_s"]

    shortest, _, largest = beacon.CAPS_MS
    for bi_ms in (491.52, 3932.16):
        # The longest flight, of three frames, takes 3 x 6 ms after its beacon: the rest is unused.
        alike = [durations(beacon.point(bi_ms, cap, 1)) for cap in beacon.CAPS_MS]
        assert alike[0] == alike[1] == alike[2]
        # With 15 ms for a frame, three do not fit into 30.7 ms.
        slow = laboratory.mean(beacon.slow(bi_ms, shortest), "duration_s")
        assert (
            slow - laboratory.mean(beacon.slow(bi_ms, largest), "duration_s")
        ).mean > bi_ms / 1000


def test_the_ratio_by_delivery_is_judged_where_the_timer_is_the_papers() -> None:
    laboratory = Laboratory(FOLDER, count=2, update=lambda done: None)

    def is_measured(at: Point, value: float) -> None:
        samples = {column: [value, value] for column in COLUMNS}
        laboratory.measured[at] = Measured(Counter(completed=2), samples, [1, 2])

    for at in xmac.POINTS:
        is_measured(at, 1.0)
    for check_ms, hops, pdr in xmac.FIGURE:
        is_measured(xmac.point(check_ms, hops, pdr), float(check_ms * hops))
    # By hand: a round trip fits 2 s at 125 and 250 ms; at 500 and 1000 ms the timer is longer.
    for check_ms, ratio in ((125, 2), (250, 4), (500, 100), (1000, 100)):
        is_measured(xmac.point(check_ms, 1, 0.9), float(ratio * check_ms))
    # Four hops take longer still, which Fig. 2(c), a single hop, does not show.
    is_measured(xmac.point(1000, 4, 0.9), 1e6)
    found = xmac.measure(laboratory)
    assert found["pdr90.duration"] == found["pdr90.energy"] == Estimate(3.0)
    assert found["most"] == Estimate(100_000.0)
    assert found["longest"] == Estimate(1e6)


def test_the_equations_summed_over_flights() -> None:
    # One hop, one cell each way: six waits of half a slotframe, four of a whole one.
    assert tsch.flights_s(101, 1, 1) == pytest.approx((6 / 2 + 4) * 1.01)
    # Three cells: every wait is a quarter, as in equation (1).
    assert tsch.flights_s(101, 3, 1) == pytest.approx(10 / 4 * 1.01)
    # Two hops: the waits of the first frames twice, and the ClientHello's second frame at both.
    assert tsch.flights_s(101, 1, 2) == pytest.approx((6 + 4 + 2) * 1.01)


def test_schedules_give_each_link_its_cells_and_no_slot_twice() -> None:
    schedule = list(tsch._schedule(random.Random(1), 101, 3, 2))
    assert len(schedule) == 3 * 4
    assert len({cell["slot"] for cell in schedule}) == 12
    links = [(cell["from"], cell["to"]) for cell in schedule]
    assert {link: links.count(link) for link in links} == {
        (1, 0): 3, (0, 1): 3, (2, 1): 3, (1, 2): 3
    }  # fmt: skip


def test_the_frames_dropped_are_the_servers_last_flight() -> None:
    """They are the handshake's last, and a timer of 5 s passes where they can be sent again."""
    laboratory = Laboratory(KOTHMAYR, count=3, update=lambda done: None)
    for handshake, frames in finished.LAST_FLIGHT.items():
        whole = laboratory.measure(finished.whole(handshake))
        assert whole.samples["frames"] == [max(frames)] * 3, handshake
        dropped = laboratory.measure(finished.without_last_flight(handshake))
        assert dropped.completed == (handshake != "tinydtls"), handshake
        if dropped.completed:
            alike, longer = whole.samples["duration_s"], dropped.samples["duration_s"]
            late = [b - a for a, b in zip(alike, longer, strict=True)]
            assert late == pytest.approx([5.0] * 3, abs=0.05), handshake


def test_a_lossy_handshake_does_not_ask_the_tpm_again() -> None:
    laboratory = Laboratory(KOTHMAYR, count=20, update=lambda done: None)
    lossy = laboratory.measure(keys.lossy()).samples
    assert max(lossy["retransmissions_needed"]) > 0
    # By hand: a verification, an encryption, a signature; 52.8 mA at 3.3 V.
    assert lossy["energy_client_tpm_mj"] == pytest.approx([1.814 * 52.8 * 3.3] * 20)


def test_round_trips_are_those_of_the_paper_and_two_records(cli: Cli) -> None:
    arguments = ("papers", "kothmayr2013", "rtt", "--count", 5, "--json")
    rows = {row["id"]: row for row in json.loads(cli(*arguments, code=1).stdout)["rows"]}
    assert rows["rtt.cookie"]["verdict"] == rows["rtt.cookie.hop"]["verdict"] == "yes"
    # By hand: 70 ms for the two frames and the one of hello and cookie, less a frame of 10 ms.
    assert rows["rtt.16"]["ours"] == pytest.approx(60)
    assert rows["rtt.16.aes"]["ours"] == pytest.approx(rows["rtt.16"]["ours"] + 21)
    # By hand: (100 - 5) octets of a fragment, down to a multiple of 8.
    assert rows["rtt.steps"]["ours"] == pytest.approx(88)


def test_records_are_as_long_as_their_suites_make_them() -> None:
    """By hand: 24 octets of plaintext in the record of a Finished, and its 13 of header."""
    # CCM-8: 8 of nonce, 8 of tag.
    assert finished_octets(FOLDER, xmac.point(125, 1)) == 13 + 8 + 24 + 8
    # CBC, encrypted first: 16 of IV, 24 and the octet of length padded to two blocks, 20 of MAC.
    assert finished_octets(KOTHMAYR, finished.whole("rsa")) == 13 + 16 + 32 + 20
    # A link that loses nearly every frame: no handshake comes so far.
    nothing = Point.of("xmac.toml", {"mac.check_interval_ms": 125, "network.link_pdr": 0.01})
    with pytest.raises(ValueError, match=r"found lengths \[\], allowed: one"):
        finished_octets(FOLDER, nothing)


def test_a_record_by_formula_is_the_one_that_is_measured() -> None:
    laboratory = Laboratory(KOTHMAYR, count=2, update=lambda done: None)
    last, repeated = finished.whole("rsa"), finished.without_last_flight("rsa")
    more_s = laboratory.mean(repeated, "compute_client_s") - laboratory.mean(
        last, "compute_client_s"
    )
    record = round_trip.encrypted(FINISHED)
    assert record.octets == finished_octets(KOTHMAYR, last)
    assert record.compute_ms == pytest.approx(1000 * more_s.mean)
    # The paper's: 13 + 16 + (16 + 20 and the octet of length, padded to 48) octets, two blocks of
    # SHA-1 at 1.8 ms, three of AES at 0.75.
    assert round_trip.mac_first(16) == pytest.approx((77, 5.85))
    # The handshake's own datagrams: a ClientHello of 97 octets, a HelloVerifyRequest of 60.
    assert round_trip.frames(97) + round_trip.frames(60) == round_trip.COOKIE_FRAMES


def test_the_energy_of_operations_has_no_idle_listening() -> None:
    laboratory = Laboratory(KOTHMAYR, count=2, update=lambda done: None)
    energies = {
        "energy_client_mj": 100.0,
        "energy_client_cpu_mj": 40.0,
        "energy_client_tpm_mj": 20.0,
        "energy_client_tx_mj": 8.0,
        "energy_client_rx_mj": 6.0,
        "energy_client_listen_mj": 25.0,
        "energy_client_sleep_mj": 1.0,
    }
    samples = {column: [energies.get(column, 0.0)] * 2 for column in COLUMNS}
    samples["duration_s"] = [1.0, 3.0]
    samples["datagrams_lost"] = [0.0, 1.0]
    for at in keys.POINTS:
        laboratory.measured[at] = Measured(Counter(completed=2), samples, [1, 2])
    found = keys.measure(laboratory)
    assert found["energy.rsa"] == Estimate(74.0)
    assert found["energy.rsa.listening"] == Estimate(100.0)
    assert found["energy.tpm"] == Estimate(-20.0)
    assert found["loss.timer"] == Estimate(2.0)


def test_the_best_mtu_is_that_of_the_least_mean() -> None:
    laboratory = Laboratory(KOTHMAYR, count=2, update=lambda done: None)
    for number, (spread, loss, mtu) in enumerate(fragments.FIGURE):
        # Durations by hand: twice as long at twice the loss, least with 768 octets.
        seconds = (1 + abs(mtu - 768) / 100) * loss * (1 if spread == "flight" else 2)
        samples = {"duration_s": [seconds], "datagrams_lost": [float(number % 2)]}
        at = fragments.point(spread, loss, mtu)
        laboratory.measured[at] = Measured(Counter(completed=1), samples, [1])
    found = fragments.measure(laboratory)
    assert found["best"] == Estimate(768.0)
    assert found["512"] and found["512"].mean == pytest.approx(3.56)
    assert found["single.1232"] and found["single.1232"].mean == pytest.approx(5.64)


def test_tables_of_tls_and_dtls_are_the_papers(cli: Cli) -> None:
    for part, judged in (("table2", 9), ("table3", 4)):
        result = json.loads(cli("papers", "claeys2021", part, "--count", 10, "--json").stdout)
        verdicts = [row["verdict"] for row in result["rows"] if row["evidence"] == "independent"]
        assert verdicts == ["yes"] * judged, result["rows"]


def test_the_fit_takes_the_nearest_step() -> None:
    # A duration in steps of 100 ms, by the argument: 3.705 up to 50, 3.805 from 51 on.
    def seconds(x: int) -> float:
        return 3.705 + 0.1 * (x > 50)

    assert fit.nearest(seconds, 3.795, 20, 800) == 51
    assert fit.nearest(seconds, 3.715, 20, 800) == 50


def test_an_alternative_is_judged_as_the_rows_are() -> None:
    paper = papers.find("claeys2021")
    # By hand: half of the way from 4.285 to 4.495 s, and from 3359 to 3098 octets.
    ours = {
        "table2.tls.844.latency": Estimate(4.285 + 0.104),
        "table3.tls.844.latency": Estimate(3.209 / 2),
        "table3.tls.844.bytes": Estimate(3359 - 131),
    }
    assert alternatives.outside(paper, ours) == ["3.tls.844.latency", "3.tls.844.bytes"]
    assert alternatives.spread(paper, ours, "latency") == pytest.approx(
        (((0.104 / 4.285) ** 2 + 0.5**2) / 2) ** 0.5
    )


def test_the_timers_of_dtls_do_not_fire_where_the_schedule_is_sparse() -> None:
    laboratory = Laboratory(CLAEYS, count=3, update=lambda done: None)
    samples = laboratory.measure(duty.point("DTLS", 2, 10)).samples
    assert min(samples["duration_s"]) > 18  # twice a server's timer of 9 s
    assert samples["retransmissions_spurious"] == [0.0] * 3


def test_the_frames_of_a_packet() -> None:
    """By hand: fragments behind the first carry a multiple of 8 octets after 5 of header.

    The first has 4 octets of header and saves less than the 40 of the IPv6 header.
    """
    laboratory = Laboratory(CLAEYS, count=1, update=lambda done: None)
    found = {name: value.mean for name, value in buffers.fragments(laboratory).items() if value}
    assert 12 * 96 + 100 < 1280 <= 12 * 96 + 100 + 40 and 11 * 96 + 100 + 40 < 1280
    assert 14 * 88 + 92 >= 1280 > 13 * 88 + 92 + 40
    assert 17 * 72 + 76 >= 1280 > 16 * 72 + 76 + 40
    assert found == {"1280": 13.0, "1280.96": 15.0, "1280.80": 18.0}


def test_tls13_takes_a_round_trip_less() -> None:
    laboratory = Laboratory(CLAEYS, count=2, update=lambda done: None)
    found = {name: value.mean for name, value in tls13.measure(laboratory).items() if value}
    trips = [found[name] for name in ("round.trips.12", "round.trips.13", "less", "less.both")]
    assert trips == pytest.approx([2.0, 1.0, 1.0, 0.5], abs=0.03)


def test_a_resumed_session_computes_nothing_asymmetric() -> None:
    laboratory = Laboratory(CLAEYS, count=1, update=lambda done: None)
    # By hand: two products and a signature and two verifications with secp192r1, as the device's
    # file has them, times the factor of the scenario.
    asymmetric = 2.68 * (0.106 + 0.106 + 0.1296 + 2 * 0.2203)
    for protocol in resumption.PROTOCOLS:
        full, resumed = (
            laboratory.mean(resumption.point(protocol, way), "compute_client_s").mean
            for way in (None, "id")
        )
        assert resumed < 0.1
        assert full - resumed == pytest.approx(asymmetric, rel=0.02)


@pytest.mark.parametrize("part", ["fig8", "fig10"])
def test_computing_and_buffers_are_as_the_paper_says(cli: Cli, part: str) -> None:
    result = json.loads(cli("papers", "claeys2021", part, "--count", 2, "--json").stdout)
    assert {row["verdict"] for row in result["rows"]} == {"yes", "note"}


def test_a_loss_costs_dtls_a_timeout_and_tls_less() -> None:
    laboratory = Laboratory(CLAEYS, count=100, update=lambda done: None)
    increase = {
        name: fragment_loss.increase(laboratory, settings, "duration_s")
        for name, settings in {**fragment_loss.TLS, **fragment_loss.DTLS}.items()
        if name in ("tls.356", "dtls.1041")
    }
    # By hand: a timeout of 3 s on a handshake of 3.80 s.
    assert increase["dtls.1041"] and increase["dtls.1041"].mean == pytest.approx(79, abs=4)
    assert increase["tls.356"] and 5 <= increase["tls.356"].mean <= 15


def test_a_tunnel_carries_a_burst_over_hops() -> None:
    laboratory = Laboratory(CLAEYS, count=2, update=lambda done: None)
    for protocol in burst.PATIENT:
        msf, tunnel = (
            laboratory.mean(burst.scheduled(protocol, function), "duration_s").mean
            for function in ("msf", "tunnel")
        )
        assert tunnel < msf / 2


def test_what_sack_saves_is_a_mean_over_pairs() -> None:
    laboratory = Laboratory(CLAEYS, count=1, update=lambda done: None)
    points = acknowledgements.lossy(356, acknowledgements.WITHOUT), acknowledgements.lossy(356, {})
    # The second world completes without SACK only, the third with it only.
    for at, values, seeds in (
        (points[0], [130.0, 999.0, 150.0], [1, 2, 4]),
        (points[1], [100.0, 999.0, 140.0], [1, 3, 4]),
    ):
        samples = {"bytes_phy": values}
        laboratory.measured[at] = Measured(Counter(completed=3), samples, seeds)
    assert acknowledgements.saved(laboratory, *points, "bytes_phy").mean == pytest.approx(20.0)


def test_the_worst_case_has_the_interval_of_a_percentile() -> None:
    found = fragment_loss.worst_case([float(x) for x in range(1, 1002)])
    assert found and found.mean == pytest.approx(951.0)
    # By hand: 1.96 * sqrt(0.95 * 0.05 / 1001) of 1,000 steps.
    assert found.half == pytest.approx(13.5, abs=0.1)
    assert fragment_loss.worst_case([]) is None


def test_an_increase_is_the_median_over_a_run_without_loss() -> None:
    laboratory = Laboratory(CLAEYS, count=1, update=lambda done: None)
    settings = fragment_loss.DTLS["dtls.1041"]
    for rate, values in ((0.0, [100.0, 102.0]), (fragment_loss.LOSS, [101.0, 900.0, 151.5])):
        samples = {"bytes_phy": values}
        laboratory.measured[fragment_loss.point(settings, rate)] = Measured(
            Counter(completed=len(values)), samples, range(len(values))
        )
    found = fragment_loss.increase(laboratory, settings, "bytes_phy")
    assert found and found.mean == pytest.approx(50.0)


@each
@pytest.mark.parametrize("half", [0.0, 1234.5])
def test_the_table_of_a_whole_paper_fits(paper: Paper, half: float) -> None:
    rows = tuple(row.judge(Estimate(12345.678, half)) for row in paper.rows)
    laboratory = Laboratory(paper.folder, count=1, update=lambda done: None)
    found = papers.Reproduction(paper, tuple(paper.parts), rows, laboratory)
    printed = io.StringIO()
    report.show(found, Terminal(printed, width=80, styled=False))
    assert max(map(len, printed.getvalue().splitlines())) <= 80


def test_the_plan_of_a_paper_counts_the_worlds_that_are_run() -> None:
    done: list[int] = []
    for count in (1, 7):
        plan = papers.Plan.of("claeys2021", "fig6", count=count)
        plan.run(done.append)
        assert done[-1] == plan.worlds
    assert papers.Plan.of("vucinic2015", "fig2", count=3).worlds % 3 == 0


def test_the_json_of_a_paper_says_what_repeats_it(cli: Cli) -> None:
    result = json.loads(cli("papers", "vucinic2015", "table1", "--count", 3, "--json").stdout)
    assert (result["slowhand"], result["seed"], result["count"]) == (slowhand.__version__, 1, 3)


def test_there_is_a_letter_for_every_remark() -> None:
    assert report._letters(3) == ["a", "b", "c"]
    assert report._letters(53)[25:28] == ["z", "aa", "ab"]
    assert len(set(report._letters(300))) == 300


def test_numbers_of_assumptions_are_shown_as_ranges() -> None:
    assert report._ranges([1, 3, 4, 5, 8, 9]) == "1,3-5,8,9"
    assert report._ranges([]) == ""


def test_papers_are_listed(cli: Cli) -> None:
    listed = {paper["paper"]: paper for paper in json.loads(cli("papers", "--json").stdout)}
    assert listed.keys() >= {"claeys2021", "kothmayr2013", "vucinic2015"}
    assert "fig2" in listed["vucinic2015"]["parts"]
    shown = cli("papers").stdout.splitlines()
    assert max(map(len, shown)) <= 80
    for name, paper in listed.items():
        (line,) = (line for line in shown if line.startswith(f"{name} "))
        assert " ".join(Tally.read(paper["recorded"]["rows"]).cells) in " ".join(line.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nobody2001"], "vucinic2015"),
        (["vucinic2015", "fig9"], "fig2"),
        (["vucinic2015", "--count", 0], "--count"),
        (["vucinic2015", "--out", "/dev/null/figures"], "--out /dev/null/figures"),
    ],
)
def test_wrong_arguments_get_one_message(cli: Cli, arguments: list[str], said: str) -> None:
    assert said in the_message(cli("papers", *arguments, code=2))


def test_a_paper_is_checked_when_it_is_read(tmp_path: Path) -> None:
    text = (FOLDER / "reported.toml").read_text()
    (tmp_path / "assumptions.toml").write_text("")
    (tmp_path / "reported.toml").write_text(text)
    with pytest.raises(ValueError, match="assum"):
        Paper.load(tmp_path)


@pytest.mark.parametrize(
    "paper", ["claeys2021", "kothmayr2013", "lenders2023", "pittoli2016", "vucinic2015"]
)
def test_a_part_without_completed_handshakes_is_a_message(
    paper: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = Measured(Counter(gave_up=5), {column: [] for column in COLUMNS}, [])
    monkeypatch.setattr(Laboratory, "_run", lambda self, point: nothing)
    found = papers.Plan.of(paper).run()
    printed = io.StringIO()
    report.show(found, Terminal(printed, width=80, styled=False))
    assert found.failures, "some part needs a mean"
    if paper == "claeys2021":
        assert found.failures.keys() >= {"fig10", "fragments"}, "buffers of a failed handshake"
    for part, message in found.failures.items():
        assert part in found.parts
        assert message.startswith("no handshake completed (5 gave up) of ")
    assert " none " in printed.getvalue()
    assert not found.succeeded
    ours = {row.ours for row in found.rows if row.reported.part in found.failures}
    assert ours == {None}
