"""`slowhand run --explain` and `--slowest`: the words, the document, and what repeats them."""

import json
import shlex

import pytest

import slowhand
from conftest import QUICKSTART, Cli, the_message

CERTAIN = "--set=network.link_pdr=1.0"


def test_the_words_fit_and_add_up(cli: Cli) -> None:
    lines = cli("run", QUICKSTART, "--explain", "--seed", 3).stdout.splitlines()
    start = lines.index("Where the time went")
    assert "1 of 1 handshakes completed" in lines[0]
    assert max(map(len, lines)) <= 80
    ends = lines.index("What changes that")
    rows = [line.split() for line in lines[start:ends] if line[12:20].endswith("%  ")]
    seconds = [float(row[0]) for row in rows]
    frame = slowhand.run(QUICKSTART, count=1, seed=3)
    # Each row is rounded to a millisecond.
    assert sum(seconds) == pytest.approx(frame["duration_s"][0], abs=0.0006 * len(rows))
    assert len(rows) > 3


def test_the_words_name_a_planted_loss(cli: Cli) -> None:
    # Frame 8 is the third fragment of the server's flight.
    plant = ["--set", "lowpan.dropped_frames=[8]", "--set", "session.timeout_s=20"]
    words = " ".join(cli("run", QUICKSTART, CERTAIN, *plant, "--explain").stdout.split())
    loss = "because fragment 3 of 8 of ServerHello to ServerHelloDone was lost at node 1"
    assert f"20.00 s waiting for the client's timer of 20 s, {loss} (the scenario asks" in words
    assert "lower session.timeout_s" in words
    without = cli("run", QUICKSTART, CERTAIN, *plant[2:], "--explain").stdout
    assert "timer" not in without


def test_json_has_the_document(cli: Cli) -> None:
    result = json.loads(cli("run", "quickstart", "--explain", "--json").stdout)
    document = result["explanation"]
    assert result["count"] == 1
    assert document == slowhand.Scenario("quickstart").explain().document
    assert document["scenario"] == result["scenario"]
    assert sum(part["microseconds"] for part in document["parts"]) == pytest.approx(
        1e6 * document["duration_s"]
    )
    assert document["duration_s"] == result["metrics"]["duration_s"]["mean"]
    ids = [event["id"] for event in document["events"]]
    assert ids == list(range(len(ids)))
    for event in document["events"]:
        assert event["cause"] is None or event["cause"] in ids
        assert event["from_s"] <= event["to_s"]
        assert event["state"] in {"ok", "lost", "needed", "spurious"}
    order = [(event["from_s"], event["lane"]) for event in document["events"]]
    assert order == sorted(order)
    assert {event["lane"] for event in document["events"]} == set(range(len(document["lanes"])))
    assert "explanation" not in json.loads(cli("run", "quickstart", "--count", 1, "--json").stdout)


def test_the_slowest_is_the_slowest_and_can_be_repeated(cli: Cli) -> None:
    done = cli("run", QUICKSTART, "--count", 20, "--slowest")
    frame = slowhand.run(QUICKSTART, count=20).sort("duration_s", descending=True)
    assert f"Seed {frame['seed'][0]}, client 1: {frame['duration_s'][0]:.2f} s: " in done.stdout
    *_, command = done.stdout.rpartition("slowhand run ")
    again = cli("run", *shlex.split(command))
    part = done.stdout.split("Where the time went")[1].split("The slowest of")[0]
    assert part.strip() == again.stdout.split("Where the time went")[1].strip()


def test_a_failed_handshake_is_slower_than_all_others(cli: Cli) -> None:
    lossy = ["--set", "lowpan.frame_loss=0.05", "--set", "session.give_up_s=20"]
    done = cli("run", QUICKSTART, *lossy, "--count", 20, "--slowest", "--json")
    result = json.loads(done.stdout)
    assert result["completed"] > 0, "else nothing is compared"
    document = result["explanation"]
    assert document["outcome"] == "gave_up"
    assert document["duration_s"] == pytest.approx(20, abs=0.1)
    assert any(part["kind"] == "giving-up" for part in document["parts"])
    frame = slowhand.run(
        QUICKSTART, count=20, set={"lowpan.frame_loss": 0.05, "session.give_up_s": 20}
    )
    assert document["seed"] == frame.filter(frame["outcome"] != "completed")["seed"][0]


def test_of_several_clients_one_is_named(cli: Cli) -> None:
    star = ["--set", "network.topology={ kind = 'star', leaves = 3 }", "--set", "mac.slotframe=17"]
    third = json.loads(cli("run", QUICKSTART, *star, "--explain", "--client", 3, "--json").stdout)
    assert third["explanation"]["client"] == 3
    first = json.loads(cli("run", QUICKSTART, *star, "--explain", "--json").stdout)
    assert first["explanation"]["client"] == 1
    words = json.dumps(first["explanation"]["parts"])
    assert "other sessions" in words


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--client", 1], "--client: found without --explain"),
        (["--client", 1, "--slowest"], "--client: found without --explain"),
        (["--client", 9, "--explain"], "--client: found 9, allowed: the node of a client (1)"),
        (["--client", 70000, "--explain"], "client"),
    ],
)
def test_bad_input(cli: Cli, arguments: list[str | int], message: str) -> None:
    assert message in the_message(cli("run", QUICKSTART, *arguments, code=2))


def test_in_python() -> None:
    explanation = slowhand.Scenario(QUICKSTART).explain(seed=5)
    assert explanation.summary in repr(explanation)
    assert explanation.parts == explanation.document["parts"]
    assert explanation.text.startswith("Seed 5, client 1: ")
    with pytest.raises(ValueError, match="client: found 2, allowed: the node of a client"):
        slowhand.Scenario(QUICKSTART).explain(client=2)
