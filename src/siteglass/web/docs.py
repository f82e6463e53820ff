"""The docs and the API reference: pages that `scripts/build_docs.py` rendered into the package, read once."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from siteglass.errors import NotFound, error_classes
from siteglass.web.guard import Call, Guard
from siteglass.web.operations import API_REFERENCE, DOCS
from siteglass.web.page_files import PageFiles
from siteglass.web.pages import FOLDER, HEADERS, STYLES, site_header
from siteglass.web.responses import ERROR_PAGES

# Alerts by the page that has their runbooks: rules that were copied before name a path of each.
_RUNBOOKS = {
    "service": "Down NotReady TargetsMissing Watchdog ErrorsFast ErrorsSlow Slow JobFailing",
    "postgresql": "PostgresDown PoolExhausted ChargesFailing ChargesUnsettled LedgerPartitions SuppressionListOld "
    "ArchiveFailing BackupOld",
    "opensearch-redis-crawl": "NodeOut GenerationUnhealthy LimitsLocal CrawlStalled",
}
# Pages that were merged into others, with the section that has their text. People have bookmarks, and every error
# response names the path of its code.
MOVED = {
    **{f"{ERROR_PAGES}/{kind.code}": f"{ERROR_PAGES}#{kind.code.lower()}" for kind in error_classes()},
    **{
        f"/docs/runbooks/Siteglass{alert}": f"/docs/runbooks/{page}#siteglass{alert.lower()}"
        for page, alerts in _RUNBOOKS.items()
        for alert in alerts.split()
    },
    "/docs/deploy-proof": "/docs/proof#deployment",
    "/docs/guides/ad-spending": "/docs/guides/computed-fields#the-ad-spending-estimate",
    "/docs/guides/api-basics": "/docs/guides/first-calls#how-the-api-works",
    "/docs/guides/from-zero-to-a-list": "/docs/guides/build-a-list#if-a-search-finds-nothing",
    "/docs/guides/keys": "/docs/guides/run-in-production#api-keys",
    "/docs/guides/language-model": "/docs/guides/sentences#add-a-language-model",
    "/docs/guides/logs-and-traces": "/docs/guides/on-call#log-lines",
    "/docs/guides/never-pay-twice": "/docs/guides/costs#leave-out-leads-that-you-have",
    "/docs/guides/plain-words": "/docs/guides/sentences",
    "/docs/guides/postgresql-failover": "/docs/guides/backups#survive-the-loss-of-a-postgresql-server",
    "/docs/guides/receipts": "/docs/guides/costs#receipts-see-what-was-spent",
    "/docs/guides/sentence-grammar": "/docs/guides/sentences#how-sentences-are-read",
    "/docs/guides/seo-score": "/docs/guides/computed-fields#the-seo-score",
    "/docs/guides/stay-inside-a-budget": "/docs/guides/costs#limit-what-is-spent",
    "/docs/guides/take-leads-along": "/docs/guides/build-a-list-without-code#download-a-search-as-a-file",
    "/docs/guides/technology-rules": "/docs/guides/computed-fields#technologies",
    "/docs/guides/trades": "/docs/guides/values#search-by-trade",
    "/docs/guides/troubleshooting": "/docs/guides/on-call#troubleshooting-by-symptom",
    "/docs/guides/what-a-call-costs": "/docs/guides/costs",
    "/docs/guides/whole-search": "/docs/guides/first-calls#get-all-results-of-a-search",
    "/docs/reference/errors": ERROR_PAGES,
    "/docs/reliability": "/docs/proof#lost-machines-and-connections",
    "/docs/scale": "/docs/guides/sizing#scale-1-33-and-300-million-leads",
}
_FILES = (
    *("icon.svg", *STYLES, "docs.css", "docs.js"),
    *("policy.js", "reference.css", "reference.js", "scalar/scalar.js.gz"),
)
_LLMS = "/llms.txt"
_MEDIA_TYPES = {"md": "text/markdown", "txt": "text/plain"}


class Docs:
    """Every page by its path, kept in memory, and the files that they share."""

    def __init__(self) -> None:
        folder = files(FOLDER[0]).joinpath(FOLDER[1])
        rendered = folder.joinpath("docs")
        images = sorted(f"docs/images/{image.name}" for image in _entries(rendered.joinpath("images")))
        index = [f"docs/{entry.name}" for entry in _entries(rendered) if entry.name == "search.json"]
        self._files = PageFiles(*FOLDER, [*_FILES, *images, *index], under=f"{DOCS.path}/files")
        pages = {
            API_REFERENCE.path: folder.joinpath("reference.html").read_text("utf-8"),
            **dict(_read_pages(rendered, DOCS.path)),
        }
        self._pages = {path: self._fill_in(path, page).encode() for path, page in pages.items()}

    @property
    def files_address(self) -> str:
        """Where the shared files are; the landing page loads them, too."""
        return self._files.address

    def _fill_in(self, path: str, page: str) -> str:
        here = path if path in (DOCS.path, API_REFERENCE.path) else ""
        header = site_header(self._files.path("icon.svg"), here=here)
        return page.replace("{header}", header).replace("{files}", self._files.address)

    def routes(self, guard: Guard) -> list[Route]:
        """The document lists the pages that others start from, not each guide and file."""
        unlisted = dict.fromkeys((f"{DOCS.path}/{{name}}", f"{DOCS.path}/{{section}}/{{name}}", _LLMS), self._page)
        unlisted[self._files.route] = self._file
        return [
            *(guard.open_route(operation, self._page) for operation in (DOCS, API_REFERENCE)),
            *(
                Route(path, guard.endpoint(DOCS.name, handler), include_in_schema=False)
                for path, handler in unlisted.items()
            ),
        ]

    async def _page(self, request: Request, _call: Call) -> Response:
        path = request.url.path
        name, markdown, _ = path.partition(".md")
        if name in MOVED:
            page, mark, section = MOVED[name].partition("#")
            return RedirectResponse(f"{page}{markdown}{mark}{section}", 301, HEADERS)
        if path not in self._pages:
            raise NotFound(path[:200], missing=None if DOCS.path in self._pages else "docs")
        return Response(self._pages[path], 200, HEADERS, _MEDIA_TYPES.get(path.rpartition(".")[2], "text/html"))

    async def _file(self, request: Request, _call: Call) -> Response:
        return self._files.answer(request, HEADERS)


def _entries(folder: Traversable) -> list[Traversable]:
    """What is in a folder: nothing in a checkout that was not set up, where no docs were rendered."""
    return list(folder.iterdir()) if folder.is_dir() else []


def _read_pages(folder: Traversable, path: str) -> Iterator[tuple[str, str]]:
    """The pages of a folder and those below it, with their Markdown; `index` is the page of the folder itself."""
    for entry in _entries(folder):
        name = entry.name.removesuffix(".html")
        if entry.is_dir():
            yield from _read_pages(entry, f"{path}/{name}")
        elif entry.name == _LLMS[1:]:
            yield _LLMS, entry.read_text("utf-8")
        elif name != entry.name or name.endswith(".md"):
            yield path if name == "index" else f"{path}/{name}", entry.read_text("utf-8")
