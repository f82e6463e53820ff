"""`python -m bench.read_backs`: the same seed draws the same sentences, each with its read-back and warnings."""

from __future__ import annotations

from bench.read_backs import DRAWN_FROM, draw, judged


def test_the_seed_decides_the_sentences() -> None:
    assert draw(DRAWN_FROM, 20, 1) == draw(DRAWN_FROM, 20, 1) != draw(DRAWN_FROM, 20, 2)
    assert len(set(draw(DRAWN_FROM, 100, 24))) == 100


def test_a_judge_sees_the_warnings() -> None:
    assert judged("Shopfy stores in Texas") == {
        "query": "Shopfy stores in Texas",
        "read_back": "Businesses in Texas, US that use Shopify",
        "warnings": ["Shopfy was interpreted as shopify"],
    }
    assert judged("show me companies")["read_back"] is None
