"""GET /v1/ledger/{request_id} takes no parameters."""

from __future__ import annotations

import httpx
import pytest

from testing.api_calls import LEDGER, refused


@pytest.mark.promise("receipts.strict")
def test_parameters(own: httpx.Client) -> None:
    details = refused(own.get(f"{LEDGER}/some-request?domains=1"), 400, "INVALID_REQUEST")
    assert details == [{"field": "domains", "message": "unknown parameter; there are none here"}]
