"""The native module: what slowhand-py binds. Private; use the names in ``slowhand``."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, final

__version__: str

MAX_THREADS: int
"""The most threads of a run."""

LONGEST_LIFE_S: float
"""The longest life, in seconds."""

LONGEST_POLL_MS: float
"""The poll period of a sleepy device with CSMA that has none of its own, OpenThread's.

A parent forgets a child that is silent for longer.
"""

DAY_S: float
YEAR_S: float
"""The seconds of a day, and of a year."""

LATENESS_LIMIT_MS: float
"""The lateness of a live network, as its 99th percentile, from which on a run says so."""

FAR_BEHIND_MS: float
"""The lateness of a live network from which on it stood still: that of the event `late`."""

CHANGEABLE_KEYS: list[str]
"""The keys of a scenario that can change while its network runs."""

INTERNET_ADDRESS: str
"""The address of the server on the Internet."""

def mesh_address(node: int) -> str:
    """The address of a node of the mesh."""

def exec_programs(scenario: Scenario) -> str:
    """The programs of a scenario, each at its host, as an array of JSON.

    `{seed}` is still in their commands.
    """

def prepare_exec() -> None:
    """Checks what a machine must have to run programs. The process has one thread then and later.

    Raises `OSError` with what to do.
    """

def exec(scenario: Scenario, told: str, seed: int) -> str:
    """Runs the programs of a scenario in the world of a seed.

    `told` has the limits and the file of the capture. It and the result are objects of JSON.
    """

class ArgumentError(ValueError):
    """An argument that is not allowed. The message names it, what was found and what is allowed."""

    argument: str
    """Its name."""

    reason: str
    """The value that was found, and those that are allowed."""

class ScenarioError(ValueError):
    """A scenario that cannot be run. The message names the file, the line and the key.

    The same as data; `None` where there is none.
    """

    key: str | None
    """The dotted path of the key."""

    place: str | None
    """The file and its line, or the override, as the message has it."""

    override: str | None
    """The key of the override that has to change."""

    reason: str | None
    """The value that was found, and those that are allowed."""

    together: bool
    """True if each value is allowed alone: another value somewhere else makes it possible."""

class Scenario:
    """A scenario that has been read and checked."""

    def __new__(cls, path: str | PathLike[str], overrides: list[str]) -> Scenario:
        """Reads the TOML file at `path`. Each override (`key=value`) replaces one key."""

    @staticmethod
    def from_sources(sources: str, folder: str | None = None) -> Scenario:
        """The scenario that has these sources.

        Files that are not among them are read from `folder`; without, no file is read.
        """

    def sources(self) -> str:
        """The texts that the scenario was made from, as a JSON object.

        `scenario` is the name of the scenario's file, `files` has the text of each file by name,
        and `overrides` has those of the constructor.
        """

    def value(self, key: str) -> Any:
        """The value of a key as the file or an override has it; `None` if neither has it."""

    def holds_keys(self) -> bool:
        """True if its texts have a key of their own: `session.psk` or `mac.security.key`."""

    def wireshark_arguments(self) -> list[str]:
        """The arguments with which `wireshark` and `tshark` show a capture as it is."""

    def settings(self) -> str:
        """The configuration of each end of the session, with all defaults, as a JSON object."""

    def credentials(self) -> dict[str, str]:
        """The credentials of the ends, for programs that take the place of one.

        The texts by the names of their files: `psk.txt`, or `ca.pem`, `server.pem`, and so on.
        """

    def session_memory(self) -> str:
        """The octets of heap that each end takes for a handshake, as a JSON object."""

    def warnings(self) -> list[str]:
        """What is allowed, and rarely what is wanted: each names its key."""

    def about(self) -> str:
        """A short description, and what is assumed about its devices, as a JSON object."""

    def play(self, seed: int, client: int | None) -> str:
        """Everything that happens in the world of a seed, as JSON (docs/play.md)."""

    def explain(self, seed: int, client: int | None) -> str:
        """Where the time of a handshake went, in the world of `seed`, as a JSON object.

        `client` is the node of the client; the first one if `None`.
        """

Table = list[tuple[str, str, list[Any]]]
"""The columns of a table: the name, the type of the values, and the values."""

class Run:
    """A run in progress on its own threads. Python handles signals while a method waits.

    All methods may be called from several threads, and again.
    """

    def __new__(cls, scenario: Scenario, seed: int, count: int, threads: int, records: bool) -> Run:
        """Starts `count` worlds with the seeds `seed`, `seed + 1`, ..."""

    def wait(self, timeout_s: float) -> tuple[int, bool]:
        """Waits at most `timeout_s`. Returns how many worlds are done, and True if all are."""

    def cancel(self) -> None:
        """Ends the run without waiting: worlds in progress are dropped."""

    def panicked(self) -> tuple[list[str], int]:
        """Waits for the end. Returns which worlds panicked, and how."""

    def columns(self) -> Table:
        """Waits for the end. Returns the records, ordered by seed, then client."""

    def summary(self) -> str:
        """Waits for the end. Returns the summary as a JSON object."""

class Recording:
    """The input of a live network, from the file that it wrote."""

    def __new__(cls, path: str | PathLike[str]) -> Recording:
        """Reads the file at `path`."""

    def header(self) -> str:
        """The network itself, as a JSON object: `sources`, `seed`, `programs`, `slowhand`."""

    def is_complete(self) -> bool:
        """True if it was written to the end of the network."""

    def replay(self, scenario: Scenario, seed: int, capture: str | None) -> tuple[Table, str, int]:
        """The records of its sessions again, their summary, and how many frames there were."""

@final
class Live:
    """A network that runs against the clock. Python handles signals while a method waits.

    All methods may be called from several threads.
    """

    def __new__(
        cls,
        scenario: Scenario,
        *,
        seed: int,
        speed: float,
        proxies: list[tuple[str, str, str]],
        server: str | None,
        listen: str | None,
        device: tuple[str, str] | None,
        internet: tuple[str, str] | None,
        capture: str | None,
        record: str | None,
        control: str | None,
        duration_s: float | None,
        handshakes: int | None,
        records: bool,
    ) -> Live:
        """Opens everything, then starts. A proxy is `udp` or `tcp`, and two addresses.

        An interface is `netns` or `tun`, and a name. Without `records` none are kept.
        """

    def addresses(self) -> str:
        """Where programs find it, as a JSON array."""

    def set(self, change: str) -> None:
        """Replaces a key of the scenario (`key=value`). Raises `ValueError`."""

    def switch(self, node: int, on: bool) -> None:
        """Switches a node off or on. Raises `ValueError`."""

    def snapshot(self) -> str | None:
        """The state of the network, in its own words, as a JSON object."""

    def next_event(self, timeout_s: float) -> tuple[str | None, bool]:
        """The next event as a JSON object, if one comes within `timeout_s`; True if none will."""

    def stop(self) -> None:
        """Ends it without waiting."""

    def finish(self) -> tuple[Table | None, str, str]:
        """Waits for the end, and takes the events that are left. Returns records and their summary.

        The last is what the network did. It and the summary are JSON objects. It may be called
        again, also when a signal has interrupted it.
        """

def inspect(scenario: Scenario, seed: int) -> list[Table]:
    """Runs the handshake of `seed`. Returns tables of nodes, radio timelines and buffers."""

def capture(scenario: Scenario, seed: int, path: str | PathLike[str]) -> None:
    """Runs the handshake of `seed` and writes its frames to `path` as pcapng."""

def stacks() -> str:
    """All with a protocol, as a JSON array: libraries, stacks of the user, what stands alone."""

def stacks_named(names: list[str]) -> str:
    """Some libraries of TLS and DTLS, as `stacks` has them."""

def built_in_stacks() -> list[str]:
    """The names of the libraries of TLS and DTLS that are built in."""

def own_stacks() -> list[str]:
    """The names of the user's stacks, also of those that cannot be used."""

