"""The parameters of account, usage and ledger: declared, and read strictly, every problem at once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.datastructures import QueryParams

from siteglass.billing.receipts import MAX_USAGE_ROWS, EntryFilter
from siteglass.errors import BadRequest, Problem, Problems
from siteglass.web.messages import Day, Parameters, names_of
from siteglass.web.parameters import MAX_NUMBER, Given, read_given, read_number
from siteglass.web.responses import JSON

CSV = "text/csv"

DEFAULT_DAYS = 30
MAX_DAYS = 366
DEFAULT_ENTRIES = 100
MAX_ENTRIES = 1_000
MAX_REQUEST_ID_CHARS = 100
EXAMPLE_REQUEST_ID = "0b6f5d0e-3c1f-4f0b-9a55-6d2c8f7e1a90"

# --- declared -----------------------------------------------------------------------------------

Number = Annotated[int, Meta(ge=1, le=MAX_NUMBER)]
RequestId = Annotated[str, Meta(min_length=1, max_length=MAX_REQUEST_ID_CHARS, examples=[EXAMPLE_REQUEST_ID])]
KeyNumber = Annotated[Number, Meta(description="ID of a key: only usage of this key.", examples=[7])]


class UsageParameters(Parameters):
    """Days, and perhaps one key."""

    from_: (
        Annotated[
            Day,
            Meta(
                description=f"First day. Defaults to {DEFAULT_DAYS} days up to the last day; at most {MAX_DAYS} days "
                "can be requested.",
                examples=["2026-11-01"],
            ),
        ]
        | UnsetType
    ) = msgspec.field(default=UNSET, name="from")
    to: Annotated[Day, Meta(description="Last day. Defaults to today, UTC.", examples=["2026-11-15"])] | UnsetType = (
        UNSET
    )
    key: KeyNumber | UnsetType = UNSET


class LedgerParameters(Parameters):
    """Which entries."""

    from_: (
        Annotated[
            str,
            Meta(
                description="Only entries at or after this RFC 3339 time, or from the start of this day, UTC.",
                examples=["2026-11-01T00:00:00Z"],
            ),
        ]
        | UnsetType
    ) = msgspec.field(default=UNSET, name="from")
    to: (
        Annotated[
            str,
            Meta(
                description="Only entries before this RFC 3339 time, or up to the end of this day, UTC.",
                examples=["2026-11-15"],
            ),
        ]
        | UnsetType
    ) = UNSET
    key: KeyNumber | UnsetType = UNSET
    request_id: (
        Annotated[RequestId, Meta(description="Only entries of this request, or of the grant with this reference.")]
        | UnsetType
    ) = UNSET
    limit: Annotated[
        int,
        Meta(ge=1, le=MAX_ENTRIES, description=f"Entries per page; defaults to {DEFAULT_ENTRIES}.", examples=[2]),
    ] = DEFAULT_ENTRIES
    before: (
        Annotated[Number, Meta(description="Only entries with a lower `seq`; `next` has it.", examples=[1_000])]
        | UnsetType
    ) = UNSET


class ReceiptParameters(Parameters):
    """Which request."""

    request_id: Annotated[RequestId, Meta(description="The `X-Request-Id` of a charged response.")]


# --- read ---------------------------------------------------------------------------------------

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII | re.IGNORECASE)


def _day(given: Given, name: str, problems: Problems) -> date | None:
    text = given.get(name)
    if text is None:
        return None
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(text)
    except ValueError:
        pass  # no such day; reported like any other text
    problems.append(Problem(name, f"expected a day such as 2026-11-15, found {text[:64]!r}"))
    return None


def _time(given: Given, name: str, problems: Problems, *, end_of_day: bool = False) -> datetime | None:
    """A time in UTC; of a day its start, or its end."""
    text = given.get(name)
    if text is None:
        return None
    try:
        if _TIME.fullmatch(text):
            return datetime.fromisoformat(text.upper()).astimezone(UTC)
        if _DAY.fullmatch(text):
            return datetime.fromisoformat(text).replace(tzinfo=UTC) + timedelta(days=end_of_day)
    except (ValueError, OverflowError):
        pass  # no such time; reported like any other text
    plus = "; write the + of an offset as %2B" if " " in text and _TIME.fullmatch(text.replace(" ", "+")) else ""
    expected = "expected an RFC 3339 time such as 2026-11-15T12:30:00Z or a day such as 2026-11-15"
    problems.append(Problem(name, f"{expected}, found {text[:64]!r}{plus}"))
    return None


def _request_id(given: Given, problems: Problems) -> str | None:
    text = given.get("request_id")
    if text is not None and not is_request_id(text):
        expected = f"expected 1 to {MAX_REQUEST_ID_CHARS} characters, as in the header X-Request-Id"
        problems.append(Problem("request_id", f"{expected}, found {text[:64]!r}"))
        return None
    return text


def is_request_id(text: str) -> bool:
    """Whether an entry can carry this; what cannot be stored is not looked up."""
    return 1 <= len(text) <= MAX_REQUEST_ID_CHARS and text.isprintable()


@dataclass(frozen=True, slots=True)
class UsageRequest:
    """Days, both included, and perhaps one key."""

    first: date
    last: date
    key_id: int | None


def read_usage(parameters: QueryParams, today: date) -> UsageRequest:
    """The parameters of GET /v1/usage."""
    problems = Problems()
    given = read_given(parameters, names_of(UsageParameters), problems)
    first, last = _day(given, "from", problems), _day(given, "to", problems)
    key_id = read_number(given, "key", MAX_NUMBER, problems)
    if problems:
        raise BadRequest(problems)
    if last is None:
        last = today
    if first is None:
        # The first days of all have none before them.
        first = date.fromordinal(max(1, last.toordinal() - DEFAULT_DAYS + 1))
    days = (last - first).days + 1
    if days < 1:
        raise BadRequest([Problem("from", f"expected a day not after {last}, found {first}")])
    if days > MAX_DAYS:
        raise BadRequest([Problem("from", f"expected at most {MAX_DAYS} days, found {days} up to {last}")])
    return UsageRequest(first, last, key_id)


def too_many_rows() -> BadRequest:
    """The answer to a usage of more rows than one answer has."""
    return BadRequest([Problem("from", f"more than {MAX_USAGE_ROWS:,} rows; request a shorter range, or a single key")])


@dataclass(frozen=True, slots=True)
class LedgerRequest:
    """The entries requested, and the parameters as sent: the next page uses the same ones."""

    wanted: EntryFilter
    given: Given
    as_csv: bool


def read_ledger(parameters: QueryParams, accepted: str = "") -> LedgerRequest:
    """The parameters of GET /v1/ledger; `accepted` is the header that says in which form."""
    problems = Problems()
    given = read_given(parameters, names_of(LedgerParameters), problems)
    since, until = _time(given, "from", problems), _time(given, "to", problems, end_of_day=True)
    if since and until and since > until:
        problems.append(Problem("from", f"expected a time not after `to`, found {given['from']}"))
    key_id = read_number(given, "key", MAX_NUMBER, problems)
    request_id = _request_id(given, problems)
    limit = read_number(given, "limit", MAX_ENTRIES, problems) or DEFAULT_ENTRIES
    before = read_number(given, "before", MAX_NUMBER, problems)
    if problems:
        raise BadRequest(problems)
    wanted = EntryFilter(limit, since, until, key_id, request_id, before)
    return LedgerRequest(wanted, given, prefers_csv(accepted))


def prefers_csv(accepted: str) -> bool:
    """Whether a list such as `text/csv, */*;q=0.5` puts CSV above JSON: by weight, then by what is named first."""
    weights: dict[str, float] = {}
    for part in accepted.lower().split(","):
        name, *parameters = (word.strip() for word in part.split(";"))
        weight = next((word[2:] for word in parameters if word.startswith("q=")), "1")
        weights.setdefault(name, float(weight) if re.fullmatch(r"[01](\.\d{0,3})?", weight, re.ASCII) else 0)
    of_csv = next((weights[name] for name in (CSV, "text/*", "*/*") if name in weights), 0.0)
    of_json = next((weights[name] for name in (JSON, "application/*", "*/*") if name in weights), 0.0)
    if of_csv == of_json:
        names = list(weights)
        return of_csv > 0 and CSV in names and (JSON not in names or names.index(CSV) < names.index(JSON))
    return of_csv > of_json
