"""What operators do with an account after it was opened: change, suspend, resume, close and export it.

Each operation writes its row of the audit log in the same transaction. Charges see a new state at once, because it is
set with the balance locked. Workers see it within a second, because they look keys up that often.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import asyncpg

from siteglass.access.accounts import ADMIN_TIMEOUT_MS, AccountError, broken_rule, no_account, remember_paid_leads
from siteglass.errors import AccountSuspended, Unavailable
from siteglass.platform.postgres import Postgres

EXPORT_TIMEOUT_MS = ERASE_TIMEOUT_MS = 600_000
ERASE_EVERY_S = 600.0
ROWS_AT_ONCE = 1_000

_CHANGE = """
WITH before AS (
    SELECT id, plan FROM {schema}.accounts WHERE id = $1
), changed AS (
    UPDATE {schema}.accounts SET name = coalesce($2, name), plan = coalesce($3, plan) WHERE id = $1 RETURNING plan
)
INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, details)
SELECT 'operator', $4, 'account.set', before.id, jsonb_strip_nulls(jsonb_build_object(
    'renamed', nullif($2::text IS NOT NULL, false), 'plan', nullif(changed.plan, before.plan),
    'plan_before', nullif(before.plan, changed.plan)))
FROM before, changed RETURNING account_id
"""


async def change_account(
    postgres: Postgres, account_id: int, *, name: str | None = None, plan: str | None = None, actor: str
) -> None:
    """Give an account another name, another plan or both."""
    if name is None and plan is None:
        raise AccountError("Nothing is to be changed: give another name, another plan or both.")
    row = await postgres.fetchrow(
        "SELECT rebill_after_hours FROM {schema}.plans WHERE name = $1", plan, timeout_ms=ADMIN_TIMEOUT_MS
    )
    if plan is not None and row is None:
        raise AccountError(f"There is no plan {plan!r}. `siteglass plan list` lists the plans.")
    hours = None if row is None else row["rebill_after_hours"]
    # What was paid counts from the moment the plan changes: remembered before it does, then once more the rows since.
    last = None if hours is None else await remember_paid_leads(postgres, account_id, hours, None)
    try:
        changed = await postgres.fetchrow(_CHANGE, account_id, name, plan, actor, timeout_ms=ADMIN_TIMEOUT_MS)
    except asyncpg.UniqueViolationError:
        raise AccountError(f"Account {name!r} already exists. Choose another name.") from None
    except asyncpg.CheckViolationError as error:
        raise AccountError(broken_rule(error)) from None
    if changed is None:
        raise no_account(account_id)
    if hours is not None:
        await remember_paid_leads(postgres, account_id, hours, last)


async def suspend(postgres: Postgres, account_id: int, reason: str, *, actor: str) -> None:
    """Refuse everything to an account but its ledger, usage and balance; its people and callers see the reason."""
    await _set_state(postgres, account_id, "suspended", reason, actor)


async def resume(postgres: Postgres, account_id: int, *, actor: str) -> None:
    """End a suspension, or open a closed account again while its data is there; its keys stay revoked."""
    await _set_state(postgres, account_id, "active", None, actor)


async def close(postgres: Postgres, account_id: int, reason: str, *, actor: str) -> None:
    """Close an account: keys, sessions and invitations end now, and `erase_closed` removes the data later."""
    await _set_state(postgres, account_id, "closed", reason, actor)


_REFUSED: Final = {
    "active": "is active already.",
    "closed": "is closed. `siteglass account resume` opens it again.",
    "erased": "is closed, and its data is removed: nobody can open it again.",
    "last operator": "is the only open account of operators: without it, nobody could enter the console. Let an "
    "operator join another account first: `siteglass person invite`.",
}


async def _set_state(postgres: Postgres, account_id: int, state: str, reason: str | None, actor: str) -> None:
    reason = None if reason is None else reason.strip().rstrip(".")
    if reason == "":
        raise AccountError("Give a reason: the people of the account see it.")
    try:
        row = await postgres.call(
            "set_account_state",
            account_id=account_id,
            new_state=state,
            reason=reason or "",
            actor=actor,
            timeout_ms=ADMIN_TIMEOUT_MS,
        )
    except asyncpg.CheckViolationError as error:
        raise AccountError(broken_rule(error)) from None
    if row["outcome"] == "no account":
        raise no_account(account_id)
    if row["outcome"] != "set":
        raise AccountError(f"Account {account_id} {_REFUSED[row['outcome']]}")


async def suspension(postgres: Postgres, account_id: int) -> AccountSuspended:
    """The refusal of a charge that came too late, with the reason."""
    row = await postgres.fetchrow("SELECT state_reason FROM {schema}.accounts WHERE id = $1", account_id)
    return AccountSuspended("" if row is None else row["state_reason"])


# No contents of leads: people who opted out would have to be removed from the file.
_EXPORTED: Final = {
    "account": "SELECT id, name, plan, created_at, state FROM {schema}.accounts WHERE id = $1",
    "balance": "SELECT api, lead, seq, at FROM {schema}.balances WHERE account_id = $1",
    "person": "SELECT p.id, p.email, p.name, m.role, m.since FROM {schema}.members m"
    " JOIN {schema}.people p ON p.id = m.person_id WHERE m.account_id = $1 ORDER BY p.id",
    "key": "SELECT id, name, shown_start || '...' || shown_end AS shown, scopes, created_at, expires_at, revoked_at,"
    " test FROM {schema}.keys WHERE account_id = $1 AND person_id IS NULL ORDER BY id",
    "saved_search": "SELECT name, test, body, made_at FROM {schema}.saved_searches WHERE account_id = $1 ORDER BY id",
    "list_domain": "SELECT l.name AS list, l.test, d.domain FROM {schema}.lists l"
    " JOIN {schema}.list_domains d ON d.list_id = l.id WHERE l.account_id = $1 AND l.run_id IS NULL",
    "ledger_entry": "SELECT l.* FROM {schema}.ledger l WHERE l.account_id = $1 ORDER BY l.seq, l.at",
    "audit_entry": "SELECT a.* FROM {schema}.audit a WHERE a.account_id = $1 ORDER BY a.id",
}


async def export(postgres: Postgres, account_id: int, write: Callable[[bytes], object]) -> int:
    """Write all that an account has, one JSON object per line, as of one moment; returns the number of lines."""
    lines = 0
    async with (
        postgres.connection(EXPORT_TIMEOUT_MS) as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        for what, statement in _EXPORTED.items():
            as_json = f"SELECT jsonb_build_object('is', '{what}') || to_jsonb(r) AS line FROM ({statement}) r"  # noqa: S608 - our own words
            async for row in connection.cursor(postgres.sql(as_json), account_id, prefetch=ROWS_AT_ONCE):
                write(row["line"].encode() + b"\n")
                lines += 1
    if not lines:
        raise no_account(account_id)
    return lines


_WAITING = """
SELECT id FROM {schema}.accounts
WHERE state = 'closed' AND state_at <= clock_timestamp() - make_interval(days => $1) ORDER BY id LIMIT 1
"""


async def erase_closed(postgres: Postgres, after_days: int) -> int:
    """Remove the data of accounts that have been closed for so many days; returns how many those were. Raises
    Unavailable if one has to wait."""
    erased = 0
    while (await postgres.call("erase_account", after_days=after_days, timeout_ms=ERASE_TIMEOUT_MS))["erased"]:
        erased += 1
    waiting = await postgres.fetch(_WAITING, after_days)
    if waiting:
        raise Unavailable(
            f"the data of closed account {waiting[0]['id']} is not removed, because it has the last operator. Make a "
            "person of another account an operator: siteglass operator add"
        )
    return erased
