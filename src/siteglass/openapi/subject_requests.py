"""What people ask about their own data, in the document: schemas, and examples spelled by the code that answers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from siteglass.openapi.shapes import or_null, said, shape
from siteglass.privacy.control import places
from siteglass.privacy.opt_out import MAX_HELD, HeldData, HeldLead
from siteglass.privacy.requests import ASK_PARAMETERS, MAX_CHARS, MAX_CODE_CHARS
from siteglass.privacy.responses import EFFECTIVE_WITHIN_S, asked_body, done_body
from siteglass.privacy.subject_requests import CompletedRequest, PendingRequest
from siteglass.privacy.tickets import MAX_TICKET_CHARS, Purpose
from siteglass.suppression.values import Kind, Value

Examples = dict[str, Any]

_TEXT = {"type": "string"}
_MOMENT = {"type": "string", "format": "date-time"}
_TICKET = "3h3rpPmGcGIC0cs0hF1l0bVWRu4hBzhZ1kQd0PrR8yA9uQ2mD7wXk5nTzLqSe6oVf4JgYbEiHcK"
_CODE = "7K2M-X94D-QRTV"
_TOKEN = "siteglass-proof=4R8YB2NQ6ZC0XW7KM1TDVH3E5A"  # noqa: S105 - it stands in public
_ADDRESS, _DOMAIN = Value(Kind.EMAIL, "jo@example.com"), Value(Kind.DOMAIN, "example.com")
# 15 November 2026, and what was read a while before.
_EXPIRES_S = 1_794_744_000
_READ = datetime(2026, 10, 3, 8, 12, tzinfo=UTC)

_REQUEST = {
    "type": "string",
    "enum": list(Purpose),
    "description": "`opt_out`: not to be shown any more. `access`: what is held, from where, since when.",
}
_ABOUT = {
    "email": said(_TEXT, "The address as it is understood; absent for a domain."),
    "domain": said(_TEXT, "The domain as it is understood; absent for an address."),
}


def _named(**values: Any) -> Examples:
    return {name: {"summary": name.replace("_", " "), "value": value} for name, value in values.items()}


ASKS = _named(
    not_to_show_an_address={"email": "jo@example.com"},
    not_to_show_a_domain={"domain": "example.com"},
    what_is_held_about_an_address={"email": "jo@example.com", "request": "access"},
)
CONFIRMATIONS = _named(an_address={"ticket": _TICKET, "code": _CODE}, a_domain={"ticket": _TICKET})
ASKED = _named(
    an_address=asked_body(PendingRequest(Purpose.OPT_OUT, _ADDRESS, _TICKET, _EXPIRES_S)),
    a_domain=asked_body(PendingRequest(Purpose.OPT_OUT, _DOMAIN, _TICKET, _EXPIRES_S, _TOKEN, places(_DOMAIN.text))),
)
DONE = _named(
    not_shown_any_more=done_body(CompletedRequest(Purpose.OPT_OUT, _ADDRESS)),
    what_is_held=done_body(
        CompletedRequest(
            Purpose.ACCESS,
            _ADDRESS,
            HeldData(None, [HeldLead("example.com", ("emails",), "crawl-2026-10.parquet", _READ, {})], []),
        )
    ),
)


def subject_request_schemas() -> dict[str, Any]:
    """The schemas by name."""
    return {
        "OptOut": _asks(),
        "OptOutConfirm": _confirms(),
        "OptOutAsked": _optional(
            shape(
                "A request that waits for its proof.",
                request=_REQUEST,
                **_ABOUT,
                ticket=said(_TEXT, "The request, sealed. Send it back as it is; nothing of it is stored here."),
                expires_at=said(_MOMENT, "Until when it can be proven."),
                token=said(_TEXT, "What is to be shown on the domain; absent for an address."),
                dns=shape(
                    "The record that shows it; absent for an address.",
                    name=said(_TEXT, "Name of the record."),
                    type={"type": "string", "const": "TXT"},
                    value=said(_TEXT, "The token."),
                ),
                http={
                    "type": "array",
                    "items": _TEXT,
                    "description": "Addresses of a text file that has the token on a line of its own, either of which "
                    "will do; absent for an address.",
                },
                next=said(_TEXT, "What to do now, for people."),
            ),
            "email",
            "domain",
            "token",
            "dns",
            "http",
        ),
        "OptOutDone": {"oneOf": [_suppressed(), _held()], "description": "What became of a request that was proven."},
    }


def _optional(schema: dict[str, Any], *names: str) -> dict[str, Any]:
    return {**schema, "required": [name for name in schema["required"] if name not in names]}


def _asks() -> dict[str, Any]:
    text = {"type": "string", "maxLength": MAX_CHARS}
    properties = (
        {**said(text, "Your e-mail address. Either this or `domain`."), "examples": ["jo@example.com"]},
        {**said(text, "Your domain, or an address of your website."), "examples": ["example.com"]},
        {**_REQUEST, "default": Purpose.OPT_OUT, "examples": list(Purpose)},
    )
    return {
        "type": "object",
        "description": "What is asked for, and whom it is about.",
        "properties": dict(zip(ASK_PARAMETERS, properties, strict=True)),
        "additionalProperties": False,
    }


def _confirms() -> dict[str, Any]:
    ticket = {"type": "string", "maxLength": MAX_TICKET_CHARS, "examples": [_TICKET]}
    code = {"type": "string", "maxLength": MAX_CODE_CHARS, "examples": [_CODE]}
    confirms = shape(
        "The proof.",
        ticket=said(ticket, "As POST /v1/opt-out answered it."),
        code=said(code, "As it was mailed, in capitals or not, with or without hyphens. Not for a domain."),
    )
    return _optional(confirms, "code")


def _suppressed() -> dict[str, Any]:
    done = shape(
        "Not shown any more.",
        request={"type": "string", "const": Purpose.OPT_OUT},
        **_ABOUT,
        suppressed={"type": "boolean", "const": True},
        effective_within_s=said(
            {"type": "integer", "const": EFFECTIVE_WITHIN_S},
            "Seconds until no search and no look-up shows it any more.",
        ),
    )
    return _optional(done, "email", "domain")


def _held() -> dict[str, Any]:
    lead = shape(
        "A record that holds it.",
        domain=said(_TEXT, "The website that the record is about."),
        fields={"type": "array", "items": _TEXT, "description": "The fields in which it stands."},
        source=said(_TEXT, "Name of the file that the record came with."),
        crawled_at=said(_MOMENT, "When the website was read."),
        record=said({"type": "object"}, "All of the record; only for a domain."),
    )
    told = shape(
        "What is held.",
        request={"type": "string", "const": Purpose.ACCESS},
        **_ABOUT,
        suppressed_since=said(or_null(_MOMENT), "Since when it is not shown; null if it is."),
        suppressed_on={
            "type": "array",
            "items": _TEXT,
            "description": "The websites that the address stood on when it was suppressed. It is not shown, and still "
            f"in the files that records come from. At most {MAX_HELD}; none for a domain.",
        },
        leads={
            "type": "array",
            "items": _optional(lead, "record"),
            "description": f"The records that hold it, at most {MAX_HELD}.",
        },
    )
    return _optional(told, "email", "domain")
