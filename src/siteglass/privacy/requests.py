"""The bodies of what people ask about their own data, read strictly: every problem at once."""

from __future__ import annotations

from email.utils import parseaddr
from typing import Any

from siteglass.corpus.domains import is_of_the_internet, is_suffix
from siteglass.errors import BadRequest, Problem, Problems
from siteglass.privacy.control import is_name
from siteglass.privacy.tickets import MAX_TICKET_CHARS, Purpose
from siteglass.query.filters import type_name
from siteglass.settings import Settings
from siteglass.suppression.values import Kind, NotAValue, Value, read_value
from siteglass.web.requests import unknown_fields

ASK_PARAMETERS = ("email", "domain", "request")
CONFIRM_PARAMETERS = ("ticket", "code")
MAX_CHARS = 2_048
MAX_CODE_CHARS = 64

_BY_KIND = {"email": Kind.EMAIL, "domain": Kind.DOMAIN}


def contact(settings: Settings) -> str:
    """Whom people write to who get no further here; empty if no mail is set up."""
    return parseaddr(settings.mail_from)[1]


def _text(body: dict[str, Any], name: str, most: int, problems: Problems) -> str | None:
    """A text of the body, None if it is not given or wrong."""
    text = body.get(name)
    if text is None:
        return None
    if not isinstance(text, str):
        problems.append(Problem(name, f"expected a string, found {type_name(text)}"))
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
