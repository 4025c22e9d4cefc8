"""Scenarios from dictionaries, with keys replaced, and with rows in the place of a trace."""

import copy
import pickle
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import jsonschema
import numpy
import polars
import pytest
from polars.testing import assert_frame_equal

import slowhand
from conftest import QUICKSTART, ROOT, Cli, the_message
from slowhand.data import SCENARIOS, files

LINE: dict[str, Any] = {
    "network": {"topology": {"kind": "line", "hops": 1}, "link_pdr": 0.95},
    "mac": {"kind": "tsch", "slotframe": 11},
    "client": {"device": "nrf52840"},
    "session": {"stack": "tinydtls", "suite": "TLS_PSK_WITH_AES_128_CCM_8", "timeout_s": 9},
}

PSK: dict[str, slowhand.Setting] = {
    "session.suite": "TLS_PSK_WITH_AES_128_CCM_8",
    "session.auth": "psk",
}


@pytest.mark.parametrize("name", sorted(files(SCENARIOS)))
def test_each_scenario_is_the_same_as_a_dictionary(name: str) -> None:
    file = files(SCENARIOS)[name]
    made = slowhand.Scenario(tomllib.loads(file.read_text()))
    assert made.about() == slowhand.Scenario(file).about()


def test_a_dictionary_runs_as_its_file_does_and_its_result_repeats_it(tmp_path: Path) -> None:
    from_file = slowhand.run(QUICKSTART, count=3)
    run = slowhand.Run(slowhand.Scenario(tomllib.loads(QUICKSTART.read_text())), count=3)
    assert_frame_equal(run.frame(), from_file)
    run.write_parquet(tmp_path / "result.parquet")
    assert_frame_equal(slowhand.run(tmp_path / "result.parquet"), from_file)


def test_a_wrong_dictionary_is_refused_by_key() -> None:
    wrong = {**LINE, "network": {**LINE["network"], "link_pdr": 2}}
    with pytest.raises(slowhand.ScenarioError, match=r"^scenario\.toml:\d+: network\.link_pdr: fo"):
        slowhand.Scenario(wrong)
    with pytest.raises(slowhand.ScenarioError, match=r"scenario\.toml.*session"):
        slowhand.Scenario({key: LINE[key] for key in ("network", "mac", "client")})
    with pytest.raises(TypeError, match="setting: found b'x' of type bytes"):
        slowhand.Scenario({**LINE, "client": {"device": b"x"}})
    with pytest.raises(
        slowhand.ScenarioError, match=r'toml: device = "\\udc80": found octets that'
    ):
        slowhand.Scenario({**LINE, "client": {"device": "\udc80"}})
    with pytest.raises(slowhand.ScenarioError, match=r"found '\\udc80' of type str in a row"):
        slowhand.Scenario(LINE, {"network.trace.file": [(0, 1, 0, "\udc80", 1)]})
    inside: dict[str, Any] = {}
    inside["inside"] = inside
    with pytest.raises(TypeError, match="setting: found a value inside of itself"):
        slowhand.Scenario({**LINE, "traffic": inside})


def test_with_replaces_keys_and_leaves_the_original_as_it_was() -> None:
    scenario = slowhand.Scenario("quickstart")
    other = scenario.with_({"session.timeout_s": 9}).with_({"network.link_pdr": 1})
    assert other.overrides == ["session.timeout_s=9", "network.link_pdr=1"]
    assert scenario.overrides == []
    both: dict[str, slowhand.Setting] = {"session.timeout_s": 9, "network.link_pdr": 1}
    assert other.sources == slowhand.Scenario("quickstart", both).sources
    assert_frame_equal(slowhand.run(other, count=2), slowhand.run(scenario, count=2, set=both))
    again = slowhand.Scenario("quickstart", ["session.timeout_s=9", "network.link_pdr=1"])
    assert again.sources == other.sources


def test_with_says_what_is_wrong_as_the_constructor_does() -> None:
    scenario = slowhand.Scenario("quickstart")
    with pytest.raises(slowhand.ScenarioError, match=r"^--set network\.link_pdr: found 2, allowed"):
        scenario.with_({"network.link_pdr": 2})
    with pytest.raises(TypeError, match=r"found 'session\.timeout_s=9', allowed: a dictionary, or"):
        scenario.with_("session.timeout_s=9")
    with pytest.raises(TypeError, match=r"settings: found \[9\], allowed: a dictionary, or a list"):
        scenario.with_([9])  # type: ignore[list-item]
    with pytest.raises(slowhand.ScenarioError, match=r"--set x=\\udc80: found octets"):
        scenario.with_(["x=\udc80"])


