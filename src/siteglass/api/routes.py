"""The routes of the service."""

from __future__ import annotations

from dataclasses import replace

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from siteglass import enrich, search
from siteglass.api.guard import Caller, Service, answered, guarded
from siteglass.api.openapi import document
from siteglass.api.requests import read_enrich, read_json, read_page_limit, read_search
from siteglass.api.responses import SEARCH_PATH, answer, search_answer
from siteglass.errors import Unavailable
from siteglass.index import generations


async def _search(service: Service, request: Request, caller: Caller) -> Response:
    backends = service.backends
    body = await read_json(request, backends.settings.max_body_bytes)
    now_ms = backends.clock.now_ms()
    page = await search.first_page(backends, service.names, read_search(body, now_ms))
    return search_answer(page, service.sealer, caller.account, now_ms // 1000)


async def _page(service: Service, request: Request, caller: Caller) -> Response:
    backends = service.backends
    body = await read_json(request, backends.settings.max_body_bytes, may_be_empty=True)
    now_s = backends.clock.now_ms() // 1000
    here = service.sealer.open(request.path_params["cursor"], caller.account, now_s)
    here = replace(here, limit=read_page_limit(body, here.limit))
    page = await search.later_page(backends, service.names, here)
    return search_answer(page, service.sealer, caller.account, now_s)


async def _enrich(service: Service, request: Request, _caller: Caller) -> Response:
    backends = service.backends
    body = await read_json(request, backends.settings.max_body_bytes)
    asked = read_enrich(body, backends.settings.max_enrich_domains)
    return answer({"results": await enrich.enrich(backends, service.names, asked.domains, asked.select)})


async def _healthz(_service: Service, _request: Request) -> Response:
    return answer({"status": "ok"})


async def _readyz(service: Service, _request: Request) -> Response:
    reason = await generations.readiness(service.backends, service.names)
    if reason is not None:
        raise Unavailable(f"not ready: {reason}")
    return answer({"status": "ready"})


async def _metrics(_service: Service, _request: Request) -> Response:
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


async def _openapi(_service: Service, _request: Request) -> Response:
    return answer(document())


def routes() -> list[Route]:
    """All routes; the hot ones are plain, so that nothing stands between reading and answering."""
    return [
        Route(SEARCH_PATH, guarded("search", _search), methods=["POST"]),
        Route(SEARCH_PATH + "/{cursor}", guarded("page", _page), methods=["POST"]),
        Route("/v1/leads/enrich", guarded("enrich", _enrich), methods=["POST"]),
        Route("/healthz", answered("healthz", _healthz)),
        Route("/readyz", answered("readyz", _readyz)),
        Route("/metrics", answered("metrics", _metrics)),
        Route("/openapi.json", answered("openapi", _openapi)),
    ]
