"""People who search in the browser: what their plan shows them, and the row of `keys` that their charges count for."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from siteglass.access.accounts import ADMIN_TIMEOUT_MS, Preview
from siteglass.access.keys import Caller
from siteglass.errors import Unauthorized
from siteglass.platform.postgres import Postgres

_TERMS = """
SELECT a.plan, p.rate_per_s, p.burst, p.preview, p.preview_leads_per_day, p.rebill_after_hours,
    k.id AS key_id
FROM {schema}.accounts a JOIN {schema}.plans p ON p.name = a.plan
    LEFT JOIN {schema}.keys k ON k.account_id = a.id AND k.person_id = $2
WHERE a.id = $1
"""
# Charges find the row by its number. The digest is random: no key has it, so no request can be made with it.
_CREATE = """
INSERT INTO {schema}.keys (account_id, person_id, name, digest, secret_version, shown_start, shown_end, scopes)
VALUES ($1, $2, $3, $4, 'no key -', '', '----', '{search}') ON CONFLICT DO NOTHING RETURNING id
"""
# Until the person is charged for the first time.
_NO_KEY = 0
_FREE_HOURS = 24
"""What an account paid for is shown again free for as long as responses are stored, whatever the plan says."""


@dataclass(frozen=True, slots=True)
class BrowserTerms:
    """A person as a caller of operations, and what previews show."""

    caller: Caller
    preview: Preview
    preview_leads_per_day: int
    rebill_after_hours: int | None = None

    def is_free(self, paid_at: datetime, now: datetime) -> bool:
        """Whether a lead that was paid for at this time is shown again free of charge."""
        return paid_at > now - timedelta(hours=max(_FREE_HOURS, self.rebill_after_hours or 0))


async def browser_terms(postgres: Postgres, account_id: int, person_id: int) -> BrowserTerms:
    """The terms of a person who is signed in to an account."""
    row = await postgres.fetchrow(_TERMS, account_id, person_id)
    if row is None:
        raise Unauthorized
    key_id = row["key_id"] or _NO_KEY
    # Rates are limited by person, who may have no row of keys yet: a negative number is that of no key.
    caller = Caller(
        account_id, key_id, -person_id, frozenset(("search",)), row["plan"], row["rate_per_s"], row["burst"]
    )
    return BrowserTerms(caller, row["preview"], row["preview_leads_per_day"], row["rebill_after_hours"])


async def chargeable(postgres: Postgres, caller: Caller, person_id: int, name: str) -> Caller:
    """The caller with the row that charges count for, which the first charge creates.

    The charge itself checks that the person may spend at that moment.
    """
    if caller.key_id != _NO_KEY:
        return caller
    row = await postgres.fetchrow(
        _CREATE, caller.account_id, person_id, f"{name} (browser)", secrets.token_bytes(32), timeout_ms=ADMIN_TIMEOUT_MS
    )
    if row is None:  # another request created it in between
        row = await postgres.fetchrow(
            "SELECT id FROM {schema}.keys WHERE account_id = $1 AND person_id = $2", caller.account_id, person_id
        )
    if row is None:
        raise Unauthorized
    return replace(caller, key_id=row["id"])
