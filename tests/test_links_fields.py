"""Links of networks that exist: captures of a sniffer, consoles of OpenThread and Contiki-NG."""

import json
import math
import random
import struct
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

import slowhand
from conftest import ROOT, Cli, the_message
from slowhand import links

TRACES = ROOT / "tests" / "traces"

# openthread/openthread, src/cli/README.md: "neighbor linkquality", "neighbor table" and "rloc16".
LINK_QUALITY = """\
> neighbor linkquality
| RLOC16 | Extended MAC     | Frame Error | Msg Error | Avg RSS | Last RSS | Age   |
+--------+------------------+-------------+-----------+---------+----------+-------+
| 0xe800 | 9e2fa4e1b84f92db |      0.00 % |    0.00 % |     -46 |      -48 |     1 |
| 0xc001 | 0ad7ed6beaa6016d |      4.67 % |    0.08 % |     -68 |      -72 |    10 |
Done
"""
NEIGHBOURS = """\
> neighbor table
| Role | RLOC16 | Age | Avg RSSI | Last RSSI |R|D|N| Extended MAC     |
+------+--------+-----+----------+-----------+-+-+-+------------------+
|   C  | 0xcc01 |  96 |      -46 |       -46 |1|1|1| 1eb9ba8a6522636b |
|   R  | 0xc800 |   2 |      -29 |       -29 |1|1|1| 9a91556102c39ddb |
|   R  | 0xf000 |   3 |      -28 |       -28 |1|1|1| 0ad7ed6beaa6016d |
Done
"""
# That file, "router table": the first is the router itself.
ROUTERS = """\
> router table
| ID | RLOC16 | Next Hop | Path Cost | LQ In | LQ Out | Age | Extended MAC     | Link |
+----+--------+----------+-----------+-------+--------+-----+------------------+------+
| 22 | 0x5800 |       63 |         0 |     0 |      0 |   0 | 0aeb8196c9f61658 |    0 |
| 49 | 0xc400 |       63 |         0 |     3 |      3 |   0 | faa1c03908e2dbf2 |    1 |
Done
"""
# That file, "meshdiag routerneighbortable".
MESH = """\
> meshdiag routerneighbortable 0x7400
rloc16:0x9c00 ext-addr:764788cf6e57a4d2 ver:4
   rss - ave:-20 last:-20 margin:80
   err-rate - frame:1.38% msg:0.00%
   conn-time:01:54:02
rloc16:0x7c00 ext-addr:4ed24fceec9bf6d3 ver:4
   rss - ave:-20 last:-20 margin:80
   err-rate - frame:0.72% msg:0.00%
   conn-time:00:11:27
Done
"""


def found(cli: Cli, *files: Path) -> dict[tuple[str, str], float]:
    """The mean ratio of each link, by the names of its ends."""
    about = json.loads(cli("links", *files, "--json").stdout)
    names = {number: name for name, number in about["nodes"].items()}
    return {(names[link["from"]], names[link["to"]]): link["pdr"] for link in about["links"]}


def kept(folder: Path, name: str, text: str) -> Path:
    """A file with this text."""
    file = folder / name
    file.write_text(text)
    return file


def test_openthread_frame_errors(cli: Cli, tmp_path: Path) -> None:
    """1 - 0.0467 is the product of both directions: of frames, and of their acknowledgements."""
    file = kept(tmp_path, "one.txt", f"> rloc16\n0x7000\nDone\n{LINK_QUALITY}")
    pdr = math.sqrt(1 - 0.0467)
    assert found(cli, file) == {("0x7000", "0xc001"): pytest.approx(pdr), ("0x7000", "0xe800"): 1}
    # Frames that the other end has seen count as much; a console of Zephyr has another prompt.
    other = LINK_QUALITY.replace("0xc001", "0x7000").replace("4.67", "9.33")
    other = other.replace("> neighbor", "uart:~$ ot neighbor")
    second = kept(tmp_path, "two.txt", f"uart:~$ ot rloc16\nc001\nDone\n{other}")
    both = found(cli, file, second)
    assert both["0x7000", "0xc001"] == pytest.approx(math.sqrt(1 - 0.07))


def test_openthread_asks_other_routers(cli: Cli, tmp_path: Path) -> None:
    file = kept(tmp_path, "mesh.txt", MESH)
    expected = {("0x7400", "0x7c00"): 0.0072, ("0x7400", "0x9c00"): 0.0138}
    for (a, b), error in expected.items():
        assert found(cli, file)[a, b] == pytest.approx(math.sqrt(1 - error))


