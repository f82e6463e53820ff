"""Pages of the service that need no sign-in: HTML and its files, read once from the package, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from siteglass.web.guard import Call, Guard
from siteglass.web.operations import Operation
from siteglass.web.page_files import PageFiles
from siteglass.web.responses import SAFE_HEADERS

# Nothing but our own files may be loaded, run, framed or called. Icons inside stylesheets are data.
HEADERS = {
    **SAFE_HEADERS,
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
}

FOLDER = ("siteglass.web", "static")
STYLES = ("tokens.css", "frame.css", "site.css")
_HEADER = files(FOLDER[0]).joinpath(FOLDER[1], "header.html").read_text("utf-8")


def site_header(icon: str, home: str = "/", end: str = "", *, here: str = "") -> str:
    """The header of every page: the way home, docs, opt-out, and at its end what the page adds."""
    header = _HEADER.replace("{home}", home).replace("{icon}", icon).replace("{end}", end)
    return header.replace(f'href="{here}"', f'href="{here}" aria-current="page"') if here else header


class StaticPage:
    """A page and its files, kept in memory."""

    def __init__(self, operation: Operation, name: str, paths: Sequence[str]) -> None:
        self._operation = operation
        self._files = PageFiles(*FOLDER, paths, under=operation.path)
        template = files(FOLDER[0]).joinpath(FOLDER[1], name).read_text("utf-8")
        header = site_header(self._files.path("icon.svg"), here=operation.path)
        self._html = template.replace("{header}", header).replace("{files}", self._files.address)

    def routes(self, guard: Guard) -> list[Route]:
        """The page, and its files, which are part of it: no document lists them."""
        files_endpoint = guard.endpoint(self._operation.name, self._file)
        return [
            guard.open_route(self._operation, self._page),
            Route(self._files.route, files_endpoint, include_in_schema=False),
        ]

    def html(self, _request: Request) -> str:
        """What is sent to this caller."""
        return self._html

    async def _page(self, request: Request, _call: Call) -> Response:
        return Response(self.html(request).encode(), 200, HEADERS, "text/html")

    async def _file(self, request: Request, _call: Call) -> Response:
        return self._files.answer(request, HEADERS)
