"""`slowhand run`: the same records on every path, in the shapes that scripts rely on."""

import json
import os
import select
import signal
import subprocess
import tomllib
import warnings
from pathlib import Path

import numpy
import polars
import pytest
from polars.testing import assert_frame_equal

import slowhand
from conftest import QUICKSTART, Cli, the_message, without_time
from slowhand import _native
from slowhand.keys import toml

STATISTICS = {"mean", "ci95", "half", "min", "p50", "p95", "p99", "max"}
METRICS = {
    "duration_s",
    "bytes_phy",
    "frames",
    "datagrams",
    "energy_client_mj",
    "compute_client_s",
    "retransmissions_needed",
    "retransmissions_spurious",
}


def test_json_has_the_promised_shape(cli: Cli) -> None:
    done = cli("run", QUICKSTART, "--count", 20, "--seed", 7, "--json")
    result = json.loads(done.stdout)
    assert done.stderr == ""
    assert result["scenario"] == str(QUICKSTART)
    assert (result["seed"], result["count"]) == (7, 20)
    assert result["completed"] + sum(result["failed"].values()) == 20
    assert result["wall_s"] > 0
    assert result["metrics"].keys() >= METRICS
    for name, statistics in result["metrics"].items():
        assert statistics.keys() >= STATISTICS, name
        ordered = [statistics[key] for key in ("min", "p50", "p95", "p99", "max")]
        assert ordered == sorted(ordered), name
        low, high = statistics["ci95"]
        assert low >= 0, f"{name} is never negative"
        assert low <= statistics["mean"] <= high, name


def test_the_statistics_are_those_of_the_records(cli: Cli, tmp_path: Path) -> None:
    done = cli("run", QUICKSTART, "--count", 50, "--json", "--records", "r.parquet", *LOSSY)
    frame = polars.read_parquet(tmp_path / "r.parquet").filter(outcome="completed")
    result = json.loads(done.stdout)
    assert result["completed"] == len(frame)
    for name in METRICS:
        statistics = result["metrics"][name]
        assert statistics["mean"] == pytest.approx(frame[name].mean()), name
        assert statistics["min"] == frame[name].min(), name
        assert statistics["max"] == frame[name].max(), name
        # The 95 % interval of the mean by the t distribution with about 49 degrees of freedom.
        deviation = frame[name].std()
        assert isinstance(deviation, float)
        half = 2.01 * deviation / len(frame) ** 0.5
        assert statistics["half"] == pytest.approx(half, rel=0.01), name


LOSSY = ("--set", "network.link_pdr=0.8")


def test_records_depend_on_scenario_and_seed_alone(cli: Cli, tmp_path: Path) -> None:
    common = ("run", QUICKSTART, *LOSSY, "--json")
    one = cli(*common, "--count", 12, "--threads", 1, "--records", "one.parquet")
    two = cli(*common, "--count", 12, "--threads", 2, "--records", "two.parquet")
    assert without_time(one.stdout) == without_time(two.stdout)
    frame = polars.read_parquet(tmp_path / "one.parquet")
    assert_frame_equal(frame, polars.read_parquet(tmp_path / "two.parquet"))

    overrides: dict[str, slowhand.Setting] = {"network.link_pdr": 0.8}
    assert_frame_equal(frame, slowhand.run(QUICKSTART, count=12, set=overrides))

    assert frame["seed"].to_list() == list(range(1, 13))
    assert frame["duration_s"].n_unique() > 1, "seeds that change nothing prove nothing"
    cli(*common, "--count", 3, "--seed", 9, "--records", "tail.parquet")
    assert_frame_equal(frame.slice(8, 3), polars.read_parquet(tmp_path / "tail.parquet"))


def test_who_computes_changes_no_record() -> None:
    rows = [
        slowhand.run(QUICKSTART, count=5, set={"session.arithmetic": who})
        for who in ("memo", "assembly", "library")
    ]
    assert_frame_equal(rows[0], rows[1])
    assert_frame_equal(rows[0], rows[2])
    assert_frame_equal(rows[0], slowhand.run(QUICKSTART, count=5))


