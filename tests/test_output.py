"""The files of `slowhand run`: refused before the work, or complete, or absent."""

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import polars
import pytest

import slowhand
from conftest import (
    COMMAND,
    QUICKSTART,
    ROOT,
    Cli,
    needs_exec,
    the_message,
    with_files_of_at_most,
)
from slowhand.output import Output, OutputError, check_figures

RUN = ("run", str(QUICKSTART), "--count", "2")

EXEC = ("exec", "programs", "--count", "1", "--again", "0")

# More than the fixture's time allows: an answer comes before the work.
MANY = ("run", QUICKSTART, "--count", 10_000_000)


def files(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


@pytest.mark.parametrize(
    ("option", "ending"),
    [
        ("--records", "parquet"),
        *((option, "csv") for option in ("--nodes", "--timeline", "--buffers")),
        *((option, "parquet") for option in ("--nodes", "--timeline", "--buffers")),
        ("--pcap", "pcapng"),
    ],
)
def test_a_disk_that_fills_costs_the_file_but_not_the_report(
    option: str, ending: str, tmp_path: Path
) -> None:
    path = tmp_path / f"x.{ending}"
    path.write_text("old")
    done = with_files_of_at_most(64, *RUN, option, path, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["completed"] == 2
    (message,) = done.stderr.splitlines()
    assert message.startswith(f"slowhand: {option} {path}: cannot be written: ")
    assert "File too large" in message
    assert (files(tmp_path), path.read_text()) == ({path.name}, "old")


@pytest.mark.parametrize("command", [RUN, pytest.param(EXEC, marks=needs_exec())])
def test_a_figure_for_which_there_is_no_room_is_that_of_a_page(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    done = with_files_of_at_most(10240, *command, "--report", path, "--json")
    assert done.returncode == 1
    (message,) = done.stderr.splitlines()
    assert message.startswith(f"slowhand: --report {path}: not written: figure ")
    assert message.endswith("picture.svg: cannot be written: File too large")
    assert files(tmp_path) == set()


def test_every_file_that_can_be_written_is_written(cli: Cli, tmp_path: Path) -> None:
    done = cli(*RUN, "--pcap", "/dev/full", "--records", "r.parquet", code=1)
    assert done.stdout.startswith("2 of 2 handshakes completed")
    assert done.stderr == (
        "slowhand: --pcap /dev/full: cannot be written: No space left on device\n"
    )
    assert len(polars.read_parquet(tmp_path / "r.parquet")) == 2
    assert files(tmp_path) == {"r.parquet"}


@pytest.mark.parametrize("arguments", [RUN, (*RUN, "--json"), ("schema",), ("--help",)])
def test_a_reader_that_has_enough_is_no_error(arguments: tuple[str, ...], tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    output = ("--records", str(tmp_path / "r.parquet")) if "run" in arguments else ()
    done = subprocess.run(
        [*COMMAND, *arguments, *output], stdout=writing, stderr=subprocess.PIPE, text=True
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")
    assert files(tmp_path) == ({"r.parquet"} if output else set()), "files do not need a reader"


@pytest.mark.parametrize("arguments", [RUN, (*RUN, "--json"), ("stacks",), ("--help",)])
def test_a_full_disk_under_stdout_is_one_message(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    output = ("--records", str(tmp_path / "r.parquet")) if "run" in arguments else ()
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, *arguments, *output], stdout=full, stderr=subprocess.PIPE, text=True
        )
    message = "slowhand: stdout: cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, message)
    assert files(tmp_path) == ({"r.parquet"} if output else set())


def test_without_stdout_and_stderr_there_are_still_files(tmp_path: Path) -> None:
    command = f"exec \"$@\" --records '{tmp_path}/r.parquet' >&- 2>&-"
    done = subprocess.run(["sh", "-c", command, "sh", *COMMAND, *RUN])
    assert done.returncode == 1
    assert len(polars.read_parquet(tmp_path / "r.parquet")) == 2


@pytest.mark.parametrize("arguments", [RUN, (*RUN, "--json"), ("stacks",), ("--version",)])
def test_a_closed_stdout_is_an_error_as_one_that_is_full(arguments: tuple[str, ...]) -> None:
    command = [*COMMAND, *arguments]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *command], stderr=subprocess.PIPE, text=True
    )
    message = "slowhand: stdout: cannot be written: Bad file descriptor\n"
    assert (done.returncode, done.stderr) == (1, message)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "'': cannot be written: this is a folder"),
        ("there", "cannot be written: this is a folder"),
        ("there/", "cannot be written: this is a folder"),
        ("new/", "cannot be written: this is a folder"),
        ("file/x", "cannot be written: Not a directory"),
        ("gone/x", "cannot be written: No such file or directory"),
        ("x" * 256, "cannot be written: File name too long"),
        ("x/" * 3000 + "x", "cannot be written: File name too long"),
        ("around/x", "cannot be written: Too many levels of symbolic links"),
        ("gone\udcff/x", "gone\\udcff/x: cannot be written: No such file or directory"),
        ("gone\n/x", "gone\\n/x: cannot be written: No such file or directory"),
    ],
)
def test_what_cannot_be_a_file_is_refused_before_the_work(
    cli: Cli, tmp_path: Path, name: str, said: str
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "around").symlink_to("around")
    before = files(tmp_path)
    message = the_message(cli(*MANY, "--pcap", name, code=2))
    assert message.startswith("slowhand: --pcap ")
    assert message.endswith(said)
    assert len(message) < 250
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    ("second", "exists"),
    [
        *((name, True) for name in ("a.csv", "./a.csv", "../{}/a.csv", "soft.csv", "hard.csv")),
        *((name, False) for name in ("a.csv", "./a.csv", "../{}/a.csv", "soft.csv")),
    ],
)
def test_two_outputs_are_two_files(cli: Cli, tmp_path: Path, second: str, exists: bool) -> None:
    (tmp_path / "soft.csv").symlink_to(tmp_path / "a.csv")
    if exists:
        (tmp_path / "a.csv").write_text("old")
        os.link(tmp_path / "a.csv", tmp_path / "hard.csv")
    second = second.format(tmp_path.name)
    outputs = ("--nodes", "a.csv", "--timeline", second)
    message = the_message(cli(*MANY, *outputs, code=2))
    assert message == (
        f"slowhand: --timeline {second}: cannot be written: --nodes writes the same file"
    )
    assert (tmp_path / "a.csv").exists() == exists


