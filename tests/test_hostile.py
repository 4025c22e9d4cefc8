"""Hostile command lines: an answer or one message, never a traceback."""

import json
import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import slowhand
from conftest import COMMAND, QUICKSTART, Cli, the_message
from slowhand import cli as command_line

WORDS = [
    *("", " ", "-", "--", "---", "-1", "0", "1", "+1", "1.5", "1e308", "-1e308", "1e-320", "1e999"),
    *("inf", "-inf", "nan", "NaN", "1_0", "٣", "²", "0x10", "true", "None", "9" * 30, "9" * 5000),
    *("18446744073709551615", "18446744073709551616", "-9223372036854775809"),
    *("x" * 5000, "x/" * 3000, "\udcff", "a\nb", "a\x00b", "\x1b[31m", "é", "😀", "%s", "%(prog)s"),
    *("{}", "{0.__class__}", "=", "=1", "a=", "a=b=c", "a.b.c=[1", "[[[[", '"', "'", "$(x)", "*"),
    *("/", ".", "..", "/dev/null", "/dev/full", "no/such/x.parquet", "quickstart", "wismote"),
    *("--help", "--json", "--seed", "--version", "--no-such", "-h", "--set=", "--count=-0"),
    *("network.link_pdr=nan", "network.link_pdr=1e400", "mac.slot_ms=1e308", "session.mtu=-1"),
    *(
        "network=1",
        "network.topology={kind='line',hops=0}",
        ".=1",
        "session.psk_identity='\\u0000'",
    ),
]

OPTIONS = {
    "run": ["--seed", "--threads", "--set", "--records", "--nodes", "--buffers", "--pcap"],
    "stacks": ["--json"],
    "scenarios": ["--json"],
    "devices": ["--json"],
    "batteries": ["--json"],
    "schema": ["--json"],
    "capacity": [
        *("--slots", "--clients", "--rho", "--policy", "--handshake-share", "--seed", "--device"),
        *("--bytes-per-session", "--reserved-bytes"),
    ],
    "settings": ["--library", "--set", "--json"],
    "advise": [
        *("--mac", "--hops", "--slotframe", "--loss", "--credential", "--device", "--choose"),
        *("--fix", "--weights", "--seed", "--threads", "--plot", "--json"),
    ],
    "battery": [
        *("--battery", "--period", "--session", "--client", "--years", "--days", "--count"),
        *("--seed", "--full", "--set", "--plot", "--json"),
    ],
    "live": [
        *("--udp", "--tcp", "--server", "--listen", "--speed", "--seed", "--set", "--handshakes"),
        *("--control", "--records", "--pcap", "--watch", "--json"),
    ],
    "links": ["--out", "--scenario", "--like", "--root", "--least-pdr", "--json"],
    "papers": ["--out", "--json"],
}

CASE = ["--slots", "3", "--clients", "5", "--rho", "0.5"]

# Each ends what is random, so that no word makes the command long.
ENDS = {
    "run": ["--count", "1"],
    "battery": ["--count", "2", "--days", "1"],
    "live": ["--duration", "0.01"],
    "papers": ["--count", "1"],
    "advise": ["--choose", "session.timeout_s=1,2", "--budget", "999"],
}
STARTS = {
    "run": [*[["quickstart"]] * 4, ["quickstart", "--pcap", "/dev/full"], ["."], ["/dev/null"], []],
    "live": [
        *(["quickstart"], ["quickstart", "--udp", "9"], ["set"], ["set", "a=b"], ["node", "1"]),
        *(["node", "1", "on"], ["status"], []),
    ],
    "capacity": [[*CASE, "--policy", "refuse"], ["--device", "wismote"], []],
    "battery": [["quickstart", "--period", "1h"], ["quickstart"], []],
    "settings": [["quickstart"], ["lossy-line", "--library", "openssl"], []],
    "advise": [["psk-tinydtls"], ["--mac", "xmac"], []],
    "papers": [["vucinic2015", "table1"], ["vucinic2015"], ["nobody"], ["vucinic2015", "fig9"]],
}


def invocations() -> Iterator[list[str]]:
    draw = random.Random(9)
    for _ in range(600 if "SLOWHAND_FULL" in os.environ else 300):
        command = draw.choice([*OPTIONS, "run", "run", draw.choice(WORDS)])
        arguments = list(draw.choice(STARTS.get(command, [[]])))
        if arguments == ["vucinic2015"]:  # all of it takes minutes
            arguments += [draw.choice(["table1", "table2", "tables", "\udcff"])]
        for _ in range(draw.randrange(3)):
            option = draw.choice(OPTIONS.get(command, ["--json"]))
            word = draw.choice(WORDS)
            arguments += draw.choice([[option, word], [f"{option}={word}"], [word], [option]])
        yield [command, *arguments, *ENDS.get(command, [])]


def test_hostile_command_lines_get_an_answer_or_one_message(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    handlers: None,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))  # for the sockets of `live`
    codes = set()
    for arguments in invocations():
        code = command_line.execute(arguments)
        output, errors = capsys.readouterr()
        codes.add(code)
        assert code in (0, 1, 2), arguments
        assert "Traceback" not in errors, arguments
        if code == 2 and output == "":
            assert len(errors.splitlines()) == 1, arguments
            assert errors.startswith("slowhand: ") and len(errors) < 1000, arguments
            assert errors.strip().isprintable(), arguments
    assert codes == {0, 1, 2}


