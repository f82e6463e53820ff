"""Every error that the client raises; one class for each code of the service, the tree drawn here.

SiteglassError
  ConfigurationError        the key or the address cannot be used
  MissingExtra              an optional package is not installed
  ConnectionFailed          no answer came, or none that can be read
  ResumeError               a resume file does not belong to this walk, or is in use
  ServiceError              the service said no: status, code, message, details, request_id
    BadRequest              InvalidRequest, InvalidQuery, InvalidCursor
    PaymentRequired         InsufficientCredits, CreditCapExceeded
    Forbidden               AccountSuspended
    Unauthorized, NotFound, MethodNotAllowed, IdempotencyInProgress, IdempotencyPriceChanged, CursorExpired,
    PayloadTooLarge, UnsupportedMediaType, IdempotencyMismatch, TooManyRequests, Internal, Unavailable
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar


class SiteglassError(Exception):
    """Any error of the client."""


class ConfigurationError(SiteglassError):
    """The client cannot be made like this."""


class MissingExtra(SiteglassError, ImportError):
    """A package that only this needs is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        # From a checkout: names like ours on the package index belong to other projects.
        install = f"pip install './clients/python[{extra}]'"
        super().__init__(f"This needs {package}. Install it in a checkout of Siteglass: {install}.")


class ConnectionFailed(SiteglassError):
    """No answer came, or none that can be read, however often it was tried.

    Whether the service did the work is not known. Nothing is paid twice if the same call is repeated with the same
    Idempotency-Key, which a walk with a resume file does.
    """

    def __init__(self, reason: str, attempts: int = 1) -> None:
        tries = "" if attempts == 1 else f" after {attempts} attempts"
        super().__init__(f"No response from the service{tries}: {reason}")
        self.reason = reason
        self.attempts = attempts


class ResumeError(SiteglassError):
    """The resume file cannot be used for this walk."""


@dataclass(frozen=True)
class Detail:
    """One problem of a request."""

    field: str
    message: str
    line: int | None = None
    column: int | None = None
    nearest: str | None = None
    """A name or value that may have been meant."""