def test_files_are_relative_to_the_scenario_also_for_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "devices").mkdir()
    (tmp_path / "devices" / "mine.toml").write_text('base = "nrf52840"\n')
    (tmp_path / "mine.toml").write_text(QUICKSTART.read_text())
    device: dict[str, slowhand.Setting] = {"client.device": "devices/mine.toml"}
    made = slowhand.Scenario(tmp_path / "mine.toml").with_(device)
    assert made.files["devices/mine.toml"] == 'base = "nrf52840"\n'
    with pytest.raises(slowhand.ScenarioError, match="devices/mine"):
        slowhand.Scenario(LINE).with_(device)
    monkeypatch.chdir(tmp_path)
    from_dict = slowhand.Scenario({**LINE, "client": {"device": "devices/mine.toml"}})
    run = slowhand.Run(from_dict, count=1)
    run.write_parquet(tmp_path / "result.parquet")
    (tmp_path / "devices" / "mine.toml").unlink()
    # A result carries what it needs, and reads nothing else.
    assert_frame_equal(slowhand.run(tmp_path / "result.parquet"), run.frame())
    with pytest.raises(slowhand.ScenarioError):
        slowhand.Scenario(tmp_path / "result.parquet").with_({"client.device": "devices/x.toml"})


ROWS = [(0.0, 1, 0, None, 1.0), (0.5, 1, 0, 11, 0.25), (0.5, 0, 1, None, 0.5)]

CSV = "time_s,from,to,channel,pdr\n0,1,0,,1\n0.5,1,0,11,0.25\n0.5,0,1,,0.5\n"

COLUMNS = ("time_s", "from", "to", "channel", "pdr")


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        [dict(zip(COLUMNS, row, strict=True)) for row in ROWS],
        polars.DataFrame(ROWS, schema=list(COLUMNS), orient="row"),
        numpy.array(ROWS, dtype=float),
    ],
    ids=["list", "dictionaries", "polars", "numpy"],
)
def test_the_rows_of_a_trace_are_a_file_of_the_result(rows: Any, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(CSV)
    (tmp_path / "mine.toml").write_text(QUICKSTART.read_text())
    expected = slowhand.run(
        tmp_path / "mine.toml", count=5, set={**PSK, "network.trace": {"file": "own.csv"}}
    )
    assert not expected.equals(slowhand.run(QUICKSTART, count=5, set=PSK))
    scenario = slowhand.Scenario("quickstart", {**PSK, "network.trace.file": rows})
    assert scenario.files["trace.csv"] == CSV
    run = slowhand.Run(scenario, count=5)
    assert_frame_equal(run.frame(), expected)
    run.write_parquet(tmp_path / "result.parquet")
    assert_frame_equal(slowhand.run(tmp_path / "result.parquet"), expected)
    nested = {**LINE["network"], "trace": {"file": rows, "repeat_s": 5}}
    made = slowhand.Scenario({**LINE, "network": nested})
    assert made.files["trace.csv"] == CSV
    # Other rows take the place of these.
    assert "0.75" in made.with_({"network.trace.file": [(0, 1, 0, None, 0.75)]}).files["trace.csv"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(0, 1, 0, 1.0)], r"network\.trace\.file: found a row of 4 values, allowed: a path, or"),
        ([{"time_s": 0, "pdr": 1}], r"network\.trace\.file: found no column 'from', allowed: a pa"),
        ([{"time": 0}], r"network\.trace\.file: found column 'time', allowed"),
        (["0,1,0,,1"], r"network\.trace\.file: found the row '0,1,0,,1', allowed"),
        (7, r"network\.trace\.file: found 7 of type int, allowed"),
        ([(0, 1, 0, None, "1\n0,0,1,,0")], r"found '1\\n0,0,1,,0' of type str in a row, allowed"),
        ([(0, 1, 0, None, True)], r"network\.trace\.file: found True of type bool in a row, all"),
        ([(0, 1, 0, None, 10**5000)], r"found a number of more than 300 digits in a row, allowed"),
        ([(0, 1, 0, None, 1.5)], r"trace\.csv:2: pdr: found 1\.5, allowed: a probability"),
        ([(0, 1, 0, 3, 1)], r"trace\.csv:2: channel: found 3, allowed: a channel from 11 to 26"),
        ([], r"trace\.csv\", which has no line about a link of the topology, allowed"),
    ],
)
def test_wrong_rows_are_refused(rows: Any, message: str) -> None:
    with pytest.raises(slowhand.ScenarioError, match=message):
        slowhand.Scenario(LINE, {"network.trace.file": rows})


