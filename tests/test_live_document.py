"""The commands of "in five minutes" in docs/live.md do what the page says."""

import re
import shlex
import signal
from pathlib import Path

import pytest

from conftest import COMMAND, ROOT
from programs import Program, free_port

PAGE = (ROOT / "docs" / "live.md").read_text()
SECTION = PAGE[PAGE.index("## Your own server on a 6TiSCH") : PAGE.index("## Ways to connect")]


def command(beginning: str, port: int) -> list[str]:
    """The command of the page, with two other ports than 5684 and 5685."""
    (line,) = set(re.findall(rf"^(?:\$ )?({re.escape(beginning)}[^\n]*?)(?: &)?$", SECTION, re.M))
    words = shlex.split(re.sub("568[45]", lambda found: f"{port + int(found[0]) - 5684}", line))
    return [*COMMAND, *words[1:]] if words[0] == "./slowhand" else words


def end_and_read(network: Program) -> str:
    network.process.send_signal(signal.SIGINT)
    return network.end(130).decode()


def test_a_server_and_a_client_meet_across_three_hops(tmp_path: Path) -> None:
    port = free_port(2)
    control = ("--control", tmp_path / "control")
    with (
        Program(*command("openssl s_server", port)) as server,
        Program(*command("./slowhand live lossy-line", port), *control) as network,
    ):
        server.listens("udp", port + 1)
        network.listens("udp", port)
        with Program(*command("openssl s_client", port)) as client:
            client.expect(b"Verify return code: 0 (ok)")
            client.write(b"from the client\n")
            server.expect(b"from the client")
            server.write(b"from the server\n")
            client.expect(b"from the server")
            with Program(*command("./slowhand live set", port), *control) as change:
                change.end()
            with Program(*command("./slowhand live status", port), *control) as status:
                assert b"sessions   1 open, 1 completed" in status.end()
            client.write(b"Q\n")
            client.end()
        report = end_and_read(network)
    assert "1 of 1 handshakes completed" in report
    assert re.search(r"\nChanged while it ran\n  at .* s: network\.link_pdr=0\.7\n", report)
    assert " computes" not in report
    assert "without what the programs compute (client, server)\n" in report


def test_a_device_meets_a_server() -> None:
    port = free_port(2)
    with Program(*command("coap-server-openssl", port)) as server:
        server.listens("udp", port + 1)
        with Program(*command("./slowhand live psk-tinydtls", port)) as network:
            assert b"1 of 1 handshakes completed" in network.end()


def test_the_credentials_of_a_scenario_are_written_by_python(tmp_path: Path) -> None:
    words = command(".venv/bin/python", 1)
    words[0] = COMMAND[0]
    with Program(*words, folder=tmp_path) as python:
        python.end()
    assert (tmp_path / "keys" / "server.pem").exists()


def test_the_example_in_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(import slowhand\n.*?)```", PAGE, re.S)
    exec(example, {})  # nothing comes, so the table is empty; it has the columns
    assert "duration_s" in capsys.readouterr().out
