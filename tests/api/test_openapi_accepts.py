"""The service accepts a body exactly when the schema in the document does.

Only the service checks what JSON Schema cannot say. That is names in long lists (a country, a language), the window of
a change, days in the calendar, minimums below their maximum, and the grammar of `query` and `wrapped_query`. The values
drawn here are right in these respects.
"""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openapi_schema_validator import OAS31Validator

from siteglass.query.field import Form
from siteglass.query.fields import FILTERS
from testing.api_calls import ENRICH, INTERPRET, search
from tests.api.describing import Description

RIGHT: dict[str, list[Any]] = {
    "language": ["en", "EN", "German"],
    "country": ["usa", "DEU", "Germany"],
    "state": ["TX", "us-tx"],
    "city": ["Austin", " no such city ", "x" * 256],
    "service_type": ["SaaS", "saas", "LOCAL business", "local-business"],
    "offers": ["marketing"],
    "trades": [["dentist"], ["Zahnarzt", "roofing"]],
    "min_spending": [0, 5, 5.0],
    "max_spending": [10**12 - 1, 1e6],
    "spending": ["0-99", " 1000 - 5000 ", "100000+", "000000000007+"],
    "min_score": [0, 1, 2.0],
    "max_score": [100, 99.0],
    "seo_score": [">=50", "less than 50", "GREATER  THAN 0", "=100", "< 000000000099"],
    "load_time_ms": ["<3000", "Less Than 999999999999"],
    "updated_after": ["2026-10-15", "2026-10-15T08:30:00Z", "2026-10-15t08:30:00.123456789+02:00", "1970-01-01"],
    "lacks": [["email_marketing"], ["crm", "CRM"]],
    "added": [["Klaviyo", "30d"], ["Klaviyo", "Shopify", "2026-10-01"]],
    "dropped": [["Magento", "90d"]],
}
STRINGS = [["Shopify"], ["a", "a"], ["x" * 256], ["w"] * 300, []]
WRONG: list[Any] = [
    *(True, 0, -1, 101, 1.5, 1e15, "", "  ", "x" * 257, [], [1], [""], [None], {}, {"a": 1}, "50", ">101", ">= 1e2"),
    *("1000", "10-", "+5", "2026-1-1", "2026-10-15T08:30", "1969-12-31", ["x" * 257], ["w"] * 1_201, [["a"]], "20"),
]
OPTIONS: dict[str, list[Any]] = {
    "query": ["", "dentists in Texas", "Shopify " * 125],
    "wrapped_query": ["", "@country(USA)", "#" * 8_000],
    "limit": [1, 20, 100, 1.0, 1e2],
    "select": [[], ["domain"], ["domain", "domain", "service_type"]],
    "sort": ["-score", "domain"],
    "dry_run": [True, False],
    "max_lead_credits": [0, 1_000_000, 7.0],
    "explain": [True, False],
    "strict": [False],
}
WRONG_OPTIONS: list[Any] = [*WRONG, 2**63, "x" * 8_001, ["Domain"], ["score", 1], "-Score", "x" * 1_001, 1_000_001]


def _right(name: str) -> list[Any]:
    _, filter_ = FILTERS[name]
    if name in RIGHT:
        return RIGHT[name]
    return [True, False] if filter_.form is Form.SWITCH else STRINGS


SEARCH_VALUES = {**OPTIONS, **{name: _right(name) for name in FILTERS}}


def _bodies(values: dict[str, list[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """A few right fields, and perhaps one more that may be wrong or unknown."""
    right = st.sampled_from(sorted(values)).flatmap(lambda name: st.tuples(st.just(name), _right_value(values[name])))
    odd = st.tuples(st.sampled_from([*sorted(values), "limt", "Country"]), st.sampled_from(WRONG_OPTIONS))
    return st.tuples(st.lists(right, max_size=5), st.lists(odd, max_size=1)).map(
        lambda drawn: {**dict(drawn[0]), **dict(drawn[1])}
    )


def _right_value(values: list[Any]) -> st.SearchStrategy[Any]:
    return st.sampled_from([*values, None])


@pytest.fixture(scope="module")
def described(own: httpx.Client) -> Description:
    return Description(own)


def _agree(described: Description, schema: str, body: dict[str, Any], response: httpx.Response) -> None:
    assert response.status_code in (200, 400), response.text
    whole = {**described.schemas[schema], "components": described.document["components"]}
    problems = [f"{one.json_path}: {one.message[:200]}" for one in OAS31Validator(whole).iter_errors(body)]
    accepted = response.status_code == 200
    assert accepted is (not problems), (body, problems, response.text[:500])


NAMES = {"language": 256, "country": 256, "state": 256, "service_type": 256, "wrapped_query": 8_000}
"""Fields whose texts only the service can judge, up to this length."""


def _only_the_service_can_judge(body: dict[str, Any]) -> bool:
    """Whether a name is unknown, or everything together too large."""
    for name, longest in NAMES.items():
        text = body.get(name)
        if isinstance(text, str) and text.strip() and len(text) <= longest and text not in SEARCH_VALUES[name]:
            return True
    for name in ("lacks", "trades", "added", "dropped"):
        some = body.get(name)
        if isinstance(some, list) and some not in SEARCH_VALUES[name] and all(isinstance(one, str) for one in some):
            return any(one.strip() and len(one) <= 256 for one in some)
    sizes = [len(value) for value in body.values() if isinstance(value, list)]
    return max(sizes, default=0) <= 1_200 and (sum(sizes) > 1_200 or len(str(body)) > 4_000)


SLOW = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much]


@settings(max_examples=300, deadline=None, suppress_health_check=SLOW)
@given(body=_bodies(SEARCH_VALUES).filter(lambda body: not _only_the_service_can_judge(body)))
def test_a_search_is_accepted_exactly_when_the_document_says_so(
    described: Description, own: httpx.Client, body: dict[str, Any]
) -> None:
    _agree(described, "SearchBody", body, own.post(INTERPRET, json=body))


ENRICH_VALUES = {
    "domains": [["example.com"], ["a.com", "a.com"], [""], ["x" * 3_000], ["localhost"] * 100],
    **{name: OPTIONS[name] for name in ("select", "dry_run", "max_lead_credits")},
}
ENRICH_VALUES["select"] = [[], ["domain"], ["emails", "updated_at"]]


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(body=_bodies(ENRICH_VALUES))
def test_an_enrichment_is_accepted_exactly_when_the_document_says_so(
    described: Description, own: httpx.Client, body: dict[str, Any]
) -> None:
    priced = {**body, "dry_run": True} if body.get("dry_run") in (None, False) else body
    _agree(described, "EnrichBody", priced, own.post(ENRICH, json=priced))


PAGE_VALUES = {name: OPTIONS[name] for name in ("limit", "dry_run", "max_lead_credits")}


@settings(max_examples=100, deadline=None, suppress_health_check=SLOW)
@given(body=_bodies(PAGE_VALUES))
def test_a_page_is_accepted_exactly_when_the_document_says_so(
    described: Description, own: httpx.Client, body: dict[str, Any]
) -> None:
    priced = {**body, "dry_run": True} if body.get("dry_run") in (None, False) else body
    path = search(own, {"limit": 1, "select": ["domain"]})["next"]
    _agree(described, "PageBody", priced, own.post(path, json=priced))
