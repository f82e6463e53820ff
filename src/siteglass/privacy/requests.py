"""The bodies of requests that people make about their own data: declared, and read strictly."""

from __future__ import annotations

from email.utils import parseaddr
from typing import Annotated, Any

from msgspec import Meta

from siteglass.corpus.domains import is_of_the_internet, is_suffix
from siteglass.errors import BadRequest, Problem, Problems
from siteglass.privacy.control import is_name
from siteglass.privacy.tickets import MAX_TICKET_CHARS, Purpose
from siteglass.settings import Settings
from siteglass.suppression.values import Kind, NotAValue, Value, read_value
from siteglass.web.messages import RequestBody, names_of
from siteglass.web.requests import read_fields, unknown_fields

MAX_CHARS = 2_048
MAX_CODE_CHARS = 64
EXAMPLE_TICKET = "3h3rpPmGcGIC0cs0hF1l0bVWRu4hBzhZ1kQd0PrR8yA9uQ2mD7wXk5nTzLqSe6oVf4JgYbEiHcK"
EXAMPLE_CODE = "7K2M-X94D-QRTV"


class OptOutBody(RequestBody):
    """What is requested, and whom it is about."""

    email: (
        Annotated[
            str,
            Meta(
                max_length=MAX_CHARS,
                description="Your email address. Send either this or `domain`.",
                examples=["jo@example.com"],
            ),
        ]
        | None
    ) = None
    domain: (
        Annotated[
            str,
            Meta(
                max_length=MAX_CHARS,
                description="Your domain, or a URL of your website.",
                examples=["example.com"],
            ),
        ]
        | None
    ) = None
    request: (
        Annotated[
            str,
            Meta(
                max_length=MAX_CHARS,
                description="`opt_out` (default): stop showing it. `access`: return what is stored, where it came "
                "from and since when.",
                examples=list(Purpose),
                extra_json_schema={"enum": list(Purpose)},
            ),
        ]
        | None
    ) = None


class OptOutConfirmBody(RequestBody):
    """The proof."""

    ticket: Annotated[
        str,
        Meta(
            max_length=MAX_TICKET_CHARS,
            description="As POST /v1/opt-out returned it.",
            examples=[EXAMPLE_TICKET],
        ),
    ]
    code: (
        Annotated[
            str,
            Meta(
                max_length=MAX_CODE_CHARS,
                description="The code from the email, in upper or lower case, with or without hyphens. Not for a "
                "domain.",
                examples=[EXAMPLE_CODE],
            ),
        ]
        | None
    ) = None

    request: (
        Annotated[
            str,
            Meta(
                max_length=MAX_CHARS,
                description="`opt_out`: stop showing it, although the ticket is for `access`. Omit it to carry out "
                "what the ticket is for.",
                examples=[Purpose.OPT_OUT],
                extra_json_schema={"enum": [Purpose.OPT_OUT]},
            ),
        ]
        | None
    ) = None


_BY_KIND = {"email": Kind.EMAIL, "domain": Kind.DOMAIN}


def contact(settings: Settings) -> str:
    """The contact address for people who cannot continue here; empty if no mail is set up."""
    return parseaddr(settings.mail_from)[1]


def _not_provable(name: str, value: Value, write_to: str) -> list[Problem]:
    """Values that can be suppressed, but not by a request over HTTP."""
    if value.sha256 is not None:  # nobody can be mailed at a hash
        return [Problem(name, "expected one address such as anna@example.com, found a hash")]
    if value.kind is Kind.EMAIL and not value.text.isascii():
        way_on = f"write to {write_to}" if write_to else "write to the operator of this service"
        return [
            Problem(name, f"a code cannot be emailed to an address with such characters before the @; {way_on} instead")
        ]
    if value.kind is Kind.DOMAIN and not is_name(value.text):
        return [Problem(name, "expected a domain such as example.com")]
    if not is_of_the_internet(value.text.rpartition("@")[2]):  # names that only our own DNS may know
        return [Problem(name, "expected a public domain name, such as one that ends in .com")]
    if value.kind is Kind.DOMAIN and is_suffix(value.text):  # an opt-out covers the names below
        return [Problem(name, "it is shared by many owners; expected a name below it")]
    return []


def read_ask(body: dict[str, Any], write_to: str = "") -> tuple[Purpose, Value]:
    """The body of POST /v1/opt-out; `write_to` is shown to people whom no code can be emailed to."""
    problems = unknown_fields(body, names_of(OptOutBody))
    texts = read_fields(OptOutBody, body, problems)
    given = {name: texts[name] for name in _BY_KIND if texts[name] is not None}
    asked = texts["request"] or Purpose.OPT_OUT
    if asked not in list(Purpose):
        problems.append(Problem("request", f"expected {' or '.join(Purpose)}"))
    if len(given) != 1 and not problems:
        found = "both" if given else "neither"
        problems.append(
            Problem("email", f"expected either an email address here or a domain in `domain`, found {found}")
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


def read_confirm(body: dict[str, Any]) -> tuple[str, str | None, Purpose | None]:
    """The body of POST /v1/opt-out/confirm: ticket, code where one was mailed, and what is wanted instead."""
    problems = unknown_fields(body, names_of(OptOutConfirmBody))
    texts = read_fields(OptOutConfirmBody, body, problems)
    ticket, code, asked = texts["ticket"], texts["code"], texts["request"]
    if asked not in (None, Purpose.OPT_OUT):
        problems.append(Problem("request", f"expected {Purpose.OPT_OUT}, or nothing"))
    if ticket is None and not problems:
        problems.append(Problem("ticket", "expected the ticket that POST /v1/opt-out returned, found nothing"))
    if problems or ticket is None:
        raise BadRequest(problems)
    return ticket, code, None if asked is None else Purpose(asked)
