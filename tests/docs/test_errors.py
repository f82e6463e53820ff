"""Every error code has a section of docs/errors.md, and what it shows is what the service answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from siteglass.errors import (
    IdempotencyInProgress,
    IdempotencyPriceChanged,
    Internal,
    SiteglassError,
    Unavailable,
    error_classes,
)
from tests.docs.blocks import ROOT, Block, blocks, examples, section
from tests.docs.conftest import Demo
from tests.docs.reader import Reader, check, parse_http

PAGE = ROOT / "docs" / "errors.md"
CLASSES = {kind.code: kind for kind in error_classes()}
# What no request can bring about: the section must say what the class says.
SPOKEN: dict[str, tuple[Callable[[], SiteglassError], ...]] = {
    "IDEMPOTENCY_IN_PROGRESS": (IdempotencyInProgress,),
    "IDEMPOTENCY_PRICE_CHANGED": (lambda: IdempotencyPriceChanged(2),),
    "INTERNAL": (Internal,),
    "UNAVAILABLE": (
        lambda: Unavailable("not told"),
        lambda: Unavailable("not told", while_charging=True),
        lambda: Unavailable("not told", while_charging=True, can_retry=True),
    ),
}
PROVOKED = sorted(CLASSES.keys() - SPOKEN.keys())

# One worker runs what needs the demo; the others need not wait until it is loaded.
pytestmark = pytest.mark.xdist_group("docs")


def _answers(code: str) -> list[Block]:
    return [block for block in blocks(PAGE, code) if block.language == "http"]


@pytest.fixture
def reader(demo: Demo, tmp_path: Path) -> Iterator[Reader]:
    made = Reader(tmp_path, {**demo.environment, **demo.variables}, exact=demo.whole)
    yield made
    made.close()


def test_every_code_has_a_section_and_no_section_is_without_a_code() -> None:
    assert sorted(re.findall(r"^## (.+)$", PAGE.read_text(), re.MULTILINE)) == sorted(CLASSES)


def test_the_index_lists_every_code_with_its_status() -> None:
    index = PAGE.read_text().partition("\n## ")[0]
    for code, kind in CLASSES.items():
        assert f"| {kind.status} | [{code}](#{code.lower()}) |" in index


@pytest.mark.parametrize("code", sorted(CLASSES))
def test_a_section_says_what_happened_why_what_to_do_and_the_cost(code: str) -> None:
    start, end = section(PAGE, code)
    text = PAGE.read_text()[start:end]
    assert text.startswith(f"## {code}\n\nStatus {CLASSES[code].status}. ")
    assert re.findall(r"^\*\*(.+?):\*\*", text, re.MULTILINE) == ["Why", "What to do", "What it costs"]
    assert "\n**What to do:**\n\n- " in text
    assert "\n**What it costs:** Nothing" in text


@pytest.mark.parametrize("code", sorted(CLASSES))
def test_the_answers_shown_are_of_this_error(code: str) -> None:
    answers = _answers(code)
    assert answers
    for block in answers:
        status, headers, body = parse_http(block.text)
        assert status.split()[:2] == ["HTTP/1.1", str(CLASSES[code].status)]
        assert headers["x-request-id"]
        assert json.loads(body)["error"] == code


@pytest.mark.parametrize("code", PROVOKED)
def test_the_request_shown_gets_the_answer_shown(reader: Reader, code: str) -> None:
    found = examples(PAGE, code)
    assert [example.answer for example in found] == _answers(code)
    for example in found:
        check(reader, example)


@pytest.mark.parametrize("code", sorted(SPOKEN))
def test_what_no_request_can_bring_about_is_spoken_by_the_class(code: str) -> None:
    answers = [parse_http(block.text) for block in _answers(code)]
    errors = [make() for make in SPOKEN[code]]
    assert [json.loads(body) for _, _, body in answers] == [
        {"error": error.code, "message": error.message} for error in errors
    ]
    for (_, headers, _), error in zip(answers, errors, strict=True):
        assert {name.lower(): value for name, value in error.headers.items()}.items() <= headers.items()
