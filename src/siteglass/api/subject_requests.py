"""The requests of people whom the data is about, at the edge: who may ask how often, what is read, what is answered."""

from __future__ import annotations

import asyncio
import math
from datetime import UTC, datetime
from email.utils import parseaddr
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from siteglass.address import household
from siteglass.api.guard import Call, Service
from siteglass.api.requests import read_json, unknown_fields
from siteglass.api.responses import answer
from siteglass.control import is_name
from siteglass.domains import is_of_the_internet, is_suffix
from siteglass.errors import BadRequest, Problem, Problems, TooManyRequests
from siteglass.limits import Policy, Verdict, caller_limit_headers
from siteglass.opt_out import HeldLead
from siteglass.query.filters import spelled_type
from siteglass.settings import Settings
from siteglass.subject_requests import Asked, Done
from siteglass.suppression.values import Kind, NotAValue, Value, read_value
from siteglass.tickets import MAX_TICKET_CHARS, Purpose

ASK_PARAMETERS = ("email", "domain", "request")
CONFIRM_PARAMETERS = ("ticket", "code")
MAX_CHARS = 2_048
MAX_CODE_CHARS = 64
BODY_DEADLINE_S = 5.0
# How soon whoever was suppressed is in no answer any more.
EFFECTIVE_WITHIN_S = 60

ASKS_PER_HOUR = 5
MAILS_PER_HOUR = 3
"""To one address, asked for by one caller."""
MAILS_IN_ALL_PER_HOUR = 10
"""To one address, whoever asks: more than one caller may have, so that none can use up those of its owner."""
CONFIRMATIONS_PER_HOUR = 20


def _hourly(units: int) -> Policy:
    return Policy(units / 3600, units)


_BY_KIND = {"email": Kind.EMAIL, "domain": Kind.DOMAIN}


# --- who may ask how often ------------------------------------------------------------------------


def _from(request: Request) -> str:
    return household(request.client.host if request.client else "")


async def _take(
    service: Service, request: Request, call: Call, what: str, units: int, other: str, other_units: int
) -> None:
    """Take from the limit of the caller and from that of what the request is about; raises TooManyRequests."""
    bucket = service.door.sealer.bucket
    verdict = await service.limiter.take(
        f"{what}-from-{bucket(household(request.client.host if request.client else ''))}",
        f"{what}-for-{bucket(other)}",
        _hourly(units),
        _hourly(other_units),
    )
    call.headers.update(caller_limit_headers(verdict))
    _require(verdict)


def _require(verdict: Verdict) -> None:
    if not verdict.allowed:
        raise TooManyRequests(max(1, math.ceil(verdict.retry_after_s)))


async def take_ask(service: Service, request: Request, call: Call, value: Value) -> None:
    """One request of this caller, and one for this address: nobody is to be flooded with mails. A domain gets none."""
    mailed = value.kind is Kind.EMAIL
    own = f"{_from(request)} {value.text}"
    await _take(service, request, call, "opt-out-ask", ASKS_PER_HOUR, own, MAILS_PER_HOUR if mailed else ASKS_PER_HOUR)
    if mailed:
        # Last, so that requests refused to one caller take nothing from what others have.
        name = f"opt-out-mails-for-{service.door.sealer.bucket(value.text)}"
        in_all = _hourly(MAILS_IN_ALL_PER_HOUR)
        _require(await service.limiter.take(name, name, in_all, in_all))


async def take_confirm(service: Service, request: Request, call: Call, ticket: str) -> None:
    """One try of this caller, and one at this ticket."""
    await _take(service, request, call, "opt-out-try", CONFIRMATIONS_PER_HOUR, ticket, CONFIRMATIONS_PER_HOUR)


# --- what is read ---------------------------------------------------------------------------------


async def read_body(service: Service, request: Request, call: Call) -> dict[str, Any]:
    """The body as a JSON object. Anybody may send one, so nobody may take his time over it."""
    try:
        async with asyncio.timeout(BODY_DEADLINE_S):
            return await read_json(request, service.backends.settings.max_body_bytes)
    except TimeoutError:
        call.headers["Connection"] = "close"  # or the rest could still drip in
        raise BadRequest([Problem("body", f"expected all of it within {BODY_DEADLINE_S:g} s")]) from None


def contact(settings: Settings) -> str:
    """Whom people write to who get no further here; empty if no mail is set up."""
    return parseaddr(settings.mail_from)[1]


def _text(body: dict[str, Any], name: str, most: int, problems: Problems) -> str | None:
    """A text of the body, None if it is not given or wrong."""
    text = body.get(name)
    if text is None:
        return None
    if not isinstance(text, str):
        problems.append(Problem(name, f"expected a string, found {spelled_type(text)}"))
        return None
    if len(text) > most:
        problems.append(Problem(name, f"expected at most {most} characters, found {len(text)}"))
        return None
    return text


