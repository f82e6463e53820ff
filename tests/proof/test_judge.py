"""The verifier on histories made by hand: it passes what accounts may do, and finds each wrong thing by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.proof.judging import Unreadable, Verdict, judge

Operation = dict[str, Any]


class Hand:
    """Writes operations of one account, one after the other."""

    def __init__(self, account: str = "1") -> None:
        self.account = account
        self.now = 0
        self.lines: list[Operation] = []

    def write(self, kind: str, outcome: str, *, returned: int = 0, **rest: Any) -> Operation:
        """An operation after all before it, unless it is given its times."""
        self.now += 10
        line = {"account": self.account, "kind": kind, "outcome": outcome, "call": self.now, **rest}
        if outcome != "unknown":
            line["return"] = returned or line["call"] + 5
        self.lines.append(line)
        return line

    def grant(self, api: int, lead: int, seq: int, has: tuple[int, int]) -> Operation:
        return self.write("grant", "granted", api=api, lead=lead, seq=seq, balance_api=has[0], balance_lead=has[1])

    def charge(self, lead: int, outcome: str = "charged", *, has: int | None = None, **rest: Any) -> Operation:
        """Lead credits only; `has` is what the answer says is left of them."""
        return self.write("charge", outcome, lead=lead, balance_lead=has, **rest)


def _judged(tmp_path: Path, *hands: Hand) -> Verdict:
    path = tmp_path / "history.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for hand in hands for line in hand.lines))
    return judge(path)


@pytest.fixture
def hand() -> Hand:
    """An account with 10 API and 10 lead credits."""
    hand = Hand()
    hand.grant(10, 10, 1, (10, 10))
    return hand


def test_what_accounts_may_do(hand: Hand, tmp_path: Path) -> None:
    hand.charge(3, key="a", fingerprint="f", has=7, seq=2, answer="body")
    hand.charge(3, "replayed", key="a", fingerprint="f", answer="body")
    hand.charge(3, "mismatch", key="a", fingerprint="other")
    hand.charge(8, "refused", key="b", fingerprint="f", has=7)
    hand.write("refund", "refunded", of=2, lead=2, seq=3, balance_lead=9)
    hand.write("refund", "refused", of=2, lead=2)
    hand.write("read", "read", balance_api=10, balance_lead=9, seq=3)
    # Two at once, answered in the other order; one of them is seen by a read before it returns.
    hand.charge(1, has=7, seq=5, call=1_000, returned=2_000)
    hand.charge(1, has=8, seq=4, call=1_000, returned=3_000)
    hand.write("read", "read", balance_api=10, balance_lead=7, seq=5, call=1_500, returned=1_600)
    verdict = _judged(tmp_path, hand)
    assert verdict.good, verdict.figures
    assert (verdict.figures["accounts"], verdict.figures["operations"]) == (1, 11)


@pytest.mark.parametrize("happened", [True, False])
def test_an_unknown_outcome_may_have_happened_or_not(hand: Hand, tmp_path: Path, happened: bool) -> None:
    hand.charge(3, "unknown", key="a", fingerprint="f")
    hand.charge(1, "unknown")
    hand.write("grant", "unknown", lead=5)
    hand.charge(3, "replayed" if happened else "charged", key="a", fingerprint="f")
    hand.write("read", "read", balance_api=10, balance_lead=7, seq=2)
    assert _judged(tmp_path, hand).good


def test_an_unknown_outcome_may_happen_long_after_its_call(hand: Hand, tmp_path: Path) -> None:
    hand.charge(3, "unknown", key="a", fingerprint="f")
    hand.write("read", "read", balance_api=10, balance_lead=10, seq=1)
    hand.charge(3, "replayed", key="a", fingerprint="f")
    assert _judged(tmp_path, hand).good


def test_an_unknown_outcome_cannot_have_happened_before_its_call(hand: Hand, tmp_path: Path) -> None:
    hand.write("read", "read", balance_api=10, balance_lead=7)
    hand.charge(3, "unknown")
    assert _judged(tmp_path, hand).checks == {"linearizable"}


def test_an_unknown_outcome_happens_at_most_once(hand: Hand, tmp_path: Path) -> None:
    for _ in range(3):
        hand.charge(3, "unknown", key="a", fingerprint="f")
    hand.write("read", "read", balance_api=10, balance_lead=7)
    assert _judged(tmp_path, hand).good
    hand.write("read", "read", balance_api=10, balance_lead=4)
    assert _judged(tmp_path, hand).checks == {"linearizable"}


WRONG: dict[str, list[tuple[str, str, dict[str, Any]]]] = {
    "more charged than asked": [("charge", "charged", {"lead": 2, "balance_lead": 7})],
    "the other kind charged": [("charge", "charged", {"lead": 2, "balance_api": 8, "balance_lead": 10})],
    "charged and not gone": [
        ("charge", "charged", {"lead": 2}),
        ("read", "read", {"balance_api": 10, "balance_lead": 10}),
    ],
    "charged less than nothing": [("charge", "charged", {"lead": -1, "balance_lead": 11})],
    "charged below zero": [("charge", "charged", {"lead": 11})],
    "two pay from one balance": [
        ("charge", "charged", {"lead": 2, "balance_lead": 8, "call": 1_000, "returned": 2_000}),
        ("charge", "charged", {"lead": 2, "balance_lead": 8, "call": 1_000, "returned": 2_000}),
    ],
    "refused though there was enough": [("charge", "refused", {"lead": 10})],
    "refused and charged": [
        ("charge", "refused", {"lead": 11}),
        ("read", "read", {"balance_api": 10, "balance_lead": 0}),
    ],
    "refused with a balance of another time": [("charge", "refused", {"lead": 11, "balance_lead": 3})],
    "one key charged twice": [
        ("charge", "charged", {"lead": 1, "key": "a", "fingerprint": "f"}),
        ("charge", "charged", {"lead": 1, "key": "a", "fingerprint": "f"}),
    ],
    "an attempt nobody answered and its retry both charged": [
        ("charge", "unknown", {"lead": 1, "key": "a", "fingerprint": "f"}),
        ("charge", "charged", {"lead": 1, "key": "a", "fingerprint": "f", "balance_lead": 8}),
    ],
    "replayed what never was": [("charge", "replayed", {"lead": 1, "key": "a", "fingerprint": "f"})],
    "replayed before it was": [
        ("charge", "replayed", {"lead": 1, "key": "a", "fingerprint": "f"}),
        ("charge", "charged", {"lead": 1, "key": "a", "fingerprint": "f"}),
    ],
    "replayed for another body": [
        ("charge", "charged", {"lead": 1, "key": "a", "fingerprint": "f"}),
        ("charge", "replayed", {"lead": 1, "key": "a", "fingerprint": "g"}),
    ],
    "replayed at another price": [
        ("charge", "charged", {"lead": 1, "key": "a", "fingerprint": "f"}),
        ("charge", "replayed", {"lead": 2, "key": "a", "fingerprint": "f"}),
    ],
    "replayed with balances of another time": [
        ("charge", "charged", {"lead": 1, "key": "a", "fingerprint": "f"}),
        ("charge", "replayed", {"lead": 1, "key": "a", "fingerprint": "f", "balance_lead": 10}),
    ],
    "a mismatch with itself": [
        ("charge", "charged", {"lead": 1, "key": "a", "fingerprint": "f"}),
        ("charge", "mismatch", {"lead": 1, "key": "a", "fingerprint": "f"}),
    ],
    "a mismatch with nothing": [("charge", "mismatch", {"lead": 1, "key": "a", "fingerprint": "f"})],
    "a row number left out": [("charge", "charged", {"lead": 1, "seq": 3})],
    "a row number twice": [("charge", "charged", {"lead": 1, "seq": 1})],
    "a grant that gave less": [("grant", "granted", {"lead": 5, "balance_lead": 14})],
    "refunded twice": [
        ("charge", "charged", {"lead": 2, "seq": 2}),
        ("refund", "refunded", {"of": 2, "lead": 2}),
        ("refund", "refunded", {"of": 2, "lead": 2}),
    ],
    "refunded more than was charged": [
        ("charge", "charged", {"lead": 2, "seq": 2}),
        ("refund", "refunded", {"of": 2, "lead": 3}),
    ],
    "refunded in the other kind": [
        ("charge", "charged", {"lead": 2, "seq": 2}),
        ("refund", "refunded", {"of": 2, "api": 1}),
    ],
    "a refund refused without reason": [
        ("charge", "charged", {"lead": 2, "seq": 2}),
        ("refund", "refused", {"of": 2, "lead": 2}),
    ],
    "a refund of no charge": [("refund", "refunded", {"of": 1, "lead": 1})],
    "a read of a row that is not there": [("read", "read", {"balance_api": 10, "balance_lead": 10, "seq": 2})],
    "a key that was used is charged for something else": [
        ("charge", "unknown", {"lead": 1, "key": "a", "fingerprint": "f"}),
        ("charge", "replayed", {"lead": 1, "key": "a", "fingerprint": "f"}),
        ("charge", "unknown", {"lead": 2, "key": "a", "fingerprint": "g"}),
        ("read", "read", {"balance_api": 10, "balance_lead": 7}),
    ],
    "a read of the past": [
        ("charge", "charged", {"lead": 2, "seq": 2}),
        ("read", "read", {"balance_api": 10, "balance_lead": 10, "seq": 1}),
    ],
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_sees(hand: Hand, tmp_path: Path, what: str) -> None:
    good = Hand("2")
    good.grant(1, 1, 1, (1, 1))
    for kind, outcome, rest in WRONG[what]:
        hand.write(kind, outcome, **rest)
    verdict = _judged(tmp_path, hand, good)
    assert not verdict.good
    assert [(problem["check"], problem["account"]) for problem in verdict.figures["problems"]] == [
        ("linearizable", "1")
    ]


def test_sees_two_answers_to_one_key(hand: Hand, tmp_path: Path) -> None:
    hand.charge(1, key="a", fingerprint="f", answer="one body")
    hand.charge(1, "replayed", key="a", fingerprint="f", answer="another")
    assert _judged(tmp_path, hand).checks == {"identical-answers"}


def test_accounts_do_not_share_keys(hand: Hand, tmp_path: Path) -> None:
    other = Hand("2")
    other.grant(10, 10, 1, (10, 10))
    for one in (hand, other):
        one.charge(1, key="a", fingerprint="f", answer=one.account)
    assert _judged(tmp_path, hand, other).good
    thief = Hand("3")
    thief.charge(1, "replayed", key="a", fingerprint="f")
    assert [problem["account"] for problem in _judged(tmp_path, hand, thief).figures["problems"]] == ["3"]


def test_what_it_cannot_decide_is_not_good(hand: Hand, tmp_path: Path) -> None:
    """Charges of powers of two of which nobody knows which happened, and a balance that none of them gives."""
    hand.grant(0, 2**40, 2, (10, 10 + 2**40))
    for power in range(40):
        hand.charge(2**power + power % 2, "unknown")
    hand.write("read", "read", balance_api=10, balance_lead=5)
    path = tmp_path / "history.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in hand.lines))
    assert judge(path, seconds=0.2).figures["problems"][0]["what"] == "not decided within 200ms"
    assert judge(path, seconds=60, memory_mib=100).figures["problems"][0]["what"] == "out of memory"
    for _ in range(5_000):
        hand.write("read", "read", balance_api=10, balance_lead=5)
    assert _judged(tmp_path, hand).checks == {"undecided"}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "unexpected EOF"),
        ('{"account": "1", "kind": "grant", "outcome": "granted", "call": 1, "return": 2} {}', "more than one object"),
        ('{"account": "1", "kind": "grant", "outcome": "charged", "call": 1, "return": 2}', "does not end as"),
        ('{"account": "1", "kind": "grant", "outcome": "granted", "call": 3, "return": 2}', "before its call"),
        ('{"account": "1", "kind": "grant", "outcome": "granted", "call": 1, "return": 2, "sum": 1}', "unknown field"),
    ],
)
def test_what_it_cannot_read_is_no_verdict(tmp_path: Path, line: str, complaint: str) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(Unreadable, match=complaint):
        judge(path)
