"""Credits: charge, grant, refund, adjust, balance, quote. What writes is one call of one function in the database.

The `domains` of a ledger row are lines of a letter, a blank and a domain as leads are stored under: `c example.com`.
The letters are those of Mark. Texts from a caller that are not host names are left out: they could be addresses.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, TypeAlias

import asyncpg

from siteglass.access.accounts import ADMIN_TIMEOUT_MS, AccountError, UnconfirmedError, broken_rule, no_account
from siteglass.access.keys import Caller
from siteglass.access.lifecycle import suspension
from siteglass.billing.answers import AnswerToStore, StoredAnswer
from siteglass.billing.charge_batches import COMMIT_MS, Charge, ChargeBatches, server_deadline
from siteglass.billing.in_doubt import InDoubt
from siteglass.billing.received import received_before, update_received
from siteglass.errors import CreditCapExceeded, InsufficientCredits, Unauthorized, Unavailable
from siteglass.platform import metrics
from siteglass.platform.postgres import Postgres, Unreached
from siteglass.settings import SettingsError, variable

MAX_CHARGE = 1_000_000
MAX_GRANT = 1_000_000_000_000
MAX_DOMAINS = 1_000
# Where the service does not pass its setting: commands and tests.
CHARGE_TIMEOUT_MS = 2_000
RECEIVED_FREE_DAYS = 30
MAX_FREE_DAYS = 36_500

# Evidence is free now; entries of the time when it was not are still read and verified.
ChargedOperation: TypeAlias = Literal["search", "page", "enrich", "evidence", "export"]

_LINES = re.compile(r"(?:[a-z] (?=[^\n]{1,253}(?:\n|\Z))[a-z0-9_-]++(?:\.[a-z0-9_-]++)+(?:\n|\Z))*", re.ASCII)


class ListsChanged(Exception):
    """A domain of the bill got onto an excluded list, or left the lists to choose from; nothing was charged."""


class Mark(StrEnum):
    """What a returned domain cost, or why it was free."""

    CHARGED = "c"
    NO_ADDRESS = "n"
    NOT_FOUND = "u"
    PAID_BEFORE = "p"


@dataclass(frozen=True, slots=True)
class Bill:
    """What an answer costs: API credits, and a lead credit for each domain marked as charged, but those paid before."""

    operation: ChargedOperation
    api: int
    domains: Sequence[tuple[str, Mark]]
    max_lead: int | None = None
    """The caller's own cap: more is refused."""
    exclude_lists: tuple[int, ...] = ()
    """Lists by number that no domain may be on when it is charged."""
    only_lists: tuple[int, ...] = ()
    """Lists by number; where there are any, each domain must be on one of them."""
    without_address: Set[str] = frozenset()
    """The domains marked as charged whose leads have no address: an enrichment charges them, too."""

    @property
    def leads(self) -> list[str]:
        """The domains that are to be paid for."""
        return [domain for domain, mark in self.domains if mark is Mark.CHARGED]


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


def format_domains(domains: Sequence[tuple[str, Mark]]) -> str:
    """The column of a ledger row."""
    if len(domains) > MAX_DOMAINS:
        raise ValueError(f"a ledger row can list at most {MAX_DOMAINS} domains, not {len(domains)}")
    column = "\n".join([f"{mark.value} {domain}" for domain, mark in domains])
    if not _LINES.fullmatch(column) or column.count("\n") != max(0, len(domains) - 1):
        raise ValueError("a ledger row can list only normalized domains")
    return column


def read_domains(column: str) -> list[tuple[str, Mark]]:
    """The inverse of spell_domains."""
    return [(line[2:], Mark(line[0])) for line in column.split("\n")] if column else []


_BALANCE = """
SELECT b.api - coalesce(over.api, 0) AS api, b.lead - coalesce(over.lead, 0) AS lead, b.seq, paid.leads AS paid_before
FROM {schema}.balances b JOIN {schema}.accounts a ON a.id = b.account_id JOIN {schema}.plans p ON p.name = a.plan
LEFT JOIN LATERAL (
    SELECT sum(e.api)::bigint AS api, sum(e.lead)::bigint AS lead FROM {schema}.expiring e
    WHERE e.account_id = b.account_id AND e.expires_at <= clock_timestamp()
) over ON b.next_expiry <= clock_timestamp()
CROSS JOIN LATERAL (
    SELECT count(*) AS leads FROM unnest($2::text[]) wanted CROSS JOIN LATERAL (
        SELECT FROM {schema}.paid d WHERE d.account_id = b.account_id AND d.domain = wanted
            AND d.at > clock_timestamp() - make_interval(hours => p.rebill_after_hours) LIMIT 1
    ) found
) paid
WHERE b.account_id = $1
"""

