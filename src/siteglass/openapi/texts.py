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
Siteglass finds websites (leads) by filters, by directives or by plain language, and gives what is stored about domains.

**Plain language.** `query` takes a sentence, such as `Shopify stores in Texas without a CRM`. It is read by fixed
rules: the same sentence always means the same. `POST /v1/leads/interpret` tells what one means and how many leads
match, for nothing; `explain` tells it beside a page of leads, and `strict` refuses what was not surely understood.

**Keys.** Send your key in the header `X-API-Key`. A key has scopes: `search`, `enrich` and `account`.

**Your own data.** Whoever is in the data can ask not to be shown, or what is held, at [/opt-out](/opt-out); no key is
needed.

**Values.** `/v1/values/{{field}}` completes what filters and directives take: technologies, categories, kinds of
business, places, languages. It costs no credits.

**Credits.** A search costs one lead credit for each lead shown that has an e-mail address. An enrichment costs one API
credit, and one lead credit for each domain found. An answer is charged before it is sent. An error costs nothing; only
a 503 that does not say so may have been charged. The headers `X-Credits-*` say what an answer cost and what is left.
`dry_run` asks for the price alone, `max_lead_credits` refuses a higher one. `/v1/account`, `/v1/usage` and `/v1/ledger`
tell what was charged later, for every request and domain.

**Retries.** Send a header `Idempotency-Key` of your own making with what is charged, and repeat a request whose answer
got lost with the same key: it is answered as the first time, and charged once. Kept for 24 hours.

**Rate limit.** Each call takes one unit; an enrichment one for every {DOMAINS_PER_UNIT} domains begun, `interpret`
{INTERPRET_UNITS}. `RateLimit` says what is left. After a 429 wait as many seconds as `Retry-After` says.

**Bodies.** JSON objects with `Content-Type: application/json`, at most {settings.max_body_bytes:,} bytes. An unknown
field is an error that names the nearest known one.

**Errors.** Always `error`, a code that stays, and `message`, a text for people; with 400 also `details`, all problems
found.

| status | error | when |
| --- | --- | --- |
{rows}
"""


def _by_status(kind: type[SiteglassError]) -> tuple[int, str]:
    return kind.status, kind.code
