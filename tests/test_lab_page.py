"""The laboratory in a page: the module in node gives the native numbers; the page in Chromium."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

import slowhand
from conftest import ROOT
from slowhand import _native, data
from slowhand.explain import slowest
from slowhand.pages import lanes
from slowhand.report import failures, losses, number
from test_pages_in_browser import Browser

BUILT = ROOT / "target" / "lab-page"
FULL = "SLOWHAND_FULL" in os.environ

pytestmark = pytest.mark.skipif(
    "SLOWHAND_PAGE" not in os.environ,
    reason="the step `page` of ./test runs these when the page is built",
)

SMALLER = {
    "join": [],
    "power-cut": ["client.count=8"],
    "storm-csma": ["client.count=8"],
    "storm-tsch": ["client.count=8", "network.topology.nodes=500"],
}
"""Scenarios whose worlds are too large for a page or for this test."""

QUICK = ("beacon", "csma", "edhoc", "lossy-line", "oscore", "quickstart", "rpl", "thread", "xmac")


class Module:
    """The module in node."""

    def __init__(self) -> None:
        command = ["node", str(ROOT / "tests" / "lab_page.cjs"), str(BUILT / "slowhand.wasm")]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    def ask(self, **request: Any) -> dict[str, Any]:
        """The answer to a request, with the time that it took."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def open(self, name: str, overrides: list[str]) -> dict[str, Any]:
        """Opens a scenario that comes with slowhand."""
        file = f"{name}.toml"
        text = data.files(data.SCENARIOS)[name].read_text()
        sources = {"scenario": file, "files": {file: text}, "overrides": overrides}
        return self.ask(do="open", side=0, sources=sources)

    def end(self) -> None:
        """Ends it."""
        self.process.communicate()


@pytest.fixture(scope="module")
def module() -> Iterator[Module]:
    """The module in node."""
    made = Module()
    yield made
    made.end()


@pytest.mark.parametrize("name", [*data.files(data.SCENARIOS)] if FULL else QUICK)
def test_records_are_the_native_ones(module: Module, name: str) -> None:
    overrides, count = SMALLER.get(name, []), 3 if FULL else 1
    opened = module.open(name, overrides)
    assert "ok" in opened, opened
    module.ask(do="run", side=0, seed=1, count=count)
    columns = module.ask(do="columns", side=0)["ok"]
    run = slowhand.Run(slowhand.Scenario(name, overrides), seed=1, count=count)
    native = _native.Run(run.scenario.native, 1, count, 2, True).columns()
    assert len(columns["seed"]) >= count
    for column, _, values in native:
        assert columns[column] == values, column
    # And the summary, of which the page shows the numbers.
    summary = module.ask(do="summary", side=0)["ok"]
    assert summary == {key: run.summary()[key] for key in summary}


OTHERS = {
    "RSA": "session.suite=TLS_RSA_WITH_AES_128_GCM_SHA256 session.curve=",
    "rustls": "session.stack=rustls session.protocol=tls1.3 session.suite=TLS_AES_128_GCM_SHA256"
    " session.timeout_s= session.max_fragment_length=",
    "mbedtls": "session.protocol=tls1.3 session.suite=TLS_AES_128_GCM_SHA256"
    " session.timeout_s= session.max_fragment_length=",
    "lean-dtls": "session.stack=lean-dtls session.protocol=dtls1.3"
    " session.suite=TLS_AES_128_CCM_8_SHA256 session.max_fragment_length=",
    "own arithmetic": "session.arithmetic=library",
}
"""The parts of a scenario that none that comes with slowhand has."""


@pytest.mark.parametrize("name", OTHERS)
def test_records_of_other_sessions_are_the_native_ones(module: Module, name: str) -> None:
    overrides = OTHERS[name].split()
    opened = module.open("quickstart", overrides)
    assert "ok" in opened, opened
    module.ask(do="run", side=0, seed=7, count=1)
    columns = module.ask(do="columns", side=0)["ok"]
    native = slowhand.Scenario("quickstart", overrides).native
    for column, _, values in _native.Run(native, 7, 1, 1, True).columns():
        assert columns[column] == values, column


def test_openssl_is_not_in_this_build(module: Module) -> None:
    versions = {stack["name"]: stack["version"] for stack in module.ask(do="stacks")["ok"]}
    native = {stack["name"]: stack["version"] for stack in slowhand.stacks()}
    assert versions == {**native, "openssl": "not in this build"}
    error = module.open("quickstart", ["session.stack=openssl"])["error"]
    assert error["message"] == (
        "--set session.stack: found openssl, allowed: lean-dtls, mbedtls, rustls, tinydtls "
        "(this build has no other); the client runs openssl"
    )