def _not_provable(name: str, value: Value, write_to: str) -> list[Problem]:
    """Values that can be suppressed, but not by who comes through this door."""
    if value.sha256 is not None:  # nobody can be mailed at a hash
        return [Problem(name, "expected one address such as anna@example.com, found a hash")]
    if value.kind is Kind.EMAIL and not value.text.isascii():
        way_on = f"write to {write_to}" if write_to else "write to who runs this service"
        return [Problem(name, f"no code can be mailed to an address with such letters before the @; {way_on} instead")]
    if value.kind is Kind.DOMAIN and not is_name(value.text):
        return [Problem(name, "expected a domain such as example.com")]
    if not is_of_the_internet(value.text.rpartition("@")[2]):  # names that only our own DNS may know
        return [Problem(name, "expected a name of the public internet, such as one that ends in .com")]
    if value.kind is Kind.DOMAIN and is_suffix(value.text):  # an opt-out covers the names below
        return [Problem(name, "names of many owners lie below it; expected one of those")]
    return []


def read_ask(body: dict[str, Any], write_to: str = "") -> tuple[Purpose, Value]:
    """The body of POST /v1/opt-out; `write_to` is told to those whom no code can be mailed to."""
    problems = unknown_fields(body, ASK_PARAMETERS)
    given = {name: text for name in _BY_KIND if (text := _text(body, name, MAX_CHARS, problems)) is not None}
    asked = _text(body, "request", MAX_CHARS, problems) or Purpose.OPT_OUT
    if asked not in list(Purpose):
        problems.append(Problem("request", f"expected {' or '.join(Purpose)}"))
    if len(given) != 1 and not problems:
        found = "both" if given else "neither"
        problems.append(
            Problem("email", f"expected either an e-mail address here or a domain in domain, found {found}")
        )
    for name, text in given.items():
        try:
            value = read_value(text, _BY_KIND[name])
        except NotAValue as error:
            problems.append(Problem(name, str(error)))
        else:
            problems.extend(Problems(_not_provable(name, value, write_to)))
    if problems:
        raise BadRequest(problems)
    return Purpose(asked), value


def read_confirm(body: dict[str, Any]) -> tuple[str, str | None]:
    """The body of POST /v1/opt-out/confirm: ticket, and code where one was mailed."""
    problems = unknown_fields(body, CONFIRM_PARAMETERS)
    ticket = _text(body, "ticket", MAX_TICKET_CHARS, problems)
    code = _text(body, "code", MAX_CODE_CHARS, problems)
    if ticket is None and not problems:
        problems.append(Problem("ticket", "expected the ticket that POST /v1/opt-out answered, found nothing"))
    if problems or ticket is None:
        raise BadRequest(problems)
    return ticket, code


# --- what is answered -----------------------------------------------------------------------------


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def asked_body(asked: Asked) -> dict[str, Any]:
    """A request that waits for its proof."""
    body = {
        "request": asked.purpose,
        asked.value.kind.value: asked.value.text,
        "ticket": asked.ticket,
        "expires_at": _moment(asked.expires_s),
    }
    if asked.token is None:
        return {**body, "next": "A code was mailed to the address. POST it with the ticket to /v1/opt-out/confirm."}
    in_dns, *on_site = asked.places
    return {
        **body,
        "token": asked.token,
        "dns": {"name": in_dns, "type": "TXT", "value": asked.token},
        "http": on_site,
        "next": "Put the token into DNS as this TXT record, or into a file at one of these addresses of the site. "
        "Then POST the ticket to /v1/opt-out/confirm.",
    }


def done_body(done: Done) -> dict[str, Any]:
    """A request that was carried out."""
    body = {"request": done.purpose, done.value.kind.value: done.value.text}
    if done.held is None:
        return {**body, "suppressed": True, "effective_within_s": EFFECTIVE_WITHIN_S}
    since = done.held.suppressed_since
    return {
        **body,
        "suppressed_since": None if since is None else _moment(since.timestamp()),
        "suppressed_on": done.held.sites,
        "leads": [_held(lead, whole=done.value.kind is Kind.DOMAIN) for lead in done.held.leads],
    }


def _held(lead: HeldLead, *, whole: bool) -> dict[str, Any]:
    told = {
        "domain": lead.domain,
        "fields": list(lead.fields),
        "source": lead.source,
        "crawled_at": _moment(lead.crawled_at.timestamp()),
    }
    # Who has shown an address of his does not see those of others that stand on the same site.
    return {**told, "record": lead.record} if whole else told


def asked_answer(asked: Asked) -> Response:
    """Accepted, not done."""
    return answer(asked_body(asked), 202)


def done_answer(done: Done) -> Response:
    """Done."""
    return answer(done_body(done))
