"""The OpenAPI document at /openapi.json, and the page at /docs that shows it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from siteglass.openapi.document import document
from siteglass.settings import Settings
from siteglass.web.guard import Call, Guard
from siteglass.web.operations import DOCS, OPENAPI
from siteglass.web.pages import StaticPage
from siteglass.web.responses import json_response

_FILES = ("docs.css", "docs.js", "icon.svg", "swagger-ui/swagger-ui-bundle.js.gz", "swagger-ui/swagger-ui.css.gz")


def document_routes(guard: Guard, settings: Settings) -> list[Route]:
    """The document and its page."""

    async def openapi(_request: Request, _call: Call) -> Response:
        return json_response(document(settings))

    return [guard.open_route(OPENAPI, openapi), *StaticPage(DOCS, "docs.html", _FILES).routes(guard)]
