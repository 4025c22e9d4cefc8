"""`slowhand live --record`, and `slowhand run` of what it wrote."""

import json
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest
from polars.testing import assert_frame_equal

import slowhand
from conftest import COMMAND, Cli, the_message
from programs import Program, free_port

PSK = "00112233445566778899aabbccddeeff"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, polars.DataFrame, int]:
    """A session of two programs over three bad hops: its recording, its records, its frames."""
    folder = tmp_path_factory.mktemp("recorded")
    path, port = folder / "session.slowhand", free_port()
    cipher = ("-psk", PSK, "-cipher", "PSK-AES128-CCM8:@SECLEVEL=0")
    dtls, keys = ("-dtls1_2", "-timeout"), {"session.psk": PSK}
    with (
        Program("openssl", "s_server", *dtls, "-accept", f"{port}", "-nocert", *cipher) as server,
        slowhand.live("lossy-line", udp=port, set=keys, record=path, speed=2) as net,
    ):
        server.listens("udp", port)
        address = f"127.0.0.1:{net.udp[0].port}"
        with Program("openssl", "s_client", *dtls, "-connect", address, *cipher) as client:
            client.expect(b"Verify return code: 0 (ok)")
            net.set({"network.link_pdr": 0.8})
            net.node(3).off()
            time.sleep(0.1)
            net.node(3).on()
            client.write(b"from the client\n")
            server.expect(b"from the client")
            client.write(b"Q\n")
            client.end()
    return path, net.records, net.report()["frames"]


Recorded = tuple[Path, polars.DataFrame, int]


def test_the_same_comes_again_to_the_octet(recorded: Recorded) -> None:
    path, records, frames = recorded
    replay = slowhand.replay(path)
    assert records["outcome"].to_list() == ["completed"]
    assert_frame_equal(replay.records, records)
    assert (replay.frames, replay.programs) == (frames, ["client", "server"])


def test_a_recording_that_was_cut_off_says_so(recorded: Recorded, tmp_path: Path) -> None:
    path, _, frames = recorded
    (tmp_path / "cut.slowhand").write_bytes(path.read_bytes()[:-4])
    with pytest.warns(UserWarning, match=r"cut\.slowhand: it was not written to its end"):
        replay = slowhand.replay(tmp_path / "cut.slowhand")
    assert replay.frames == frames, "only the end of the network is missing"


def test_run_prints_what_live_would_and_writes_records_and_frames(
    recorded: Recorded, cli: Cli, tmp_path: Path
) -> None:
    path, records, frames = recorded
    done = cli("run", path, "--records", "r.parquet", "--pcap", "f.pcapng")
    assert done.stdout.startswith("1 of 1 handshakes completed\n")
    said = " ".join(done.stdout.split())
    assert f"session.slowhand again, seed 1, {frames:,} frames" in said
    assert "without what the programs compute (client, server)" in said
    assert " computes" not in done.stdout
    assert_frame_equal(polars.read_parquet(tmp_path / "r.parquet"), records)
    listed = ("-r", str(tmp_path / "f.pcapng"), "-Y", "_ws.malformed", "-T", "fields", "-e")
    tshark = subprocess.run(["tshark", *listed, "frame.number"], capture_output=True, text=True)
    assert (tshark.returncode, tshark.stdout) == (0, ""), tshark.stderr
    found = json.loads(cli("run", path, "--json").stdout)
    assert (found["frames"], found["completed"], found["live"]) == (frames, 1, True)
    assert found["metrics"]["duration_s"]["mean"] == records["duration_s"].item()


def test_another_network_carries_the_same_datagrams(recorded: Recorded, cli: Cli) -> None:
    path, records, frames = recorded
    better: dict[str, slowhand.Setting] = {"network.link_pdr": 1}
    other = slowhand.replay(path, set=better)
    # The datagrams are those of the programs, whatever became of them. Without losses the handshake
    # is complete earlier: what programs repeated afterwards is no longer of it. With a cookie it
    # has six.
    assert other.records["outcome"].to_list() == ["completed"]
    assert 6 <= other.records["datagrams"].item() <= records["datagrams"].item()
    assert (other.frames, *other.records.row(0)) != (frames, *records.row(0))
    again = slowhand.replay(path, seed=2)
    assert (again.frames, *again.records.row(0)) != (frames, *records.row(0))
    done = cli("run", path, "--set", "network.link_pdr=1", "--seed", 2, "--json")
    assert json.loads(done.stdout)["seed"] == 2


def test_only_the_owner_reads_a_recording(recorded: Recorded) -> None:
    assert stat.S_IMODE(recorded[0].stat().st_mode) == 0o600


