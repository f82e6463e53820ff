"""How many customers received the records that contain somebody's data: noted with an access request, counted by a job,
and sent by mail."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from siteglass.errors import Unavailable
from siteglass.platform.mailer import MailDeferred, Mailer, MailError, MailRefused
from siteglass.platform.postgres import Postgres

COUNT_EVERY_S = 30.0
COUNT_TIMEOUT_MS = 120_000
MAX_AT_ONCE = 20
MAIL_AGAIN_AFTER = timedelta(minutes=15)
"""A recipient whose server does not take the mail now waits for so long; others do not."""
# Fewer are not distinguished: a number of one or two could be recognised.
LEAST_SHOWN = 3

SUBJECT = "How many Siteglass customers received your data"
TEXT = """\
You asked Siteglass what data it stores about this email address.

{received} received the record of a website that contains it. They may still have it in their own files, which
Siteglass cannot change.

To have Siteglass stop showing the address, go to:

  {link}
"""

# Of several requests about the same value the newest counts: its records may be others.
_NOTE = """
INSERT INTO {schema}.received_counts AS r (value_hash, email, domains) VALUES ($1, $2, $3)
ON CONFLICT (value_hash) DO UPDATE SET email = excluded.email, domains = excluded.domains, made_at = clock_timestamp(),
    counted_at = NULL, customers = NULL
    WHERE r.counted_at < clock_timestamp() - interval '1 day' OR r.domains <> excluded.domains
RETURNING customers
"""
# Counting reads the whole ledger, so two workers never count the same. What took too long waits for an hour, and the
# others do not wait for it.
_CLAIM = """
UPDATE {schema}.received_counts SET counted_at = clock_timestamp() WHERE value_hash = (
    SELECT r.value_hash FROM {schema}.received_counts r
    WHERE r.customers IS NULL AND (r.counted_at IS NULL OR r.counted_at < clock_timestamp() - interval '1 hour')
    ORDER BY r.made_at LIMIT 1 FOR UPDATE SKIP LOCKED
) RETURNING value_hash, domains
"""
# Marks of returned leads: charged, without an address, paid before. The pattern is for speed, the array decides.
_COUNT = """
SELECT count(DISTINCT account_id)::integer AS customers FROM {schema}.ledger
WHERE kind = 'charge' AND domains LIKE ANY($1::text[]) AND string_to_array(domains, E'\\n') && $2::text[]
"""
_RETURNED_MARKS = ("c", "n", "p")


async def note_request(postgres: Postgres, value_hash: bytes, email: str | None, domains: Sequence[str]) -> int | None:
    """Ask for the count, and mail it to the address; returns the number if it was counted within a day."""
    await postgres.fetch(_NOTE, value_hash, email, sorted(set(domains)))
    row = await postgres.fetchrow("SELECT customers FROM {schema}.received_counts WHERE value_hash = $1", value_hash)
    return None if row is None else row["customers"]


def received_text(customers: int) -> str:
    """A number of customers in words."""
    return "Fewer than three customers" if customers < LEAST_SHOWN else f"{customers:,} customers"


async def count_received(postgres: Postgres, mailer: Mailer | None, link: str) -> int:
    """Count for the requests that wait, and mail the numbers; returns how many. Raises Unavailable if a mail failed."""
    await postgres.fetch("DELETE FROM {schema}.received_counts WHERE made_at < clock_timestamp() - interval '8 days'")
    counted = 0
    while counted < MAX_AT_ONCE and (row := await postgres.fetchrow(_CLAIM)) is not None:
        await postgres.fetch(
            "UPDATE {schema}.received_counts SET customers = $3, counted_at = clock_timestamp()"
            " WHERE value_hash = $1 AND domains = $2",
            row["value_hash"],
            row["domains"],
            await _count(postgres, row["domains"]),
        )
        counted += 1
    if mailer is not None:
        await _mail_counts(postgres, mailer, link)
    return counted


async def _count(postgres: Postgres, domains: Sequence[str]) -> int:
    if not domains:
        return 0
    patterns = [f"%{domain.replace('_', chr(92) + '_')}%" for domain in domains]
    marks = [f"{mark} {domain}" for mark in _RETURNED_MARKS for domain in domains]
    row = await postgres.fetchrow(_COUNT, patterns, marks, timeout_ms=COUNT_TIMEOUT_MS)
    assert row is not None  # noqa: S101 - an aggregate has a row
    customers: int = row["customers"]
    return customers


async def _mail_counts(postgres: Postgres, mailer: Mailer, link: str) -> None:
    """Send what was counted. An address that refuses mail gets none, as one that cannot be reached any more."""
    counted = await postgres.fetch(
        "SELECT value_hash, email, customers FROM {schema}.received_counts"
        " WHERE customers IS NOT NULL AND email IS NOT NULL AND coalesce(mail_after <= clock_timestamp(), true)"
        " ORDER BY counted_at LIMIT $1",
        MAX_AT_ONCE,
    )
    for row in counted:
        try:
            text = TEXT.format(received=received_text(row["customers"]), link=link)
            await mailer.send(row["email"], SUBJECT, text)
        except MailRefused:
            pass
        except MailDeferred:
            await postgres.fetch(
                "UPDATE {schema}.received_counts SET mail_after = clock_timestamp() + $2::interval"
                " WHERE value_hash = $1",
                row["value_hash"],
                MAIL_AGAIN_AFTER,
            )
            continue
        except MailError as error:
            raise Unavailable(f"mail cannot be sent: {error}") from None
        await postgres.fetch(
            "UPDATE {schema}.received_counts SET email = NULL WHERE value_hash = $1", row["value_hash"]
        )