def test_openthread_counters_stand_for_neighbours_without_a_share(cli: Cli, tmp_path: Path) -> None:
    """Of 16 frames 15 were acknowledged, with 54 repetitions: 15 of 70 transmissions.

    The names are those that cli.cpp prints, the router 0x5800 is not its own neighbour.
    """
    counters = "> counters mac\nTxTotal: 90\n    TxUnicast: 16\n    TxAckRequested: 16\n"
    counters += "    TxAcked: 15\n    TxRetry: 54\nDone\n"
    own = "> rloc16\n5800\nDone\n"
    file = kept(tmp_path, "counters.txt", own + NEIGHBOURS + ROUTERS + counters)
    pdr = pytest.approx(math.sqrt(15 / 70))
    neighbours = ["0xc400", "0xc800", "0xcc01", "0xf000"]
    assert found(cli, file) == {("0x5800", name): pdr for name in neighbours}
    silent = kept(tmp_path, "silent.txt", own + NEIGHBOURS)
    said = the_message(cli("links", silent, code=2))
    assert said.startswith(f"slowhand: {silent}: found no share of lost frames, allowed: ")


# contiki-ng/contiki-ng at 9f80681d3d2fb1299f089cdcf3c25bfcb228fce8: the format of
# rpl_neighbor_snprint (os/net/routing/rpl-lite/rpl-neighbor.c), after the address.
RPL_NEIGHBOUR = "%5u, %5u => %5u -- %2u %c%c%c%c%c"


def test_contiki_shell(cli: Cli, tmp_path: Path) -> None:
    """A metric of 192 is an ETX of 1.5. A neighbour that nothing was sent to has a first guess."""
    lines = [
        ("fe80::212:4b00:616:fcc", (128, 192, 320, 16, *"rbafp"), " (last tx 0 min ago)"),
        ("fe80::212:4b00:615:a974", (65535, 128, 512, 4, *"  af "), " (last tx 3 min ago)"),
        ("fe80::212:4b00:615:1", (128, 256, 384, 0, *"r a  "), " (no tx)"),
    ]
    shell = "#0012.4b00.0615.0002> mac-addr\nNode MAC address: 0012.4b00.0615.0002\n"
    shell += "#0012.4b00.0615.0002> rpl-nbr\nRPL neighbors:\n"
    shell += "".join(f"{ip}{RPL_NEIGHBOUR % cells}{sent}\n" for ip, cells, sent in lines)
    assert "a97465535, " in shell  # a rank of five digits is not apart from the address
    own = "0012.4b00.0615.0002"
    assert found(cli, kept(tmp_path, "shell.txt", shell)) == {
        (own, "0012.4b00.0615.a974"): 1,
        (own, "0012.4b00.0616.0fcc"): pytest.approx(math.sqrt(1 / 1.5)),
    }


def test_contiki_log_of_several_nodes(cli: Cli, tmp_path: Path) -> None:
    """Lines as os/net/link-stats.c logs them, with time and node as Cooja's test log has them.

    examples/benchmarks/result-visualization/run-analysis.py of the same commit shows such a line.
    Counts of several periods are added: 30 of 50, and from the other end 18 of 30.
    """
    log = """\
1000000 1 [INFO: Main      ] Link-layer address: 0001.0001.0001.0001
1000000 2 [INFO: Main      ] Link-layer address: 0002.0002.0002.0002
600142000 1 [INFO: Link Stats] num packets: tx=20 ack=10 rx=0 queue_drops=0 to=0002.0002.0002.0002
600142000 1 [INFO: Link Stats] num packets: tx=0 ack=0 rx=7 queue_drops=0 to=0003.0003.0003.0003
900142000 2 [INFO: Link Stats] num packets: tx=30 ack=18 rx=0 queue_drops=0 to=0001.0001.0001.0001
900142000 1 [INFO: Link Stats] num packets: tx=30 ack=20 rx=0 queue_drops=0 to=0002.0002.0002.0002
"""
    expected = {("0001.0001.0001.0001", "0002.0002.0002.0002"): pytest.approx(math.sqrt(48 / 80))}
    assert found(cli, kept(tmp_path, "cooja.log", log)) == expected


