"""Puts what `slowhand battery` prints into docs/battery.md and its reference, and its picture.

Run it when the output has changed: .venv/bin/python docs/battery.py. It takes half a minute.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from measured import ROOT, Settings, write

from slowhand import Scenario, lives, plot
from slowhand.terminal import WIDTH

PAGE = "docs/battery.md"
REFERENCE = "docs/reference/battery.md"

THREAD = "scenarios/battery.toml"
SENSOR = "scenarios/sensor.toml"
HOURLY: Settings = {"application.pattern": "periodic", "application.period_s": 3600}

OTHER_PERIODS = {"10 min": 600, "1 h": 3600, "1 day": 86_400}
SESSIONS = ("kept", "resumed", "anew")

PROTECTIONS = {
    "DTLS 1.2": ["session.protocol=coap+dtls1.2"],
    "DTLS 1.2, connection ID": ["session.protocol=coap+dtls1.2", "session.connection_id=8"],
    "EDHOC": ["session.protocol=edhoc"],
    "EDHOC, new each time": [
        *("session.protocol=edhoc", "application.session=anew", "application.idle_timeout_s="),
    ],
    "OSCORE": ["session.protocol=oscore"],
}


def main(folder: Path) -> None:
    """Writes the page, its reference and the picture into `folder`."""
    os.chdir(ROOT)
    thread = lives.ask(THREAD)
    sensor = lives.ask(Scenario(SENSOR, HOURLY), "l91-pair")
    month = lives.ask(THREAD, full=True)
    assert month.told and thread.told
    low, high = (mj for mj in lives.ask(THREAD, days=30).document["life"]["energy_a_day_one95"])
    full = month.document["life"]["energy_a_day_mj"]
    agree = (
        f"A month of `{THREAD}` event by event takes {full:,.0f} mJ a day; the estimate says that"
        f" one device takes {low:,.0f} to {high:,.0f} mJ.\n"
    )
    blocks = {
        "lead": lead(thread),
        "thread": f"```text\n$ ./slowhand battery {THREAD}\n{plain(thread)}```\n",
        "sessions": sessions(),
        "protections": protections(),
    }
    looked_up = {
        "sensor": (
            f"```text\n$ ./slowhand battery {SENSOR} --period 1h --battery l91-pair\n"
            f"{plain(sensor)}```\n"
        ),
        "month": agree,
    }
    write(PAGE, folder, blocks)
    write(REFERENCE, folder, looked_up)
    plot.life(thread.document, folder / "docs" / "battery.png")


def lead(answer: lives.Answer) -> str:
    """The answer for the sleepy sensor, as a paragraph."""
    document = answer.document
    shares = {p["name"]: lives.words.share(p["share"]) for p in document["parts"]}
    years = {one["name"]: one["years"] for one in document["alternatives"]}
    with_id, slower = years["a connection ID"], years["a poll every 10 s"]
    return (
        f"A sleepy Thread sensor that reports once an hour over DTLS lasts {document['years']:.1f}"
        f" years on a CR2032. Its handshakes take {shares['handshakes']} of\nthat, because a NAT"
        f" forgets its session between two reports; its polls take {shares['link_layer']}. With a"
        f" connection ID it lasts {with_id:.1f} years, with a\npoll every 10 s instead of 2 s"
        f" {slower:.1f} years.\n"
    )


def plain(answer: lives.Answer) -> str:
    """The text of an answer, with spaces that every editor shows."""
    return answer.text().replace("\N{NO-BREAK SPACE}", " ")


def sessions() -> str:
    """How long the sensor lasts by the period of its reports and by what becomes of its session."""
    lines = ["| a report every | kept, no NAT | resumed each time | new each time |"]
    lines.append("| --- | --: | --: | --: |")
    for name, seconds in OTHER_PERIODS.items():
        cells = []
        for use in SESSIONS:
            scenario = Scenario(
                THREAD, [f"application.period_s={seconds}", "application.idle_timeout_s="]
            )
            answer = lives.Answer(lives.alternatives.with_session(scenario, use))
            answer.run(compares=False)
            document = answer.document
            cells.append(lives.words.life(document["years"], document["years_ci95"]))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def protections() -> str:
    """How long the sensor lasts by what protects its CoAP messages."""
    lines = ["| protection | lasts | handshakes a year | of the charge |"]
    lines.append("| --- | --: | --: | --: |")
    for name, settings in PROTECTIONS.items():
        answer = lives.Answer(Scenario(THREAD, settings))
        answer.run(compares=False)
        document = answer.document
        (share,) = (p["share"] for p in document["parts"] if p["name"] == "handshakes")
        cells = [
            lives.words.life(document["years"], document["years_ci95"]),
            f"{document['life']['counts']['handshakes_full']:,}",
            lives.words.share(share),
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    assert max(map(len, lines)) <= WIDTH
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
