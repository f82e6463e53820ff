"""Bodies over 65,536 bytes."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from testing.api_calls import DIAGNOSE, ENRICH, FACETS, INTERPRET, SEARCH, answered, refused

JSON = {"Content-Type": "application/json"}
MOST = 65_536
BODIES = {
    SEARCH: b'{"limit": 1}',
    INTERPRET: b'{"query": "dentist"}',
    FACETS: b"{}",
    DIAGNOSE: b"{}",
    ENRICH: b'{"domains": ["own-host.com"]}',
}


def _padded(path: str, size: int) -> bytes:
    return BODIES[path].ljust(size)


@pytest.mark.promise("error.PAYLOAD_TOO_LARGE", "setting.max_body_bytes")
@pytest.mark.parametrize("path", BODIES)
def test_the_last_byte_counts(own: httpx.Client, path: str) -> None:
    answered(own.post(path, content=_padded(path, MOST), headers=JSON))
    response = own.post(path, content=_padded(path, MOST + 1), headers=JSON)
    refused(response, 413, "PAYLOAD_TOO_LARGE")
    assert list(response.json()) == ["error", "message"]


@pytest.mark.promise("setting.max_body_bytes")
@pytest.mark.parametrize("path", BODIES)
def test_a_body_of_unannounced_length(own: httpx.Client, path: str) -> None:
    def pieces(size: int) -> Iterator[bytes]:
        content = _padded(path, size)
        yield from (content[start : start + 8192] for start in range(0, size, 8192))

    answered(own.post(path, content=pieces(MOST), headers=JSON))
    refused(own.post(path, content=pieces(MOST + 1), headers=JSON), 413, "PAYLOAD_TOO_LARGE")


@pytest.mark.promise("order.size")
@pytest.mark.parametrize("path", [SEARCH, f"{SEARCH}/some-cursor", INTERPRET, FACETS, DIAGNOSE, ENRICH])
def test_size_before_json_and_fields(own: httpx.Client, path: str) -> None:
    for content in (b"x" * (MOST + 1), b'{"limt": 1}'.ljust(MOST + 1), b"[]".ljust(MOST + 1)):
        refused(own.post(path, content=content, headers=JSON), 413, "PAYLOAD_TOO_LARGE")


def test_the_connection_can_be_used_again(own: httpx.Client) -> None:
    refused(own.post(SEARCH, content=b"x" * 2_000_000, headers=JSON), 413, "PAYLOAD_TOO_LARGE")
    answered(own.post(SEARCH, json={"limit": 1}))
