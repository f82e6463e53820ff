"""The landing page, the docs and the API reference: HTML that `scripts/build_docs.py` rendered, read once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from siteglass.errors import NotFound
from siteglass.web.guard import Call, Guard
from siteglass.web.operations import API_REFERENCE, DOCS, LANDING
from siteglass.web.page_files import PageFiles
from siteglass.web.pages import FOLDER, HEADERS

_FILES = ("icon.svg", "site.css", "policy.js", "reference.css", "reference.js", "scalar/scalar.js.gz")
# Parts of the landing page that are only for services with a dashboard, or only for those without.
_PART = re.compile(r"<!--(no )?dashboard-->(.*?)<!--end-->\n?", re.DOTALL)


class Docs:
    """Every page by its path, kept in memory, and the files that they share."""

    def __init__(self, dashboard_path: str | None) -> None:
        folder = files(FOLDER[0]).joinpath(FOLDER[1])
        images = sorted(f"docs/images/{image.name}" for image in folder.joinpath("docs/images").iterdir())
        self._files = PageFiles(*FOLDER, [*_FILES, *images], under=f"{DOCS.path}/files")
        pages = {
            LANDING.path: _landing(folder.joinpath("landing.html").read_text("utf-8"), dashboard_path),
            API_REFERENCE.path: folder.joinpath("reference.html").read_text("utf-8"),
            **dict(_read_pages(folder.joinpath("docs"), DOCS.path)),
        }
        self._pages = {path: page.replace("{files}", self._files.address).encode() for path, page in pages.items()}

    def routes(self, guard: Guard) -> list[Route]:
        """The document lists the pages that others start from, not each guide, error page and file."""
        unlisted = {f"{DOCS.path}/{{name}}": self._page, f"{DOCS.path}/{{section}}/{{name}}": self._page}
        unlisted[self._files.route] = self._file
        return [
            *(guard.open_route(operation, self._page) for operation in (LANDING, DOCS, API_REFERENCE)),
            *(
                Route(path, guard.endpoint(DOCS.name, handler), include_in_schema=False)
                for path, handler in unlisted.items()
            ),
        ]

    async def _page(self, request: Request, _call: Call) -> Response:
        path = request.url.path
        if path not in self._pages:
            raise NotFound(path[:200])
        return Response(self._pages[path], 200, HEADERS, "text/html")

    async def _file(self, request: Request, _call: Call) -> Response:
        return self._files.answer(request, HEADERS)


def _landing(page: str, dashboard_path: str | None) -> str:
    """The landing page, with the parts for a service that has a dashboard at this path, or has none."""

    def chosen(part: re.Match[str]) -> str:
        return part[2] if (part[1] is None) is (dashboard_path is not None) else ""

    return _PART.sub(chosen, page).replace("{dashboard}", dashboard_path or "")


def _read_pages(folder: Traversable, path: str) -> Iterator[tuple[str, str]]:
    """The pages of a folder and those below it; `index` is the page of the folder itself."""
    for entry in folder.iterdir():
        name = entry.name.removesuffix(".html")
        if entry.is_dir():
            yield from _read_pages(entry, f"{path}/{name}")
        elif name != entry.name:
            yield path if name == "index" else f"{path}/{name}", entry.read_text("utf-8")
