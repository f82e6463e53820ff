"""Every error that the service returns: code, status and message.

SiteglassError
├── BadRequest 400            INVALID_REQUEST         a field or parameter; carries all problems found
│   └── QueryError 400        INVALID_QUERY           the text of wrapped_query; problems carry line and column
├── InvalidCursor 400         INVALID_CURSOR          tampered, foreign or malformed; not which of them
├── Unauthorized 401          UNAUTHORIZED            missing, malformed, unknown, expired or revoked; not which of them
├── InsufficientCredits 402   INSUFFICIENT_CREDITS    names the price and the balance; nothing was charged
├── CreditCapExceeded 402     CREDIT_CAP_EXCEEDED     the caller's own cap: per day and key, or per request
├── Forbidden 403             FORBIDDEN               the key lacks the scope, or may not be used from this address
├── AccountSuspended 403      ACCOUNT_SUSPENDED       an operator suspended the account; its ledger stays readable
├── NotFound 404              NOT_FOUND               no such path, lead, list, saved search, job or ledger entry
├── MethodNotAllowed 405      METHOD_NOT_ALLOWED
├── IdempotencyInProgress 409 IDEMPOTENCY_IN_PROGRESS a request with the same Idempotency-Key is still running
├── IdempotencyPriceChanged 409 IDEMPOTENCY_PRICE_CHANGED the first response was free; now it would cost something
├── CursorExpired 410         CURSOR_EXPIRED
├── PayloadTooLarge 413       PAYLOAD_TOO_LARGE       the body, or the response to be stored for a retry
├── UnsupportedMediaType 415  UNSUPPORTED_MEDIA_TYPE
├── IdempotencyMismatch 422   IDEMPOTENCY_MISMATCH    the Idempotency-Key was used with another request
├── TooManyRequests 429       TOO_MANY_REQUESTS       over the rate limit; says when to retry
├── Internal 500              INTERNAL
└── Unavailable 503           UNAVAILABLE             an engine does not respond; may have been charged

The web layer (`web`) serializes them; nothing else writes a status or an error body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

# A response lists at most this many problems, however many there are.
MAX_DETAILS = 20
# A message repeats at most this many characters of a value.
MAX_REPEATED_CHARS = 64


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a request: the field, what is wrong with it, and where in its text."""

    field: str
    message: str
    line: int | None = None
    column: int | None = None
    nearest: str | None = None


class Problems:
    """The problems of one request: all are counted, and the first MAX_DETAILS are listed.

    A request can have thousands. Unlisted problems get no message and no search for the nearest name, to save time.
    """

    def __init__(self, problems: Iterable[Problem] = ()) -> None:
        given = list(problems)
        self._listed = given[:MAX_DETAILS]
        self.count = len(given)

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._listed)

    @property
    def is_full(self) -> bool:
        """Whether another problem would only be counted."""
        return len(self._listed) >= MAX_DETAILS

    def append(self, problem: Problem) -> None:
        """Add a problem; it is listed if there is room."""
        self.extend(Problems([problem]))

    def describe(self, wrong: Sequence[str], problem_of: Callable[[str], Problem]) -> None:
        """Add a problem for each of these; only listed ones are described."""
        self._listed += [problem_of(one) for one in wrong[: MAX_DETAILS - len(self._listed)]]
        self.count += len(wrong)

    def extend(self, others: Problems) -> None:
        """Add the problems of another part of the request."""
        self._listed += list(others)[: MAX_DETAILS - len(self._listed)]
        self.count += len(others)


def repeated(text: str) -> str:
    """A text that was sent, in quotes and truncated, for use in messages."""
    return repr(text[:MAX_REPEATED_CHARS])


