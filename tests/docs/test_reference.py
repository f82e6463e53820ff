"""docs/reference/ is what the code says, all of it, and what it shows can be sent."""

from __future__ import annotations

import re
import sys
from datetime import date
from pathlib import Path

import httpx
import pytest

import build_reference
from reference.language import example_line
from siteglass.billing.ledger_csv import COLUMNS as CSV_COLUMNS
from siteglass.billing.requests import LedgerParameters, UsageParameters
from siteglass.corpus.lead import ContactDetail, Lead, Mark, TechnologyDetail
from siteglass.leads.facets import FacetsBody
from siteglass.leads.requests import EnrichBody, PageBody, SearchBody
from siteglass.query.directives import parse
from siteglass.query.field import Kind, SearchableField
from siteglass.query.fields import ASKED, DIRECTIVES, ENRICH_SELECTABLE, FILTERS, SEARCH_SELECTABLE
from siteglass.settings import Settings, variable
from siteglass.web.messages import names_of
from testing.api_calls import search
from tests.docs.blocks import ROOT

FOLDER = ROOT / "docs" / "reference"


def _names(page: str) -> set[str]:
    """The pieces of code in the first column of the page's tables."""
    rows = re.findall(r"^\| (`[^|]*) \|", (FOLDER / page).read_text(), re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def test_the_pages_are_what_the_code_says() -> None:
    for name, text in build_reference.build().items():
        assert (FOLDER / name).read_text() == text
    assert build_reference.drifted(FOLDER, build_reference.build()) == []


def test_every_page_says_that_it_is_generated_and_by_what() -> None:
    for path in FOLDER.glob("*.md"):
        assert path.read_text().startswith("<!-- Generated from the code by `make reference`")


def test_drift_is_told_with_the_way_to_mend_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_reference, "FOLDER", tmp_path)
    (tmp_path / "fields.md").write_text("old")
    (tmp_path / "gone.md").write_text("of something that is no more")
    monkeypatch.setattr(sys, "argv", ["build_reference.py", "--check"])
    with pytest.raises(SystemExit, match=r"fields\.md, filters\.md, gone\.md.*Run: make reference"):
        build_reference.main()
    assert (tmp_path / "fields.md").read_text() == "old"
    monkeypatch.setattr(sys, "argv", ["build_reference.py"])
    build_reference.main()
    assert {path.name for path in tmp_path.iterdir()} == build_reference.build().keys()
    monkeypatch.setattr(sys, "argv", ["build_reference.py", "--check"])
    build_reference.main()


def test_lint_looks_for_drift() -> None:
    makefile = (ROOT / "Makefile").read_text()
    lint = re.search(r"^style:.*?\n\n", makefile, re.MULTILINE | re.DOTALL)
    assert lint
    assert "scripts/build_reference.py --check" in lint[0]


def test_nothing_is_missing() -> None:
    assert _names("fields.md") == {*SEARCH_SELECTABLE, *ENRICH_SELECTABLE}
    bodies = (SearchBody, FacetsBody, PageBody, EnrichBody)
    assert _names("filters.md") == {name for body in bodies for name in names_of(body)}
    assert {*names_of(UsageParameters), *names_of(LedgerParameters), *CSV_COLUMNS[1:6]} <= {
        name.rpartition(".")[2] for name in _names("receipts.md")
    }
    assert _names("directives.md") == {f"@{name}" for name in DIRECTIVES}
    assert _names("leads.md") == {
        name for kind in (Lead, ContactDetail, TechnologyDetail, Mark) for name in kind.__annotations__
    }
    assert _names("settings.md") == {variable(name) for name in Settings.__dataclass_fields__}


@pytest.mark.parametrize("asked", ASKED.values(), ids=lambda asked: asked.name)
def test_the_example_of_a_directive_can_be_read(asked: SearchableField) -> None:
    line = example_line(asked)
    shown = (FOLDER / "directives.md").read_text()
    for text in (line, f"!{line}"):
        assert f"| `{text}` |" in shown
        assert [condition.field for condition in parse(text).plain] == [asked.name]


@pytest.mark.parametrize("name", FILTERS)
def test_the_example_of_a_filter_can_be_sent(client: httpx.Client, name: str) -> None:
    asked, filter_ = FILTERS[name]
    page = search(client, {name: filter_.example, "limit": 1})
    echoed = page["filters"].pop(name)
    assert page["filters"] == {}
    if asked.ask.kind is Kind.CHANGE:
        assert isinstance(filter_.example, list)
        assert echoed[:-1] == filter_.example[:-1]
        date.fromisoformat(echoed[-1])  # days are echoed as the date that is searched
    else:
        assert echoed == filter_.example