def test_alternating_losses_cost_what_their_parameters_say() -> None:
    """Always bad, with a delivery ratio of 0: nothing arrives. Always good: as without states."""
    good = {"good_ms": 1e6, "bad_ms": 0.001}
    bad = {"good_ms": 0.001, "bad_ms": 1e6}
    scenario = slowhand.Scenario(LINE, {"session.give_up_s": 30})
    without = slowhand.run(scenario, count=5)
    assert_frame_equal(
        slowhand.run(scenario, count=5, set={"network.gilbert_elliott": good}), without
    )
    lost = slowhand.run(scenario, count=5, set={"network.gilbert_elliott": bad})
    assert set(lost["outcome"]) == {"gave_up"}


def test_a_schedule_is_a_list_of_cells_or_a_data_frame() -> None:
    cells = [{"slot": slot, "from": slot % 2, "to": 1 - slot % 2} for slot in range(1, 11)]
    own: dict[str, slowhand.Setting] = {"mac.autonomous": False, "mac.schedule": cells}
    dense = slowhand.run(LINE, count=20, set=own)
    sparse = slowhand.run(LINE, count=20, set={**own, "mac.schedule": cells[:2]})
    # Five cells each way of eleven slots in place of one: several times as fast.
    ratio = sum(sparse["duration_s"]) / sum(dense["duration_s"])
    assert 2.5 < ratio < 5.5
    frame = slowhand.run(LINE, count=20, set={**own, "mac.schedule": polars.DataFrame(cells)})
    assert_frame_equal(frame, dense)


@pytest.mark.parametrize("table", ["records", "nodes", "timeline", "buffers"])
def test_rows_are_as_their_schema_says(table: str) -> None:
    schema = slowhand.schema(table)
    jsonschema.Draft202012Validator.check_schema(schema)
    scenario = slowhand.Scenario("busy", {"lowpan.fragment_loss": 0.3})
    if table == "records":
        frame = slowhand.run(scenario, count=3)
    else:
        frame = getattr(scenario.inspect(), table)
    assert frame.columns == schema["required"]
    assert {*frame.columns} == {*schema["properties"]}
    validator = jsonschema.Draft202012Validator(schema)
    for row in frame.head(50).iter_rows(named=True):
        validator.validate(row)


def test_no_example_of_the_scenarios_is_forgotten() -> None:
    assert len(files(SCENARIOS)) == len(list((ROOT / "scenarios").glob("*.toml"))) > 10


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_scenario_is_pickled_and_made_again_without_its_files(
    protocol: int, tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text(QUICKSTART.read_text())
    scenario = slowhand.Scenario(tmp_path / "mine.toml", {**PSK, "network.trace.file": ROWS})
    octets = pickle.dumps(scenario, protocol)
    (tmp_path / "mine.toml").unlink()
    for other in (pickle.loads(octets), copy.deepcopy(scenario), copy.copy(scenario)):
        assert (other.sources, other.path) == (scenario.sources, scenario.path)
        assert_frame_equal(slowhand.run(other, count=2), slowhand.run(scenario, count=2))
        assert other.with_({"session.timeout_s": 9}).overrides[-1] == "session.timeout_s=9"


@pytest.mark.parametrize("source", [b"quickstart", 7, None, ["quickstart"]])
def test_what_is_no_scenario_is_refused_by_name(source: Any) -> None:
    with pytest.raises(TypeError, match=r"scenario: found .* of type \w+, allowed: a name, a path"):
        slowhand.Scenario(source)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: slowhand.run("quickstart", count=cast("Any", "3")), "count: found '3' of"),
        (lambda: slowhand.run("quickstart", seed=cast("Any", 1.5)), "seed: found 1.5 of"),
        (lambda: slowhand.compare(["quickstart"], count=cast("Any", "3")), "count: found '3' of"),
        (lambda: slowhand.compare(cast("Any", "quickstart")), "scenarios: found 'quickstart' of"),
    ],
)
def test_wrong_types_are_refused_by_name(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        call()


def test_a_comparison_of_nothing_is_refused() -> None:
    with pytest.raises(slowhand.SweepError, match="scenarios: found none, allowed: one or more"):
        slowhand.compare([])


def test_a_scenario_without_a_client_is_refused_by_name(cli: Cli) -> None:
    said = "--set server.at: found 1, where the only client would be, allowed: another place, or"
    for options in ([], ["--explain"]):
        message = the_message(cli("run", "quickstart", "--set", "server.at=1", *options, code=2))
        assert message.startswith(f"slowhand: {said}")
