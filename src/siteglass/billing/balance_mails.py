"""Operation: tell the owners of an account by mail that a balance is low; once, and again after it has been higher."""

from __future__ import annotations

import logging
from datetime import date

from siteglass.billing.account_status import AccountStatus, standing
from siteglass.billing.balance_alerts import BalanceAlert, Claim, claim_due, mark_mailed, rearm, release
from siteglass.errors import Unavailable
from siteglass.platform.mailer import Mailer, MailError, MailRefused
from siteglass.platform.postgres import Postgres

log = logging.getLogger("siteglass.billing.balance_mails")

MAIL_EVERY_S = 30.0
MAX_AT_ONCE = 100
READ_TIMEOUT_MS = 5_000

TEXT = """\
The account {name} is running low.

{passed}

Left now:    {api:>{width}} API credits
             {lead:>{width}} lead credits

{used}
Daily use is the average of the last full days (UTC), at most seven. Buy credits, or change when you are notified:

  {link}

You receive this email because you are an owner of the account. You get the next one only after the balance has risen
again.
"""

USED = """\
Daily use:   {api_pace:>{width}} API credits{api_out}
             {lead_pace:>{width}} lead credits{lead_out}
"""
NOT_USED_FOR_A_DAY = """\
Daily use:   known after a full day
"""


async def mail_low_balances(postgres: Postgres, mailer: Mailer, link: str) -> int:
    """Mail to the owners of all accounts that are due; returns how many accounts. Raises Unavailable if one failed.

    The first failure ends it: most likely the mail server is away, and what is due stays so.
    """
    await rearm(postgres)
    for mailed in range(MAX_AT_ONCE):
        claim = await claim_due(postgres)
        if claim is None:
            return mailed
        try:
            told = await _tell(postgres, mailer, link, claim)
        except Unavailable:
            await release(postgres, claim)
            raise
        await mark_mailed(postgres, claim, told)
    return MAX_AT_ONCE


async def _tell(postgres: Postgres, mailer: Mailer, link: str, claim: Claim) -> BalanceAlert:
    """Mail all owners; returns the thresholds that they were notified of. Raises Unavailable if none of them was
    reached."""
    seen = await standing(postgres, claim.account_id)
    passed = _still_passed(seen, claim.due)
    if passed == BalanceAlert():
        return passed
    subject, text = f"Low on credits: {_line(seen.name)}", low_balance_text(seen, passed, link)
    told, failed = False, None
    for owner in claim.owners:
        try:
            await mailer.send(owner, subject, text)
            told = True
        except MailError as error:
            log.warning("owner not notified", extra={"account": claim.account_id, "reason": str(error)})
            # One who takes no mail at all will not take the next try either.
            failed = failed if isinstance(error, MailRefused) else error
    # If some were reached, it is done: they would else hear of it again at every try for the others.
    if failed is not None and not told:
        raise Unavailable(f"mail: {failed}")
    return passed


def _still_passed(seen: AccountStatus, due: BalanceAlert) -> BalanceAlert:
    """Without what was bought a moment ago."""
    return BalanceAlert(
        due.api_below if due.api_below is not None and seen.balance.api < due.api_below else None,
        due.lead_below if due.lead_below is not None and seen.balance.lead < due.lead_below else None,
    )


def low_balance_text(seen: AccountStatus, passed: BalanceAlert, link: str) -> str:
    """What the mail says; `passed` has the numbers that the balance is below."""
    numbers = ((passed.api_below, "API"), (passed.lead_below, "lead"))
    api_pace, lead_pace = _pace(seen.used_per_day.api), _pace(seen.used_per_day.lead)
    api, lead, out = f"{seen.balance.api:,}", f"{seen.balance.lead:,}", seen.runs_out
    width = max(map(len, (api, lead, api_pace, lead_pace)))
    used = USED.format(
        api_pace=api_pace,
        lead_pace=lead_pace,
        api_out=_until(out.api),
        lead_out=_until(out.lead),
        width=width,
    )
    return TEXT.format(
        name=_line(seen.name),
        passed="\n".join(
            f"It has fewer than {below:,} {kind} credits." for below, kind in numbers if below is not None
        ),
        api=api,
        lead=lead,
        used=used if seen.pace_days else NOT_USED_FOR_A_DAY,
        width=width,
        link=link,
    )


def _pace(per_day: float) -> str:
    return f"{per_day:,.0f}" if per_day >= 10 or per_day == 0 else f"{per_day:,.1f}"


def _until(day: date | None) -> str:
    return "" if day is None else f", which lasts until {day}"


def _line(name: str) -> str:
    """A name as one line, because it is also used in a header."""
    return "".join(sign if sign.isprintable() else " " for sign in name)
