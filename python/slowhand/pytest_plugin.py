"""Fixtures for pytest: an emulated network for the tests of programs.

pytest finds this module by its entry point. It imports nothing until a test asks for a fixture.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

import pytest

TYPE_CHECKING = False  # that of `typing`, without its import
if TYPE_CHECKING:
    from typing import Any

    from slowhand.realtime import Live

SECTION = "slowhand live"
"""The heading under which a test that failed says what its networks did."""

_NETWORKS = pytest.StashKey["list[Live]"]()
"""The networks of a test."""

_FAILED = pytest.StashKey[bool]()
"""True if a test has failed."""


@pytest.fixture
def slowhand_live(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Live]]:
    """Starts networks for a test: `slowhand_live("lossy-line", udp=5684)`.

    It is called as `slowhand.live`. What is still running at the end of the test is closed. A test
    that fails says what its networks did, and keeps the capture of each. A network that could not
    keep up with the clock is a warning.
    """
    import shutil
    from contextlib import ExitStack

    import slowhand

    networks = request.node.stash.setdefault(_NETWORKS, [])
    folder = tmp_path_factory.mktemp("slowhand")
    with ExitStack() as running:

        def start(scenario: Any, **options: Any) -> Live:
            __tracebackhide__ = True
            options.setdefault("capture", folder / f"network-{len(networks) + 1}.pcapng")
            network = running.enter_context(slowhand.live(scenario, **options))
            networks.append(network)
            return network

        yield start
    if not request.node.stash.get(_FAILED, False):
        shutil.rmtree(folder)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Adds to the report of a test that failed what its networks did until then."""
    report = (yield).get_result()
    networks = item.stash.get(_NETWORKS, None)
    if networks is None or not report.failed:
        return
    item.stash[_FAILED] = True
    if networks and report.when == "call":
        from slowhand.realtime import status

        report.sections.append((SECTION, "\n\n".join(map(status.account, networks))))
