"""Every example of the docs runs as it stands, and answers what the page says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.ports import free_port
from tests.docs.blocks import CLIENT, ROOT, examples, neither, pages
from tests.docs.conftest import Demo
from tests.docs.reader import Reader, check

ERROR_PAGES = ROOT / "docs" / "errors"  # run by test_errors.py
RUN = [page for page in pages() if examples(page) and page.parent != ERROR_PAGES]

# One worker runs what needs the demo; the others need not wait until it is loaded.
pytestmark = pytest.mark.xdist_group("docs")


def _id(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def own_port() -> str:
    """Stands for the port that the README gives to a second service."""
    return str(free_port())


@pytest.fixture
def reader(demo: Demo, own_port: str, page: Path, tmp_path: Path) -> Iterator[Reader]:
    """A reader of the page; of the README one who just ran `make demo`, of another page one who has its variables."""
    folder, known = (demo.folder, {}) if page == ROOT / "README.md" else (tmp_path, demo.variables)
    if page.parent == CLIENT:
        known = {"SITEGLASS_URL": known["BASE_URL"], "SITEGLASS_API_KEY": known["API_KEY"]}
    # A port of the test's own: the reader's may be in use on this machine.
    made = Reader(folder, {**demo.environment, **known}, {"8081": own_port})
    yield made
    made.close()


@pytest.mark.parametrize("page", RUN, ids=_id)
def test_a_page_of_examples(reader: Reader, page: Path) -> None:
    for example in examples(page):
        check(reader, example)


@pytest.mark.parametrize("page", pages(), ids=_id)
def test_every_block_is_run_or_says_why_not(page: Path) -> None:
    assert neither(page) == []


def test_the_three_calls_and_the_own_data_are_among_the_examples() -> None:
    """So that a page which loses its examples does not pass as one that has none."""
    run = "\n".join(example.block.text for example in examples(ROOT / "README.md") if example.answer)
    assert run.count("/v1/leads/search") >= 6
    assert "/v1/leads/enrich" in run
    assert "$BASE_URL$NEXT" in run
    assert "$MY_KEY" in run
    assert _id(ROOT / "docs/guides/whole-search.md") in map(_id, RUN)
