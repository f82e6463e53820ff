"""The limit as headers, in the form of draft-ietf-httpapi-ratelimit-headers (structured-field lists) and RFC 9110.

RateLimit-Policy: "account";q=20;w=2, "key";q=20;w=2    q units at most at once, back in w seconds (rounded up)
RateLimit: "account";r=12;t=1, "key";r=15;t=1           r units left, the next one in t seconds (0: full)
Retry-After: 1                                          refused only: whole seconds, rounded up, at least 1
"""

from __future__ import annotations

import math

from siteglass.access.limits.gcra import SECOND_US, Level, Policy, Verdict


def _quota(name: str, policy: Policy) -> str:
    # From the rate, not the interval, whose rounding would make 2 s a 3.
    return f'"{name}";q={policy.burst};w={math.ceil(policy.burst / policy.rate_per_s)}'


def _left(name: str, level: Level) -> str:
    return f'"{name}";r={level.remaining};t={-(-level.next_us // SECOND_US)}'


def limit_headers(verdict: Verdict) -> dict[str, str]:
    """The headers of an answer; Retry-After only if the request was refused."""
    headers = {
        "RateLimit-Policy": f"{_quota('account', verdict.account.policy)}, {_quota('key', verdict.key.policy)}",
        "RateLimit": f"{_left('account', verdict.account)}, {_left('key', verdict.key)}",
    }
    if not verdict.allowed:
        headers["Retry-After"] = str(max(math.ceil(verdict.retry_after_s), 1))
    return headers


def stranger_limit_headers(verdict: Verdict) -> dict[str, str]:
    """The same for callers whose key is not known."""
    return {
        "RateLimit-Policy": _quota("caller", verdict.account.policy),
        "RateLimit": _left("caller", verdict.account),
    }


def caller_limit_headers(verdict: Verdict) -> dict[str, str]:
    """The same where no key is asked for: the first bucket is the caller's. What the other has left is not shown: it
    may be that of many callers.
    """
    return {
        "RateLimit-Policy": f"{_quota('caller', verdict.account.policy)}, {_quota('subject', verdict.key.policy)}",
        "RateLimit": _left("caller", verdict.account),
    }