class SiteglassError(Exception):
    """Base of all errors that the service returns. Every class sets its own status and code."""

    status: ClassVar[int]
    code: ClassVar[str]

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers to send with this error."""
        return {}

    @property
    def problems(self) -> Sequence[Problem]:
        """The entries of `details`; empty for errors without details."""
        return ()


class BadRequest(SiteglassError):
    """The body or a parameter is invalid; lists all problems at once."""

    status = 400
    code = "INVALID_REQUEST"

    def __init__(self, problems: Problems | Sequence[Problem]) -> None:
        self.all_problems = problems if isinstance(problems, Problems) else Problems(problems)
        first, count = self.problems[0], len(self.all_problems)
        more = f" (and {count - 1} more, see details)" if count > 1 else ""
        if count > MAX_DETAILS:
            more = f" ({count} problems; the first {MAX_DETAILS} are in details)"
        super().__init__(f"{first.field}: {first.message}{more}")

    @property
    def problems(self) -> Sequence[Problem]:
        return tuple(self.all_problems)


class QueryError(BadRequest):
    """The text of `wrapped_query` is invalid; or a sentence contains no condition, or is not clear enough for "
    "`strict`."""

    code = "INVALID_QUERY"

    def __init__(self, problems: Problems | Sequence[Problem]) -> None:
        super().__init__(problems)
        first = self.problems[0]
        if first.line is not None:
            self.message = f"{first.field} line {first.line}, column {first.column}: " + self.message.partition(": ")[2]


class InvalidCursor(SiteglassError):
    """A cursor that was not issued to this account."""

    status = 400
    code = "INVALID_CURSOR"

    def __init__(self) -> None:
        super().__init__(
            "The cursor is not valid. Use the path in `next` or `previous` unchanged, with a key of the same account, "
            "or start again with POST /v1/leads/search."
        )

    @property
    def problems(self) -> Sequence[Problem]:
        return (Problem("cursor", "not a cursor of this account"),)


class Unauthorized(SiteglassError):
    """No valid key: the response never says why."""

    status = 401
    code = "UNAUTHORIZED"

    def __init__(self, *, bearer: bool = False) -> None:
        where = "in the X-API-Key header; the Authorization header is ignored"
        super().__init__(
            f"A valid API key is required. Send it {'as `Authorization: Bearer KEY`' if bearer else where}. A key that "
            "worked before may have expired or been revoked."
        )
        self._scheme = 'Bearer realm="Siteglass"' if bearer else 'ApiKey realm="Siteglass", header="X-API-Key"'

    @property
    def headers(self) -> Mapping[str, str]:
        return {"WWW-Authenticate": self._scheme}


def _credits(api: int, lead: int) -> str:
    return f"{api} API and {lead} lead credits"


class InsufficientCredits(SiteglassError):
    """The account has too few credits: nothing is shown or charged."""

    status = 402
    code = "INSUFFICIENT_CREDITS"

    def __init__(self, *, need_api: int, need_lead: int, balance_api: int, balance_lead: int) -> None:
        # With no credits of a needed kind, even the smallest request would fail.
        empty = (need_api and not balance_api) or (need_lead and not balance_lead)
        next_step = "Buy credits." if empty else "Request less at once (`limit`, fewer domains), or buy credits."
        super().__init__(
            f"This request needs {_credits(need_api, need_lead)}; the account has "
            f"{_credits(balance_api, balance_lead)}. Nothing was charged. {next_step}"
        )


class CreditCapExceeded(SiteglassError):
    """A cap set by the caller would be exceeded; `cap` names it and ends before the number that it allows."""

    status = 402
    code = "CREDIT_CAP_EXCEEDED"

    def __init__(self, cap: str, *, need: int, left: int) -> None:
        super().__init__(
            f"This request needs {need} credits; {cap} {left}. Nothing was charged. Request less at once (`limit`, "
            "fewer domains), or raise the cap."
        )
        self.need = need


class Forbidden(SiteglassError):
    """The key lacks the scope, may not be used from this address, or its account has not paid for the lead."""

    status = 403
    code = "FORBIDDEN"

    def __init__(
        self,
        scope: str = "",
        *,
        address: str | None = None,
        unpaid: str | None = None,
        desk: str | None = None,
        origin: bool = False,
        test: bool = False,
    ) -> None:
        message = f"This key lacks the scope `{scope}`. Use a key that has it, or create one."
        if desk is not None:
            message = (
                f"This needs the token of a person with the role {desk}, as `Authorization: Bearer TOKEN`. Tokens are "
                "valid for 12 hours: make one on the page /admin/operators."
            )
        elif test:
            message = (
                "Test keys have no jobs. Test with POST /v1/leads/enrich or POST /v1/leads/search, which return the "
                "same results, or use a live key."
            )
        elif origin:
            message = (
                "The header Origin names another website. A web page may not use this endpoint: run the agent outside "
                "of a browser, or without that header."
            )
        elif address is not None:
            message = f"This key may not be used from {address}. Call from an allowed address, or change its allowlist."
        elif unpaid is not None:
            message = (
                f"This account has not paid for the lead {unpaid}. Enrich it first (POST /v1/leads/enrich, one lead "
                "credit), then repeat the request."
            )
        super().__init__(message)


