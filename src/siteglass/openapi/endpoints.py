"""The OpenAPI document at /openapi.json."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from siteglass.openapi.document import document
from siteglass.settings import Settings
from siteglass.web.guard import Call, Guard
from siteglass.web.operations import OPENAPI
from siteglass.web.responses import json_response


def document_route(guard: Guard, settings: Settings) -> Route:
    """The document."""

    async def openapi(_request: Request, _call: Call) -> Response:
        return json_response(document(settings))

    return guard.open_route(OPENAPI, openapi)
