"""Rate limit per account and key: GCRA in Redis, shared by all workers; without Redis, each worker's share of it."""

from siteglass.limits.gcra import Level, Policy, Verdict
from siteglass.limits.headers import limit_headers
from siteglass.limits.limiter import RateLimiter, open_limiter

__all__ = ["Level", "Policy", "RateLimiter", "Verdict", "limit_headers", "open_limiter"]
