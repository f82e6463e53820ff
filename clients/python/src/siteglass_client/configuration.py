"""The key, the address and the limits of a client, checked before anything is sent."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from siteglass_client.errors import ConfigurationError
from siteglass_client.retrying import RetryPolicy


class Configuration:
    """The key, the address and the limits of a client."""

    def __init__(
        self, api_key: str | None, base_url: str | None, timeout_s: float, deadline_s: float, max_attempts: int
    ) -> None:
        self.api_key = _read_key(api_key if api_key is not None else os.environ.get("SITEGLASS_API_KEY", ""))
        self.base_url = _read_url(base_url or os.environ.get("SITEGLASS_URL", ""))
        for name, value in (("timeout_s", timeout_s), ("deadline_s", deadline_s), ("max_attempts", max_attempts)):
            if not value > 0:
                raise ConfigurationError(f"{name} must be greater than 0, but is {value}.")
        self.timeout_s = timeout_s
        self.policy = RetryPolicy(max_attempts=max_attempts, deadline_s=deadline_s)

    def __repr__(self) -> str:
        kind = "test" if self.api_key.startswith("sg_test_") else "live"
        return f"{self.base_url!r}, {kind} key"


def _read_key(given: str) -> str:
    key = given.strip()
    if not key:
        raise ConfigurationError("No API key was given: pass api_key, or set SITEGLASS_API_KEY.")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigurationError(
            "The API key contains characters that no key has. Copy it again: it has 44 characters and starts with "
            "sg_live_ or sg_test_."
        )
    return key


def _read_url(given: str) -> str:
    url = given.strip().rstrip("/")
    if not url:
        raise ConfigurationError("No service URL was given: pass base_url, or set SITEGLASS_URL.")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ConfigurationError(
            f"The service URL must look like https://leads.example.com, but is {given!r}: pass base_url, or set "
            "SITEGLASS_URL."
        )
    if parts.path.endswith("/v1"):
        raise ConfigurationError(f"Remove /v1 from the end of the URL {given!r}: the client adds it.")
    return url
