"""The page Settings: where API keys, people, plan, security and the audit trail are."""

from __future__ import annotations

from starlette.responses import Response

from siteglass.dashboard.guard import Dashboard, DeclaredPage, Visit

SETTINGS = "/dashboard/settings"


async def show(dashboard: Dashboard, visit: Visit) -> Response:
    """What can be set, and where."""
    return dashboard.page(visit, "settings.html")


PAGES = (DeclaredPage("settings", "GET", SETTINGS, show),)
