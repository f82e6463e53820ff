"""The ledger page: entries with filters, a page at a time by their numbers; all of them as CSV."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from urllib.parse import urlencode

from starlette.responses import Response

from siteglass.access.keys import list_keys
from siteglass.billing.heads import signed_head
from siteglass.billing.ledger_csv import MAX_CSV_ROWS, LedgerCsv
from siteglass.billing.receipts import KINDS, Entry, EntryFilter, entries
from siteglass.dashboard.downloads import file_answer
from siteglass.dashboard.forms import Form, FormError
from siteglass.dashboard.guard import Dashboard, DeclaredPage, Visit
from siteglass.dashboard.refusals import NOT_THERE

LEDGER = "/dashboard/ledger"
PAGE_ROWS = 50
MAX_REQUEST_ID_CHARS = 100


@dataclass(frozen=True, slots=True)
class Filters:
    """Which entries are asked for."""

    kind: str = ""
    key_id: int | None = None
    first: date | None = None
    last: date | None = None
    request_id: str = ""

    def wanted(self, limit: int) -> EntryFilter:
        """The same for the tables. Days are those of UTC."""
        ends = self.last is not None and self.last < date.max
        return EntryFilter(
            limit,
            since=_midnight(self.first) if self.first else None,
            until=_midnight(self.last + timedelta(days=1)) if self.last and ends else None,
            key_id=self.key_id,
            request_id=self.request_id or None,
            kinds=(self.kind,) if self.kind else None,
        )

    @property
    def fields(self) -> dict[str, str]:
        """What an address says of them."""
        given = {
            "kind": self.kind,
            "key": str(self.key_id or ""),
            "first": self.first.isoformat() if self.first else "",
            "last": self.last.isoformat() if self.last else "",
            "request": self.request_id,
        }
        return {name: value for name, value in given.items() if value}

    def path(self, where: str = LEDGER, **place: int) -> str:
        """An address with these filters."""
        fields = {**self.fields, **{name: str(number) for name, number in place.items()}}
        return f"{where}?{urlencode(fields)}" if fields else where


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def read_filters(query: Form) -> Filters:
    """What an address asks for; raises FormError."""
    kind, request_id = query.get("kind"), query.get("request").strip()
    if kind not in ("", *KINDS):
        raise FormError("kind", f"Kind: choose one of {', '.join(KINDS)}.")
    if query.get("key") and query.number("key") is None:
        raise FormError("key", "Key: choose one from the list.")
    if len(request_id) > MAX_REQUEST_ID_CHARS or not (request_id.isprintable() or not request_id):
        raise FormError(
            "request", f"Request: enter the X-Request-Id of a response, at most {MAX_REQUEST_ID_CHARS} characters."
        )
    first, last = query.day("first", label="First day"), query.day("last", label="Last day")
    if first and last and first > last:
        raise FormError("last", "Last day: must not be before the first day.")
    return Filters(kind, query.number("key"), first, last, request_id)


@dataclass(frozen=True, slots=True)
class LedgerPage:
    """Some entries, the newest first, and the addresses of those beside them."""

    entries: Sequence[Entry]
    newer: str = ""
    older: str = ""
    is_first: bool = False


async def _newest(dashboard: Dashboard, account_id: int, filters: Filters, before: int | None) -> LedgerPage:
    wanted = replace(filters.wanted(PAGE_ROWS), before=before)
    found = await entries(dashboard.backends.postgres, account_id, wanted)
    shown = found[:PAGE_ROWS]
    older = filters.path(before=shown[-1].seq) if len(found) > PAGE_ROWS else ""
    newer = filters.path(after=shown[0].seq) if before is not None and shown else ""
    return LedgerPage(shown, newer, older, is_first=before is None)


async def _above(dashboard: Dashboard, account_id: int, filters: Filters, after: int) -> LedgerPage:
    """The page above a number; where it would not be full, the first page, which is."""
    wanted = replace(filters.wanted(PAGE_ROWS), after=after)
    found = await entries(dashboard.backends.postgres, account_id, wanted)
    if len(found) <= PAGE_ROWS:
        return await _newest(dashboard, account_id, filters, None)
    shown = found[-PAGE_ROWS:]
    return LedgerPage(shown, filters.path(after=shown[0].seq), filters.path(before=shown[-1].seq))


async def show(dashboard: Dashboard, visit: Visit) -> Response:
    """The page; what cannot be read of the filters is said, and all entries are shown."""
    wrong: dict[str, str] = {}
    try:
        filters = read_filters(visit.query)
    except FormError as error:
        filters, wrong = Filters(), {error.field: str(error)}
    account_id, after = visit.who.account_id, visit.query.number("after")
    if after is not None:
        page = await _above(dashboard, account_id, filters, after)
    else:
        page = await _newest(dashboard, account_id, filters, visit.query.number("before"))
    newest = page.entries[0].seq if page.entries else 0
    return dashboard.page(
        visit,
        "ledger.html",
        page=page,
        filters=filters,
        wrong=wrong,
        keys=await list_keys(dashboard.backends.postgres, account_id),
        kinds=KINDS,
        max_csv_rows=MAX_CSV_ROWS,
        has_head=await signed_head(dashboard.backends.postgres, account_id) is not None,
        may_be_cut=newest > MAX_CSV_ROWS and not filters.request_id,
    )


async def download(dashboard: Dashboard, visit: Visit) -> Response:
    """The entries that the page's filters let through, as CSV."""
    try:
        filters = read_filters(visit.query)
    except FormError:
        filters = Filters()
    wanted = replace(filters.wanted(0), before=visit.query.number("before"))
    file = LedgerCsv(dashboard.backends.postgres, visit.who.account_id, wanted)
    return await file_answer(file, f"siteglass-ledger-{datetime.now(UTC):%Y-%m-%d}.csv")


async def download_head(dashboard: Dashboard, visit: Visit) -> Response:
    """The signed head, which `sgl verify` compares a file of entries with."""
    head = await signed_head(dashboard.backends.postgres, visit.who.account_id)
    if head is None:
        raise NOT_THERE
    return await file_answer(_one_line(head), f"siteglass-ledger-{datetime.now(UTC):%Y-%m-%d}.head")


async def _one_line(text: str) -> AsyncIterator[bytes]:
    yield f"{text}\n".encode()


PAGES = (
    DeclaredPage("ledger", "GET", LEDGER, show),
    DeclaredPage("ledger.csv", "GET", f"{LEDGER}.csv", download),
    DeclaredPage("ledger.head", "GET", f"{LEDGER}.head", download_head),
)
