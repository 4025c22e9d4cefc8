"""A live network again, in virtual time, from what it recorded."""

from __future__ import annotations

import json
import os
import warnings

from slowhand import _native, results
from slowhand.api import Scenario
from slowhand.bounds import natural
from slowhand.keys import Settings
from slowhand.realtime import Carried
from slowhand.terminal import printable


def replay(
    recording: str | os.PathLike[str], *, set: Settings | None = None, seed: int | None = None
) -> Replay:
    """Carries again, in virtual time, what `slowhand.live(record=...)` has recorded.

    All that came into the network comes again at the same times: datagrams and octets of programs,
    packets, changes, outages. With the scenario and the seed of the recording everything is as it
    was, to the microsecond and to the octet. `set` replaces keys and `seed` the seed: then it is
    another network, in which programs send the same at the same times, whatever becomes of it.

    Raises `ScenarioError` if the file is no recording, or the scenario has no room for it, and
    `OSError` if it cannot be read.

    >>> import slowhand
    >>> with slowhand.live("quickstart", speed=50, record="one.slowhand") as net:
    ...     net.wait(timeout_s=60)
    >>> slowhand.replay("one.slowhand").records.equals(net.records)
    True
    """
    return Replay(os.fspath(recording), set, seed)


class Replay(Carried):
    """A live network again, as `slowhand.replay` makes it.

    >>> import slowhand
    >>> with slowhand.live("quickstart", speed=50, record="two.slowhand") as net:
    ...     net.wait(timeout_s=60)
    >>> lossy = slowhand.replay("two.slowhand", set={"network.link_pdr": 0.9})
    >>> lossy.summary()["completed"], lossy.programs
    (1, [])
    """

    def __init__(self, path: str, set: Settings | None, seed: int | None):
        self.path = path
        """The file that was read."""
        self._native = _native.Recording(path)
        header = json.loads(self._native.header())
        if header["slowhand"] != _native.__version__:
            versions = f"slowhand {printable(header['slowhand'])} wrote it, and this is"
            warnings.warn(
                f"{printable(path)}: {versions} {_native.__version__}: the records may differ",
                stacklevel=3,
            )
        if not self._native.is_complete():
            lacks = "it was not written to its end: the network was killed, or the disk was slow"
            warnings.warn(f"{printable(path)}: {lacks}", stacklevel=3)
        sources = header["sources"]
        scenario = Scenario.from_sources(sources["scenario"], sources)
        self.scenario = scenario.with_(set) if set else scenario
        """The scenario."""
        self.seed = natural("seed", header["seed"] if seed is None else seed)
        """The seed of its random numbers."""
        self.programs: list[str] = header["programs"]
        """The ends that were programs, or hosts behind an interface: `client`, `server`."""
        results.import_polars()
        self._table, self._summary, self.frames = self._run(None)

    def capture(self, path: str | os.PathLike[str]) -> None:
        """Writes all frames to `path`, as pcapng. Only its owner may read the file."""
        self._run(os.fspath(path))

    def _results(self) -> tuple[_native.Table, str]:
        return self._table, self._summary

    def _run(self, capture: str | None) -> tuple[_native.Table, str, int]:
        return self._native.replay(self.scenario.native, self.seed, capture)
