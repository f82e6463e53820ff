"""What workers share in Redis: the rate limit per account and key, and the claims of running retries.

Without Redis, each worker applies its share of the policy, and only the charge recognises retries.
"""

from __future__ import annotations

import uuid

from siteglass.access.limits import claims
from siteglass.access.limits.claims import Claims
from siteglass.access.limits.connection import RedisConnection
from siteglass.access.limits.gcra import Level, Policy, Verdict
from siteglass.access.limits.headers import caller_limit_headers, limit_headers, stranger_limit_headers
from siteglass.access.limits.limiter import RateLimiter
from siteglass.access.limits.shared import SharedBuckets
from siteglass.settings import Settings

__all__ = [
    "Claims",
    "Level",
    "Policy",
    "RateLimiter",
    "Verdict",
    "caller_limit_headers",
    "limit_headers",
    "open_limits",
    "stranger_limit_headers",
]


def open_limits(settings: Settings) -> tuple[RateLimiter, Claims]:
    """Limiter and claims of one worker; connections are made when first used."""
    timeout_s = settings.redis_timeout_ms / 1000
    shared = SharedBuckets.open(settings.redis_url, settings.redis_prefix, uuid.uuid4().hex, timeout_s)
    limiter = RateLimiter(shared, timeout_s=timeout_s, workers=settings.workers)
    patient = RedisConnection(settings.redis_url, claims.TIMEOUT_S)
    return limiter, Claims(patient, settings.redis_prefix, life_ms=settings.request_timeout_ms)
