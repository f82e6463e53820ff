"""Details are always of the values that a lead shows, whatever is stored, suppressed or filtered."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from siteglass.corpus.lead import ContactDetail, Lead
from siteglass.index.cards import shown_record
from siteglass.index.documents import document
from siteglass.leads.contact_details import shown_field
from siteglass.settings import Settings
from siteglass.suppression.redaction import changes, lead_getter, lead_with, without_personal
from siteglass.suppression.values import Hasher, read_value

HASHER = Hasher(Settings(suppression_secret="a secret of the tests that is long enough"))
EMAILS = ("info@a.example", "jo@a.example", "Jo@A.example", "jo+news@a.example", "kim@b.example", "not an address")
PHONES = ("+1 202 555 0100", "+12025550100", "202-555-0100", "+49 30 1234567")
PAGES = (
    None,
    "https://a.example/",
    "https://a.example/jo@a.example",
    "https://a.example/?to=kim%40b.example",
    "https://a.example/tel/12025550100",
    "https://a.example/tel/030-1234567",
)
SELECT = ("emails", "phones", "emails_detail", "phones_detail")


def _details(values: tuple[str, ...]) -> st.SearchStrategy[tuple[ContactDetail, ...]]:
    """Details of any of these, also of one twice and of values that the lead does not have."""
    detail = st.fixed_dictionaries(
        {
            "value": st.sampled_from(values),
            "owner": st.sampled_from(["own", "affiliate", "unknown", "third_party"]),
            "confidence": st.none() | st.integers(0, 100),
            "page": st.sampled_from(PAGES),
            "crawled_at_ms": st.none() | st.integers(0, 2**42 - 1),
        },
        optional={name: st.none() | st.integers(0, 2**42 - 1) for name in ("first_seen_ms", "last_seen_ms")},
    )
    return st.lists(detail, max_size=6).map(tuple)  # type: ignore[arg-type]  # owners of others, too, as a file may have


def _some(values: tuple[str, ...]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(values), unique=True, max_size=5).map(tuple)


@st.composite
def leads(draw: st.DrawFn) -> Lead:
    """A lead with few values and any details."""
    emails = draw(_some(EMAILS))
    return Lead(
        domain="a.example",
        crawled_at_ms=1,
        country="USA",
        emails=emails,
        emails_personal=tuple(one for one in emails if draw(st.booleans())),
        phones=draw(_some(PHONES)),
        emails_detail=draw(_details(EMAILS)),
        phones_detail=draw(_details(PHONES)),
    )


@pytest.mark.promise("details.values", "details.suppressed")
@given(
    leads(),
    st.sets(st.sampled_from(["jo@a.example", "kim@b.example", "+1 202 555 0100", "+49 30 1234567"])),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_details_are_of_exactly_the_shown_values(
    lead: Lead, opted_out: set[str], when_written: bool, hides_persons: bool, no_generic: bool
) -> None:
    """Suppressed when the lead is written, or only in the response; with and without the filters of addresses."""
    suppressed = {HASHER.of_value(read_value(text)) for text in opted_out}
    if when_written:
        lead = lead_with(lead, changes(lead_getter(lead), suppressed, HASHER))
    record: dict[str, Any] = shown_record(orjson.loads(orjson.dumps(document(lead, "f#0"))))
    if not when_written:
        record |= changes(record.get, suppressed, HASHER)
    if hides_persons:
        record |= without_personal(record.get)
    if no_generic:
        record["emails"] = record["emails_personal"]

    shown = {name: shown_field(record, name) for name in SELECT}

    for values in ("emails", "phones"):
        details = shown[f"{values}_detail"]
        assert [one["value"] for one in details] == shown[values]
        assert {one["owner"] for one in details} <= {"own", "affiliate", "unknown"}
    assert set(shown["emails"]) <= set(lead.emails)
    assert set(shown["phones"]) <= set(lead.phones)
    text = str(shown).lower()
    for value in opted_out:
        assert value.lower() not in text
        assert "kim%40b.example" not in text or "kim@b.example" not in opted_out
        assert "12025550100" not in text or "+1 202 555 0100" not in opted_out


def test_a_record_of_an_older_schema_has_details_of_which_nothing_is_known() -> None:
    stored = {"emails": ["jo@a.example", "not an address"], "emails_personal": ["jo@a.example"], "phones": []}
    nothing = {
        "owner": "unknown", "confidence": None, "page": None, "crawled_at": None, "first_seen": None, "last_seen": None,
    }  # fmt: skip
    assert shown_field(shown_record(stored), "emails_detail") == [
        {"value": "jo@a.example", **nothing, "status": {"syntax": "valid", "kind": "person"}},
        {"value": "not an address", **nothing, "status": {"syntax": "invalid", "kind": "role"}},
    ]
