"""People who search in the browser: what their plan shows them, and the row of `keys` that their charges count for."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace

from siteglass.access.accounts import ADMIN_TIMEOUT_MS, Preview
from siteglass.access.keys import Caller
from siteglass.errors import AccountSuspended, Unauthorized
from siteglass.platform.postgres import Postgres

_TERMS = """
SELECT a.plan, a.state, a.state_reason, p.rate_per_s, p.burst, p.preview, p.preview_leads_per_day,
    k.id AS key_id, k.daily_lead_cap AS own_cap, p.daily_lead_cap AS plan_cap, (
        SELECT coalesce(sum(d.lead), 0)::bigint FROM {schema}.usage_days d
        WHERE d.key_id = k.id AND d.day = (clock_timestamp() AT TIME ZONE 'UTC')::date
    ) AS spent_today
FROM {schema}.accounts a JOIN {schema}.plans p ON p.name = a.plan
    LEFT JOIN {schema}.keys k ON k.account_id = a.id AND k.person_id = $2
WHERE a.id = $1
"""
# Charges find the row by its number. The digest is random: no key has it, so no request can be made with it.
_CREATE = """
INSERT INTO {schema}.keys (account_id, person_id, name, digest, secret_version, shown_start, shown_end, scopes)
VALUES ($1, $2, $3, $4, 'no key -', '', '----', '{search}') ON CONFLICT DO NOTHING RETURNING id
"""
_SET_CAP = """
WITH changed AS (
    INSERT INTO {schema}.keys AS k
        (account_id, person_id, name, digest, secret_version, shown_start, shown_end, scopes, daily_lead_cap)
    SELECT $1, $2, $3, $4, 'no key -', '', '----', '{search}', $5
    ON CONFLICT (account_id, person_id) WHERE person_id IS NOT NULL
        DO UPDATE SET daily_lead_cap = excluded.daily_lead_cap
        WHERE k.daily_lead_cap IS DISTINCT FROM excluded.daily_lead_cap
    RETURNING person_id
)
INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, details)
SELECT 'person', $6, 'person.cap', $1, jsonb_build_object('person', person_id, 'daily_lead_cap', $5::bigint)
FROM changed
"""
# Until the person is charged for the first time.
_NO_KEY = 0


@dataclass(frozen=True, slots=True)
class BrowserTerms:
    """A person as a caller of operations, and what previews show."""

    caller: Caller
    preview: Preview
    preview_leads_per_day: int
    daily_lead_cap: int | None = None
    """The lower one of the person's and the plan's, as charges check it."""
    has_own_cap: bool = False
    """Whether the cap is the person's, which owners can change."""
    spent_today: int = 0

    def spendable(self, balance: int) -> int:
        """The lead credits that the person can spend now, of those that the account has."""
        return balance if self.daily_lead_cap is None else min(balance, max(0, self.daily_lead_cap - self.spent_today))


async def browser_terms(postgres: Postgres, account_id: int, person_id: int) -> BrowserTerms:
    """The terms of a person who is signed in to an account; raises AccountSuspended."""
    row = await postgres.fetchrow(_TERMS, account_id, person_id)
    if row is None:
        raise Unauthorized
    if row["state"] != "active":
        raise AccountSuspended(row["state_reason"])
    key_id = row["key_id"] or _NO_KEY
    # Rates are limited by person, who may have no row of keys yet: a negative number is that of no key.
    caller = Caller(
        account_id,
        key_id,
        -person_id,
        frozenset(("search",)),
        row["plan"],
        row["rate_per_s"],
        row["burst"],
        person_id=person_id,
    )
    own, plan = row["own_cap"], row["plan_cap"]
    return BrowserTerms(
        caller,
        row["preview"],
        row["preview_leads_per_day"],
        daily_lead_cap=min((cap for cap in (own, plan) if cap is not None), default=None),
        has_own_cap=own is not None and (plan is None or own <= plan),
        spent_today=row["spent_today"],
    )


async def chargeable(postgres: Postgres, caller: Caller, person_id: int, name: str) -> Caller:
    """The caller with the row that charges count for, which the first charge creates.

    The charge itself checks that the person may spend at that moment.
    """
    if caller.key_id != _NO_KEY:
        return caller
    row = await postgres.fetchrow(
        _CREATE, caller.account_id, person_id, _row_name(name), secrets.token_bytes(32), timeout_ms=ADMIN_TIMEOUT_MS
    )
    if row is None:  # another request created it in between
        row = await postgres.fetchrow(
            "SELECT id FROM {schema}.keys WHERE account_id = $1 AND person_id = $2", caller.account_id, person_id
        )
    if row is None:
        raise Unauthorized
    return replace(caller, key_id=row["id"])


async def set_daily_cap(
    postgres: Postgres, account_id: int, person_id: int, name: str, cap: int | None, by: int
) -> None:
    """Limit what a person spends per day (UTC) in the browser, in lead credits; None: no limit."""
    await postgres.fetch(
        _SET_CAP,
        account_id,
        person_id,
        _row_name(name),
        secrets.token_bytes(32),
        cap,
        str(by),
        timeout_ms=ADMIN_TIMEOUT_MS,
    )


def _row_name(name: str) -> str:
    """How the ledger and the usage name the person."""
    return f"{name} (browser)"
