"""The first page: what is left, how fast it goes, and what happened last."""

from __future__ import annotations

from starlette.responses import Response

from siteglass.dashboard.guard import HOME, Dashboard, Declared, Visit


async def show(dashboard: Dashboard, visit: Visit) -> Response:
    """The overview."""
    return dashboard.page(visit, "overview.html")


PAGES = (Declared("overview", "GET", HOME, show),)
