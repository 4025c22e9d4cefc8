"""Papers give what they gave when they were recorded, to the bit."""

import json
import os

import pytest

from conftest import ROOT
from slowhand import papers
from slowhand.papers import record
from slowhand.papers.comparison import Paper, Tally

each = pytest.mark.parametrize("paper", papers.papers(), ids=lambda paper: paper.id)


@each
def test_a_few_worlds_give_what_they_gave(paper: Paper) -> None:
    recorded = paper.recorded()
    assert recorded
    found = record.content(paper.id, record.FEW)
    assert json.loads(json.dumps(found)) == recorded["few"]


@each
@pytest.mark.skipif("SLOWHAND_FULL" not in os.environ, reason="minutes; ./test --full")
def test_the_whole_paper_gives_what_it_gave(paper: Paper) -> None:
    recorded = paper.recorded()
    assert recorded
    found = json.loads(json.dumps(record.content(paper.id, recorded["count"])))
    assert found == {key: recorded[key] for key in found}


@each
def test_the_documents_say_what_was_recorded(paper: Paper) -> None:
    recorded = paper.recorded()
    assert recorded and recorded["rows"].keys() == {row.id for row in paper.rows}
    tally = Tally.read(recorded["tally"])
    for document in (ROOT / "docs" / "papers.md", paper.folder / "README.md"):
        assert tally.independent in " ".join(document.read_text().split()), document