def test_sets_of_nonces_change_sessions_only(cli: Cli, tmp_path: Path) -> None:
    """Seeds 0 to 7: with 100 sets each has its own, with 2 sets the first two have."""
    own = slowhand.run(QUICKSTART, count=8, seed=0)
    assert_frame_equal(own, slowhand.run(QUICKSTART, count=8, seed=0, set={"session.nonces": 100}))
    two = slowhand.run(QUICKSTART, count=8, seed=0, threads=1, set={"session.nonces": 2})
    assert_frame_equal(own.slice(0, 2), two.slice(0, 2))
    assert not own.equals(two)
    common = ["run", QUICKSTART, "--count", 8, "--seed", 0, "--nonces", 2]
    done = cli(*common, "--json", "--records", "two.parquet")
    assert_frame_equal(two, polars.read_parquet(tmp_path / "two.parquet"))
    assert "session.nonces=2" in json.loads(done.stdout)["overrides"]


def test_the_table_shows_what_the_json_says(cli: Cli) -> None:
    lines = cli("run", QUICKSTART, "--count", 10, *LOSSY).stdout.splitlines()
    result = json.loads(cli("run", QUICKSTART, "--count", 10, "--json", *LOSSY).stdout)
    assert f"{result['completed']} of 10" in lines[0]
    assert max(map(len, lines)) <= 80
    (row,) = (line for line in lines if line.split()[0:2] == ["duration", "s"])
    shown = float(row.split()[-1])
    assert shown == pytest.approx(result["metrics"]["duration_s"]["max"], rel=0.001)


