"""The document as a whole: what it says of itself, its paths, and the parts they refer to."""

from __future__ import annotations

import functools
from typing import Any

from siteglass import __version__
from siteglass.openapi.evidence import evidence_schemas
from siteglass.openapi.failures import error_schemas, problem_schema, response_of
from siteglass.openapi.headers import HEADERS
from siteglass.openapi.interpretation import interpretation_schemas
from siteglass.openapi.paths import paths
from siteglass.openapi.receipts import receipt_schemas
from siteglass.openapi.schemas import schemas
from siteglass.openapi.subject_requests import subject_request_schemas
from siteglass.openapi.texts import introduction
from siteglass.openapi.values import values_schemas
from siteglass.settings import Settings
from siteglass.web.operations import ANYWHERE, SEARCH


@functools.cache
def document(settings: Settings) -> dict[str, Any]:
    """OpenAPI 3.1 of all operations."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Siteglass",
            "summary": "Find websites by what they are, use and say, with the contact details they publish.",
            "version": __version__,
            "description": introduction(settings),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "tags": [
            {
                "name": "Leads",
                "description": "Search and enrichment, paid by credits; how a search is read, and the values it knows.",
            },
            {"name": "Account", "description": "What a key's account has, used and paid; nothing charged."},
            {"name": "Opt-out", "description": "For people whom the data is about; no key needed."},
            {"name": "Service", "description": "About the service itself; no key needed, nothing charged."},
        ],
        "paths": paths(settings),
        "components": {
            "securitySchemes": {
                "ApiKey": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "X-API-Key",
                    "description": "`sg_live_` or `sg_test_`, 30 letters and digits, and 6 of checksum.",
                }
            },
            "headers": HEADERS,
            "schemas": {
                **schemas(settings),
                **interpretation_schemas(),
                **receipt_schemas(),
                **evidence_schemas(),
                **values_schemas(),
                **subject_request_schemas(),
                "Problem": problem_schema(),
                **error_schemas(settings),
            },
            # No operation answers these: they stand for every other address and method.
            "responses": {kind.__name__: response_of((kind,), SEARCH, settings) for kind in ANYWHERE},
        },
    }