def stacks_folder() -> str | None:
    """The folder of the user's stacks; `None` if the system has no folder for data."""

def stack_file(name: str) -> str | None:
    """The shared object of a stack of the user; `None` if no stack may have such a name."""

def stack_build(name: str) -> tuple[str, str] | None:
    """Version and digest of a stack of the user; `None` if it is built in.

    Raises `ValueError` if there is none of this name, or if it cannot be used.
    """

def is_stack_loaded(name: str) -> bool:
    """True if this process has loaded the stack of the user that has this name, and keeps it."""

def try_stack(name: str) -> str:
    """A trial of a stack, as JSON. Raises `ValueError` as `stack_build` does."""

def override_value(text: str) -> Any:
    """The value of an override, `key=value`, as `--set` reads it; `None` if it removes the key."""

def profiles() -> str:
    """The profiles of the nodes' software, as a JSON array."""

def schema() -> str:
    """The JSON Schema of a scenario."""

def device_schema() -> str:
    """The JSON Schema of a device."""

def table_schemas() -> str:
    """The JSON Schemas of a row of each table, by its name, as a JSON object."""

def capacity(
    slots: int, clients: int, rho: float, handshake: float, policies: list[str], seed: int
) -> str:
    """Engset's formula, and the simulation of each of `policies`, as a JSON object."""

