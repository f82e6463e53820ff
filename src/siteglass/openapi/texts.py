"""The longer texts of the document: its introduction, and what errors mean."""

from __future__ import annotations

import re

from siteglass.errors import SiteglassError
from siteglass.leads.operations import DOMAINS_PER_UNIT, INTERPRET_UNITS
from siteglass.openapi.operations import OPERATIONS
from siteglass.settings import Settings
from siteglass.web.operations import ANYWHERE


def meaning(kind: type[SiteglassError]) -> str:
    """The first clause of an error's docstring; the rest is for its makers."""
    return re.split(r"[;:.\n]", kind.__doc__ or "")[0] + "."


def introduction(settings: Settings) -> str:
    """What one has to know before the first call."""
    kinds = sorted({*ANYWHERE, *(kind for operation in OPERATIONS for kind in operation.errors)}, key=_by_status)
    rows = "\n".join(f"| {kind.status} | `{kind.code}` | {meaning(kind)} |" for kind in kinds)
    return f"""\
Siteglass finds websites (leads) by filters, directives or plain language, and returns what is stored about domains.

**Plain language.** `query` takes a sentence, such as `Shopify stores in Texas without a CRM`. Fixed rules interpret it,
so the same sentence always has the same meaning. `POST /v1/leads/interpret` shows, free of charge, how a sentence is
interpreted and how many leads match. `explain` adds the interpretation to a page of leads, and `strict` refuses a
sentence that was not clearly understood.

**Keys.** Send your key in the header `X-API-Key`. A key has scopes: `search`, `enrich` and `account`.

**Your own data.** People in the data can opt out, or request a copy of their data, at [/opt-out](/opt-out). No key is
required.

**Values.** `/v1/values/{{field}}` completes the values of filters and directives: technologies, categories, kinds of
business, places, languages. It costs no credits.

**Credits.** A search costs one lead credit for each lead shown that has an email address. An enrichment costs one API
credit, plus one lead credit for each domain found. A response is charged before it is sent. Errors are free of charge;
only a 503 that does not say so may have been charged. The `X-Credits-*` headers show what a response cost and what is
left. `dry_run` returns only the price, and `max_lead_credits` refuses a higher one. `/v1/account`, `/v1/usage` and
`/v1/ledger` show later what was charged, for every request and domain.

**Retries.** Send a unique `Idempotency-Key` header with every charged request. If the response is lost, repeat the
request with the same key: you get the first response and are charged once. Responses are stored for 24 hours.

**Rate limit.** Each call uses one unit. An enrichment uses one unit per {DOMAINS_PER_UNIT} domains or part of them,
`interpret` {INTERPRET_UNITS}. `RateLimit` shows what is left. After a 429, wait for the number of seconds in
`Retry-After`.

**Bodies.** JSON objects with `Content-Type: application/json`, at most {settings.max_body_bytes:,} bytes. An unknown
field is an error that suggests the nearest known field.

**Errors.** Every error has `error`, a stable code, and `message`, a text for people. A 400 also has `details`, which
lists all problems found.

| status | error | when |
| --- | --- | --- |
{rows}
"""


def _by_status(kind: type[SiteglassError]) -> tuple[int, str]:
    return kind.status, kind.code