class ServiceError(SiteglassError):
    """The service answered with an error."""

    default_code: ClassVar[str] = ""
    advice: ClassVar[str] = "Report the request id to the operator of the service."
    """What to do, beside what the message says."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        details: Sequence[Detail] = (),
        request_id: str | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(status, code, message)
        self.status = status
        self.code = code
        self.message = message
        self.details = tuple(details)
        self.request_id = request_id
        self.retry_after_s = retry_after_s
        # A proxy does not know what the service did, and a 503 may have come while it charged. Only a 500 of the
        # service itself promises that nothing was charged.
        self.may_be_charged = status >= 500 and (status, code) != (500, Internal.default_code)
        """Whether this attempt, or one before it of the same call, may have been charged all the same."""

    def __str__(self) -> str:
        told = [f"{self.status} {self.code}: {self.message}"]
        if len(self.details) > 1:  # a single one is the message
            told += [f"  {detail.field}: {detail.message}" for detail in self.details]
        if self.request_id:
            told.append(f"(request {self.request_id})")
        return "\n".join(told) if len(told) > 2 else " ".join(told)


class BadRequest(ServiceError):
    """Status 400: something in the request is wrong."""

    advice = "Correct the fields named in `details`; `nearest` suggests what you may have meant."


class InvalidRequest(BadRequest):
    """A field or a parameter is unknown, or its value is wrong."""

    default_code = "INVALID_REQUEST"


class InvalidQuery(BadRequest):
    """A line of `wrapped_query` cannot be read; or a sentence says nothing to search for, or is not clear enough for
    `strict`."""

    default_code = "INVALID_QUERY"
    advice = "Correct the text at `line` and `column` of each detail; `nearest` suggests what you may have meant."


class InvalidCursor(BadRequest):
    """The path of a page was not given to this account."""

    default_code = "INVALID_CURSOR"
    advice = "Use the path unchanged, with a key of the account that started the search, or start the search again."


class Unauthorized(ServiceError):
    """Status 401: no valid key."""

    default_code = "UNAUTHORIZED"
    advice = "Check SITEGLASS_API_KEY or api_key: a key has 44 characters and starts with sg_live_ or sg_test_."


class PaymentRequired(ServiceError):
    """Status 402: it would cost more than may be spent. Nothing was charged."""


class InsufficientCredits(PaymentRequired):
    """The account has too few credits."""

    default_code = "INSUFFICIENT_CREDITS"
    advice = "Buy credits, then run it again; with a resume file it continues where it stopped."


class CreditCapExceeded(PaymentRequired):
    """A cap that the caller or the owner of the key set would be passed."""

    default_code = "CREDIT_CAP_EXCEEDED"
    advice = "Request less or raise max_lead_credits. If it is the daily cap of the key, wait until 00:00 UTC."


class Forbidden(ServiceError):
    """Status 403: the key may not do this, or not from here, or the account did not pay for the lead."""

    default_code = "FORBIDDEN"
    advice = "Use a key with the scope that the message names, call from an allowed network, or enrich the lead first."


class AccountSuspended(Forbidden):
    """The operator of the service suspended the account."""

    default_code = "ACCOUNT_SUSPENDED"
    advice = "Ask the operator to resume the account; with a resume file it continues where it stopped."


class NotFound(ServiceError):
    """Status 404: no such address, no such lead, or no ledger entry of such a request."""

    default_code = "NOT_FOUND"
    advice = (
        "Check SITEGLASS_URL: it must not end in a path such as /v1. A request that was not charged has no receipt."
    )


class MethodNotAllowed(ServiceError):
    """Status 405: the address takes another method."""

    default_code = "METHOD_NOT_ALLOWED"
    advice = "Check SITEGLASS_URL: a proxy between you and the service may have changed the request."


class IdempotencyInProgress(ServiceError):
    """Status 409: a request with the same Idempotency-Key is still running."""

    default_code = "IDEMPOTENCY_IN_PROGRESS"
    advice = "Wait until it finishes, then repeat the request with the same key."


class IdempotencyPriceChanged(ServiceError):
    """Status 409: a repeated request was free the first time, and would cost something now."""

    default_code = "IDEMPOTENCY_PRICE_CHANGED"
    advice = "Nothing was charged. Send it as a new request to pay its price."


class CursorExpired(ServiceError):
    """Status 410: the walk was left longer ago than a cursor lives."""

    default_code = "CURSOR_EXPIRED"
    advice = "Start the search again without the old resume file; `updated_after` skips the leads you already have."


class PayloadTooLarge(ServiceError):
    """Status 413: the body is too long, or the answer is too large to be kept for a retry."""

    default_code = "PAYLOAD_TOO_LARGE"
    advice = "Request fewer leads (limit) or fewer fields (select)."


class UnsupportedMediaType(ServiceError):
    """Status 415: the body did not come as plain JSON."""

    default_code = "UNSUPPORTED_MEDIA_TYPE"
    advice = "Check SITEGLASS_URL: a proxy between you and the service may have changed the request."


class IdempotencyMismatch(ServiceError):
    """Status 422: the Idempotency-Key belongs to another request."""

    default_code = "IDEMPOTENCY_MISMATCH"
    advice = "Use a new key for each new request, and do not edit resume files."


class TooManyRequests(ServiceError):
    """Status 429: too fast, and waiting would have taken longer than the deadline."""

    default_code = "TOO_MANY_REQUESTS"
    advice = "Wait retry_after_s seconds, use the key in fewer programs, or raise deadline_s."


class Internal(ServiceError):
    """Status 500: a fault of the service."""

    default_code = "INTERNAL"


class Unavailable(ServiceError):
    """Status 503: an engine of the service is unavailable, and stayed so until the deadline."""

    default_code = "UNAVAILABLE"
    advice = "Try again later; with a resume file it continues where it stopped."


BY_CODE: dict[str, type[ServiceError]] = {
    each.default_code: each
    for each in (
        InvalidRequest,
        InvalidQuery,
        InvalidCursor,
        Unauthorized,
        InsufficientCredits,
        CreditCapExceeded,
        Forbidden,
        AccountSuspended,
        NotFound,
        MethodNotAllowed,
        IdempotencyInProgress,
        IdempotencyPriceChanged,
        CursorExpired,
        PayloadTooLarge,
        UnsupportedMediaType,
        IdempotencyMismatch,
        TooManyRequests,
        Internal,
        Unavailable,
    )
}
# For a code that is newer than this client.
BY_STATUS: dict[int, type[ServiceError]] = {
    400: BadRequest,
    401: Unauthorized,
    402: PaymentRequired,
    403: Forbidden,
    404: NotFound,
    429: TooManyRequests,
    503: Unavailable,
}


def service_error(
    status: int, body: Mapping[str, Any], *, request_id: str | None, retry_after_s: float | None
) -> ServiceError:
    """The error that an answer says; it need not be one of the service's own."""
    code = str(body.get("error") or f"HTTP_{status}")
    message = str(
        body.get("message") or "The response has no message; a proxy in front of the service may have sent it."
    )
    made = BY_CODE.get(code) or BY_STATUS.get(status, ServiceError)
    details = body.get("details")
    return made(
        status,
        code,
        message,
        details=[_detail(each) for each in details if isinstance(each, dict)] if isinstance(details, list) else (),
        request_id=request_id,
        retry_after_s=retry_after_s,
    )


def _detail(each: Mapping[str, Any]) -> Detail:
    return Detail(
        str(each.get("field", "")),
        str(each.get("message", "")),
        each.get("line"),
        each.get("column"),
        each.get("nearest"),
    )
