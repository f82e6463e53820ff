"""Fixtures of the rate limit: a corner of the shared Redis, and separate workers."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from redis import Redis

from siteglass.settings import load_settings


@pytest.fixture
def redis_url() -> str:
    """The Redis that all tests share; never to be disturbed."""
    return load_settings().redis_url


@pytest.fixture
def prefix(redis_url: str) -> Iterator[str]:
    """A start of keys that nobody else uses; what it holds is deleted afterwards."""
    name = f"test-limits-{uuid.uuid4().hex}"
    yield name
    with Redis.from_url(redis_url) as client:
        keys = list(client.scan_iter(f"{name}:*", count=10_000))
        if keys:
            client.delete(*keys)