@pytest.mark.parametrize(
    "stamp",
    [
        *("2026-05-01 10:00:01 ", "2026-05-01T10:00:01.123+02:00 ", "10:00:01,123\t"),
        *("May  1 10:00:01 ", "[2026-05-01 10:00:01] ", "[00:00:01.234,567] "),
        *("1714550000.123456 ", "\x1b[0;32m", ""),
    ],
)
def test_times_and_colours_before_lines(stamp: str, tmp_path: Path) -> None:
    """Times are no names of nodes, and hide no line."""
    line = "[INFO: Link Stats] num packets: tx=10 ack=9 rx=9 to=0012.4b00.060d.b3e7\x1b[0m\n"
    file = kept(tmp_path, "mine.log", "".join(stamp + line for _ in range(2)))
    names = {name for row in links.read([file]).rows for name in (row.sender, row.receiver)}
    assert names == {"mine", "0012.4b00.060d.b3e7"}
    kept(tmp_path, "mine.log", f"{stamp}7 {line}node-8 {stamp}{line}")
    names = {name for row in links.read([file]).rows for name in (row.sender, row.receiver)}
    assert names == {"7", "node-8", "0012.4b00.060d.b3e7"}
    said = f"> rloc16\n0x7000\nDone\n{LINK_QUALITY}{MESH}"
    kept(tmp_path, "mine.log", "".join(stamp + line + "\n" for line in said.splitlines()))
    assert {row.sender for row in links.read([file]).rows} == {
        *("0x7000", "0xe800", "0xc001", "0x7400", "0x7c00", "0x9c00")
    }


def test_consoles_that_do_not_say_their_names(cli: Cli, tmp_path: Path) -> None:
    """Alone one is a star around a node without an address; of two each would be there twice."""
    log = "[INFO: Link Stats] num packets: tx=9 ack=8 rx=0 to=0012.4b00.0615.000%d\n"
    for command, texts in {
        "rloc16": (LINK_QUALITY, LINK_QUALITY.replace("0xc001", "0x7000")),
        "mac-addr": (log % 1, log % 2),
    }.items():
        files = [kept(tmp_path, f"{n}.txt", text) for n, text in enumerate(texts)]
        notes = json.loads(cli("links", files[0], "--json").stdout)["notes"]
        assert f"type {command} too" in notes[0]
        said = the_message(cli("links", *files, code=2))
        assert said.startswith(f"slowhand: {files[0]}: found no name of the node itself, allowed: ")
        assert f"the output of {command}," in said
    # Who asks another router says whose links these are; so does the name of a file.
    named = [kept(tmp_path, "mesh.txt", MESH), kept(tmp_path, "0x7000.txt", LINK_QUALITY)]
    assert not any("too" in note for note in links.read(named).notes)


def test_noise_on_a_serial_line(tmp_path: Path) -> None:
    file = tmp_path / "0x7000.txt"
    file.write_bytes(b"\xff\xfe\x80\n" + LINK_QUALITY.encode() + b"\xc3")
    assert len(links.read([file]).rows) == 4


def test_what_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "MOST_OCTETS", 3 * links.PART_OCTETS)
    with pytest.raises(links.TraceError, match="found more than 3,145,728 octets, allowed"):
        links.read([Path("/dev/zero")])


@pytest.mark.parametrize("name", ["lossy-line", "csma"])
def test_a_capture_gives_back_the_losses_of_its_network(
    name: str, cli: Cli, tmp_path: Path
) -> None:
    """Repetitions are those that tshark sees; the ratio is that of the network, by three sigma."""
    pdr = 0.8
    scenario = slowhand.Scenario(name, {"network.link_pdr": pdr, "network.ack_pdr": pdr})
    capture = tmp_path / "capture.pcapng"
    scenario.capture(capture, seed=3)
    shown = "wpan.ack_request == 1 && wpan.seq_no"
    command = ["tshark", "-r", str(capture), "-Y", shown, "-T", "fields"]
    fields = ["wpan.src64", "wpan.dst64", "wpan.src16", "wpan.dst16", "wpan.seq_no"]
    command += [word for field in fields for word in ("-e", field)]
    said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    latest: dict[tuple[str, ...], str] = {}
    sent, repeated = defaultdict[frozenset[str], int](int), defaultdict[frozenset[str], int](int)
    for line in said.splitlines():
        *ends, sequence = line.split("\t")
        pair = frozenset(end.replace(":", "") for end in ends if end)
        sent[pair] += 1
        repeated[pair] += latest.get(tuple(ends)) == sequence
        latest[tuple(ends)] = sequence
    assert len(sent) == 3 and sum(sent.values()) > 60
    for (a, b), ratio in found(cli, capture).items():
        pair = frozenset((a, b))
        share = 1 - repeated[pair] / sent[pair]
        assert ratio == pytest.approx(math.sqrt(share))
        sigma = math.sqrt(pdr**2 * (1 - pdr**2) / sent[pair])
        assert abs(share - pdr**2) < 3 * sigma


