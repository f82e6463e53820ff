"""The bodies of lead operations as bytes."""

from __future__ import annotations

from typing import Any

import orjson

from siteglass.corpus.evidence_files import Sighting
from siteglass.leads.enrich import EnrichmentResult
from siteglass.leads.evidence import Evidence
from siteglass.leads.search import SearchPage
from siteglass.query.cursor import Continuation, CursorSealer
from siteglass.query.values import moment_text
from siteglass.web.operations import SEARCH_PATH

NOTES_HEADER = "X-Query-Notes"
ESTIMATED = {"X-Total-Estimated": "true"}


def enrich_body(enriched: EnrichmentResult) -> bytes:
    """The envelope of an enrichment."""
    return orjson.dumps({"results": enriched.items})


def evidence_body(found: Evidence) -> bytes:
    """The values of a lead, each with where and when it was seen."""
    return orjson.dumps(
        {
            "domain": found.domain,
            **{
                field: [{"value": value, "seen": [_sighting(one) for one in seen]} for value, seen in values]
                for field, values in found.values.items()
            },
        }
    )


def _sighting(one: Sighting) -> dict[str, str]:
    times = {"first_seen": moment_text(one.first_seen_ms), "last_seen": moment_text(one.last_seen_ms)}
    return {"page": one.page, "method": one.method, **times}


def search_body(
    page: SearchPage, sealer: CursorSealer, account: str, now_s: int, interpretation: dict[str, Any] | None = None
) -> bytes:
    """The envelope of a page; the interpretation where it was asked for."""

    def path(continuation: Continuation | None) -> str | None:
        return None if continuation is None else f"{SEARCH_PATH}/{sealer.seal(continuation, account, now_s)}"

    envelope: dict[str, Any] = {
        "result_id": page.result_id,
        "total_results": page.total,
        "size": len(page.records),
        "results": page.records,
        "filters": page.filters,
        "next": path(page.next),
        "previous": path(page.previous),
    }
    if interpretation is not None:
        envelope["interpretation"] = interpretation
    return orjson.dumps(envelope)
