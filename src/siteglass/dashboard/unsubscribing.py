"""The page that stops the mails of a watch. Its link, which is in each mail, is all that it needs.

Mail programs stop them with one POST to the link (RFC 8058). Opening the link only asks: scanners of mail open links.
"""

from __future__ import annotations

import time

from starlette.responses import Response

from siteglass.dashboard.guard import Dashboard, DeclaredPage, Visit
from siteglass.dashboard.refusals import NOT_THERE
from siteglass.leads.watches.delivering import UNSUBSCRIBE, UNSUBSCRIBE_USE

_PATH = UNSUBSCRIBE + "{token}"


def _subscription(dashboard: Dashboard, visit: Visit) -> tuple[int, int]:
    """The watch and the person of the link; raises PageRefusal."""
    token = visit.request.path_params["token"]
    values = dashboard.sign_in.secrecy.open_token(UNSUBSCRIBE_USE, token, int(time.time()))
    if values is None:
        raise NOT_THERE
    watch_id, person_id = values
    return watch_id, person_id


async def show(dashboard: Dashboard, visit: Visit) -> Response:
    """Ask whether to stop the mails."""
    name = await dashboard.watches.subscription(*_subscription(dashboard, visit))
    return dashboard.page(visit, "unsubscribe.html", name=name)


async def unsubscribe(dashboard: Dashboard, visit: Visit) -> Response:
    """Stop them. Mail programs follow no redirect, so this shows the page."""
    await dashboard.watches.unsubscribe(*_subscription(dashboard, visit))
    return dashboard.page(visit, "unsubscribe.html", name=None)


PAGES = (
    DeclaredPage("unsubscribe", "GET", _PATH, show, role=""),
    DeclaredPage("unsubscribe.now", "POST", _PATH, unsubscribe, role="", by_link=True),
)
