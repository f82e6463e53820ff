"""A lead as a document: every catalogue field is serialized, keys order as decided, the mapping knows all of it."""

from __future__ import annotations

import hashlib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from siteglass.corpus.lead import Lead
from siteglass.index.documents import document, sort_keys, spending_range
from siteglass.index.mapping import FILTER_ONLY, properties
from siteglass.query.fields import ENRICH_SELECTABLE, SEARCH_SELECTABLE
from siteglass.query.filters import FilterReader


def _lead(domain: str = "example.com", **given_fields: object) -> Lead:
    return Lead(domain=domain, crawled_at_ms=1_793_000_000_000, **given_fields)  # type: ignore[arg-type]  # any of Lead


DETAIL = {
    "value": "a@example.com", "owner": "own", "confidence": 90, "page": None, "crawled_at_ms": None,
    "first_seen_ms": 1_792_000_000_000, "last_seen_ms": 1_793_000_000_000,
}  # fmt: skip
PREPARED: dict[str, Any] = {
    "lead_no": 7,
    "first_seen_ms": 1_792_000_000_000,
    "aliases": ("example.net",),
    "email_owner": "person",
    "email_owner_confidence": 0,
    "phone_owner": "business",
    "phone_owner_confidence": 100,
    "emails": ("a@example.com", "b@example.com"),
    "phones": ("+1 555 0100",),
    "emails_detail": [DETAIL],
    "phones_detail": [{**DETAIL, "value": "+1 555 0100"}],
    "hidden_contacts": ["email designer"],
    "technologies": ("Klaviyo",),
    "technologies_detail": [
        {
            "value": "Klaviyo",
            "marks": [{"kind": "script", "rule": "static.klaviyo.com", "excerpt": "//static.klaviyo.com/a.js"}],
            "page": None,
            "first_seen_ms": None,
            "last_seen_ms": 1_793_000_000_000,
        }
    ],
    "added": (2**40,),
    "dropped": (5, 6),
    "newest_fact_ms": 1_794_000_000_000,
}


def test_a_document_has_what_answers_spell_and_the_mapping_knows_all() -> None:
    made = document(_lead(country="USA", state="TX", language="de", title="Gartenzaun", **PREPARED), "demo.parquet#3")
    assert set(SEARCH_SELECTABLE) <= set(made)
    assert set(ENRICH_SELECTABLE) <= {*made, *made["e"]}
    assert set(made) == set(properties())
    assert made["src"] == "demo.parquet#3"
    assert (made["region"], made["subregion"], made["subdivision"]) == ("Americas", "Northern America", "US-TX")
    assert set(FILTER_ONLY).isdisjoint(SEARCH_SELECTABLE)


def test_what_is_prepared_is_in_the_document_only_if_it_is_known() -> None:
    known = document(_lead(**PREPARED), "f#0")
    times = {"first_seen": "2026-10-14T17:46:40Z", "newest_at": "2026-11-06T21:20:00Z"}
    expected = {name: value for name, value in PREPARED.items() if not name.endswith("_ms")} | times
    assert {name: known[name] for name in expected} == expected
    assert (expected.keys() - {"emails", "phones", "technologies"}).isdisjoint(document(_lead(), "f#0"))


def test_details_are_stored_only_of_shown_values_and_known_owners() -> None:
    """A Parquet file may say anything."""
    details = (
        DETAIL,
        {**DETAIL, "value": "other@example.com"},
        {**DETAIL, "value": "b@example.com", "owner": "third_party"},
    )
    lead = _lead(emails=("a@example.com", "b@example.com"), emails_detail=details)
    assert document(lead, "f#0")["emails_detail"] == [DETAIL]


def test_of_hidden_contacts_only_kind_and_owner_are_stored() -> None:
    """A Parquet file may say anything."""
    lead = _lead(hidden_contacts=("email designer", "email jo@example.com", "phone 5550100", "jo@example.com"))
    assert document(lead, "f#0")["hidden_contacts"] == ["email designer"]


def test_rank_is_the_score_then_bits_of_the_domains_hash() -> None:
    bits = int.from_bytes(hashlib.blake2b(b"example.com", digest_size=8).digest()) >> 18
    assert sort_keys(_lead(score=100)).rank == bits
    assert sort_keys(_lead(score=40)).rank == 60 * 2**46 + bits
    assert sort_keys(_lead()).rank == 101 * 2**46 + bits
    assert sort_keys(_lead()).rank < 2**53


@given(st.none() | st.integers(0, 100), st.none() | st.integers(0, 2**33 - 1), st.text(min_size=3, max_size=30))
def test_a_better_value_comes_first_and_a_missing_one_last(
    score: int | None, spending: int | None, domain: str
) -> None:
    keys, missing = sort_keys(_lead(domain, score=score, spending=spending)), sort_keys(_lead("other.com"))
    assert (keys.rank < missing.rank) or score is None
    assert (keys.spending_rank < missing.spending_rank) or spending is None
    assert 0 < keys.spending_rank < 2**63
    assert 0 < keys.crawled_rank < 2**63
    assert 0 <= keys.bucket < 1024


@given(st.integers(0, 10**9))
def test_the_spending_of_a_result_can_be_sent_as_a_filter(spending: int) -> None:
    reader = FilterReader()
    reader.read({"spending": spending_range(spending)})
    (value,) = reader.conditions[0].values
    assert value.holds(spending)  # type: ignore[union-attr]  # a Range


def test_facts_keep_yes_no_and_unknown_apart() -> None:
    known = document(_lead(secure=False, responsive=True, technologies=(), phones=("+1",)), "f#0")["facts"]
    assert known == ["https:no", "responsive:yes", "phone:yes", "tech:known"]
    assert document(_lead(), "f#0")["facts"] == []


def test_a_lead_that_was_never_fetched_has_no_time_of_a_crawl_and_comes_last() -> None:
    lead = Lead(domain="example.com", crawled_at_ms=0, newest_fact_ms=1_793_000_000_000)
    made = document(lead, "demo.parquet#3")
    assert (made["crawled_at"], made["newest_at"]) == (None, "2026-10-26T07:33:20Z")
    assert sort_keys(lead).crawled_rank > sort_keys(Lead(domain="example.net", crawled_at_ms=1)).crawled_rank