class AccountSuspended(SiteglassError):
    """An operator suspended the account: it gets nothing but its ledger, usage and balance."""

    status = 403
    code = "ACCOUNT_SUSPENDED"

    def __init__(self, reason: str) -> None:
        why = f": {reason}" if reason else ""
        super().__init__(
            f"The operator of this service suspended the account{why}. This request was not charged; GET /v1/ledger "
            "still works. Ask the operator to resume the account."
        )
        self.reason = reason


_MISSING = {
    "receipt": "There is no ledger entry at {}. Requests that failed or were refused have none; GET /v1/ledger lists "
    "all entries.",
    "lead": "There is no lead {}. Check its spelling: POST /v1/leads/enrich shows what exists.",
    "docs": "There is nothing at {}: this package was built without its docs. Install a released wheel; in a checkout, "
    "run `make setup`. Then restart the service.",
    "list": "There is no list {}. GET /v1/lists returns the lists of the account.",
    "account": "There is no account {}. GET /admin/v1/accounts finds accounts.",
    "saved search": "There is no saved search {}. GET /v1/searches returns those that your key sees.",
    "watch": "There is no watch on a saved search {}. GET /v1/watches returns those that your key sees.",
    "job": "There is no job {}; jobs are deleted 7 days after their end. GET /v1/jobs returns those of the account.",
    "run": "The watch has no run {}; runs are deleted after 30 days. GET /v1/watches/{{name}}/runs returns its runs.",
}


class NotFound(SiteglassError):
    """No such path, no ledger entry of such a request, no such lead, list, saved search or watch.

    `meant` is the method and path that the caller probably meant; `missing` says what is missing, if not the path.
    """

    status = 404
    code = "NOT_FOUND"

    def __init__(self, path: str, meant: str | None = None, *, missing: str | None = None) -> None:
        next_step = f"; did you mean {meant}?" if meant else ". The operations are listed in /openapi.json."
        super().__init__(_MISSING[missing].format(path) if missing else f"There is nothing at {path}{next_step}")


class MethodNotAllowed(SiteglassError):
    """The path exists, but not with this method."""

    status = 405
    code = "METHOD_NOT_ALLOWED"

    def __init__(self, method: str, allowed: Sequence[str]) -> None:
        body = " with a JSON body" if "POST" in allowed else ""
        super().__init__(f"{method} is not allowed here. Use {' or '.join(allowed)}{body}.")
        self._allowed = tuple(allowed)

    @property
    def headers(self) -> Mapping[str, str]:
        return {"Allow": ", ".join(self._allowed)}


class IdempotencyInProgress(SiteglassError):
    """A request with the same Idempotency-Key is still running."""

    status = 409
    code = "IDEMPOTENCY_IN_PROGRESS"

    def __init__(self, retry_after_s: int = 1) -> None:
        super().__init__(
            f"A request with this Idempotency-Key is still running. Repeat it in {retry_after_s} s to get its "
            "response; nothing is charged twice."
        )
        self._retry_after_s = retry_after_s

    @property
    def headers(self) -> Mapping[str, str]:
        return {"Retry-After": str(self._retry_after_s)}


class IdempotencyPriceChanged(SiteglassError):
    """The first response to this Idempotency-Key was free; repeating the request would cost something now."""

    status = 409
    code = "IDEMPOTENCY_PRICE_CHANGED"

    def __init__(self, need_lead: int) -> None:
        super().__init__(
            "The first response to this Idempotency-Key was free, so it was not stored; now the request costs "
            f"{need_lead} lead credit{'' if need_lead == 1 else 's'}. Nothing was charged. To pay that, send the "
            "request with a new key."
        )


