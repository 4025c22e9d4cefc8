"""Programs in `slowhand sweep` and `compare`: every client and every world counts."""

import re
import sys
from pathlib import Path
from typing import Any

import polars
import pytest

import slowhand
from conftest import Cli, needs_exec
from slowhand.executing import Execution
from slowhand.executing.programs import Limits, ProgramError, fingerprint, placed
from slowhand.executing.workers import Failure, Workers
from slowhand.pages import overview
from slowhand.sweeps import Sampling, Sweep, compared
from slowhand.sweeps.statistics import Measured

pytestmark = needs_exec()

SOCKET = "import socket; s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)"
PYTHON = f"{sys.executable} -S -c"
SERVER = f"""{PYTHON} '{SOCKET}
s.bind(("::", 9999))
while True: s.sendto(*s.recvfrom(99))'"""
CLIENT = f"""{PYTHON} '{SOCKET}
s.sendto(b"a", ("{{address}}", 9999))
s.recv(99)'"""
FILE = """
network = {{ topology = {{ kind = "star", leaves = 2 }} }}
mac = {{ kind = "csma" }}
client = {{ device = "nrf52840" }}
session = {{ stack = "tinydtls", suite = "TLS_PSK_WITH_AES_128_CCM_8" }}

[[programs]]
at = "server"
command = '''{server}'''

[[programs]]
at = "client"
command = ["sh", "-c", '''{before}; exec {client}''']
success = {{ exit = 0 }}
"""

OTHERS = """
[[programs]]
at = [0, 1]
command = "sh -c 'exit 2'"
success = {{ exit = {code} }}
"""
"""Programs at the root, which is no client, and beside that of a client."""


def made(folder: Path, name: str, before: str = ":", more: str = "") -> Path:
    """A scenario with two clients, which first do something."""
    file = folder / f"{name}.toml"
    file.write_text(FILE.format(server=SERVER, client=CLIENT, before=before) + more)
    return file


def test_a_client_that_sends_nothing_counts(tmp_path: Path, cli: Cli) -> None:
    good = made(tmp_path, "good")
    bad = made(tmp_path, "bad", before="[ {node} = 1 ] && exit 3")
    given = ["compare", good, bad, "--count", 2, "--out", "rows"]
    said = " ".join(cli(*given, "--fail-if", "5%", code=1).stdout.split())
    assert "bad.toml: clearly fewer handshakes complete: 50.0%, and 100.0% of" in said
    assert "bad.toml: clearly fewer worlds succeed: 0.0%, and 100.0% of the baseline" in said
    assert "bad.toml: 2 gave up, 2 of these sent nothing to the server, 2 worlds without" in said
    # It goes on with what is there.
    table = slowhand.compare([good, bad], count=2, out=tmp_path / "rows")
    assert table["handshakes"].to_list() == [4, 4] and table["completed"].to_list() == [4, 2]
    rows = polars.read_parquet(tmp_path / "rows").filter(scenario="bad.toml").sort("seed", "client")
    assert rows["client"].to_list() == [1, 2, 1, 2]
    assert rows["outcome"].to_list() == ["gave_up", "completed"] * 2
    assert rows["exit_client"].to_list() == [3, 0] * 2
    assert rows["success"].to_list() == [False, True] * 2
    # Words that have not been said have no row in `slowhand exec`.
    assert slowhand.exec(bad, count=1, again=0).frame()["client"].to_list() == [2]


def test_the_success_of_every_program_counts(tmp_path: Path, cli: Cli) -> None:
    codes = {"good": 2, "bad": 0}
    good, bad = (made(tmp_path, name, more=OTHERS.format(code=codes[name])) for name in codes)
    given = ["compare", good, bad, "--count", 1, "--fail-if", "5%"]
    said = " ".join(cli(*given, code=1).stdout.split())
    assert "clearly fewer worlds succeed: 0.0%, and 100.0% of the baseline" in said
    assert "bad.toml: 1 worlds without success, as the scenario asks" in said


def test_a_row_has_the_exit_of_the_program_at_its_node(tmp_path: Path) -> None:
    execution = slowhand.exec(
        "lossy-line",
        client="sh -c 'sleep 9; exit 3'",
        server=SERVER,
        at={2: ["sh", "-c", f"sleep 1; exec {CLIENT}"]},
        count=1,
        again=0,
    )
    found = [(row["client"], row["exit_client"]) for row in execution.rows()]
    assert found == [(2, 0)]
    assert [(row["client"], row["exit_client"]) for row in execution.silent()] == [(3, 3)]


WAITS = """
network = {{ topology = {{ kind = "line", hops = 1 }} }}
mac = {{ kind = "csma" }}
client = {{ device = "nrf52840" }}
session = {{ stack = "tinydtls", suite = "TLS_PSK_WITH_AES_128_CCM_8" }}

[[programs]]
at = "client"
command = ["sh", "-c", '''
if [ {{seed}} = 2 ]; then {computes}; fi
fifo={folder}/fifo-{{seed}}; mkfifo $fifo; (sleep 1; echo > $fifo) & cat $fifo; rm $fifo
''']
"""
"""A world that computes, and a call that waits in the kernel: nobody knows when it ends."""


