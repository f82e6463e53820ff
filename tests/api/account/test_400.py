"""GET /v1/account takes no parameters."""

from __future__ import annotations

import httpx
import pytest

from testing.api_calls import ACCOUNT, refused


@pytest.mark.promise("receipts.strict")
def test_parameters(own: httpx.Client) -> None:
    details = refused(own.get(f"{ACCOUNT}?verbose=1&key=2"), 400, "INVALID_REQUEST")
    assert details == [
        {"field": "verbose", "message": "unknown parameter; there are none here"},
        {"field": "key", "message": "unknown parameter; there are none here"},
    ]
