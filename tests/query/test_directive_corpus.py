"""The corpus of directive texts: what each means, or what is wrong with it and where."""

from __future__ import annotations

import json
from typing import Any

import pytest

from siteglass.errors import QueryError
from siteglass.query.directives import parse, print_criteria
from testing.fuzz_directives import CORPUS


def _cases() -> list[Any]:
    return [
        pytest.param(case, id=f"{path.stem}:{case['name']}")
        for path in sorted(CORPUS.glob("*.json"))
        for case in json.loads(path.read_text())
    ]


CASES = _cases()


def _text(case: dict[str, Any]) -> str:
    if "text_repeat" in case:
        repeat = case["text_repeat"]
        return "\n".join(repeat["line"].replace("{i}", str(i)) for i in range(repeat["count"]))
    text: str = case["text"]
    return text


def test_the_corpus_is_large_enough_and_its_names_are_unique() -> None:
    assert len(CASES) >= 150
    assert len({case.id for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", [case for case in CASES if "canonical" in case.values[0]])
def test_a_text_means_its_canonical_lines(case: dict[str, Any]) -> None:
    made = parse(_text(case))
    printed = print_criteria(made)
    assert set(printed.split("\n")) - {""} == set(case["canonical"])
    assert parse(printed) == made


@pytest.mark.parametrize("case", [case for case in CASES if "errors" in case.values[0]])
def test_a_wrong_text_says_what_and_where(case: dict[str, Any]) -> None:
    with pytest.raises(QueryError) as raised:
        parse(_text(case))
    problems = raised.value.problems
    assert [(p.line, p.column) for p in problems] == [(e["line"], e["column"]) for e in case["errors"]]
    for problem, expected in zip(problems, case["errors"], strict=True):
        for words in expected.get("message_has", []):
            assert words in problem.message
        if "nearest" in expected:
            assert problem.nearest == expected["nearest"]
