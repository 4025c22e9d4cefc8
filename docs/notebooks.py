"""Runs the notebooks in docs/notebooks, and writes them with their outputs.

Run it when a notebook or an output has changed: .venv/bin/python docs/notebooks.py. What depends on
the machine is left out: times, and the version of Python.
"""

import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat
from jupyter_client.manager import AsyncKernelManager
from measured import ROOT

NOTEBOOKS = ("first-steps.ipynb", "extend-a-paper.ipynb")

TIMEOUT_S = 120
"""The longest that a cell may take. (Assumed: each takes a few seconds.)"""

KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
"""What every Jupyter calls its own Python."""


def main(folder: Path) -> None:
    """Writes the notebooks into docs/notebooks of `folder`."""
    target = folder / "docs" / "notebooks"
    target.mkdir(parents=True, exist_ok=True)
    for name in NOTEBOOKS:
        (target / name).write_text(executed(ROOT / "docs" / "notebooks" / name))


def executed(file: Path) -> str:
    """A notebook with the outputs that its cells have now. Raises an error if a cell does."""
    notebook = nbformat.read(file, as_version=4)  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as place:
        resources = {"metadata": {"path": place}}
        # Files in place of ports: nobody else takes them before the kernel does.
        kernel = AsyncKernelManager(
            transport="ipc", connection_file=str(Path(place, "kernel.json"))
        )
        client = nbclient.NotebookClient(
            notebook,
            km=kernel,
            timeout=TIMEOUT_S,
            resources=resources,
            record_timing=False,
            extra_arguments=["--log-level=ERROR"],  # a warning about ports of this computer
        )
        client.execute(cleanup_kc=True)
    notebook["metadata"] = {"kernelspec": KERNEL}
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    text: str = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
    return text + "\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