def test_messages_are_those_of_the_command_line(module: Module) -> None:
    wrong = ("session.mtu=20", "mac.slotframe=1", "network.topology.hops=0", "mac.kind=wifi")
    for override in wrong:
        found = module.open("quickstart", [override])["error"]["message"]
        with pytest.raises(slowhand.ScenarioError) as refused:
            slowhand.Scenario("quickstart", [override])
        assert found == str(refused.value)


def test_a_panic_keeps_its_text_and_the_module_starts_anew(module: Module) -> None:
    assert "ok" in module.open("csma", [])
    said = module.ask(do="panic")["broken"]
    assert re.search(r"panicked at .*abi.rs:\d+", said)
    assert "a length that the memory of a page has room for" in said
    assert "error" in module.ask(do="summary", side=0)  # no scenario is open any more
    assert "ok" in module.open("csma", [])
    assert len(module.ask(do="run", side=0, seed=1, count=2)["ok"]) == 2


class Reader:
    """Somebody who uses the page."""

    def __init__(self, browser: Browser):
        self.browser = browser

    def open(self, address: str = "") -> None:
        """Loads the page, and waits until its worlds have run."""
        self.browser.driver.get("about:blank")
        self.browser.driver.get(f"{(BUILT / 'slowhand.html').as_uri()}{address}")
        self.wait()

    def wait(self) -> None:
        """Waits until the worlds have run, or the scenario is refused."""
        wait = WebDriverWait(self.browser.driver, 60)
        wait.until(lambda _: self.data("readyMs"))
        wait.until(lambda _: self.data("running") == "false")
        self.browser.settle()

    def data(self, name: str) -> str:
        """The page's words on its work."""
        return str(self.browser.run(f"return document.documentElement.dataset.{name} ?? ''"))

    def set(self, control: str, value: str) -> None:
        """Changes a control, as its events have it."""
        self.browser.run(
            """
            const input = document.getElementById(`control-${arguments[0]}-input`);
            input.value = arguments[1];
            input.dispatchEvent(new Event("input"));
            input.dispatchEvent(new Event("change"));
            """,
            control.replace(".", "-"),
            value,
        )
        self.wait()

    def write(self, area: str, text: str) -> None:
        """Writes a text in place of what is there."""
        self.browser.run(
            """
            const area = document.getElementById(arguments[0]);
            area.value = arguments[1];
            area.dispatchEvent(new Event("input"));
            document.documentElement.dataset.running = "soon";
            """,
            area,
            text,
        )
        self.wait()

    def row(self, label: str) -> list[str]:
        """The numbers of the first row with this label."""
        found: list[str] = self.browser.run(
            """
            const rows = [...document.querySelectorAll("#table tbody tr")];
            const row = rows.find((row) => row.cells[0].textContent === arguments[0]);
            return [...row.cells].slice(2).map((cell) => cell.textContent);
            """,
            label,
        )
        return found


@pytest.fixture
def reader(chromium: Browser) -> Iterator[Reader]:
    """A reader. After each test the console is empty, and nothing but the worker was loaded."""
    chromium.colours("light")
    yield Reader(chromium)
    chromium.wide()
    assert chromium.driver.get_log("browser") == []  # type: ignore[no-untyped-call]
    loaded: list[str] = chromium.run(
        "return performance.getEntriesByType('resource').map((entry) => entry.name)"
    )
    assert [name for name in loaded if not name.startswith("blob:")] == []


def test_the_table_has_the_numbers_of_a_run(reader: Reader) -> None:
    reader.open("#a=csma&count=20")
    summary = slowhand.Run(slowhand.Scenario("csma"), count=20).summary()
    duration = summary["metrics"]["duration_s"]
    assert reader.browser.text("#outcomes") == "20 of 20 handshakes completed"
    mean, _, least, *_ = reader.row("duration")
    assert (mean, least) == tuple(number(duration[key], duration["max"]) for key in ("mean", "min"))
    assert reader.browser.text(".handshake .summary") == (
        slowhand.Scenario("csma").explain(seed=1).summary
    )
    assert "slowhand run csma --seed 1 --count 20" in reader.browser.text("#command")


def test_what_is_written_twice_is_the_same(reader: Reader) -> None:
    """The slowest handshake, why handshakes failed and where datagrams were lost, as `run` has it.

    The page has code of its own for this.
    """
    reader.open(
        "#a=csma&a.set=lowpan.fragment_loss%3D0.15&a.set=session.give_up_s%3D6&count=30&show=slowest"
    )
    settings = {"lowpan.fragment_loss": 0.15, "session.give_up_s": 6}
    scenario = slowhand.Scenario("csma", settings)
    run = slowhand.Run(scenario, count=30)
    summary = run.summary()
    assert summary["completed"] and summary["failed"] and summary["losses"]
    lines = reader.browser.run(
        "return ['failures', 'losses'].map("
        "(id) => [...document.getElementById(id).children].map((line) => line.textContent))"
    )
    assert lines == [[*failures(summary)], [line for line, _ in losses(summary["losses"])]]
    seed, client = slowest(run.frame().to_dict(as_series=False))
    assert reader.browser.text("#which") == f"Seed {seed}, client {client}"
    shown = reader.browser.run("return document.querySelector('#handshake .data').textContent")
    assert json.loads(shown) == lanes.columns(scenario.explain(seed=seed, client=client).document)