def packet(header: bytes, frame: bytes) -> bytes:
    """A packet of a pcap file (draft-ietf-opsawg-pcap, section 5)."""
    size = len(header + frame)
    return struct.pack("<IIII", 0, 0, size, size) + header + frame


def data_frame(sequence: int, source: int, to: int, pan: int = 0xABCD) -> bytes:
    """A data frame with short addresses that asks for an acknowledgement.

    IEEE 802.15.4-2020, section 7.2: frame control 0x8861, one PAN identifier.
    """
    return struct.pack("<HBHHH", 0x8861, sequence, pan, to, source) + b"data"


def test_a_capture_with_a_header_of_tap(cli: Cli, tmp_path: Path) -> None:
    """Three frames, one sent twice; the sniffer missed two, and one is damaged.

    The header: version, length, and values of type 0 (no FCS, or one of 16 bits) and 1 (RSS).
    """
    rss = struct.pack("<HHf", 1, 4, -67.5)
    header = struct.pack("<BBHHHI", 0, 0, 20, 0, 1, 0) + rss
    with_fcs = struct.pack("<BBHHHI", 0, 0, 20, 0, 1, 1) + rss
    pcap = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 283)
    pcap += packet(header, data_frame(7, 2, 1)) + packet(header, data_frame(7, 2, 1))
    pcap += packet(with_fcs, data_frame(7, 2, 1) + b"xx")
    pcap += packet(header, data_frame(8, 2, 1)) + packet(header, data_frame(11, 2, 1))
    file = tmp_path / "sniffed.pcap"
    file.write_bytes(pcap)
    assert found(cli, file) == {("0x0001", "0x0002"): pytest.approx(math.sqrt(3 / 4))}
    notes = json.loads(cli("links", file, "--json").stdout)["notes"]
    assert notes[0].startswith("The sniffer missed 40% of the frames of 0x0002")  # 9 and 10
    assert "-68 dBm" in notes[1] or "-67 dBm" in notes[1]
    file.write_bytes(pcap[:24])
    assert "found no frame, allowed: a capture with" in the_message(cli("links", file, code=2))


def test_a_capture_of_two_networks(cli: Cli, tmp_path: Path) -> None:
    """Both have a node 1 and a node 2. Of the larger one no frame was repeated."""
    frames = [data_frame(number, 2, 1) for number in range(9)]
    # From another PAN: 0x8821 has both identifiers, and the source's own counts.
    frames += [data_frame(7, 2, 1, pan=0x1234), data_frame(7, 2, 1, pan=0x1234)]
    frames += [struct.pack("<HBHHHH", 0x8821, 8, 0xABCD, 3, 0x1234, 2)] * 2
    file = tmp_path / "both.pcap"
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 230)
    file.write_bytes(header + b"".join(packet(b"", frame) for frame in frames))
    assert found(cli, file) == {("0x0001", "0x0002"): 1}
    notes = json.loads(cli("links", file, "--json").stdout)["notes"]
    note = "Only PAN 0xabcd counts, which has the most frames. Left out: 0x1234."
    assert notes[0] == note and len(notes) == 2


@pytest.mark.parametrize("kind", ["openthread", "contiki", "capture", "k7"])
def test_a_whole_scenario_runs(kind: str, cli: Cli, tmp_path: Path) -> None:
    """The links of one node are a star; that of a Contiki-NG node has twelve neighbours."""
    files = {
        "openthread": LINK_QUALITY,
        "contiki": "".join(
            f"[INFO: Link Stats] num packets: tx=9 ack=8 rx=0 to=0000.0000.0000.{number:04x}\n"
            for number in range(12)
        ),
    }
    file = TRACES / "short.k7"
    if kind == "capture":
        file = tmp_path / "capture.pcapng"
        slowhand.Scenario("lossy-line").capture(file, seed=1)
    elif kind in files:
        file = kept(tmp_path, f"{kind}.txt", files[kind])
    made = tmp_path / "made.toml"
    trace = ["--out", "made.csv"] if kind == "k7" else []
    cli("links", file, "--scenario", made, *trace)
    text = made.read_text()
    assert text.count("[network]") == 1 and ("made.csv" in text) == (kind == "k7")
    like = "thread" if kind == "openthread" else "csma"
    device = slowhand.Scenario(like).value("client.device")
    assert slowhand.Scenario(made).value("client.device") == device
    assert slowhand.Run(slowhand.Scenario(made), count=1).summary()["completed"] >= 1
    if kind == "contiki":
        wrong = ["--scenario", "wrong.toml", "--like", "lossy-line"]
        assert "mac.slotframe: found 17" in the_message(cli("links", file, *wrong, code=2))
        assert not (tmp_path / "wrong.toml").exists()


