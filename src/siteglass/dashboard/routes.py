"""The pages of the dashboard, as routes. Each page module declares its own."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from siteglass.access.limits.claims import Claims
from siteglass.admin.endpoints import BoundRoute, read_console_networks
from siteglass.admin.operations import Desk
from siteglass.dashboard import (
    audit,
    company_sign_in,
    console,
    downloads_page,
    joining,
    keys,
    ledger,
    ledger_entry,
    list_pages,
    new_key,
    overview,
    people_page,
    plan,
    saved_searches,
    security,
    settings_page,
    sign_in,
    unsubscribing,
    uploads_page,
    usage,
    watch_page,
)
from siteglass.dashboard.demo_link import demo_pages, read_demo_networks
from siteglass.dashboard.explore import choosing, lead_page
from siteglass.dashboard.explore import download as explore_download
from siteglass.dashboard.explore import page as explore
from siteglass.dashboard.guard import Dashboard, DeclaredPage, Visit, guarded
from siteglass.dashboard.refusals import NOT_THERE
from siteglass.dashboard.rendering import HEADERS, make_environment
from siteglass.errors import NotFound
from siteglass.leads.charging import AccountCharger
from siteglass.leads.downloads.files import DownloadFiles
from siteglass.leads.downloads.jobs import Downloads
from siteglass.leads.downloads.reading import TableReader
from siteglass.leads.endpoints import LeadEndpoints
from siteglass.leads.lists.lists import Lists
from siteglass.leads.searches.searches import SavedSearches
from siteglass.leads.watches.watches import Watches
from siteglass.people.sign_in import SignIn
from siteglass.platform.backends import Backends
from siteglass.settings import Settings
from siteglass.web.address import origin_of
from siteglass.web.page_files import PageFiles
from siteglass.web.pages import STYLES

FILES = "/dashboard/files"
_SCRIPTS = ("app.js", "buying.js", "charts.js", "choosing.js", "recent.js")
_FILES = (
    *(f"web/static/{name}" for name in (*STYLES, "icon.svg")),
    *(
        f"dashboard/static/{name}"
        for name in ("app.css", "app.js", "buying.js", "charts.js", "choosing.js", "recent.js")
    ),
    "dashboard/static/vendor/htmx/htmx.min.js.gz",
    *(f"dashboard/static/vendor/uplot/{name}" for name in ("uplot.iife.min.js.gz", "uplot.min.css.gz")),
)


async def _nothing(_dashboard: Dashboard, _visit: Visit) -> Response:
    raise NOT_THERE


PAGES: tuple[DeclaredPage, ...] = (
    *sign_in.PAGES,
    *company_sign_in.PAGES,
    *joining.PAGES,
    *unsubscribing.PAGES,
    *explore.PAGES,
    *choosing.PAGES,
    *lead_page.PAGES,
    *saved_searches.PAGES,
    *watch_page.PAGES,
    *list_pages.PAGES,
    *explore_download.PAGES,
    *downloads_page.PAGES,
    *uploads_page.PAGES,
    *overview.PAGES,
    *security.PAGES,
    *usage.PAGES,
    *ledger.PAGES,
    *ledger_entry.PAGES,
    *settings_page.PAGES,
    *new_key.PAGES,
    *keys.PAGES,
    *people_page.PAGES,
    *plan.PAGES,
    *audit.PAGES,
)
# Last: whatever no page has.
NOTHING = DeclaredPage("nothing", "GET", "/dashboard/{rest:path}", _nothing, role="")


def open_dashboard(
    backends: Backends,
    sign_in: SignIn,
    leads: LeadEndpoints,
    charger: AccountCharger,
    lists: Lists,
    claims: Claims,
    desk: Desk,
) -> Dashboard:
    """What the pages of a worker work with."""
    files = PageFiles("siteglass", ".", _FILES, under=FILES)
    public = backends.settings.public_url
    origin = origin_of(public) if public else ""
    searches, watches = SavedSearches(backends.postgres, test=False), Watches(backends.postgres, test=False)
    download_files = DownloadFiles(backends, Downloads(backends.postgres))
    reader, environment = TableReader(claims), make_environment()
    return Dashboard(
        backends,
        sign_in,
        leads,
        charger,
        lists,
        searches,
        watches,
        download_files,
        reader,
        files,
        environment,
        origin,
        desk,
    )


async def _file(request: Request) -> Response:
    dashboard: Dashboard = request.app.state.dashboard
    try:
        return dashboard.files.answer(request, HEADERS)
    except NotFound:  # an address of another version
        return Response(status_code=404, headers=HEADERS)


def routes(settings: Settings) -> list[Route]:
    """All of them."""
    pages = (*demo_pages(read_demo_networks(settings)), *PAGES, NOTHING)
    networks = read_console_networks(settings)
    console_pages = console.PAGES if networks else ()
    return [
        Route(FILES + "/{version}/{name}", _file, methods=["GET"]),
        *(Route(page.path, guarded(page), methods=[page.method]) for page in pages),
        *(BoundRoute(page.path, guarded(page), [page.method], networks) for page in console_pages),
    ]
