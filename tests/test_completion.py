"""Completion in real shells: each reads its script, and Tab is pressed in a terminal."""

import json
import os
import pty
import re
import select
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Cli, the_message
from slowhand import completion
from slowhand.commands import COMMANDS
from slowhand.completion import SHELLS, command

LOADED = {
    "bash": "source {script}",
    "zsh": "autoload -Uz compinit && compinit -u -D && source {script}",
    "fish": "source {script}",
}
STARTED = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}

Complete = Callable[[str], list[str]]


def there(shell: str) -> str:
    """The shell, or the test is left out."""
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not installed")
    return found


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The script of each shell."""
    folder = tmp_path_factory.mktemp("completion")
    commands = completion.read(COMMANDS)
    for shell in SHELLS:
        (folder / shell).write_text(completion.SCRIPTS[shell](commands))
    return {shell: folder / shell for shell in SHELLS}


def typed(shell: str, script: Path, folder: Path, line: str) -> list[str]:
    """The words of a command line after it was typed with a Tab at its end, in a terminal."""
    process, terminal = pty.fork()
    if not process:
        os.chdir(folder)
        os.environ.update(TERM="dumb", PS1="$ ", COLUMNS="200", HOME=str(folder))
        os.execvp(STARTED[shell][0], STARTED[shell])
    seen = b""

    def until(pattern: str) -> re.Match[str]:
        nonlocal seen
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if found := re.search(pattern, seen.decode(errors="replace"), re.DOTALL):
                return found
            if select.select([terminal], [], [], 0.1)[0]:
                seen += os.read(terminal, 4096)
        raise AssertionError(f"{shell}: nothing like {pattern} in {seen!r}")

    try:
        load = LOADED[shell].format(script=script)
        shown = "slowhand() { printf '<%s>' \"$@\"; echo END; }"
        os.write(terminal, f"{load}; {shown}; echo REA''DY\n".encode())
        until("READY")
        os.write(terminal, line.encode() + b"\t")
        time.sleep(0.3)
        os.write(terminal, b"\n")
        return re.findall("<(.*?)>", until(r"(<[^\r\n]*>)END").group(1))
    finally:
        os.close(terminal)
        os.waitpid(process, 0)


def offered(shell: str, script: Path, folder: Path, line: str) -> list[str]:
    """The words that a shell offers for the end of a line."""
    if shell == "fish":
        asked = f"source {script}; complete -C '{line}'"
        done = subprocess.run(
            [there("fish"), "--no-config", "-c", asked],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.stderr == ""
        return [each.partition("\t")[0] for each in done.stdout.splitlines()]
    words = line.split(" ")
    parts = [part for word in words for part in re.split("(=)", word) if part or not word]
    given = " ".join(f"'{part}'" for part in parts)
    asked = f"source {script}; COMP_WORDS=({given}); COMP_CWORD={len(parts) - 1}; _slowhand"
    done = subprocess.run(
        ["bash", "--norc", "-c", f'{asked}; printf "%s\\n" "${{COMPREPLY[@]}}"'],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    return [each for each in done.stdout.splitlines() if each]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_has_the_syntax_of_its_shell(shell: str, cli: Cli, tmp_path: Path) -> None:
    script = cli("completion", shell).stdout
    (tmp_path / "script").write_text(script)
    done = subprocess.run(
        [there(shell), "-n", tmp_path / "script"], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(cli("completion", shell, "--json").stdout)["script"] == script


ENDS = {
    "slowhand sce": ["scenarios"],
    "slowhand run quickst": ["run", "quickstart"],
    "slowhand run quickstart --rec": ["run", "quickstart", "--records"],
    "slowhand run mine": ["run", "mine.toml"],
    "slowhand sweep xmac --count 3 --metr": ["sweep", "xmac", "--count", "3", "--metric"],
    "slowhand settings xmac --library mbed": ["settings", "xmac", "--library", "mbedtls"],
    "slowhand papers vuc": ["papers", "vucinic2015"],
    "slowhand papers vucinic2015 table1 --o": ["papers", "vucinic2015", "table1", "--out"],
    "slowhand devices tel": ["devices", "telosb"],
    "slowhand batteries cr": ["batteries", "cr2032"],
    "slowhand live stat": ["live", "status"],
    "slowhand live set network.link": ["live", "set", "network.link_pdr="],
    "slowhand live node 3 of": ["live", "node", "3", "off"],
    "slowhand advise --device wis": ["advise", "--device", "wismote"],
    "slowhand run quickstart --set lowpan.source_r": [
        *("run", "quickstart", "--set", "lowpan.source_route_octets="),
    ],
}


@pytest.mark.parametrize("shell", ["bash", "zsh"])
@pytest.mark.parametrize("line", ENDS)
def test_tab_completes_in_a_terminal(
    shell: str, line: str, scripts: dict[str, Path], tmp_path: Path
) -> None:
    there(shell)
    (tmp_path / "mine.toml").touch()
    assert typed(shell, scripts[shell], tmp_path, line) == ENDS[line]


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_a_shell_offers_what_may_stand_there(
    shell: str, scripts: dict[str, Path], tmp_path: Path
) -> None:
    there(shell)
    (tmp_path / "mine.toml").touch()
    (tmp_path / "folder").mkdir()

    def at(line: str) -> list[str]:
        return offered(shell, scripts[shell], tmp_path, line)

    first = {name.partition(" ")[0] for name in COMMANDS}
    assert set(at("slowhand ")) == first | (set() if shell == "fish" else {"--help", "--version"})
    words = command.words()
    for each in completion.read(COMMANDS):
        options = {option.option for option in each.options}
        assert set(at(f"slowhand {each.name} --")) == options, each.name
    assert set(words["SCENARIO"]) < {word.rstrip("/") for word in at("slowhand compare xmac ")}
    assert "mine.toml" in at("slowhand run ")
    assert at("slowhand devices tel") == ["telosb"]
    assert at("slowhand settings xmac --library ") == words["LIBRARY"] or shell == "fish"
    assert set(at("slowhand settings xmac --library ")) == set(words["LIBRARY"])
    assert set(at("slowhand run xmac --count ")) == set()
    assert "folder" in {word.rstrip("/") for word in at("slowhand papers --out ")}
    assert "mine.toml" not in at("slowhand papers --out ")
    assert {"set", "node", "status", "quickstart"} < set(at("slowhand live "))
    assert set(at("slowhand schema ")) == set(words["KIND"])


def test_options_of_bash_may_have_their_value_behind_a_sign(
    scripts: dict[str, Path], tmp_path: Path
) -> None:
    def at(line: str) -> list[str]:
        return offered("bash", scripts["bash"], tmp_path, line)

    assert at("slowhand settings xmac --library=wolf") == ["wolfssl"]
    assert at("slowhand run --set network.link_pdr=0.9 quickst") == ["quickstart"]
    assert at("slowhand run --set=network.link_pdr=0.9 quickst") == ["quickstart"]
    assert at("slowhand run -- quickst") == ["quickstart"]


def test_every_key_of_a_scenario_is_offered() -> None:
    keys = command.words()["KEY=VALUE"]
    wanted = {"network.link_pdr=", "network.topology.kind=", "mac.cells.shared=", "session.mtu="}
    assert wanted <= set(keys)
    assert len(keys) == len(set(keys)) > 100


def test_an_unknown_shell_gets_one_message(cli: Cli) -> None:
    said = the_message(cli("completion", "fich", code=2))
    assert said.endswith("shell: found 'fich', allowed: bash, zsh, fish; did you mean fish?")