class IdempotencyMismatch(SiteglassError):
    """The Idempotency-Key was used with another request."""

    status = 422
    code = "IDEMPOTENCY_MISMATCH"

    def __init__(self) -> None:
        super().__init__(
            "This Idempotency-Key was used with another method, path or body. Nothing was charged. Use a new key for "
            "each new request, and the same key only to repeat a request."
        )


class CursorExpired(SiteglassError):
    """The cursor is too old."""

    status = 410
    code = "CURSOR_EXPIRED"

    def __init__(self) -> None:
        super().__init__(
            "The cursor has expired. Start again: POST the `filters` of the last page to /v1/leads/search."
        )


class PayloadTooLarge(SiteglassError):
    """The body is too large, or the response is too large to store for a retry."""

    status = 413
    code = "PAYLOAD_TOO_LARGE"

    def __init__(self, limit_bytes: int, *, kept: bool = False) -> None:
        super().__init__(
            f"The response is too large to store for a retry: more than {limit_bytes} bytes compressed. Nothing was "
            "charged. Request less at once (`limit`, `select`, fewer domains), or omit Idempotency-Key."
            if kept
            else f"The body is larger than {limit_bytes} bytes, the maximum. Split it into several requests."
        )


class UnsupportedMediaType(SiteglassError):
    """The body is not JSON, or is compressed."""

    status = 415
    code = "UNSUPPORTED_MEDIA_TYPE"

    def __init__(self, *, compressed: bool = False) -> None:
        super().__init__(
            "Compressed bodies are not supported. Send the body without the Content-Encoding header."
            if compressed
            else "The body must be JSON. Send it with the header Content-Type: application/json."
        )


class TooManyRequests(SiteglassError):
    """Too many requests; says when to retry."""

    status = 429
    code = "TOO_MANY_REQUESTS"

    def __init__(self, retry_after_s: int) -> None:
        super().__init__(
            f"Too many requests. Try again in {retry_after_s} s. The limits are in the RateLimit-Policy header."
        )
        self._retry_after_s = retry_after_s

    @property
    def headers(self) -> Mapping[str, str]:
        return {"Retry-After": str(self._retry_after_s)}


class Internal(SiteglassError):
    """An error in the service."""

    status = 500
    code = "INTERNAL"

    def __init__(self) -> None:
        super().__init__(
            "Something failed on our side; nothing was charged. Try again. If it keeps failing, contact us with the "
            "X-Request-Id."
        )


class Unavailable(SiteglassError):
    """An engine does not respond in time, or responds only partially: nothing is shown.

    Nothing is charged either, unless the charge itself got no response.
    """

    status = 503
    code = "UNAVAILABLE"

    def __init__(
        self,
        reason: str,
        retry_after_s: int = 1,
        *,
        while_charging: bool = False,
        can_retry: bool = False,
        has_price: bool = True,
    ) -> None:
        # A charge whose confirmation was lost may have been made, so the message says nothing about it. For operations
        # without a price, the message does not mention charges.
        charged = "" if while_charging or not has_price else " and nothing was charged"
        next_step = f"Try again in {retry_after_s} s."
        if can_retry:
            next_step = f"Try again in {retry_after_s} s with the same Idempotency-Key: nothing is charged twice."
        elif while_charging:
            next_step += " GET /v1/ledger/<X-Request-Id> shows if this was charged; send an Idempotency-Key to be safe."
        super().__init__(f"The service is temporarily unavailable{charged}. {next_step}")
        self.reason = reason
        self._retry_after_s = retry_after_s

    @property
    def headers(self) -> Mapping[str, str]:
        return {"Retry-After": str(self._retry_after_s)}


def error_classes(kind: type[SiteglassError] = SiteglassError) -> list[type[SiteglassError]]:
    """Every error that is answered, in the order of the tree."""
    own = [below for below in kind.__subclasses__() if "code" in vars(below)]  # others differ only for the code
    return [found for below in own for found in (below, *error_classes(below))]