# What a key may still buy today of its cap.
_CAP_LEFT = """greatest(0, own.daily_lead_cap - (
    SELECT coalesce(sum(d.lead), 0)::bigint FROM {schema}.keys k JOIN {schema}.usage_days d
        ON d.key_id = k.id AND d.day = (clock_timestamp() AT TIME ZONE 'UTC')::date
    WHERE k.account_id = $1 AND coalesce(k.family, k.id) = {family}
))"""

# What metrics call the outcomes of `charge_batch`; others mean that PostgreSQL was too busy.
_COUNTED_AS = {
    "charged": "charged",
    "kept": "kept",
    **dict.fromkeys(("listed", "key", "suspended", "max leads", "api cap", "lead cap", "credits"), "refused"),
}


class Billing:
    """Charges accounts and looks up what they paid. Owns its database and the deadline of a charge."""

    def __init__(
        self,
        postgres: Postgres,
        charge_timeout_ms: int = CHARGE_TIMEOUT_MS,
        received_free_days: int = RECEIVED_FREE_DAYS,
    ) -> None:
        if not 1 <= received_free_days <= MAX_FREE_DAYS:
            raise SettingsError(
                f"{variable('received_free_days')}: expected 1 to {MAX_FREE_DAYS} days, found {received_free_days}. "
                "Within them, people see the leads that they paid for."
            )
        self._postgres = postgres
        self._free_hours = received_free_days * 24
        self._charge_timeout_ms = charge_timeout_ms
        self.in_doubt = InDoubt(postgres, charge_timeout_ms)
        self._batches = ChargeBatches(postgres, self.in_doubt, charge_timeout_ms)

    async def close(self) -> None:
        """Wait for charges under way, and note those that are in doubt."""
        await self._batches.close()
        await self.in_doubt.close()

    def report(self) -> None:
        """Set the metrics of charges that wait, or are in doubt."""
        metrics.CHARGES_WAITING.set(self._batches.waiting)
        metrics.CHARGES_UNRESOLVED.set(self.in_doubt.unresolved)

    async def charge(
        self, caller: Caller, request_id: str, bill: Bill, keep: AnswerToStore | None = None
    ) -> Receipt | None:
        """Take the credits for a response and write its ledger row, also if it is free; afterwards it may be sent.

        With `keep` the response is stored by the same transaction. None: one with the same key was stored before,
        nothing was charged, and that one is the response. Raises InsufficientCredits, CreditCapExceeded, Unauthorized
        (the key ended meanwhile), AccountSuspended, ListsChanged or Unavailable.
        """
        api, lead = bill.api, len(bill.leads)
        if not (0 <= api <= MAX_CHARGE and 0 <= lead <= MAX_CHARGE):
            raise ValueError(f"a charge must be 0 to {MAX_CHARGE} credits, not {api} and {lead}")
        charge = Charge(
            caller.key_id,
            bill.operation,
            api,
            lead,
            request_id,
            format_domains(bill.domains),
            server_deadline(self._charge_timeout_ms),
            bill.max_lead,
            keep,
            bill.exclude_lists,
            bill.only_lists,
            None if caller.person_id is None else self._free_hours,
            "\n".join(bill.without_address),
        )
        started, outcome = time.perf_counter(), "unavailable"
        try:
            row = await self._batches.charge(caller.account_id, charge)
            outcome = _COUNTED_AS.get(row["outcome"], outcome)
        except asyncpg.UniqueViolationError:
            outcome = "kept"
            return None  # rolled back: the other one was faster
        except Unreached as error:
            raise Unavailable(error.reason) from error
        except Unavailable as error:
            outcome = "doubt"
            raise Unavailable(error.reason, while_charging=True, can_retry=keep is not None) from error
        finally:
            metrics.charge_seconds(outcome).observe(time.perf_counter() - started)
        match row["outcome"]:
            case "charged":
                return Receipt(api, row["lead"], Balances(row["balance_api"], row["balance_lead"], row["entry_seq"]))
            case "kept":
                return None
            case "listed":
                raise ListsChanged
            case "key":
                raise Unauthorized
            case "suspended":
                raise await suspension(self._postgres, caller.account_id)
            case "max leads":
                raise CreditCapExceeded("`max_lead_credits` allows", need=row["lead"], left=bill.max_lead or 0)
            case "api cap":
                raise CreditCapExceeded("the key's daily API cap leaves", need=api, left=row["cap_left"])
            case "lead cap":
                raise CreditCapExceeded("the key's daily lead cap leaves", need=row["lead"], left=row["cap_left"])
            case "credits":
                raise InsufficientCredits(
                    need_api=api,
                    need_lead=row["lead"],
                    balance_api=row["balance_api"],
                    balance_lead=row["balance_lead"],
                )
            case outcome:
                ahead_ms = self._charge_timeout_ms - COMMIT_MS
                raise Unavailable(
                    f"charge: {outcome}; PostgreSQL is too busy, or its clock is more than {ahead_ms} ms ahead of "
                    "this host's"
                )

    async def prepare(self, caller: Caller) -> None:
        """What a charge by a person needs: the ledger read as far as it goes. Raises Unavailable while it is long."""
        if caller.person_id is not None:
            await update_received(self._postgres, caller.account_id)

    async def free_leads(self, caller: Caller, domains: Sequence[str], without_address: Set[str]) -> frozenset[str]:
        """The leads among these that a person gets free of charge, because the account received them before."""
        if caller.person_id is None:
            return frozenset()
        return await received_before(self._postgres, caller.account_id, domains, without_address, self._free_hours)

    async def quote(self, caller: Caller, bill: Bill) -> Receipt:
        """What `charge` would take for this right now, and what the account has; nothing is changed."""
        free = await self.free_leads(caller, bill.leads, bill.without_address)
        leads = [domain for domain in bill.leads if domain not in free]
        row = await self._postgres.fetchrow(_BALANCE, caller.account_id, leads)
        if row is None:
            raise Unauthorized
        return Receipt(bill.api, len(leads) - row["paid_before"], Balances(row["api"], row["lead"], row["seq"]))

    async def balance(self, account_id: int) -> Balances:
        """What an account has left."""
        row = await self._postgres.fetchrow(_BALANCE, account_id, [])
        if row is None:
            raise no_account(account_id)
        return Balances(row["api"], row["lead"], row["seq"])

    async def find_answer(self, caller: Caller, key: str) -> tuple[StoredAnswer, Receipt] | None:
        """The answer that was stored under this key, with what it cost then and what the account has now.

        Raises CreditCapExceeded if another API key paid for more leads than this one may still buy today.
        """
        row = await self._postgres.fetchrow(
            """
            SELECT i.fingerprint, i.slot, l.request_id, -l.api AS api, -l.lead AS lead, l.seq, l.domains,
                CASE WHEN own.daily_lead_cap IS NOT NULL AND coalesce(payer.family, payer.id) <> $4 THEN {left}
                END AS lead_left
            FROM {schema}.idempotency i JOIN {schema}.ledger l
                ON l.account_id = i.account_id AND l.seq = i.seq AND l.at = i.entry_at
            LEFT JOIN {schema}.keys own ON own.id = $3
            LEFT JOIN {schema}.keys payer ON payer.id = CASE WHEN l.actor_kind = 'key' THEN l.actor_id::bigint END
            WHERE i.account_id = $1 AND i.key = $2 AND i.at > clock_timestamp() - interval '24 hours'
            """.replace("{left}", _CAP_LEFT.replace("{family}", "$4")),
            caller.account_id,
            key,
            caller.key_id,
            caller.family_id,
        )
        if row is None:
            return None
        if row["lead_left"] is not None and row["lead"] > row["lead_left"]:
            # A key that may not buy these leads does not get them through a key that could.
            raise CreditCapExceeded("the key's daily lead cap allows", need=row["lead"], left=row["lead_left"])
        # The one slot by its name: asked through all of them, every look-up would wait for any that is being emptied.
        kept = await self._postgres.fetchrow(
            f"SELECT headers, body FROM {{schema}}.answers_{row['slot']} WHERE account_id = $1 AND seq = $2",  # noqa: S608 - a number of ours
            caller.account_id,
            row["seq"],
        )
        if kept is None and (row["api"] or row["lead"]):
            return None
        headers, compressed = ("{}", None) if kept is None else (kept["headers"], kept["body"])
        left = await self.balance(caller.account_id)
        domains = tuple(domain for domain, _ in read_domains(row["domains"]))
        answer = StoredAnswer(row["fingerprint"], row["request_id"], headers, compressed, domains)
        return answer, Receipt(row["api"], row["lead"], left)

    async def confirm_answer(self, caller: Caller, key: str) -> None:
        """Call before a stored answer is sent: it may be sent only if its charge survives a failover."""
        await self._postgres.call("confirm_answer", account_id=caller.account_id, idempotency_key=key)


