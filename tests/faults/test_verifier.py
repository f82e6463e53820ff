"""The verifier of fault runs finds what must never happen: each defect is planted in a history without any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from testing.fault_runs.history import Charge, Exchange, Fault, History, Question
from testing.fault_runs.verifier import verify

QUESTIONS = [
    Question("/v1/leads/search", {}, 7, ("a.example", "b.example"), 2),
    Question("/v1/leads/enrich", {}, 1, ("c.example",), 1),
]


def clean() -> History:
    """Ten answers, one refusal during the fault, all charged rightly."""
    exchanges = [
        Exchange(
            second, 0.01, second % 2, 200, f"r{second}", QUESTIONS[second % 2].total, QUESTIONS[second % 2].domains
        )
        for second in range(10)
    ]
    exchanges.append(Exchange(6.5, 0.1, 0, 503, "r-refused", None, ()))
    charges = [Charge(f"r{second}", QUESTIONS[second % 2].lead_credits) for second in range(10)]
    return History(1, list(QUESTIONS), exchanges, [Fault("kill", "node-0", 6.0, 8.0)], charges)


def test_a_clean_history_has_no_problem(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    clean().write(path)
    verdict = verify(History.read(path))
    assert verdict.problems == []
    assert (verdict.requests, verdict.failed, verdict.latest_failure_s) == (11, 1, 0.5)


def changed(number: int, **changes: object) -> Callable[[History], None]:
    def plant(history: History) -> None:
        history.exchanges[number] = replace(history.exchanges[number], **changes)  # type: ignore[arg-type]  # any field

    return plant


DEFECTS: dict[str, tuple[Callable[[History], object], str]] = {
    "a lead is missing": (changed(2, domains=("a.example",)), "question 0 was answered with 7 leads, ('a.example',)"),
    "leads in another order": (changed(2, domains=("b.example", "a.example")), "question 0 was answered"),
    "a total in part": (changed(2, total=5), "question 0 was answered with 5 leads"),
    "another error than 503": (changed(10, status=500), "answered 500"),
    "no answer at all": (changed(10, status=0), "answered 0"),
    "a failure long before the fault": (changed(10, sent_s=0.5), "failed although nothing was broken"),
    "a failure long after the fault": (changed(10, sent_s=60.0), "failed although nothing was broken"),
    "charged without an answer": (
        lambda history: history.charges.append(Charge("r-refused", 2)),
        "r-refused was charged without an answer",
    ),
    "charged twice": (lambda history: history.charges.append(Charge("r3", 1)), "r3 was charged 2 times"),
    "charged too much": (lambda history: history.charges.__setitem__(0, Charge("r0", 3)), "r0 was charged 3 lead"),
    "not charged": (lambda history: history.charges.pop(4), "r4 was answered without a charge"),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_each_planted_defect_is_found(name: str) -> None:
    plant, told = DEFECTS[name]
    history = clean()
    plant(history)
    problems = verify(history).problems
    assert len(problems) == 1
    assert told in problems[0]


def test_domains_answered_with_an_error_are_right_if_they_are_not_charged() -> None:
    history = clean()
    history.exchanges[1] = replace(history.exchanges[1], domains=(), errors=("c.example",))
    assert verify(history).problems == ["r1 was charged 1 lead credits"]
    history.charges[1] = Charge("r1", 0)
    assert verify(history).problems == []


def test_a_share_of_failures_comes_with_its_bound() -> None:
    verdict = verify(clean())
    assert verdict.failed / verdict.requests < verdict.bound() < 0.4
    history = clean()
    history.exchanges.pop()
    assert verify(history).bound() == 0.3