def test_a_network_that_was_killed_leaves_what_came_until_then(tmp_path: Path) -> None:
    path = tmp_path / "cut.slowhand"
    words = ["live", "lossy-line", "--speed", "1", "--record", str(path), "--json"]
    network = subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE)
    assert network.stdout
    while json.loads(network.stdout.readline())["event"] != "opened":
        pass
    until = time.monotonic() + 60
    while not path.exists() or path.read_bytes().count(b"\n") < 2:
        assert time.monotonic() < until
        time.sleep(0.05)
    network.kill()
    network.communicate()
    with pytest.warns(UserWarning, match="the network was killed"):
        assert slowhand.replay(path).records["outcome"].to_list() == ["gave_up"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--count", "2"], "--count: found a recording of slowhand live, allowed: --seed, --set"),
        (["--explain"], "--explain: found a recording of slowhand live, allowed: "),
        (["--report", "x.html"], "--report: found a recording of slowhand live, allowed: "),
        (["--seed", "-1"], "--seed: found -1, allowed: "),
        (["--set", "network.link_pdr=2"], "--set network.link_pdr: found 2, allowed: "),
        (["--set", "network.topology={ kind = 'line', hops = 1 }"], "found a session of node 3"),
    ],
)
def test_what_a_recording_has_not_is_refused(
    recorded: Recorded, cli: Cli, options: list[str], said: str
) -> None:
    assert said in the_message(cli("run", recorded[0], *options, code=2))


def write_nothing(path: Path) -> None:
    path.write_text("")


def write_a_result(path: Path) -> None:
    path.write_text('{"slowhand": "0"}\n')


def write_octets(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\n" * 10)


@pytest.mark.parametrize("write", [write_nothing, write_a_result, write_octets, Path.mkdir])
def test_what_is_no_recording_is_one_message(
    write: Callable[[Path], Any], cli: Cli, tmp_path: Path
) -> None:
    write(tmp_path / "x.slowhand")
    message = the_message(cli("run", "x.slowhand", code=2))
    assert "x.slowhand" in message
    assert the_message(cli("run", "gone.slowhand", code=2)).startswith("slowhand: gone.slowhand: ")


HOSTILE = "x\x1b[31mRED\x07\n\u202eslowhand: all is well\n"
"""Text that a terminal would obey."""


@pytest.mark.parametrize(
    ("number", "line"),
    [
        (0, {HOSTILE: 1}),
        (0, {"recording": HOSTILE}),
        (0, {"recording": 1, "slowhand": HOSTILE, "sources": {HOSTILE: HOSTILE}}),
        (1, [0, {HOSTILE: 1}]),
        (1, [0, HOSTILE]),
        (1, [0, {"set": HOSTILE}]),
        (1, [0, {"set": f"{HOSTILE}=1"}]),
        (1, [0, {"set": f"network.{HOSTILE}=1"}]),
        (1, [0, {"set": f"network.link_pdr={HOSTILE}"}]),
        (1, [0, {"set": f"network.link_pdr='{HOSTILE}'"}]),
    ],
)
def test_no_terminal_obeys_a_recording(
    recorded: Recorded, number: int, line: Any, cli: Cli, tmp_path: Path
) -> None:
    lines = recorded[0].read_text().splitlines(keepends=True)
    lines[number] = json.dumps(line) + "\n"
    (tmp_path / "x.slowhand").write_text("".join(lines))
    message = the_message(cli("run", "x.slowhand", code=2))
    assert message.isprintable(), ascii(message)


def test_no_terminal_obeys_a_path(cli: Cli, tmp_path: Path) -> None:
    name = "\x1b[31m\nx"
    for options in (
        ("run", f"{name}.slowhand"),
        ("live", "quickstart", "--record", f"{name}/x.slowhand"),
        ("live", "quickstart", "--pcap", f"{name}/x.pcapng"),
        ("live", "quickstart", "--control", f"{name}/x"),
    ):
        message = the_message(cli(*options, code=2))
        assert message.isprintable(), ascii(message)


def test_the_name_of_a_recording_ends_as_one(cli: Cli) -> None:
    message = the_message(cli("live", "quickstart", "--record", "x.json", code=2))
    assert message == "slowhand: --record x.json: the name must end in .slowhand"


def test_a_full_disk_under_the_recording_is_a_warning_and_exit_code_1(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "full.slowhand").symlink_to("/dev/full")
    done = cli("live", "quickstart", "--speed", "50", "--record", "full.slowhand", code=1)
    assert "1 of 1 handshakes completed" in done.stdout
    assert "full.slowhand: cannot write the" in done.stderr.replace("\n  ", " ")
