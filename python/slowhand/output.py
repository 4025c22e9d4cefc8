"""Files that a command writes: refused before the work if possible, and complete or not there.

A file is written under a temporary name beside it, and moved when it is complete and on the disk.
So a full disk, Ctrl-C or a power cut never leaves half a file, and an old file stays until the new
one is there.
"""

from __future__ import annotations

import importlib.util
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from slowhand.terminal import printable

Write = Callable[[Path], object]
"""Writes a whole file, under the name that it is given."""

TEMPORARY = ".slowhand-"
"""The first characters of a temporary name."""

PUBLIC, PRIVATE = 0o666, 0o600
"""The permissions of a new file, from which the umask takes some; and of one that holds secrets."""

_temporaries: set[Path] = set()
"""The temporary names in use. A name is here before its file is made."""


class OutputError(Exception):
    """A file that cannot be written. The message names the option, the path and the reason."""


def can_draw() -> bool:
    """True if figures can be drawn: matplotlib is a package that slowhand runs without."""
    return importlib.util.find_spec("matplotlib") is not None


def check_figures(option: str) -> None:
    """Raises an error if no figure can be drawn."""
    if not can_draw():
        install = f"{sys.executable} -m pip install 'matplotlib>=3.8,<4'"
        raise OutputError(f"{option}: needs the package matplotlib: {install}")


class Output:
    """A file that a command was asked to write."""

    def __init__(self, option: str, path: str):
        self.option = option
        self.path = path

    def error(self, reason: str) -> OutputError:
        """The error for this file."""
        return OutputError(f"{self.option} {printable(self.path) or ascii(self.path)}: {reason}")

    def check(self) -> None:
        """Raises an error if the file can surely not be written. Leaves no file behind."""
        with self._errors():
            if "\0" in self.path:
                raise self.error("cannot be written: a path has no NUL")
            if self.path.endswith("/") or Path(self.path).is_dir():
                raise self.error("cannot be written: this is a folder")
            found = _status(self.path)
            if found and _same(found, 1) and stat.S_ISREG(found.st_mode):
                raise self.error("cannot be written: the report goes to this file")
            if found and not os.access(self.path, os.W_OK):
                raise PermissionError(0, "Permission denied")
            if _is_moved(self.path):
                with _temporary(self.path):
                    pass

    def write(self, write: Write, *, private: bool = False) -> None:
        """Writes the file. Raises an error if that fails; then the old file is as it was.

        Only its owner may read a file that is `private`.
        """
        with self._errors(), replacing(self.path, private=private) as temporary:
            write(temporary)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self.error(f"cannot be written: {_reason(error)}") from error


def check(outputs: Iterable[Output], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Raises an error for an output that is one of the inputs, or another output."""
    taken = {_identity(os.fspath(path)): "this file is read" for path in inputs}
    for output in outputs:
        identity = _identity(output.path)
        if identity in taken:
            raise output.error(f"cannot be written: {taken[identity]}")
        taken[identity] = f"{output.option} writes the same file"


def check_folder(option: str, path: str) -> None:
    """Raises an error if a folder cannot be made, or no file in it. Leaves nothing behind."""
    output = Output(option, path)
    if "\0" in path:
        raise output.error("cannot be made: a path has no NUL")
    try:
        existing = Path(path)
        while not (found := _status(existing)):
            if existing.is_symlink():
                raise output.error("cannot be made: a link that leads nowhere has this name")
            existing = existing.parent
        if not stat.S_ISDIR(found.st_mode):
            raise output.error("cannot be made: a file has this name")
        with _temporary(existing / "x"):
            pass
    except OSError as error:
        raise output.error(f"cannot be made: {_reason(error)}") from error


@contextmanager
def replacing(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[Path]:
    """A temporary name to write a file under, which is then moved to `path`.

    Devices and pipes are written directly, and so is a file in a folder without permission to make
    another one. A file that is there keeps its permissions, unless the new one is `private`: that
    has mode 0600 from the beginning.
    """
    target = os.path.realpath(path)  # a link stays, and what it points to is replaced
    if not _is_moved(path):
        if private and Path(target).is_file():
            with suppress(PermissionError):  # a file of another user stays as it is
                Path(target).chmod(PRIVATE)
        yield Path(path)
        return
    with _temporary(path, PRIVATE if private else PUBLIC) as temporary:
        yield temporary
        _synchronise(temporary)
        if (existing := _status(target)) and not private:
            temporary.chmod(stat.S_IMODE(existing.st_mode))
        temporary.replace(target)
        with suppress(OSError):  # not every file system can do this with a folder
            _synchronise(Path(target).parent)


def remove_unfinished() -> None:
    """Removes temporary files that are left, because a signal came at a bad time."""
    for temporary in _temporaries:
        temporary.unlink(missing_ok=True)


def _reason(error: OSError) -> str:
    """The words of the system, without a path: the message names the path that was asked for."""
    return error.strerror or str(error)


@contextmanager
def _temporary(path: str | os.PathLike[str], mode: int = PUBLIC) -> Iterator[Path]:
    """An empty file in the folder of `path`. The umask takes permissions away from `mode`.

    It is removed at the end, unless it has another name by then.
    """
    folder = Path(os.path.realpath(path)).parent
    temporary = folder / f"{TEMPORARY}{os.urandom(8).hex()}"
    _temporaries.add(temporary)
    try:
        try:
            os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        except OSError as error:
            error.filename = os.fspath(path)  # nobody has asked for the temporary name
            raise
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)
        _temporaries.discard(temporary)


def _synchronise(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on the disk (POSIX: fsync)."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_moved(path: str | os.PathLike[str]) -> bool:
    found = _status(path)
    if not found:
        return True
    return stat.S_ISREG(found.st_mode) and os.access(Path(os.path.realpath(path)).parent, os.W_OK)


def _status(path: str | os.PathLike[str]) -> os.stat_result | None:
    try:
        return Path(path).stat()
    except FileNotFoundError:
        return None


def _same(found: os.stat_result, descriptor: int) -> bool:
    try:
        return os.path.samestat(found, os.fstat(descriptor))
    except OSError:  # it is closed
        return False


def _identity(path: str) -> tuple[object, ...]:
    """An identity that all names of a file share: relative, absolute, through links."""
    if found := _status(path):
        return (found.st_dev, found.st_ino)
    target = Path(os.path.realpath(path))
    folder = _status(target.parent)
    return (folder and (folder.st_dev, folder.st_ino), target.name)