def test_a_control_sets_its_key_and_the_address(reader: Reader) -> None:
    reader.open("#a=csma&count=5")
    reader.set("network.topology.hops", "2")
    assert reader.browser.one("#set").get_property("value") == "network.topology.hops=2"
    summary = slowhand.Run(
        slowhand.Scenario("csma", {"network.topology.hops": 2}), count=5
    ).summary()
    duration = summary["metrics"]["duration_s"]
    assert reader.row("duration")[0] == number(duration["mean"], duration["max"])
    address = reader.browser.run("return location.hash")
    before = reader.row("duration")
    reader.open(address)
    assert reader.row("duration") == before
    # Keys follow from a credential and from a library, as in a sweep.
    reader.set("session.credential", "certificate")
    assert "session.suite=" in str(reader.browser.one("#set").get_property("value"))
    assert not reader.browser.one("#error").is_displayed()
    reader.set("session.stack", "rustls")
    reader.set("session.protocol", "tls1.3")
    assert not reader.browser.one("#error").is_displayed(), reader.browser.text("#error")
    reader.browser.one("#reset").click()
    reader.wait()
    assert reader.browser.one("#set").get_property("value") == ""
    assert not reader.browser.one("#reset").is_enabled()
    for mac in ("tsch", "xmac", "beacon", "csma"):
        reader.set("mac.kind", mac)
        assert not reader.browser.one("#error").is_displayed(), (
            mac,
            reader.browser.text("#error"),
        )


def test_two_configurations_are_compared(reader: Reader) -> None:
    reader.open("#a=csma&b=csma&b.set=network.topology.hops%3D1&count=10")
    runs = [
        slowhand.Run(slowhand.Scenario("csma", overrides), count=10)
        for overrides in ([], ["network.topology.hops=1"])
    ]
    durations = [run.summary()["metrics"]["duration_s"] for run in runs]
    means, largest = [each["mean"] for each in durations], durations[0]["max"]
    cells = reader.row("duration")
    assert [cells[0], cells[2]] == [number(mean, largest) for mean in means]
    assert cells[4] == f"\N{MINUS SIGN}{number(means[0] - means[1], largest)}"
    assert "10 pairs" in reader.browser.text("#difference")


def test_errors_are_those_of_the_reader_and_nothing_is_injected(reader: Reader) -> None:
    reader.open("#a=csma&count=3")
    reader.write("set", "network.link_pdr=7")
    assert "--set network.link_pdr: found 7" in reader.browser.text("#error")
    hostile = "<img src=x onerror=document.title='owned'></textarea></script><script>alert(1)"
    reader.write("set", hostile)
    assert reader.browser.one("#error").is_displayed()
    reader.write("set", "")
    assert not reader.browser.one("#error").is_displayed()
    text = data.files(data.SCENARIOS)["csma"].read_text()
    reader.write("text", text.replace('"nrf52840"', json.dumps(hostile)))
    assert "onerror" in reader.browser.text("#error")
    names = ("a", "a.text", "a.set", "show", "seed")
    reader.open("#" + "&".join(f"{name}={quote(hostile)}" for name in names))
    assert reader.browser.run("return document.title") == "slowhand: the laboratory in a page"
    assert reader.browser.run("return document.querySelectorAll('main img').length") == 0
    assert reader.browser.one("#error").is_displayed()


def test_worlds_stop_and_go_on(reader: Reader) -> None:
    reader.open("#a=csma&count=3")
    reader.browser.run("document.getElementById('count').value = 4000")
    reader.browser.run("document.getElementById('count').dispatchEvent(new Event('change'))")
    reader.browser.one("#stop").click()
    reader.wait()
    done = int(reader.data("done"))
    assert 0 < done < 4000
    assert reader.browser.text("#stop") == "Go on"
    reader.browser.one("#stop").click()
    WebDriverWait(reader.browser.driver, 60).until(lambda _: int(reader.data("done")) > done)
    reader.browser.one("#stop").click()
    reader.wait()


def test_a_world_that_is_too_large_is_refused(reader: Reader) -> None:
    reader.open("#a=storm-tsch&count=1")
    assert "allowed in a page: 100 MB" in reader.browser.text("#error")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1024, 1600])