@pytest.mark.parametrize("name", ["mine.toml", "./mine.toml", "link", "device.toml"])
def test_what_is_read_is_not_written(cli: Cli, tmp_path: Path, name: str) -> None:
    device = (ROOT / "devices" / "openmote-cc2538.toml").read_text()
    scenario = QUICKSTART.read_text().replace('"openmote-cc2538"', '"device.toml"')
    (tmp_path / "device.toml").write_text(device)
    (tmp_path / "mine.toml").write_text(scenario)
    (tmp_path / "link").symlink_to("mine.toml")
    message = the_message(cli("run", "mine.toml", "--pcap", name, code=2))
    assert message == f"slowhand: --pcap {name}: cannot be written: this file is read"
    assert (tmp_path / "mine.toml").read_text() == scenario
    assert (tmp_path / "device.toml").read_text() == device


@pytest.mark.parametrize("path", ["file/mine.toml", "gone/mine.toml", "mine.toml"])
def test_the_scenario_of_a_result_is_not_read(cli: Cli, tmp_path: Path, path: str) -> None:
    result = json.loads(cli("run", QUICKSTART, "--count", 1, "--json").stdout)
    (tmp_path / "file").touch()
    (tmp_path / "mine.toml").write_text("nonsense")
    (tmp_path / "r.json").write_text(json.dumps({**result, "scenario": path}))
    cli("run", "r.json", "--pcap", "mine.toml")
    assert (tmp_path / "mine.toml").read_bytes().startswith(b"\x0a\x0d\x0d\x0a")
    message = the_message(cli("run", "r.json", "--pcap", "r.json", code=2))
    assert message == "slowhand: --pcap r.json: cannot be written: this file is read"