async def cap_left(postgres: Postgres, caller: Caller) -> int | None:
    """The lead credits that a key's own daily cap leaves; None: it has none."""
    row = await postgres.fetchrow(
        "SELECT {left} AS lead FROM {schema}.keys own WHERE own.id = $2 AND own.daily_lead_cap IS NOT NULL".replace(
            "{left}", _CAP_LEFT.replace("{family}", "$3")
        ),
        caller.account_id,
        caller.key_id,
        caller.family_id,
    )
    return None if row is None else row["lead"]


class DoneBeforeError(AccountError):
    """The ledger has a row of this reference."""


async def _write(postgres: Postgres, function: str, reference: str, **arguments: Any) -> asyncpg.Record:
    """One call of a function that writes for an operator; a `reference` does it once."""
    try:
        row = await postgres.call(function, request_id=reference, **arguments, timeout_ms=ADMIN_TIMEOUT_MS)
    except asyncpg.CheckViolationError as error:
        raise AccountError(broken_rule(error)) from None
    except Unavailable as error:
        raise UnconfirmedError(
            f"PostgreSQL did not confirm the change ({error.reason}), so it may or may not have been made. Run the "
            f"command again with --reference {shlex.quote(reference)}: it never applies the same reference twice."
        ) from None
    if row["outcome"] == "done before":
        raise DoneBeforeError(
            f"Row {row['entry_seq']} of the ledger was already written for {reference!r}. Nothing was changed."
        )
    return row


