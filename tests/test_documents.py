"""What the documents show is what comes out."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT


@pytest.mark.parametrize("document", ["README.md", "docs/quickstart.svg"])
def test_the_quickstart_in_the_documents_is_what_it_prints(document: str, tmp_path: Path) -> None:
    script = ROOT / "docs" / "quickstart.py"
    subprocess.run([sys.executable, script, tmp_path], check=True)
    written = without_wall_time((ROOT / document).read_text())
    now = without_wall_time((tmp_path / document).read_text())
    assert written == now, "run: .venv/bin/python docs/quickstart.py"


def without_wall_time(text: str) -> str:
    """The text with its wall time, which changes from run to run, taken out."""
    result, found = re.subn(r"[\d.]+(?= s of wall time|&#160;s&#160;of&#160;wall)", "", text)
    assert found == 1
    return result