def test_files_are_relative_to_the_scenario(cli: Cli, tmp_path: Path) -> None:
    """The trace is in another folder, and so is a device of --like, which must be copied."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    cli("links", TRACES / "short.k7", "--out", "a/tr.csv", "--scenario", "b/mine.toml")
    made = slowhand.Scenario(tmp_path / "b" / "mine.toml")
    assert made.value("network.trace.file") == "../a/tr.csv"
    like = (ROOT / "scenarios" / "csma.toml").read_text()
    device = kept(tmp_path / "a", "own.toml", (ROOT / "devices" / "nrf52840.toml").read_text())
    own = slowhand.Scenario("csma").value("client.device")
    kept(tmp_path / "a", "like.toml", like.replace(f'device = "{own}"', 'device = "own.toml"'))
    command = ["links", TRACES / "short.k7", "--like", "a/like.toml", "--scenario"]
    said = the_message(cli(*command, "b/new.toml", code=2))
    assert said == (
        "slowhand: --scenario b/new.toml: it would need files of a/like.toml (--like); copy them"
        " into its folder before: own.toml"
    )
    assert not (tmp_path / "b" / "new.toml").exists()
    cli(*command, "a/new.toml")
    kept(tmp_path / "b", "own.toml", device.read_text())
    cli(*command, "b/new.toml")
    assert slowhand.Scenario(tmp_path / "b" / "new.toml").value("client.device") == "own.toml"


def test_names_cannot_end_a_comment(cli: Cli, tmp_path: Path) -> None:
    table = 'time_s,from,to,channel,pdr\n0,a,"b\n[server]\nx = 1",,1\n0,"b\n[server]\nx = 1",a,,1\n'
    cli("links", kept(tmp_path, "t.csv", table), "--scenario", tmp_path / "made.toml")
    assert "# node 1  b\\n[server]\\nx = 1\n" in (tmp_path / "made.toml").read_text()


def test_damaged_files_are_refused_or_read(tmp_path: Path) -> None:
    """Octets that changed, are missing or repeated: rows with ratios, or one kind of error."""
    capture = tmp_path / "capture.pcapng"
    slowhand.Scenario("lossy-line").capture(capture, seed=1)
    pcap = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 195) + b"".join(
        packet(b"", data_frame(number, 2, 1) + bytes(2)) for number in range(20)
    )
    seeds = [
        capture.read_bytes()[:6000],
        pcap,
        (LINK_QUALITY + MESH + NEIGHBOURS + ROUTERS).encode(),
        f"RPL neighbors:\nfe80::1{RPL_NEIGHBOUR % (128, 192, 320, 16, *'rbafp')} (last tx".encode(),
        b"[INFO: Link Stats] num packets: tx=20 ack=10 rx=0 to=0002.0002\n" * 3,
        (TRACES / "short.k7").read_bytes(),
        (TRACES / "short_raw.csv").read_bytes(),
    ]
    choice = random.Random(1)
    file = tmp_path / "damaged"
    outcomes = set()
    for octets in seeds * 60:
        changed = bytearray(octets)
        for _ in range(choice.randrange(1, 8)):
            at = choice.randrange(len(changed) + 1)
            match choice.randrange(4):
                case 0:
                    changed[at : at + choice.randrange(40)] = b""
                case 1:
                    changed[at:at] = changed[: choice.randrange(200)]
                case 2:
                    changed[at:at] = choice.choice([b"9" * 30, b"\n", b"|", b"\xff", b"-1", b"\0"])
                case 3 if at < len(changed):
                    changed[at] = choice.randrange(256)
        file.write_bytes(changed)
        try:
            rows = links.read([file]).rows
        except links.TraceError:
            outcomes.add("refused")
        else:
            outcomes.add("read")
            assert all(0 <= row.pdr <= 1 and math.isfinite(row.time_s) for row in rows)
    assert outcomes == {"read", "refused"}
