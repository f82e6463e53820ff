"""Every example of the docs runs as it is, and answers what the page says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.outcomes import by_night
from testing.ports import free_port
from tests.docs.blocks import CLIENT, ROOT, examples, neither, pages
from tests.docs.conftest import Demo
from tests.docs.reader import Reader, check

ERRORS = ROOT / "docs" / "errors.md"  # run by test_errors.py
GUIDES = ROOT / "docs" / "guides"
# Pages whose commands are run in the checkout where `make demo` was run; the others bring their variables along.
IN_CHECKOUT = {ROOT / "README.md", GUIDES / "load-your-data.md"}
# What newcomers read first; the others are run at night.
FIRST = (ROOT / "README.md", CLIENT / "README.md", GUIDES / "first-calls.md", GUIDES / "load-your-data.md")
RUN = [page for page in pages() if examples(page) and page != ERRORS]

# One worker runs what needs the demo; the others need not wait until it is loaded.
pytestmark = pytest.mark.xdist_group("docs")


def _id(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def own_port() -> str:
    """The port of the service that load-your-data.md starts beside the demo."""
    return str(free_port())


@pytest.fixture
def reader(demo: Demo, own_port: str, page: Path, tmp_path: Path) -> Iterator[Reader]:
    """A reader of the page, who has just run `make demo` or has the variables of the demo."""
    folder, known = (demo.folder, {}) if page in IN_CHECKOUT else (tmp_path, demo.variables)
    if page.parent == CLIENT:
        known = {"SITEGLASS_URL": known["BASE_URL"], "SITEGLASS_API_KEY": known["API_KEY"]}
    # A port of the test's own: the reader's may be in use on this machine.
    made = Reader(folder, {**demo.environment, **known}, {"8081": own_port}, exact=demo.whole)
    yield made
    made.close()


@pytest.mark.parametrize("page", [*FIRST, *by_night(*(page for page in RUN if page not in FIRST))], ids=_id)
def test_a_page_of_examples(reader: Reader, page: Path) -> None:
    for example in examples(page):
        check(reader, example)


@pytest.mark.parametrize("page", pages(), ids=_id)
def test_every_block_is_run_or_says_why_not(page: Path) -> None:
    assert neither(page) == []


def test_the_first_calls_and_the_own_data_are_among_the_examples() -> None:
    """So that a page which loses its examples does not pass as one that has none."""
    compared = {
        page: "\n".join(example.block.text for example in examples(page) if example.answer)
        for page in (ROOT / "README.md", GUIDES / "first-calls.md", GUIDES / "load-your-data.md")
    }
    readme, first_calls, own_data = compared.values()
    assert "/v1/leads/search" in readme
    assert first_calls.count("/v1/leads/search") >= 5
    assert "/v1/leads/enrich" in first_calls
    assert "$BASE_URL$NEXT" in first_calls
    assert "$MY_KEY" in own_data
    assert set(compared) <= set(FIRST) <= set(RUN)


def test_the_readme_is_short() -> None:
    """A newcomer must find what it is and how to start it on the first screen; details belong into guides."""
    assert len((ROOT / "README.md").read_text().splitlines()) <= 80
