"""The operations for people whom the data is about. No key is needed: they have none."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from siteglass.errors import Internal
from siteglass.privacy.control import places
from siteglass.privacy.limits import (
    CONFIRMATIONS_PER_HOUR,
    MAILS_IN_ALL_PER_HOUR,
    MAILS_PER_HOUR,
    REQUESTS_PER_HOUR,
)
from siteglass.privacy.opt_out import HeldData, HeldLead
from siteglass.privacy.requests import (
    EXAMPLE_CODE,
    EXAMPLE_TICKET,
    OptOutBody,
    OptOutConfirmBody,
    read_ask,
    read_confirm,
)
from siteglass.privacy.responses import AccessDone, OptOutDone, OptOutPending, completed_response, pending_response
from siteglass.privacy.subject_requests import CompletedRequest, PendingRequest
from siteglass.privacy.tickets import Purpose
from siteglass.suppression.values import Kind, Value
from siteglass.web.operations import WITHOUT_KEY, Examples, Operation, Success

_TOKEN = "siteglass-proof=4R8YB2NQ6ZC0XW7KM1TDVH3E5A"  # noqa: S105 - it is shown in public
_ADDRESS, _DOMAIN = Value(Kind.EMAIL, "jo@example.com"), Value(Kind.DOMAIN, "example.com")
# 15 November 2026, and what was read a while before.
_EXPIRES_S = 1_794_744_000
_READ = datetime(2026, 10, 3, 8, 12, tzinfo=UTC)


def _named(**values: Any) -> Examples:
    return {
        name: {"summary": name.replace("_", " "), "value": msgspec.to_builtins(value)} for name, value in values.items()
    }


def _pending() -> Examples:
    return _named(
        an_address=pending_response(PendingRequest(Purpose.OPT_OUT, _ADDRESS, EXAMPLE_TICKET, _EXPIRES_S)),
        a_domain=pending_response(
            PendingRequest(Purpose.OPT_OUT, _DOMAIN, EXAMPLE_TICKET, _EXPIRES_S, _TOKEN, places(_DOMAIN.text))
        ),
    )


def _completed() -> Examples:
    lead = HeldLead("example.com", ("emails",), "crawl-2026-10.parquet", _READ, {})
    return _named(
        not_shown_any_more=completed_response(CompletedRequest(Purpose.OPT_OUT, _ADDRESS)),
        what_is_stored=completed_response(CompletedRequest(Purpose.ACCESS, _ADDRESS, HeldData(None, [lead], []))),
    )


OPT_OUT = Operation(
    "opt_out",
    "POST",
    "/v1/opt-out",
    WITHOUT_KEY,
    "Opt-out",
    "Opt out, or request your data",
    "For the people in the data; no key is required. Returns a ticket and how to prove that the address or domain is "
    "yours. Either a code is emailed to the address, or you publish a token on the domain. Nothing is stored, and the "
    f"response is the same whether or not there is data about you. At most {REQUESTS_PER_HOUR} requests per hour from "
    f"one address, {MAILS_PER_HOUR} of them for the same email address. An email address gets at most "
    f"{MAILS_IN_ALL_PER_HOUR} mails per hour in all. The page shows whom to contact instead.",
    Success("Accepted; waiting for proof.", (OptOutPending,), _pending, status=202),
    body=OptOutBody,
    body_examples=_named(
        opt_out_an_address={"email": "jo@example.com"},
        opt_out_a_domain={"domain": "example.com"},
        what_is_stored_about_an_address={"email": "jo@example.com", "request": "access"},
    ),
    mistake=lambda: read_ask({"mail": "jo@example.com", "request": "delete"}),
)
OPT_OUT_CONFIRM = Operation(
    "opt_out_confirm",
    "POST",
    "/v1/opt-out/confirm",
    WITHOUT_KEY,
    "Opt-out",
    "Confirm a request",
    "Takes the ticket, and the code if one was emailed. For a domain, its DNS and website are checked for at most "
    "five seconds. Then the request is carried out. Repeating the request is safe and returns the same response while "
    f"the ticket is valid. At most {CONFIRMATIONS_PER_HOUR} attempts per hour from one address, and for one ticket.",
    Success("Done, or the stored data.", (OptOutDone, AccessDone), _completed),
    body=OptOutConfirmBody,
    body_examples=_named(
        an_address={"ticket": EXAMPLE_TICKET, "code": EXAMPLE_CODE}, a_domain={"ticket": EXAMPLE_TICKET}
    ),
    mistake=lambda: read_confirm({"code": EXAMPLE_CODE}),
)
OPT_OUT_PAGE = Operation(
    "opt_out_page",
    "GET",
    "/opt-out",
    (Internal,),
    "Opt-out",
    "Show the opt-out page",
    "A page for both requests, which explains what is done and stored. Loads nothing from other hosts.",
    Success("The page.", other_media={"text/html": lambda: "<!doctype html>"}),
)

OPERATIONS = (OPT_OUT, OPT_OUT_CONFIRM, OPT_OUT_PAGE)