def test_an_error_of_the_writer_keeps_its_words(tmp_path: Path) -> None:
    def refuse(path: Path) -> None:
        raise slowhand.ScenarioError("x: found 2, allowed: 0 to 1")

    with pytest.raises(slowhand.ScenarioError, match=r"^x: found 2, allowed: 0 to 1$"):
        Output("--pcap", str(tmp_path / "x")).write(refuse)
    assert files(tmp_path) == set()


def test_the_report_and_a_file_do_not_share_a_name(tmp_path: Path) -> None:
    path = tmp_path / "both.pcapng"
    for name in (path, "/dev/stdout"):
        with path.open("w") as stdout:
            done = subprocess.run(
                [*COMMAND, *RUN, "--pcap", str(name)],
                stdout=stdout,
                stderr=subprocess.PIPE,
                text=True,
            )
        assert done.returncode == 2
        assert done.stderr == (
            f"slowhand: --pcap {name}: cannot be written: the report goes to this file\n"
        )


def test_a_path_that_is_not_utf_8_is_a_path(cli: Cli, tmp_path: Path) -> None:
    scenario = tmp_path / "sc\udcffn.toml"
    scenario.write_text(QUICKSTART.read_text())
    done = subprocess.run(
        [*COMMAND, "run", scenario, "--count", "1", "--pcap", tmp_path / "p\udcff.pcapng"],
        capture_output=True,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"sc\xffn.toml" in done.stdout, "the report has the path's own octets"
    assert (tmp_path / "p\udcff.pcapng").stat().st_size > 0
    assert json.loads(cli("run", scenario, "--count", "1", "--json").stdout)["scenario"] == str(
        scenario
    )
    message = the_message(cli("run", QUICKSTART, "--set", "client.device=\udcff", code=2))
    assert "UTF-8" in message


def test_files_have_the_permissions_that_files_have(tmp_path: Path) -> None:
    (tmp_path / "old.csv").touch()
    (tmp_path / "old.csv").chmod(0o604)
    (tmp_path / "link.csv").symlink_to("old.csv")
    outputs = ("--nodes", "new.csv", "--timeline", "link.csv")
    subprocess.run(
        [*COMMAND, *RUN, *outputs], cwd=tmp_path, check=True, capture_output=True, umask=0o027
    )
    modes = {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in files(tmp_path)}
    assert modes == {"new.csv": 0o640, "old.csv": 0o604, "link.csv": 0o604}
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "old.csv").read_text().startswith("node,state,")


def test_a_pipe_is_written_directly(cli: Cli, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    cli(*RUN, "--pcap", "pipe")
    reader.join(timeout=60)
    # pcapng: the type of a section header block.
    assert read[0].startswith(b"\x0a\x0d\x0d\x0a")
    assert files(tmp_path) == {"pipe"}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("file", "cannot be made: a file has this name"),
        ("file/figures", "cannot be made: Not a directory"),
        ("x" * 300, "cannot be made: File name too long"),
        ("link", "cannot be made: a link that leads nowhere has this name"),
        ("link/x", "cannot be made: a link that leads nowhere has this name"),
    ],
)
def test_a_folder_that_cannot_be_made_is_refused_before_the_work(
    cli: Cli, tmp_path: Path, name: str, said: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("gone")
    arguments = ("papers", "vucinic2015", "--count", 10_000_000, "--out", name)
    message = the_message(cli(*arguments, code=2))
    assert message.startswith("slowhand: --out ") and message.endswith(said)
    assert files(tmp_path) == {"file", "link"}


def test_a_figure_that_cannot_be_written_costs_no_report(tmp_path: Path) -> None:
    arguments = ("papers", "claeys2021", "fig8", "--count", "2", "--out", str(tmp_path / "new"))
    environment = {**os.environ, "MPLCONFIGDIR": str(tmp_path / "matplotlib")}
    done = with_files_of_at_most(64, *arguments, env=environment)
    assert done.returncode == 1
    assert "others: signs" in done.stdout
    assert f"slowhand: --out {tmp_path}/new/fig8.png: cannot be written: " in done.stderr
    assert "Traceback" not in done.stderr
    assert files(tmp_path / "new") == set()


def test_a_figure_without_matplotlib_is_refused_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check_figures("--plot")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(OutputError, match=r"--plot: needs the package matplotlib: .*pip install"):
        check_figures("--plot")