def policies() -> list[str]:
    """The names of the policies that `capacity` can simulate."""

def ram(device: str) -> tuple[int, str]:
    """The RAM of a device in octets, and where that number comes from."""

def join(
    scenario: Scenario, seed: int, count: int, threads: int
) -> tuple[list[tuple[str, str, list[Any]]], BaseException | None]:
    """The nodes of so many worlds, as they join: the columns of one row for each node.

    The second is what the handler of a signal raised: then only complete worlds are there. Raises
    `ScenarioError` if the network cannot form.
    """

def capture_join(scenario: Scenario, seed: int, path: str | PathLike[str]) -> None:
    """Writes the frames of the world of `seed` to `path` as pcapng, while its network forms."""

def join_schema() -> str:
    """The JSON Schema of a row of `join`, as a JSON object."""

class Reading:
    """A scenario in which readers can read a value. Raises `ScenarioError` if they cannot."""

    def __new__(cls, scenario: Scenario) -> Reading: ...
    @property
    def producer(self) -> int:
        """The node that has the value."""
    @property
    def most_readers(self) -> int:
        """The most readers that there can be."""
    def run(
        self, readers: int, seed: int, count: int, threads: int
    ) -> tuple[list[tuple[str, str, list[Any]]], BaseException | None]:
        """The costs of so many readers in both ways: the columns of one row for each world.

        The second is what the handler of a signal raised: then only complete worlds are there.
        Raises `ScenarioError` if there is no room for so many readers.
        """

def capture_readers(
    scenario: Scenario, way: str, readers: int, seed: int, path: str | PathLike[str]
) -> None:
    """Writes the frames of one world of readers to `path` as pcapng, without keys."""

def readers_schema() -> str:
    """The JSON Schema of a row of readers, as a JSON object."""

def life(
    scenario: Scenario,
    batteries: list[str],
    seconds: float,
    seed: int,
    worlds: int | None,
    client: int | None,
) -> tuple[str | None, BaseException | None]:
    """The life of a client for so many seconds and how long batteries last, as a JSON object.

    Estimated from so many worlds; without a number of worlds it is simulated in full. `None` if it
    is interrupted before two worlds are complete. If it was interrupted, the second is what the
    handler of the signal has raised.
    """

@final
class Lives:
    """The handshakes and messages of a scenario's first client, each simulated alone.

    Lives are drawn from them as in `life`, from more and more worlds, with one battery.
    """

    def __new__(cls, scenario: Scenario, battery: str, seconds: float, seed: int) -> Lives:
        """No worlds yet. The first has the seed `seed`."""

    def sample(self, worlds: int, threads: int) -> None:
        """Simulates worlds until there are so many, 2 or more. The threads change nothing."""

    def life(self, worlds: int) -> tuple[str, list[float]] | None:
        """The life by the first worlds, as `life` has it, and the charge of a day by each of them.

        The charges are in mAh, with what the battery loses itself. Their mean is that of the life.
        `None` if there are fewer than two worlds.
        """

def batteries() -> list[str]:
    """The names of the batteries that are built in."""

def battery_schema() -> str:
    """The JSON Schema of a battery file."""

@final
class Estimate:
    """A mean and half of its 95 % confidence interval; a number that is exact has none."""

    def __new__(cls, mean: float, half: float = 0.0) -> Estimate: ...
    @staticmethod
    def of(values: Sequence[float], clusters: Sequence[int] | None = None) -> Estimate:
        """The mean of values, at least one; its interval is that of Student's t distribution.

        `clusters` has the cluster of each value, those of one cluster one after the other: only
        the clusters are independent. Without, each value is independent of the others.
        """

    @staticmethod
    def mean_of(estimates: Sequence[Estimate]) -> Estimate:
        """The mean of independent estimates, at least one."""

    @property
    def mean(self) -> float:
        """The mean."""

    @property
    def half(self) -> float:
        """Half of the width of the interval; 0 where there is none."""

    @property
    def ci95(self) -> tuple[float, float] | None:
        """The interval, where there is one."""

    def __sub__(self, other: Estimate) -> Estimate:
        """The difference of independent means."""

    def __truediv__(self, other: Estimate) -> Estimate:
        """The ratio of independent means; the squares of the relative errors add up."""

def percentile(values: Sequence[float], share: float) -> float:
    """The value below which a share of the values lies, at least one (R type 7)."""

def open_ccm_8(key: bytes, nonce: bytes, header: bytes, sealed: bytes) -> bytes | None:
    """The text that AES-128-CCM-8 (RFC 6655) has sealed; `None` if the tag of 8 octets is wrong.

    `key` has 16 octets, `nonce` 12. Raises `ArgumentError` if they do not.
    """