def test_a_world_that_the_clock_has_ended_runs_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "one.toml"
    computes = f"{PYTHON} 'for _ in range(10_000_000): pass'"
    file.write_text(WAITS.format(computes=computes, folder=tmp_path))
    configurations = compared([slowhand.Scenario(file)], [""])
    out = tmp_path / "rows"

    def run() -> tuple[list[str], Measured, list[str]]:
        with Sweep(configurations, Sampling(count=3), out=out) as sweep:
            before = sweep.notes
            sweep.run()
            (result,) = sweep.results()
            return before, result.measured, sweep.notes

    with monkeypatch.context() as patched:
        patched.setattr("slowhand.executing.Limits", lambda: Limits(cpu_s=0.05))
        _, measured, notes = run()
    assert (measured.worlds, measured.panicked, measured.silent) == (3, 1, 2)
    assert len(notes) == 1 and notes[0].startswith("one.toml: client: waits in open")
    kept = {file.name.split("-", 1)[1] for file in out.iterdir()}
    assert "2-2.parquet" not in kept and len(kept) == 2
    before, measured, after = run()
    assert (measured.worlds, measured.panicked, measured.silent) == (3, 0, 3)
    assert before == after == notes


def test_a_note_of_a_world_that_ran_again_counts() -> None:
    scenario = placed(slowhand.Scenario("lossy-line"), client="true")
    execution = Execution(scenario, Limits(), count=1, seed=1, again=1)
    note = {"program": "client", "what": "waits", "differs": True}
    for number, notes in [(0, []), (-1, [note])]:
        execution.add(number, {"seed": 1, "digest": "", "conversations": [], "notes": notes})
    assert execution.reproducible is False
    assert execution.notes == [{**note, "worlds": 1}]
    with pytest.raises(ValueError, match="count: found 0, allowed: 1 or more"):
        slowhand.exec("lossy-line", client="true", count=0)


def test_files_within_words_are_noticed(tmp_path: Path) -> None:
    names = [f"{number}.sh" for number in range(7)]
    zero, one, two, three, four, five, space = (str(tmp_path / name) for name in names)
    space = space.replace("6.sh", "a b.sh")
    for file in (zero, one, two, three, four, five, space):
        Path(file).write_text("")
    shell = f"sh -x '{one}' <{two};sh -c \"{three}\""
    scenario = slowhand.Scenario("lossy-line").with_(
        {
            "programs": [
                {
                    "at": "client",
                    "command": ["sh", "-c", shell, f"-k={four}"],
                    "environment": {"FILE": five, "LONG": 5000 * "x"},
                },
                {"at": "server", "command": ["echo", zero, space, "it's", 5000 * "x"]},
            ]
        }
    )
    found = {line.rpartition(" ")[0] for line in fingerprint(scenario)}
    assert {zero, one, two, three, four, five, space} < found


def test_places_and_limits_of_python() -> None:
    options: dict[str, Any] = {"at": {2: "cat"}, "stdin": {2: [(1, "a"), (2, "")]}}
    scenario = placed(slowhand.Scenario("lossy-line"), **options, compute={2: 1.0})
    (entry,) = scenario.value("programs")
    assert (entry["at"], entry["compute_s"], len(entry["stdin"])) == (2, 1.0, 2)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"until": 5}, "until: found 5, allowed: end or"),
        ({"date": 5}, "date: found 5, allowed: a day"),
        ({"duration_s": "5"}, "duration_s: found 5, allowed: a number"),
    ]
    for limits, said in wrong:
        with pytest.raises(ProgramError, match=said):
            slowhand.exec("lossy-line", client="true", **limits)
    with pytest.raises(ProgramError, match="at: found node 0 twice"):
        placed(slowhand.Scenario("lossy-line"), at={0: "true", "root": "true"})


def test_a_page_of_conversations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    execution = slowhand.exec(made(tmp_path, "plain"), count=2, again=0)
    failure = Failure(1, "the clock")
    monkeypatch.setattr(Workers, "run", lambda _, seeds, add: add(0, failure))  # it runs no more
    page = overview.encoded(execution).decode()
    titles = re.findall("<h2 id.*?>(.*?)</h2>", page)
    assert titles[3:5] == ["Median conversation", "Worst conversation"]
    assert "4 of 4 conversations completed" in page and "handshakes" not in page
    assert re.search(r"It could not be run again: the world of seed \d: the clock", page)


def test_files_of_programs_and_libraries_have_the_same_columns(tmp_path: Path) -> None:
    out = tmp_path / "rows"
    slowhand.compare([made(tmp_path, "programs"), "psk-tinydtls"], count=1, out=out)
    rows = polars.read_parquet(out)
    assert rows.filter(scenario="psk-tinydtls.toml")["success_world"].to_list() == [None]
    assert rows.filter(scenario="programs.toml")["secure"].to_list() == [False, False]
