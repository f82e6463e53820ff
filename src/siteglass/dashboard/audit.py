"""The audit trail of an account, for its owners: who did what, newest first."""

from __future__ import annotations

from starlette.responses import Response

from siteglass.access.audit import audit_page
from siteglass.dashboard.audit_words import tell
from siteglass.dashboard.guard import Dashboard, DeclaredPage, Visit

PAGE = "/dashboard/audit"
PAGE_ROWS = 50


async def show(dashboard: Dashboard, visit: Visit) -> Response:
    """A page of it: the newest rows, or those before or after a row."""
    before_id, after_id = visit.query.number("before"), visit.query.number("after")
    if before_id is not None:
        after_id = None
    account_id = visit.who.account_id
    rows = await audit_page(
        dashboard.backends.postgres, account_id, before_id=before_id, after_id=after_id, limit=PAGE_ROWS + 1,
    )  # fmt: skip
    has_more = len(rows) > PAGE_ROWS
    # One more was asked for; it is the furthest from where the page begins.
    shown = rows[1:] if has_more and after_id is not None else rows[:PAGE_ROWS]
    return dashboard.page(
        visit, "audit.html", told=await tell(dashboard, account_id, shown),
        has_older=bool(shown) and (has_more if after_id is None else True),
        has_newer=bool(shown) and (has_more if after_id is not None else before_id is not None),
        is_newest=before_id is None and after_id is None,
    )  # fmt: skip


PAGES = (DeclaredPage("audit", "GET", PAGE, show, role="owner"),)
