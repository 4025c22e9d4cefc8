"""Fixtures for pytest: an emulated network for the tests of programs.

pytest finds this module by its entry point. It imports nothing until a test asks for a fixture.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager

import pytest

TYPE_CHECKING = False  # that of `typing`, without its import
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from slowhand.executing import Execution
    from slowhand.realtime import Live

_ACCOUNTS = pytest.StashKey["dict[str, list[Callable[[], str]]]"]()
"""Accounts of networks and programs of a test, by the headings that a failed test has for them."""

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
    from contextlib import ExitStack

    import slowhand
    from slowhand.realtime import status

    accounts = _accounts(request, "slowhand live")
    with _folder(request, tmp_path_factory) as folder, ExitStack() as running:

        def start(scenario: Any, **options: Any) -> Live:
            __tracebackhide__ = True
            options.setdefault("capture", folder / f"network-{len(accounts) + 1}.pcapng")
            network = running.enter_context(slowhand.live(scenario, **options))
            accounts.append(lambda: status.account(network))
            return network

        yield start


@pytest.fixture
def slowhand_exec(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Execution]]:
    """Runs programs for a test: `slowhand_exec("lossy-line", client=..., server=..., count=20)`.

    It is called as `slowhand.exec`. A test that fails says what its programs did, and keeps the
    frames of the first world of each call.
    """
    import slowhand
    from slowhand.executing import report

    accounts = _accounts(request, "slowhand exec")
    with _folder(request, tmp_path_factory) as folder:

        def run(scenario: Any, **options: Any) -> Execution:
            __tracebackhide__ = True
            options.setdefault("capture", folder / f"programs-{len(accounts) + 1}.pcapng")
            execution = slowhand.exec(scenario, **options)
            accounts.append(lambda: report.told(execution, options["capture"]))
            return execution

        yield run


def _accounts(request: pytest.FixtureRequest, heading: str) -> list[Callable[[], str]]:
    """The accounts of a test under a heading."""
    found = request.node.stash.setdefault(_ACCOUNTS, {})
    accounts: list[Callable[[], str]] = found.setdefault(heading, [])
    return accounts


@contextmanager
def _folder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """A folder for captures, which stays if the test fails."""
    import shutil

    folder = tmp_path_factory.mktemp("slowhand")
    yield folder
    if not request.node.stash.get(_FAILED, False):
        shutil.rmtree(folder)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Adds to the report of a test that failed what its networks and programs did until then."""
    report = (yield).get_result()
    accounts = item.stash.get(_ACCOUNTS, None)
    if accounts is None or not report.failed:
        return
    item.stash[_FAILED] = True
    if report.when == "call":
        for heading, found in accounts.items():
            if found:
                report.sections.append((heading, "\n\n".join(account() for account in found)))
