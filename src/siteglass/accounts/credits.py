"""Credits: charge, grant, balance. Each is one call of one function in the database, see `migrations`.

The `domains` of a ledger row are lines of a letter, a blank and a domain as leads are stored under: `c example.com`.
The letters are those of Mark. What a caller sent that is no host name is left out: it could be an address.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Literal, TypeAlias

import asyncpg

from siteglass.accounts.accounts import AccountError, broken_rule
from siteglass.accounts.keys import Caller
from siteglass.errors import CreditCapExceeded, InsufficientCredits, Unauthorized, Unavailable
from siteglass.postgres import Postgres

MAX_CHARGE = 1_000_000
MAX_GRANT = 1_000_000_000_000
MAX_DOMAINS = 1_000
ADMIN_TIMEOUT_MS = 5_000
# Part of a charge's deadline that is kept for the commit and the way back: what the database begins to write by its
# own deadline is known here before ours.
COMMIT_MS = 500

Operation: TypeAlias = Literal["search", "page", "enrich", "evidence", "export"]

_LINES = re.compile(r"(?:[a-z] (?=[^\n]{1,253}(?:\n|\Z))[a-z0-9_-]++(?:\.[a-z0-9_-]++)+(?:\n|\Z))*", re.ASCII)


class Mark(StrEnum):
    """What a returned domain cost, or why it was free."""

    CHARGED = "c"
    NO_ADDRESS = "n"
    NOT_FOUND = "u"


@dataclass(frozen=True, slots=True)
class Balances:
    """What an account has left, and the ledger row that made it so."""

    api: int
    lead: int
    seq: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an answer cost, and what is left."""

    api: int
    lead: int
    balances: Balances


def spell_domains(domains: Sequence[tuple[str, Mark]]) -> str:
    """The column of a ledger row."""
    if len(domains) > MAX_DOMAINS:
        raise ValueError(f"a ledger row names at most {MAX_DOMAINS} domains, not {len(domains)}")
    column = "\n".join([f"{mark.value} {domain}" for domain, mark in domains])
    if not _LINES.fullmatch(column) or column.count("\n") != max(0, len(domains) - 1):
        raise ValueError("a ledger row names only domains in the form that leads are stored under")
    return column


def read_domains(column: str) -> list[tuple[str, Mark]]:
    """The inverse of spell_domains."""
    return [(line[2:], Mark(line[0])) for line in column.split("\n")] if column else []


def _deadline(timeout_ms: int) -> datetime:
    return datetime.fromtimestamp(time.time() + max(timeout_ms - COMMIT_MS, timeout_ms // 2) / 1000, UTC)


async def charge(
    postgres: Postgres,
    caller: Caller,
    operation: Operation,
    api: int,
    lead: int,
    request_id: str,
    domains: Sequence[tuple[str, Mark]],
    *,
    timeout_ms: int,
) -> Balances:
    """Take the credits for an answer and write its ledger row, also if it costs nothing; afterwards it may be shown.

    Raises InsufficientCredits, CreditCapExceeded, Unauthorized (the key ended meanwhile) or Unavailable.
    """
    if not (0 <= api <= MAX_CHARGE and 0 <= lead <= MAX_CHARGE):
        raise ValueError(f"a charge is 0 to {MAX_CHARGE} credits, not {api} and {lead}")
    column = spell_domains(domains)
    try:
        row = await postgres.fetchrow(
            "SELECT * FROM {schema}.charge($1, $2, $3, $4, $5, $6, $7, $8)",
            caller.account_id,
            caller.key_id,
            operation,
            api,
            lead,
            request_id,
            column,
            _deadline(timeout_ms),
            timeout_ms=timeout_ms,
            turn=caller.account_id,
        )
    except Unavailable as error:
        raise Unavailable(error.reason, while_charging=True) from error
    assert row is not None  # noqa: S101 - a function with OUT parameters gives exactly one row
    match row["outcome"]:
        case "charged":
            return Balances(row["balance_api"], row["balance_lead"], row["entry_seq"])
        case "key":
            raise Unauthorized
        case "api cap":
            raise CreditCapExceeded("the daily API cap of the key", need=api, left=row["cap_left"])
        case "lead cap":
            raise CreditCapExceeded("the daily lead cap of the key", need=lead, left=row["cap_left"])
        case "credits":
            raise InsufficientCredits(
                need_api=api, need_lead=lead, balance_api=row["balance_api"], balance_lead=row["balance_lead"]
            )
        case outcome:
            raise Unavailable(
                f"charge: {outcome}; too busy, or its clock is ahead of ours by more than {timeout_ms - COMMIT_MS} ms"
            )


async def grant(postgres: Postgres, account_id: int, api: int, lead: int, actor: str, request_id: str) -> Balances:
    """Give credits to an account; `actor` is the operator who does."""
    if not (0 <= api <= MAX_GRANT and 0 <= lead <= MAX_GRANT) or api + lead == 0:
        raise AccountError(f"A grant is 1 to {MAX_GRANT} credits of one kind or both.")
    try:
        row = await postgres.fetchrow(
            "SELECT * FROM {schema}.grant_credits($1, $2, $3, $4, $5)",
            account_id,
            api,
            lead,
            actor,
            request_id,
            timeout_ms=ADMIN_TIMEOUT_MS,
        )
    except asyncpg.CheckViolationError as error:
        raise AccountError(broken_rule(error)) from None
    if row is None or row["entry_seq"] is None:
        raise AccountError(f"There is no account {account_id}. `siteglass account list` shows them.")
    return Balances(row["balance_api"], row["balance_lead"], row["entry_seq"])


async def balance(postgres: Postgres, account_id: int, *, timeout_ms: int = ADMIN_TIMEOUT_MS) -> Balances:
    """What an account has left."""
    row = await postgres.fetchrow(
        "SELECT api, lead, seq FROM {schema}.balances WHERE account_id = $1", account_id, timeout_ms=timeout_ms
    )
    if row is None:
        raise AccountError(f"There is no account {account_id}. `siteglass account list` shows them.")
    return Balances(row["api"], row["lead"], row["seq"])