def test_all_of_it_fits_the_screen(reader: Reader, width: int, scheme: str) -> None:
    reader.browser.colours(scheme)
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    reader.browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    reader.open("#a=csma&b=csma&b.set=session.timeout_s%3D9&count=3")
    assert reader.browser.hidden() == []


def test_everything_has_a_name_and_keys_reach_it(reader: Reader) -> None:
    reader.open("#a=csma&count=3")
    nameless: list[str] = reader.browser.run(
        """
        const words = (e) => e.getAttribute("aria-label") || e.textContent.trim();
        const named = (e) => e.labels?.length || words(e);
        return [...document.querySelectorAll("main :is(button, input, select, textarea)")]
          .filter((e) => !named(e))
          .map((e) => e.outerHTML);
        """
    )
    assert nameless == []
    reader.browser.run("document.getElementById('scenario').focus()")
    seen = []
    for _ in range(30):
        reader.browser.keys(Keys.TAB)
        seen.append(reader.browser.run("return document.activeElement.id"))
    for name in ("compares", "control-network-topology-hops-input", "text", "set", "stop", "count"):
        assert name in seen
    reader.browser.run("document.getElementById('control-network-topology-hops-input').focus()")
    reader.browser.keys(Keys.ARROW_LEFT)
    reader.wait()
    assert reader.browser.one("#set").get_property("value") == "network.topology.hops=2"


def test_frames_are_saved_as_pcapng(reader: Reader, tmp_path: Path) -> None:
    reader.browser.driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    reader.open("#a=csma&count=1&seed=5")
    reader.browser.one("#capture").click()
    file = tmp_path / "csma-seed-5.pcapng"
    WebDriverWait(reader.browser.driver, 30).until(lambda _: file.exists())
    native = tmp_path / "native.pcapng"
    slowhand.Scenario("csma").capture(native, seed=5)
    assert file.read_bytes() == native.read_bytes()


def test_the_page_measures_its_speed(reader: Reader) -> None:
    """No bound: docs/reference/performance.md has numbers."""
    reader.open("#a=csma&count=200")
    reader.set("network.topology.hops", "2")
    took = {name: reader.data(name) for name in ("readyMs", "explainedMs")}
    assert all(re.fullmatch(r"\d+", value) for value in took.values()), took


def test_the_network_moves(reader: Reader) -> None:
    reader.open("#a=csma&count=1&seed=5")
    reader.browser.one("#play").click()
    WebDriverWait(reader.browser.driver, 30).until(
        lambda _: reader.browser.run(
            "return document.querySelector('#playback .clock')?.textContent"
        )
    )
    told = slowhand.Scenario("csma").play(seed=5).document
    reader.browser.run("document.querySelector('#playback .mesh').focus()")
    reader.browser.keys("n")
    reader.browser.settle()
    chosen = reader.browser.text("#playback .picked")
    # The words are those of slowhand's own readers, as there is no other in a page.
    start = round(told["explanation"]["start_s"] * 1e6)
    place = next(i for i, at in enumerate(told["frames"]["from_us"]) if at > start)
    for line in told["decoded"]["frames"][place]:
        assert told["decoded"]["lines"][line].strip() in chosen
    assert reader.browser.hidden() == []


def test_keys_and_words_are_completed_from_the_schema(reader: Reader) -> None:
    reader.open("#a=csma&count=1")
    set_ = reader.browser.one("#set")
    set_.send_keys("session.time")
    offers = reader.browser.text("#set-offers")
    assert offers.startswith("session.timeout_s ")
    set_.send_keys(Keys.TAB, "=2\nsession.st", Keys.TAB, '="lean')
    assert reader.browser.text("#set-offers") == '"lean-dtls"'
    set_.send_keys(Keys.ARROW_DOWN, Keys.ENTER)
    assert set_.get_property("value") == 'session.timeout_s=2\nsession.stack="lean-dtls"'
    assert not reader.browser.one("#set-offers").is_displayed()
    # In the text of the scenario a key belongs to the table above it.
    text = reader.browser.one("#text")
    text.send_keys("\n[netw", Keys.TAB, "]\nlink_p")
    assert reader.browser.text("#text-offers").startswith("link_pdr ")
    text.send_keys(Keys.ESCAPE, "x")
    assert str(text.get_property("value")).endswith("[network]\nlink_px")
    reader.wait()


def test_every_key_that_is_offered_is_one_of_the_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "lab"))
    from schema_keys import keys

    found = keys(json.loads(_native.schema()))
    assert {"network.link_pdr", "session.stack", "mac.csl.period_ms", "traffic.from"} <= {*found}
    assert '"lean-dtls"' in found["session.stack"]["values"]
    assert all(len(key["about"]) <= 90 for key in found.values())
