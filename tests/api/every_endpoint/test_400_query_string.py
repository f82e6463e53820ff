"""A POST takes its fields from the body alone: a query string, which would have no effect, is refused."""

from __future__ import annotations

import httpx
import pytest

from siteglass.openapi.operations import OPERATIONS
from testing.api_calls import LEDGER, SEARCH, answered, refused

POSTS = sorted(operation.path for operation in OPERATIONS if operation.method == "POST")


@pytest.mark.promise("http.query_string")
@pytest.mark.parametrize("path", POSTS)
def test_every_post_refuses_it(own: httpx.Client, path: str) -> None:
    filled = path.replace("{cursor}", "some-cursor").replace("{name}", "mine")
    for query, names in (("limit=3", ["limit"]), ("a=1&a=2&b", ["a", "b"]), ("&", ["?"]), ("=x", ["?"])):
        details = refused(own.post(f"{filled}?{query}", json={}), 400, "INVALID_REQUEST")
        assert [one["field"] for one in details] == names
        assert details[0]["message"] == "found in the query string; send it as a field of the JSON body"


def test_nothing_is_charged(own: httpx.Client) -> None:
    refusal = own.post(f"{SEARCH}?limit=3", json={})
    refused(refusal, 400, "INVALID_REQUEST")
    assert answered(own.get(f"{LEDGER}?request_id={refusal.headers['x-request-id']}"))["entries"] == []


def test_a_question_mark_alone_is_none(own: httpx.Client) -> None:
    assert own.post(f"{SEARCH}?", json={"limit": 1}).status_code == 200