def _balances(row: asyncpg.Record) -> Balances:
    return Balances(row["balance_api"], row["balance_lead"], row["entry_seq"])


async def grant(
    postgres: Postgres,
    account_id: int,
    api: int,
    lead: int,
    actor: str,
    reference: str,
    expires_at: datetime | None = None,
) -> Balances:
    """Give credits to an account; `actor` is the operator who does, and a `reference` gives once."""
    if not (0 <= api <= MAX_GRANT and 0 <= lead <= MAX_GRANT) or api + lead == 0:
        raise AccountError(f"A grant must be 1 to {MAX_GRANT} credits of one kind or both.")
    row = await _write(
        postgres,
        "grant_credits",
        reference,
        account_id=account_id,
        api_credits=api,
        lead_credits=lead,
        expires_at=expires_at,
        actor=actor,
    )
    match row["outcome"]:
        case "granted":
            return _balances(row)
        case "expired":
            raise AccountError("The expiry time is in the past. Choose a time in the future.")
        case _:
            raise no_account(account_id)


async def refund(
    postgres: Postgres,
    account_id: int,
    seq: int,
    api: int | None,
    lead: int | None,
    actor: str,
    reference: str,
    reason: str,
) -> Balances:
    """Give back what ledger row `seq` charged: these amounts, or without any all that is left of it."""
    if min(api or 0, lead or 0) < 0:
        raise AccountError("The amounts of a refund must be 0 or more.")
    row = await _write(
        postgres,
        "refund",
        reference,
        account_id=account_id,
        charge_seq=seq,
        api_credits=api,
        lead_credits=lead,
        actor=actor,
        reason=reason,
    )
    match row["outcome"]:
        case "refunded":
            return _balances(row)
        case "too much":
            raise AccountError(
                f"The refund is too large: {row['left_api']} API and {row['left_lead']} lead credits of row {seq} can "
                "still be refunded."
            )
        case _:
            raise AccountError(f"Row {seq} of account {account_id} is not a charge. GET /v1/ledger lists its rows.")


async def adjust(
    postgres: Postgres, account_id: int, api: int, lead: int, actor: str, reference: str, reason: str
) -> Balances:
    """Put a balance right by hand, up or down."""
    if not (abs(api) <= MAX_GRANT and abs(lead) <= MAX_GRANT) or (api, lead) == (0, 0):
        raise AccountError(f"An adjustment must add or remove 1 to {MAX_GRANT} credits of one kind or both.")
    row = await _write(
        postgres,
        "adjust",
        reference,
        account_id=account_id,
        api_credits=api,
        lead_credits=lead,
        actor=actor,
        reason=reason,
    )
    match row["outcome"]:
        case "adjusted":
            return _balances(row)
        case "credits":
            left = f"{row['balance_api']} API and {row['balance_lead']} lead credits"
            raise AccountError(f"Account {account_id} has only {left}. Remove at most that many.")
        case _:
            raise no_account(account_id)
