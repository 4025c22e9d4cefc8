"""Fixtures for pytest: an emulated network for the tests of programs.

pytest finds this module by its entry point. It imports nothing until a test asks for a fixture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

TYPE_CHECKING = False  # that of `typing`, without its import
if TYPE_CHECKING:
    from typing import Any

    from slowhand.realtime import Live


@pytest.fixture
def slowhand_live() -> Iterator[Callable[..., Live]]:
    """Starts networks for a test: `slowhand_live("lossy-line", udp=5684)`.

    It is called as `slowhand.live`. What is still running at the end of the test is closed.
    """
    from contextlib import ExitStack

    import slowhand

    with ExitStack() as running:

        def start(scenario: Any, **options: Any) -> Live:
            return running.enter_context(slowhand.live(scenario, **options))

        yield start
