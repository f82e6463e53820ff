"""Which failures are retried, and after how long. Pure: the caller passes the time and the random number."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from siteglass_client.errors import ConnectionFailed, ServiceError, SiteglassError

# 500 says that nothing was charged; 502 and 504 come from a proxy. With the same
# Idempotency-Key none of them can be charged twice.
RETRIED_STATUS = frozenset({429, 500, 502, 503, 504})
RETRIED_CODES = frozenset({"IDEMPOTENCY_IN_PROGRESS"})
# Said only if no attempt before, with the same Idempotency-Key, was charged.
SETTLED_CODES = frozenset(
    {"INSUFFICIENT_CREDITS", "CREDIT_CAP_EXCEEDED", "PAYLOAD_TOO_LARGE", "IDEMPOTENCY_PRICE_CHANGED"}
)


@dataclass(frozen=True)
class RetryPolicy:
    """How long a call may take with all its attempts."""

    max_attempts: int = 10
    deadline_s: float = 120.0
    """From the first attempt to the last answer, waits included."""
    first_wait_s: float = 0.25
    """The longest wait before the second attempt; it doubles with each one."""
    max_wait_s: float = 10.0
    first_contact_attempts: int = 3
    """For a service that never answered this client: a wrong URL should be reported soon."""


def is_retried(error: SiteglassError) -> bool:
    """Whether the same call may succeed later."""
    if isinstance(error, ConnectionFailed):
        return True
    return isinstance(error, ServiceError) and (error.status in RETRIED_STATUS or error.code in RETRIED_CODES)


class Tries:
    """The attempts of one call."""

    def __init__(
        self, policy: RetryPolicy, now_s: float, *, answered_before: bool, chance: Callable[[], float] = random.random
    ) -> None:
        self._policy = policy
        self._ends_s = now_s + policy.deadline_s
        self._answered_before = answered_before
        self._chance = chance
        self.failed = 0
        self.unsure = False
        """Whether one of them failed so that nobody knows if the service charged it."""

    def left_s(self, now_s: float) -> float:
        """Seconds until the deadline."""
        return self._ends_s - now_s

    def wait_s(self, error: SiteglassError, now_s: float) -> float | None:
        """Seconds to wait before the next attempt; None: the error is the outcome."""
        self.failed += 1
        policy = self._policy
        if isinstance(error, ServiceError):
            self._answered_before = True
            self.unsure = (self.unsure or error.may_be_charged) and error.code not in SETTLED_CODES
        else:
            self.unsure = True
        attempts = policy.max_attempts if self._answered_before else policy.first_contact_attempts
        if not is_retried(error) or self.failed >= attempts:
            return None
        # Full jitter, so that many programs that failed together do not come back together.
        wait_s = self._chance() * min(policy.max_wait_s, policy.first_wait_s * 2.0 ** (self.failed - 1))
        if isinstance(error, ServiceError) and error.retry_after_s is not None:
            wait_s = error.retry_after_s + min(wait_s, policy.first_wait_s)
        return wait_s if wait_s < self.left_s(now_s) else None

    def outcome(self, error: SiteglassError) -> SiteglassError:
        """The error to raise in the end."""
        if isinstance(error, ServiceError):
            error.may_be_charged = self.unsure
        return ConnectionFailed(error.reason, self.failed) if isinstance(error, ConnectionFailed) else error


def read_retry_after(value: str | None, now_epoch_s: float) -> float | None:
    """The header in seconds, whether it counts them or names a time."""
    if value is None:
        return None
    try:
        return max(0.0, float(int(value)))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now_epoch_s)
    except ValueError:
        return None
