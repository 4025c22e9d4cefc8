"""The page of a network that runs: who may ask, what is drawn, and what is switched there."""

import http.client
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

import slowhand
from slowhand.keys import Setting
from slowhand.realtime import control
from slowhand.realtime.page import LONGEST_BODY, MOST_READERS, Page
from test_pages_in_browser import Browser


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Page]:
    """A page of a network in which frames are always on the air."""
    socket = tmp_path / "control.sock"
    flow: dict[str, Setting] = {"from": "nodes", "to": "internet", "pattern": "periodic"}
    flows: dict[str, Setting] = {"traffic": [{**flow, "interval_ms": 300, "octets": 40}]}
    with (
        slowhand.live("lossy-line", set=flows, control=socket, speed=2),
        Page(socket) as page,
    ):
        yield page


def ask(page: Page, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, str]:
    """The status and the text of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=20)
    text = None if body is None else body if isinstance(body, str) else json.dumps(body)
    connection.request(
        method, path, text, {name.replace("_", "-"): v for name, v in headers.items()}
    )
    response = connection.getresponse()
    told = response.read().decode()
    assert "access-control-allow-origin" not in {name.lower() for name, _ in response.getheaders()}
    connection.close()
    return response.status, told


def own(page: Page) -> dict[str, str]:
    """The headers of the page's own commands."""
    return {"Origin": f"http://127.0.0.1:{page.port}", "Content_Type": "application/json"}


def test_only_who_has_the_address_may_ask(served: Page) -> None:
    base = urlsplit(served.address).path
    assert ask(served, "GET", base)[0] == 200
    assert ask(served, "GET", "/")[0] == 403
    assert ask(served, "GET", f"/{'x' * len(served.token)}/")[0] == 403
    assert ask(served, "GET", "/%C3%A9/")[0] == 403
    assert ask(served, "GET", base, Host="attacker.example")[0] == 403
    assert ask(served, "GET", base + "other")[0] == 404
    command = {"node": 2, "on": False}
    assert ask(served, "POST", base + "command", command)[0] == 403
    foreign = {**own(served), "Origin": "http://attacker.example"}
    assert ask(served, "POST", base + "command", command, **foreign)[0] == 403
    form = {**own(served), "Content_Type": "text/plain"}
    assert ask(served, "POST", base + "command", command, **form)[0] == 403
    assert ask(served, "POST", base + "command", "x" * (LONGEST_BODY + 1), **own(served))[0] == 413


def test_commands_are_those_of_a_page_and_errors_are_the_networks(served: Page) -> None:
    path = urlsplit(served.address).path + "command"
    bad = [{"status": True}, {"set": 1}, {"node": 2, "on": "yes"}, {"link": [1], "on": True}]
    for refused in ("{", "[]", "null", *bad):
        assert json.loads(ask(served, "POST", path, refused, **own(served))[1]) == {
            "error": "found no command"
        }
    told = json.loads(ask(served, "POST", path, {"set": "network.link_pdr=2"}, **own(served))[1])
    assert told == {"error": "--set network.link_pdr: found 2, allowed: a probability from 0 to 1"}
    done = json.loads(ask(served, "POST", path, {"set": "network.link_pdr=0.9"}, **own(served))[1])
    assert done == {"ok": True}


def test_readers_are_told_frames_and_no_more_than_some(served: Page) -> None:
    path = urlsplit(served.address).path + "events"
    connections = []
    for _ in range(MOST_READERS):
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=20)
        connection.request("GET", path)
        connections.append((connection, connection.getresponse()))
    assert ask(served, "GET", path)[0] == 503
    _, response = connections[0]
    names, until = set(), time.monotonic() + 20
    while "acknowledgement" not in names and time.monotonic() < until:
        line = response.readline().decode()
        if line.startswith("data: "):
            told = json.loads(line.removeprefix("data: "))
            assert len(told["nodes"]) == 4
            names |= {frame["name"] for frame in told["seen"]}
    assert "acknowledgement" in names
    for connection, response in connections:
        response.close()
        connection.close()


def test_nodes_and_links_are_switched_in_the_page(
    chromium: Browser, served: Page, tmp_path: Path
) -> None:
    chromium.driver.get(served.address)
    wait = WebDriverWait(chromium.driver, 30)
    wait.until(lambda _: "on the air" in chromium.text(".state"))
    chromium.run("document.querySelector('.mesh').focus()")
    chromium.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert "node 2" in chromium.text(".picked")
    chromium.one(".picked button").click()
    wait.until(lambda _: "switched off" in chromium.text(".picked"))
    snapshot = control.ask(tmp_path / "control.sock", {"status": True})
    assert [node["on"] for node in snapshot["nodes"]] == [True, True, False, True]
    chromium.one(".picked button").click()
    wait.until(lambda _: "switched off" not in chromium.text(".picked"))
    # A link that is off delivers nothing any more.
    chromium.run("document.querySelector('.mesh').focus()")
    chromium.keys(Keys.ARROW_RIGHT)
    link = chromium.text(".picked strong")
    chromium.one(".picked button").click()
    wait.until(lambda _: chromium.text(".picked button") == "Switch on")
    assert chromium.text(".said") == "Done."
    one, other = (int(word) for word in link.replace("node ", "").split() if word.isdigit())

    def received() -> int:
        links = control.ask(tmp_path / "control.sock", {"status": True})["links"]
        return sum(each["received"] for each in links if {each["from"], each["to"]} == {one, other})

    before = received()
    time.sleep(1.5)
    assert received() == before
    chromium.one(".picked button").click()
    wait.until(lambda _: chromium.text(".picked button") == "Switch off")
    wait.until(lambda _: received() > before)
    for width in (390, 1600):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        chromium.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        chromium.settle()
        assert chromium.hidden() == []
    chromium.wide()
    box = chromium.driver.find_element(By.NAME, "change")
    box.send_keys("network.link_pdr=<img src=x onerror=alert(1)>", Keys.ENTER)
    wait.until(lambda _: "onerror" in chromium.text(".said"))
    assert chromium.run("return document.querySelectorAll('img').length") == 0
    assert chromium.driver.get_log("browser") == []  # type: ignore[no-untyped-call]
