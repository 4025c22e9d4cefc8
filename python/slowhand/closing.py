"""Objects that are closed at the end of a `with` statement."""

from __future__ import annotations

from typing import Self


class Closing:
    """A context manager whose end is `close`."""

    def close(self) -> None:
        """Gives back what the object holds."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
