"""The pages of the service: /docs shows the OpenAPI document, /opt-out is for people whom the data is about.

Their files are read once from the package, and served with nothing from elsewhere.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

from siteglass.privacy.endpoints import contact
from siteglass.web.guard import Call, Service
from siteglass.web.operations import DOCS, OPT_OUT_PAGE, Declared
from siteglass.web.page_files import PageFiles
from siteglass.web.responses import SAFE_HEADERS

# Nothing but our own files may be loaded, run, framed or called. Icons inside the viewer's stylesheet are data.
HEADERS = {
    **SAFE_HEADERS,
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
}

_FOLDER = ("siteglass.openapi", "page_files")
_DOCS_FILES = ("docs.css", "docs.js", "icon.svg", "swagger-ui/swagger-ui-bundle.js.gz", "swagger-ui/swagger-ui.css.gz")
_WRITE = """\
<p>
        Write to <a href="mailto:{contact}">{contact}</a> from the address that it is about, and say what you would
        like. Do so, too, if you are told of too many tries: others may have asked about the same address. For a phone
        number this is the only way.
      </p>"""
_OPT_OUT_FILES = ("opt_out.css", "opt_out.js", "icon.svg")


class Page:
    """A page and its files, kept in memory."""

    def __init__(self, declared: Declared, name: str, paths: Sequence[str]) -> None:
        self.files = PageFiles(*_FOLDER, paths, under=declared.path)
        template = files(_FOLDER[0]).joinpath(_FOLDER[1], name).read_text("utf-8")
        self._html = template.replace("{files}", self.files.address)

    def html(self, _service: Service, _request: Request) -> str:
        """What is sent to this caller."""
        return self._html

    async def page(self, service: Service, request: Request, _call: Call) -> Response:
        """The HTML."""
        return Response(self.html(service, request).encode(), 200, HEADERS, "text/html")

    async def file(self, _service: Service, request: Request, _call: Call) -> Response:
        """What the HTML asks for."""
        return self.files.answer(request, HEADERS)


def docs_page() -> Page:
    """The page at /docs."""
    return Page(DOCS, "docs.html", _DOCS_FILES)


class OptOutPage(Page):
    """The page at /opt-out: without JavaScript it says whom to write to, and what to call."""

    def __init__(self) -> None:
        super().__init__(OPT_OUT_PAGE, "opt_out.html", _OPT_OUT_FILES)

    def html(self, service: Service, request: Request) -> str:
        write_to = html.escape(contact(service.backends.settings))
        write = _WRITE.replace("{contact}", write_to) if write_to else ""
        base_url = html.escape(str(request.base_url).rstrip("/"))
        return self._html.replace("{write}", write).replace("{base_url}", base_url)
