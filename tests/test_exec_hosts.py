"""`slowhand exec`: hosts run side by side, and the result is that of one thread."""

from collections.abc import Mapping
from pathlib import Path

import pytest

import slowhand
from conftest import load, needs_exec

pytestmark = needs_exec()

PSK = "-psk 00112233 -cipher PSK-AES128-CCM8:@SECLEVEL=0"
PAIRS = [(1, 2), (3, 4), (5, 6)]


def world(threads: int, at: Mapping[int | str, str]) -> slowhand.Execution:
    """Programs at nodes of a network of ten, whose hosts run on so many threads."""
    scenario = slowhand.Scenario("storm-csma", ["network.topology.nodes=10", "client.count=1"])
    execution = slowhand.exec(scenario, at=at, count=1, again=0, threads=threads, duration_s=20.0)
    assert not execution.failures
    return execution


def outputs(execution: slowhand.Execution) -> dict[str, str]:
    """The text that each program has written."""
    return {program["name"]: program["stdout"] for program in execution.worlds[0]["programs"]}


def test_threads_do_not_change_a_world() -> None:
    at: dict[int | str, str] = {}
    for server, client in PAIRS:
        dtls = f"-dtls1_2 -timeout {PSK}"
        connect = f"openssl s_client -connect node{server}:5684 {dtls}"
        at[server] = f"openssl s_server -accept 5684 -nocert -naccept 1 -quiet {dtls}"
        at[client] = f"sh -c 'sleep 1; exec {connect}'"
    # Hosts of which two speak by TCP, one sleeps in the kernel, and one computes.
    at[7] = "openssl s_server -accept 443 -nocert -tls1_3 -psk 00112233"
    at[8] = "sh -c 'sleep 1; exec openssl s_client -connect node7:443 -tls1_3 -psk 00112233'"
    at[9] = "sh -c 'x=0; while [ $x -lt 20000 ]; do x=$((x+1)); done; date +%N'"
    with load():
        executions = [world(threads, at) for threads in (1, 2, 4, 2)]
    worlds = [execution.worlds[0] for execution in executions]
    assert len({each["digest"] for each in worlds}) == 1
    assert worlds[0]["notes"] == []
    said = outputs(executions[0])
    for _, client in [*PAIRS, (7, 8)]:
        assert "Cipher is" in said[f"node {client}"]


def test_who_changes_files_waits_for_its_turn(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    seen = []
    for threads in (1, 2, 4):
        shared.write_text("begin\n")
        # At the same instant each of them reads the file, appends its line, and reads again.
        twice = f"cat {shared}; echo {{node}} >> {shared}; cat {shared}; echo -"
        command = f"sh -c 'sleep 1; {twice}; sleep 1; {twice}'"
        at: dict[int | str, str] = {1: command, 2: command, 3: command}
        at[4] = f"sh -c 'sleep 1; cat {shared}; sleep 1; cat {shared}'"  # it only reads
        execution = world(threads, at)
        assert execution.worlds[0]["notes"] == []
        seen.append(outputs(execution))
    # The first time all read before anyone writes; then those that write come one after the other,
    # in the order of the hosts.
    first = ["begin", "1", "2", "3"]
    second = [*first, "1", "2", "3"]
    for node in (1, 2, 3):
        lines = ["begin", *first[: node + 1], "-", *second[: node + 3], *second[: node + 4], "-"]
        assert seen[0][f"node {node}"].split() == lines
    assert seen[0]["node 4"].split() == ["begin", *first]
    assert seen[1] == seen[0]
    assert seen[2] == seen[0]


@pytest.mark.parametrize(
    "changes",
    [
        "mkdir {folder}/it 2>/dev/null && echo made || echo taken",
        "ln -s x {folder}/it 2>/dev/null && echo made || echo taken",
        "mv {folder}/one {folder}/{node} 2>/dev/null && echo made || echo taken",
        "exec 9<{folder}/one; flock -n 9 && echo made || echo taken; sleep 1",
    ],
)
def test_one_of_two_hosts_is_first(changes: str, tmp_path: Path) -> None:
    for threads in (1, 2, 2):
        folder = tmp_path / f"{threads}-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        (folder / "one").touch()
        command = changes.replace("{folder}", str(folder))
        said = outputs(world(threads, dict.fromkeys((1, 2, 3), f"sh -c '{command}'")))
        assert [said[f"node {node}"].strip() for node in (1, 2, 3)] == ["made", "taken", "taken"]