def test_the_pcap_holds_the_frames_of_the_first_record(cli: Cli, tmp_path: Path) -> None:
    output = ("--pcap", "first.pcapng", "--records", "all.parquet")
    cli("run", QUICKSTART, "--count", 3, "--seed", 5, *LOSSY, *output)
    command = ["tshark", "-r", "first.pcapng", "-T", "fields", "-e", "wpan.frame_type"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    types = [int(line, 16) for line in done.stdout.splitlines()]
    record = polars.read_parquet(tmp_path / "all.parquet").row(0, named=True)
    # IEEE 802.15.4-2020 table 7-1: 1 is a data frame, 2 an acknowledgement.
    assert types.count(1) == record["frames"]
    assert types.count(2) == record["frames_ack"]


@pytest.mark.parametrize("scenario", ["quickstart", "xmac", "beacon"])
def test_nodes_and_timeline_say_the_same(cli: Cli, tmp_path: Path, scenario: str) -> None:
    path = QUICKSTART.with_name(f"{scenario}.toml")
    output = ("--records", "all.parquet", "--nodes", "nodes.parquet", "--timeline", "radios.csv")
    cli("run", path, "--count", 2, "--seed", 5, *output, "--buffers", "buffers.csv")
    nodes = polars.read_parquet(tmp_path / "nodes.parquet")
    timeline = polars.read_csv(tmp_path / "radios.csv")
    assert timeline.columns == ["node", "state", "from_s", "to_s"]
    for node in nodes.iter_rows(named=True):
        own = timeline.filter(node=node["node"])
        assert (own["from_s"] < own["to_s"]).all()
        assert (own["to_s"].head(-1) <= own["from_s"].tail(-1)).all()
        on = 0.0
        for state in ("transmit", "receive", "listen"):
            spans = own.filter(state=state)
            on += node[f"radio_{state}_s"]
            total = (spans["to_s"] - spans["from_s"]).sum()
            assert total == pytest.approx(node[f"radio_{state}_s"], abs=1e-6), state
        assert on > 0
        assert on + node["radio_sleep_s"] == pytest.approx(node["elapsed_s"])
        parts = sum(
            node[f"energy_{part}_mj"] for part in ("cpu", "tpm", "tx", "rx", "listen", "sleep")
        )
        assert parts == pytest.approx(node["energy_mj"])
    record = polars.read_parquet(tmp_path / "all.parquet").row(0, named=True)
    client = nodes.row(record["client"], named=True)
    assert client["cpu_compute_s"] == pytest.approx(record["compute_client_s"])
    # The record begins with the first datagram. Before it, the client computed and listened.
    assert client["energy_tx_mj"] == pytest.approx(record["energy_client_tx_mj"])
    assert client["energy_cpu_mj"] >= record["energy_client_cpu_mj"]
    assert client["energy_listen_mj"] >= record["energy_client_listen_mj"]
    assert nodes["queue_peak"].to_list() == record["queue_peak"]

    inspection = slowhand.Scenario(path).inspect(seed=5)
    assert_frame_equal(nodes, inspection.nodes)
    assert_frame_equal(timeline, inspection.timeline, check_dtypes=False)

    buffers = polars.read_csv(tmp_path / "buffers.csv")
    assert_frame_equal(buffers, inspection.buffers, check_dtypes=False)
    for node in nodes.iter_rows(named=True):
        own = buffers.filter(node=node["node"])
        assert own["from_s"].is_sorted()
        assert own["queued_frames"].max() == node["queue_peak"]
        assert own["reassembly_bytes"].max() <= node["reassembly_peak_bytes"]


@pytest.mark.parametrize("option", ["--pcap", "--records", "--nodes", "--timeline", "--buffers"])
def test_an_unwritable_path_is_reported_before_the_work(cli: Cli, option: str) -> None:
    # A million handshakes take longer than the fixture allows.
    output = "no/such/folder/x.parquet"
    message = the_message(cli("run", QUICKSTART, "--count", 1_000_000, option, output, code=2))
    assert option in message
    assert output in message
    assert "No such file or directory" in message


def test_a_path_that_can_be_written_is_left_as_it_was(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "old.parquet").write_text("old")
    cli("run", "missing.toml", "--records", "old.parquet", "--pcap", "new.pcapng", code=2)
    assert (tmp_path / "old.parquet").read_text() == "old"
    assert not (tmp_path / "new.pcapng").exists()


@pytest.mark.parametrize("option", ["--nodes", "--buffers"])
def test_tables_need_a_known_format(cli: Cli, option: str) -> None:
    message = the_message(cli("run", QUICKSTART, option, "t.json", code=2))
    assert message == f"slowhand: {option} t.json: the name must end in .parquet or .csv"


def test_records_need_a_known_format(cli: Cli) -> None:
    message = the_message(cli("run", QUICKSTART, "--records", "r.csv", code=2))
    assert message == "slowhand: --records r.csv: the name must end in .parquet"


def test_a_scenario_moves_with_its_sources_alone(tmp_path: Path) -> None:
    device = (QUICKSTART.parent.parent / "devices" / "openmote-cc2538.toml").read_text()
    (tmp_path / "slow.toml").write_text(device.replace("value = 251.3", "value = 1251.3"))
    (tmp_path / "mine.toml").write_text(
        QUICKSTART.read_text().replace('"openmote-cc2538"', '"slow.toml"')
    )
    scenario = slowhand.Scenario(tmp_path / "mine.toml", {"network.link_pdr": 0.8}).native
    columns = _native.Run(scenario, 1, 3, 1, True).columns()
    for file in tmp_path.iterdir():
        file.unlink()
    again = _native.Scenario.from_sources(scenario.sources())
    assert _native.Run(again, 1, 3, 1, True).columns() == columns
    with pytest.raises(
        _native.ScenarioError, match=r"sources: not such a JSON object: missing field"
    ):
        _native.Scenario.from_sources("{}")


def test_numbers_of_numpy_and_paths_are_settings(tmp_path: Path) -> None:
    device = tmp_path / "mine.toml"
    device.write_text((QUICKSTART.parent.parent / "devices" / "openmote-cc2538.toml").read_text())
    plain: dict[str, slowhand.Setting] = {
        "network.link_pdr": 0.5,
        "mac.max_retries": 7,
        "session.cookie": False,
        "mac.hopping_sequence": [11, 26],
        "client.device": str(device),
    }
    unusual: dict[str, slowhand.Setting] = {
        "network.link_pdr": numpy.float32(0.5),
        "mac.max_retries": numpy.int64(7),
        "session.cookie": numpy.bool_(False),
        "mac.hopping_sequence": numpy.array([11, 26]),
        "client.device": device,
    }
    written = [slowhand.Scenario(QUICKSTART, given).overrides for given in (plain, unusual)]
    assert written[0] == written[1]
    assert "network.link_pdr=0.5" in written[0]


@pytest.mark.parametrize("text", ['a"b\\c', "tab\tnewline\n", "\x01\x7f", "é€😀", "# = [ {"])
def test_strings_are_the_same_in_toml(text: str) -> None:
    value = {"a key": text, text: [text, {"b": numpy.float64(1e300)}]}
    assert tomllib.loads(f"x = {toml(value)}") == {"x": value}


def test_numbers_are_the_same_in_toml() -> None:
    for number in (0, -1, 2**63 - 1, 1.5, 1e-9, 5e22, 1e16, float("inf"), float("-inf"), True):
        assert tomllib.loads(f"x = {toml(number)}") == {"x": number}
    assert toml(float("nan")) == "nan"


def test_the_memory_of_a_session_is_that_of_its_library() -> None:
    def memory(**session: str) -> dict[str, int | None]:
        keys = {f"session.{key}": value for key, value in session.items()}
        return slowhand.Scenario("psk-tinydtls", keys).session_memory()

    lean = memory(stack="lean-dtls")
    mbedtls = memory(stack="mbedtls")
    assert memory(stack="lean-dtls") == lean
    assert memory(stack="lean-dtls", server_stack="mbedtls")["client"] == pytest.approx(
        lean["client"], rel=0.05
    )
    for end in ("client", "server"):
        # A record has at most 2^14 octets (RFC 5246 section 6.2.1), and mbedTLS two buffers.
        assert (lean[end] or 0) < 2 * 2**14 < (mbedtls[end] or 0)


def test_nonces_are_told_by_their_own_name(cli: Cli) -> None:
    common: tuple[str | int | Path, ...] = ("run", QUICKSTART, "--count", 1)
    for found in ("0", "5000000000", "many"):
        message = the_message(cli(*common, "--nonces", found, code=2))
        assert message.startswith("slowhand: --nonces: found ")
        assert message.endswith("allowed: a whole number from 1 to 1000000")
    both = cli(*common, "--nonces", 4, "--set", "session.nonces=8", code=2)
    found = "slowhand: --nonces: found --set session.nonces too, allowed: one of the two"
    assert the_message(both) == found


def test_the_report_says_what_disturbs_and_why_a_handshake_gave_up(cli: Cli) -> None:
    common: tuple[str | int, ...] = ("run", "psk-tinydtls", "--count", 1)
    off = ("--set", "network.outages=[{ node = 1, from_s = 0, until_s = 9000 }]")
    report = " ".join(cli(*common, *off, code=1).stdout.split())
    assert "1 gave up: not complete when session.give_up_s was over" in report
    assert "waiting at the end" in report
    wifi = ("--set", "network.wifi=[{ channel = 6, duty = 0.1, burst_ms = 5 }]")
    for channel, is_said in (("15", True), ("17", False)):
        sequence = ("--set", f"mac.hopping_sequence=[{channel}]")
        done = cli(*common, *wifi, *sequence, "--set", "session.give_up_s=1000")
        said = "Wi-Fi channel 6 covers no channel of the network" in " ".join(done.stdout.split())
        assert said == is_said


def test_json_has_the_command_that_shows_a_capture(cli: Cli, tmp_path: Path) -> None:
    done = cli("run", QUICKSTART, "--count", 1, "--pcap", "one.pcapng", "--json")
    words = json.loads(done.stdout)["wireshark"]
    assert words[:3] == ["wireshark", "-r", "one.pcapng"]
    assert "6lowpan.context0:2001:db8::/64" in words


def test_a_run_in_a_forked_process_is_an_error_and_no_hang() -> None:
    """Threads do not live on in a fork (POSIX, fork)."""
    run = slowhand.Run(slowhand.Scenario(QUICKSTART), count=10_000_000, threads=1)
    finished = slowhand.Run(slowhand.Scenario(QUICKSTART), count=1)
    finished.finish()
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns of forks with threads
        child = os.fork()
    if not child:
        said = ""
        try:
            assert finished.summary()["completed"] == 1
            run.summary()
        except RuntimeError as error:
            said = str(error)
        finally:
            os.write(writing, said.encode())
            os._exit(0)
    os.close(writing)
    ready, _, _ = select.select([reading], [], [], 30)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    run.cancel()
    assert ready, "the child hangs"
    said = os.read(reading, 1000).decode()
    assert said.startswith(f"run: found a process forked from {os.getpid()}, allowed: that one")


def test_what_is_allowed_and_rarely_wanted_is_warned_of(cli: Cli) -> None:
    early = ("session.false_start=true", "session.protocol=coap+dtls1.2", "application.requests=1")
    forgetful = (*early, "session.server_stack=mbedtls")
    overrides = [word for override in forgetful for word in ("--set", override)]
    said = cli("run", "helped", "--count", 1, *overrides).stderr
    assert "session.server_stack: mbedtls takes data as a sign" in said
    scenario = slowhand.Scenario("helped", list(forgetful))
    with pytest.warns(UserWarning, match=r"session\.server_stack: mbedtls takes data"):
        slowhand.Run(scenario, count=1).finish()
    ticket = ["gateway.delegation=internet", "session.resumption=ticket"]
    delegated = slowhand.Scenario("helped", [*ticket, "session.server_stack=mbedtls"])
    with pytest.warns(UserWarning, match=r'session\.resumption: with "ticket", lean-dtls does not'):
        slowhand.Run(delegated, count=1).finish()
