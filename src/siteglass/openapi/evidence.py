"""Evidence of a lead in the document: its parameter, its schema, and an example made by the code that answers."""

from __future__ import annotations

from typing import Any

import orjson

from siteglass.corpus.domains import MAX_INPUT_CHARS
from siteglass.corpus.evidence_files import MAX_SIGHTINGS, Sighting
from siteglass.leads.evidence import KINDS, Evidence
from siteglass.leads.responses import evidence_body
from siteglass.openapi.shapes import said, shape

EVIDENCE_PATH = [
    {
        "name": "domain",
        "in": "path",
        "required": True,
        "description": "The domain of a lead, in any form that an enrichment takes but a URL with slashes.",
        "schema": {"type": "string", "minLength": 1, "maxLength": MAX_INPUT_CHARS},
        "example": "example.com",
    }
]


def evidence_schemas() -> dict[str, Any]:
    """The answer and its elements by name."""
    text = {"type": "string"}
    time = {"type": "string", "format": "date-time"}
    seen = {
        "type": "array",
        "maxItems": MAX_SIGHTINGS,
        "items": {"$ref": "#/components/schemas/Sighting"},
        "description": "Pages that showed it, the newest first. Empty: the lead was not taken from web pages by us.",
    }
    values = {"type": "array", "items": {"$ref": "#/components/schemas/EvidentValue"}}
    return {
        "EvidenceAnswer": shape(
            "Where and when each address and number of a lead was seen.",
            domain=said(text, "As the lead is stored."),
            **{field: said(values, f"Those of `{field}`, in its order.") for field in KINDS.values()},
        ),
        "EvidentValue": shape("A value of a lead.", value=text, seen=seen),
        "Sighting": shape(
            "A value as a page showed it.",
            page=said(text, "Address of the page."),
            method=said(text, "How it stood there, such as `mailto`, `text`, `json_ld`, `tel`."),
            first_seen=said(time, "Oldest capture of the page that shows it."),
            last_seen=said(time, "Newest one."),
        ),
    }


def _example() -> Any:
    seen = Sighting(
        domain="example.com",
        kind="email",
        value="hello@example.com",
        page="https://example.com/contact",
        method="mailto",
        first_seen_ms=1_788_000_000_000,
        last_seen_ms=1_790_000_000_000,
    )
    return orjson.loads(evidence_body(Evidence("example.com", {"emails": [(seen.value, [seen])], "phones": []})))


EVIDENCE_ANSWER = _example()