@pytest.mark.parametrize(
    ("option", "found"),
    [
        *(("--rho", word) for word in ("inf", "-inf", "nan", "1e308", "-1", "0", "1e-320", "x")),
        *(("--handshake-share", word) for word in ("inf", "nan", "1e308", "-1", "1e999")),
        *(("--seed", word) for word in ("-1", str(2**64), "9" * 5000, "1.5")),
        *(("--slots", word) for word in ("0", "1001", "nan")),
        *(("--clients", word) for word in ("0", "100001", "9" * 400)),
    ],
)
def test_extremes_of_capacity_get_one_message(cli: Cli, option: str, found: str) -> None:
    arguments = {"--slots": "3", "--clients": "5", "--rho": "0.5", option: found}
    message = the_message(cli("capacity", *(f"{k}={v}" for k, v in arguments.items()), code=2))
    assert option.strip("-").replace("-", " ") in message.replace("-", " ")
    assert ": found " in message and ", allowed: " in message
    assert len(message) < 200


@pytest.mark.parametrize("rho", ["1e-9", "1e9"])
@pytest.mark.parametrize("share", ["0", "1e6"])
def test_what_is_allowed_has_numbers(cli: Cli, rho: str, share: str) -> None:
    arguments = ("--slots", 3, "--clients", 5, "--rho", rho, "--handshake-share", share)
    result = json.loads(cli("capacity", *arguments, "--seed", 2**64 - 1, "--json").stdout)
    assert 0 <= result["call_congestion"] <= 1
    if rho == "1e9":
        assert "nan" not in cli("capacity", *arguments).stdout


@pytest.mark.parametrize("count", ["0", "-1", str(2**64), "9" * 5000, "1e3", "x"])
@pytest.mark.parametrize("command", [("run", "quickstart"), ("papers", "vucinic2015")])
def test_a_count_beyond_64_bits_gets_one_message(
    cli: Cli, command: tuple[str, str], count: str
) -> None:
    message = the_message(cli(*command, "--count", count, code=2))
    assert message.startswith("slowhand: --count: found ")
    assert len(message) < 200


def test_options_stand_anywhere(cli: Cli) -> None:
    one = cli("papers", "--json", "vucinic2015", "--count", 1, "table1").stdout
    assert one == cli("papers", "vucinic2015", "table1", "--count", 1, "--json").stdout
    assert the_message(cli("scenarios", "--", "--json", code=2)).startswith(
        "slowhand: scenario: found '--json', allowed: "
    )


def test_what_follows_two_dashes_is_no_option(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "-x.toml").write_text(QUICKSTART.read_text())
    for arguments in (("--", "-x.toml"), ("--count", 1, "--", "-x.toml")):
        assert cli("run", *arguments).stdout.startswith(("100 of 100", "1 of 1"))
    message = the_message(cli("run", "--", "-x.toml", "--count", code=2))
    assert message == "slowhand: unrecognized arguments: --count"


def test_a_negative_number_is_a_value(cli: Cli) -> None:
    arguments = ("--slots", 3, "--clients", 5, "--rho", "-1e-3")
    message = the_message(cli("capacity", *arguments, code=2))
    assert message == "slowhand: rho: found -0.001, allowed: 1e-09 to 1e+09"
    assert "expected one argument" in the_message(cli("run", "quickstart", "--seed", code=2))
    assert "expected one argument" in the_message(
        cli("run", "quickstart", "--seed", "--json", code=2)
    )


@pytest.mark.parametrize("name", ["x" * 300, "x/" * 3000, "x" * 300 + ".toml", "\x1b[31m\n.json"])
def test_any_path_gets_one_short_message(cli: Cli, name: str) -> None:
    message = the_message(cli("run", name, code=2))
    assert message.isprintable() and "Errno" not in message
    assert len(message) < 400


def test_a_name_that_is_unknown_hears_of_results(cli: Cli) -> None:
    message = the_message(cli("run", "r.txt", code=2))
    assert "allowed: the path of a .toml file or of a result (.parquet, .json), or a" in message


def test_a_name_with_a_typing_error_hears_which_is_meant(cli: Cli) -> None:
    assert "did you mean quickstart?" in the_message(cli("run", "quikstart", code=2))


def test_a_folder_that_is_gone_is_no_error(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = 'rmdir "$PWD" && exec "$@"'
    done = subprocess.run(
        ["sh", "-c", command, "sh", *COMMAND, "run", QUICKSTART, "--count", "1", "--json"],
        cwd=gone,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8", "cp037"])
def test_a_terminal_without_utf_8_gets_plain_output(encoding: str) -> None:
    done = subprocess.run(
        [*COMMAND, "papers"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode(encoding)
    assert ("Vučinić" if encoding == "utf-8" else "Vucinic") in text


def test_what_cannot_be_a_setting_is_refused() -> None:
    for value in (None, b"x", {1, 2}, object(), 1j):
        with pytest.raises(TypeError, match=r"setting: found .*, allowed: a number"):
            slowhand.Scenario(QUICKSTART, {"network.link_pdr": value})  # type: ignore[dict-item]
    for number in (float("inf"), float("nan")):
        with pytest.raises(slowhand.ScenarioError, match=r"link_pdr: found (inf|nan)"):
            slowhand.Scenario(QUICKSTART, {"network.link_pdr": number})
