"""The routes of the service."""

from __future__ import annotations

from dataclasses import replace

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from siteglass import enrich, search
from siteglass.accounts.keys import Caller
from siteglass.accounts.schema import is_current
from siteglass.api.docs_page import FILES_PATH, DocsPage
from siteglass.api.guard import Call, OpenOperation, Operation, Service, answered, guarded, take_rest
from siteglass.api.openapi import document
from siteglass.api.operations import (
    DOCS,
    DOMAINS_PER_UNIT,
    ENRICH,
    HEALTHZ,
    METRICS,
    OPENAPI,
    PAGE,
    READYZ,
    SEARCH,
    Declared,
)
from siteglass.api.requests import read_enrich, read_json, read_page_limit, read_search
from siteglass.api.responses import answer, credit_headers, search_answer
from siteglass.errors import Unavailable
from siteglass.index import generations


async def _search(service: Service, request: Request, caller: Caller, call: Call) -> Response:
    backends = service.backends
    body = await read_json(request, backends.settings.max_body_bytes)
    now_ms = backends.clock.now_ms()
    asked = read_search(body, now_ms)
    page = await search.first_page(backends, service.names, caller, call.request_id, asked)
    return search_answer(page, service.sealer, str(caller.account_id), now_ms // 1000)


async def _page(service: Service, request: Request, caller: Caller, call: Call) -> Response:
    backends = service.backends
    body = await read_json(request, backends.settings.max_body_bytes, may_be_empty=True)
    now_s = backends.clock.now_ms() // 1000
    here = service.sealer.open(request.path_params["cursor"], str(caller.account_id), now_s)
    here = replace(here, limit=read_page_limit(body, here.limit))
    page = await search.later_page(backends, service.names, caller, call.request_id, here)
    return search_answer(page, service.sealer, str(caller.account_id), now_s)


async def _enrich(service: Service, request: Request, caller: Caller, call: Call) -> Response:
    backends = service.backends
    body = await read_json(request, backends.settings.max_body_bytes)
    asked = read_enrich(body, backends.settings.max_enrich_domains)
    await take_rest(service, caller, call, -(-len(asked.domains) // DOMAINS_PER_UNIT))
    enriched = await enrich.enrich(backends, service.names, caller, call.request_id, asked.domains, asked.select)
    return answer({"results": enriched.items}, headers=credit_headers(enriched.receipt))


async def _healthz(_service: Service, _request: Request, _call: Call) -> Response:
    return answer({"status": "ok"})


async def _readyz(service: Service, _request: Request, _call: Call) -> Response:
    backends = service.backends
    reason = await generations.readiness(backends, service.names)
    if reason is None and not await is_current(backends.postgres, backends.settings.postgres_timeout_ms):
        reason = "the tables are too old for this build: run `siteglass migrate`"
    if reason is not None:
        raise Unavailable(f"not ready: {reason}")
    return answer({"status": "ready"})


async def _metrics(_service: Service, _request: Request, _call: Call) -> Response:
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


async def _openapi(service: Service, _request: Request, _call: Call) -> Response:
    return answer(document(service.backends.settings))


def _guarded(declared: Declared, work: Operation) -> Route:
    return Route(declared.path, guarded(declared.name, declared.scope, work), methods=[declared.method])


def _open(declared: Declared, work: OpenOperation) -> Route:
    return Route(declared.path, answered(declared.name, work), methods=[declared.method])


def routes() -> list[Route]:
    """All routes; the hot ones are plain, so that nothing stands between reading and answering."""
    docs = DocsPage()
    return [
        _guarded(SEARCH, _search),
        _guarded(PAGE, _page),
        _guarded(ENRICH, _enrich),
        _open(HEALTHZ, _healthz),
        _open(READYZ, _readyz),
        _open(METRICS, _metrics),
        _open(OPENAPI, _openapi),
        _open(DOCS, docs.page),
        # Parts of the page, not operations: they stand in no document.
        Route(FILES_PATH, answered("docs", docs.file), include_in_schema=False),
    ]
