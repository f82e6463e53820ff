"""Charging the account of somebody in the browser, with the person as actor; and why nothing was charged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from siteglass.access.browsing import browser_terms, chargeable
from siteglass.access.keys import Caller
from siteglass.billing.paid import key_after_refunds
from siteglass.dashboard.guard import Dashboard, Visit
from siteglass.dashboard.refusals import NOT_ALLOWED, PageRefusal
from siteglass.errors import (
    AccountSuspended,
    CreditCapExceeded,
    IdempotencyInProgress,
    IdempotencyPriceChanged,
    InsufficientCredits,
    SiteglassError,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from siteglass.leads.charging import FIRST_REQUEST_HEADER, FindOffer, FreeBefore, Retry


async def charge_visitor(
    dashboard: Dashboard, visit: Visit, retry: Retry, make_find: Callable[[Caller], FindOffer]
) -> str:
    """Charge for what a button named, once per key; after a refund, once more. Returns the request that
    was charged. Raises PageRefusal.

    What was free is not found again: the ledger has its leads, and the search may leave them out by now.
    """
    postgres, who = dashboard.backends.postgres, visit.who
    terms = await browser_terms(postgres, who.account_id, who.person_id)
    caller = await chargeable(postgres, terms.caller, who.person_id, who.name)
    try:
        await dashboard.take_units(visit, terms.caller, 1)
        retry = replace(retry, key=await key_after_refunds(postgres, who.account_id, retry.key))
        before = await dashboard.charger.find_earlier(caller, retry)
        if isinstance(before, FreeBefore):
            return before.request_id
        response = await dashboard.charger.charge_once(make_find(caller), caller, visit.request_id, retry)
    except Unauthorized:
        raise NOT_ALLOWED from None
    except AccountSuspended:
        raise
    except SiteglassError as error:
        raise not_bought(error, visit.unit) from error
    return response.headers.get(FIRST_REQUEST_HEADER, visit.request_id)


def not_bought(error: SiteglassError, unit: str) -> PageRefusal:
    """Why nothing was charged, or that nobody knows yet. `unit`: what getting a lead takes."""
    match error:
        case InsufficientCredits():
            few = "leads left" if unit == "lead" else "lead credits"
            message = f"Nothing was charged. Your account has too few {few}. Go back and get fewer leads."
            return PageRefusal(402, f"Not enough {unit}s", message)
        case CreditCapExceeded() | IdempotencyPriceChanged():
            message = (
                "Nothing was charged. The price has risen, or a daily cap is reached. Go back and reload the page."
            )
            return PageRefusal(402, "This costs more than the button said", message)
        case IdempotencyInProgress():
            message = "Nothing is charged twice. Go back in a few seconds: the page shows the leads once paid."
            return PageRefusal(409, "This purchase is already being made", message)
        case Unavailable():
            message = "Go back and press the button again. The same page is charged once, whatever happened."
            return PageRefusal(503, "We don't know yet whether this was charged", message)
        case TooManyRequests():
            return PageRefusal(429, "Too many searches at once", "Nothing was charged. Go back and try again.")
    return PageRefusal(422, "This page cannot be bought", f"Nothing was charged. {error.message}")
