"""The command line as a contract: help, exit codes, one message for bad input."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import slowhand
from conftest import COMMAND, QUICKSTART, ROOT, Cli, the_message

COMMANDS = [
    *("run", "settings", "stacks", "profiles", "scenarios", "devices", "schema", "capacity"),
    *("battery", "batteries", "links", "papers", "completion"),
]


@pytest.mark.parametrize("command", [*COMMANDS, "live", "live set", "live node", "live status"])
def test_every_command_has_help_with_an_example(cli: Cli, command: str) -> None:
    output = cli(*command.split(), "--help").stdout
    assert f"Example: slowhand {command}" in output
    assert "--json" in output


def test_help_lists_the_commands_there_are(cli: Cli) -> None:
    output = cli("--help").stdout
    assert [command for command in COMMANDS if f" {command} " in output] == COMMANDS
    assert cli("--version").stdout == f"slowhand {slowhand.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run"], "SCENARIO"),
        (["run", QUICKSTART, "--count", "0"], "--count"),
        (["run", QUICKSTART, "--seed", "-1"], "--seed"),
        (["run", QUICKSTART, "--threads", "none"], "--threads"),
        (["run", QUICKSTART, "--no-such-option"], "--no-such-option"),
        (["walk"], "walk"),
        (["run", "quickstrat"], "scenario: found 'quickstrat', allowed: the path of a .toml file"),
        (["run", QUICKSTART, "--records=--"], "--records --: the name must end in .parquet"),
        (["run", QUICKSTART, "--set=--"], "--set --: found no value, allowed: key=value"),
        (["run", QUICKSTART, "--seed=--"], "--seed: found --, allowed: a whole number"),
        (
            ["scenarios", "quickstrat"],
            "scenario: found 'quickstrat', allowed: battery, beacon, busy, coap-dtls, csma",
        ),
        (
            ["profiles", "thread"],
            "profile: found 'thread', allowed: contiki-ng, openthread, riot, zephyr, openwsn, rfc",
        ),
        (
            ["devices", "toaster"],
            "device: found 'toaster', allowed: atmega128rfa1, cc1352r, efr32mg24, ",
        ),
    ],
)
def test_wrong_arguments_get_one_message(cli: Cli, arguments: list[str], said: str) -> None:
    assert said in the_message(cli(*arguments, code=2))


@pytest.mark.parametrize(
    ("arguments", "end"),
    [
        (["swep"], "papers, completion; did you mean sweep?"),
        (["quickstart"], "completion; did you mean run quickstart?"),
        (["nonsense"], "papers, completion"),
        (["run", "quickstrat"], "did you mean quickstart?"),
        (["run", QUICKSTART, "--cuont", 3], "arguments: --cuont 3; did you mean --count?"),
        (["run", QUICKSTART, "--cuont=3"], "arguments: --cuont=3; did you mean --count?"),
        (["run", QUICKSTART, "more"], "unrecognized arguments: more"),
        (["scenarios", "lossyline"], "did you mean lossy-line?"),
        (["devices", "telos"], "did you mean telosb?"),
        (["papers", "vucinic"], "did you mean vucinic2015?"),
        (["papers", "vucinic2015", "tabel1"], "did you mean table1 or table2?"),
        (["settings", QUICKSTART, "--library", "mbdtls"], "did you mean mbedtls?"),
        (["schema", "scenarios"], "did you mean scenario?"),
        (["sweep", QUICKSTART, "--metric", "duration"], "did you mean duration_s?"),
        (
            ["capacity", "--slots", 3, "--clients", 5, "--rho", 0.5, "--policy", "evict_oldest"],
            "did you mean evict-oldest or evict-idle-longest?",
        ),
    ],
)
def test_a_message_says_what_may_be_meant(
    cli: Cli, arguments: list[str | int | Path], end: str
) -> None:
    assert the_message(cli(*arguments, code=2)).endswith(end)


def test_a_missing_scenario_gets_one_message(cli: Cli) -> None:
    assert "missing.toml" in the_message(cli("run", "missing.toml", code=2))


def test_a_wrong_scenario_gets_file_line_key_found_and_allowed(cli: Cli, tmp_path: Path) -> None:
    lines = QUICKSTART.read_text().splitlines()
    number = next(n for n, line in enumerate(lines, start=1) if line.startswith("[network]"))
    lines.insert(number, "link_pdr = 1.5")
    lines = lines[: number + 1] + [x for x in lines[number + 1 :] if not x.startswith("link_pdr")]
    (tmp_path / "wrong.toml").write_text("\n".join(lines))
    message = the_message(cli("run", "wrong.toml", code=2))
    assert f"wrong.toml:{number + 1}: network.link_pdr: found 1.5, allowed: " in message


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("network.link_pdr=1.5", "--set network.link_pdr: found 1.5, allowed: "),
        ("network.link_prd=0.9", "link_prd"),
        ("session.stack=nosuchtls", "nosuchtls"),
        ("client.device=toaster", "toaster"),
        ("network", "--set network"),
    ],
)
def test_a_wrong_override_gets_one_message(cli: Cli, override: str, said: str) -> None:
    assert said in the_message(cli("run", QUICKSTART, "--set", override, code=2))


def test_python_raises_what_the_command_line_says(cli: Cli) -> None:
    with pytest.raises(slowhand.ScenarioError) as raised:
        slowhand.run(QUICKSTART, set={"network.link_pdr": 1.5})
    done = cli("run", QUICKSTART, "--set", "network.link_pdr=1.5", code=2)
    assert the_message(done) == f"slowhand: {raised.value}"


def test_settings_of_every_type_reach_the_scenario() -> None:
    slowhand.Scenario(
        QUICKSTART,
        {
            "network.topology": {"kind": "line", "hops": 2},
            "mac.slotframe": 11,
            "mac.hopping_sequence": [11, 26],
            "session.cookie": False,
            "session.timeout_s": 3,
            "session.psk_identity": 'with "quotes" and = signs',
        },
    )
    with pytest.raises(slowhand.ScenarioError, match=r"hops: found 0"):
        slowhand.Scenario(QUICKSTART, {"network.topology": {"kind": "line", "hops": 0}})


def test_profiles_say_where_each_number_was_read(cli: Cli) -> None:
    profiles = json.loads(cli("profiles", "--json").stdout)
    assert profiles == slowhand.profiles()
    table = cli("profiles").stdout
    numbers = [number for part in ("lowpan", "tsch", "csma") for number in profiles[0][part]]
    assert all(number["key"].partition(".")[2] in table for number in numbers)
    assert "openwsn: the default with mac.kind = tsch" in table
    for profile in profiles:
        assert json.loads(cli("profiles", profile["name"], "--json").stdout) == profile
        lines = cli("profiles", profile["name"]).stdout
        said = " ".join(lines.split())
        for part in ("lowpan", "tsch", "csma"):
            for number in profile[part] or ():
                assert number["key"] in said and " ".join(number["source"].split()) in said
                assert f"    {number['source'].split()[0]}" in lines  # below its key


def test_a_profile_is_the_default_of_its_keys() -> None:
    lossy = slowhand.Scenario("lossy-line")
    assert lossy.about()["profile"]["name"] == "openwsn"
    assert lossy.about()["profile"]["defaults"]["lowpan.reassembly_timeout_s"] == 60
    riot = slowhand.Scenario("lossy-line", {"network.profile": "riot"})
    assert riot.about()["profile"]["defaults"]["lowpan.reassembly_when_full"] == "oldest"


def test_stacks_say_what_each_library_can_do(cli: Cli) -> None:
    stacks = json.loads(cli("stacks", "--json").stdout)
    assert stacks == slowhand.stacks()
    keys = ("name", "version", "licence", "protocols", "suites", "credentials", "features", "holes")
    for stack in stacks:
        assert set(keys) <= stack.keys()
    table = " ".join(cli("stacks").stdout.split())
    assert all(f"{stack['name']} version {stack['version']}" in table for stack in stacks)
    assert "holes none known" in table
    holes = {stack["name"]: stack["holes"] for stack in stacks}
    count, reached = len(holes["openssl"]["known"]), ", ".join(holes["openssl"]["reached"])
    assert f"{count} known; SECURITY.md says how these can be reached: {reached}" in table


def test_stacks_say_what_is_not_the_libraries_own(cli: Cli) -> None:
    replaced = {stack["name"]: stack["replaced"] for stack in slowhand.stacks()}
    assert replaced["openssl"] == ["secp256r1", "RSA"]
    assert replaced["tinydtls"] == ["secp256r1"]
    table = " ".join(cli("stacks").stdout.split())
    assert "replaced secp256r1, RSA" in table
    assert "--set session.arithmetic=library each library computes with its own code" in table


@pytest.mark.parametrize("kind", ["scenario", "device"])
def test_what_is_bundled_is_listed_and_printed_as_it_is(cli: Cli, kind: str) -> None:
    listed = json.loads(cli(f"{kind}s", "--json").stdout)
    files = {file.stem: file for file in (ROOT / f"{kind}s").iterdir()}
    assert [entry[kind] for entry in listed] == sorted(files)
    table = cli(f"{kind}s").stdout
    for entry in listed:
        name, file = entry[kind], files[entry[kind]]
        assert name in table
        assert Path(entry["file"]) == file
    for name in sorted(files)[::6]:
        assert cli(f"{kind}s", name).stdout == (text := files[name].read_text())
        assert json.loads(cli(f"{kind}s", name, "--json").stdout) == tomllib.loads(text)


def test_what_a_bundled_file_is_stands_in_its_first_lines(cli: Cli) -> None:
    about = {
        entry[kind]: entry["introduction"]
        for kind in ("scenario", "device")
        for entry in json.loads(cli(f"{kind}s", "--json").stdout)
    }
    assert about["linux-host"] == "Linux host, x86-64"
    assert about["power-cut"] == (
        "A power cut ends. All thousand leaves of a tree of 1,111 nodes open a session within the "
        "same minute."
    )


def test_every_bundled_scenario_can_be_run_by_its_name() -> None:
    for file in (ROOT / "scenarios").iterdir():
        assert slowhand.Scenario(file.stem).about() == slowhand.Scenario(file).about()


def test_every_bundled_device_is_known_by_its_name() -> None:
    for file in (ROOT / "devices").iterdir():
        slowhand.Scenario(QUICKSTART, {"client.device": file.stem})


def test_a_file_with_the_name_of_a_bundled_scenario_is_read_by_its_path(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "quickstart").write_text("nonsense = 1\n")
    assert "./quickstart:1: nonsense" in the_message(cli("run", "./quickstart", code=2))
    cli("run", "quickstart", "--count", "1")


def test_the_schema_knows_the_keys_of_a_scenario(cli: Cli) -> None:
    schema = json.loads(cli("schema").stdout)
    assert schema == slowhand.schema()
    assert {"network", "mac", "client", "session"} <= schema["properties"].keys()


SLOW = {"asyncio", "matplotlib", "numpy", "polars", "pydantic", "rich", "typer"}
"""Packages that take longer to import than all of the command line."""


@pytest.mark.parametrize(
    ("arguments", "unneeded"),
    [
        (("--help",), {*SLOW, "dataclasses", "tomllib", "slowhand.api"}),
        (("run", "--help"), {*SLOW, "slowhand.report"}),
        (("stacks", "--json"), {*SLOW, "slowhand.report"}),
        (("run", str(QUICKSTART), "--count", "1", "--json"), {*SLOW, "slowhand.report"}),
        (("run", str(QUICKSTART), "--count", "1"), {*SLOW, "dataclasses", "tomllib"}),
    ],
)
def test_the_command_line_starts_without_what_it_does_not_need(
    arguments: tuple[str, ...], unneeded: set[str]
) -> None:
    # Times differ from machine to machine; what is slow to import does not.
    command = [sys.executable, "-X", "importtime", *COMMAND[1:], *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "slowhand._native" in imported
    assert imported.isdisjoint(unneeded)


def test_the_package_starts_without_what_is_not_used() -> None:
    program = (
        "import slowhand, sys; assert 'slowhand._native' not in sys.modules;"
        "assert not {'Run', '__version__', 'capacity'} - set(dir(slowhand));"
        "from slowhand import capacity, Run; assert capacity.policies() and slowhand.ScenarioError;"
        "assert slowhand.papers.reproduce and slowhand.estimate.median"
    )
    subprocess.run([sys.executable, "-P", "-c", program], check=True)
    with pytest.raises(AttributeError, match="module 'slowhand' has no attribute 'runn'"):
        slowhand.runn  # type: ignore[attr-defined]  # noqa: B018


def test_the_launcher_builds_nothing_when_nothing_has_changed(tmp_path: Path) -> None:
    # Without Cargo, pip and compilers in reach, from another folder, through a link.
    link = tmp_path / "slowhand"
    link.symlink_to(ROOT / "slowhand")
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("sh", "readlink", "cat", "cmp", "find"):
        (tools / tool).symlink_to(f"/usr/bin/{tool}")
    variables = {
        "PATH": str(tools),
        "SLOWHAND_PROFILE": os.environ.get("SLOWHAND_PROFILE", "release"),
    }
    done = subprocess.run(
        [link, "--version"], cwd=tmp_path, env=variables, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"slowhand {slowhand.__version__}\n"
