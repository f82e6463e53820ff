"""The operations in the document: what each does, what it takes, and what it answers."""

from __future__ import annotations

from typing import Any

from siteglass.leads.charging import KEY_HEADER, MAX_KEY_CHARS
from siteglass.leads.responses import NOTES_HEADER
from siteglass.openapi import examples
from siteglass.openapi.evidence import EVIDENCE_ANSWER, EVIDENCE_PATH
from siteglass.openapi.failures import failures
from siteglass.openapi.headers import CREDIT_HEADERS, LIMIT_HEADERS, RETRY_HEADERS, headers
from siteglass.openapi.receipts import ANSWERS, LEDGER_CSV, LEDGER_QUERY, RECEIPT_PATH, USAGE_QUERY
from siteglass.openapi.schemas import CURSOR
from siteglass.openapi.subject_requests import ASKED, ASKS, CONFIRMATIONS, DONE
from siteglass.openapi.values import VALUES_ANSWER, VALUES_PATH_AND_QUERY
from siteglass.privacy.endpoints import ASKS_PER_HOUR, CONFIRMATIONS_PER_HOUR, MAILS_IN_ALL_PER_HOUR, MAILS_PER_HOUR
from siteglass.settings import Settings
from siteglass.web.operations import (
    ACCOUNT,
    DOCS,
    ENRICH,
    EVIDENCE,
    HEALTHZ,
    INTERPRET,
    INTERPRET_UNITS,
    LEDGER,
    METRICS,
    OPENAPI,
    OPT_OUT,
    OPT_OUT_CONFIRM,
    OPT_OUT_PAGE,
    PAGE,
    READYZ,
    RECEIPT,
    SEARCH,
    USAGE,
    VALUES,
    Operation,
)


def _tag(declared: Operation) -> str:
    if declared in (OPT_OUT, OPT_OUT_CONFIRM, OPT_OUT_PAGE):
        return "Opt-out"
    return {"": "Service", "account": "Account"}.get(declared.scope, "Leads")


def _operation(declared: Operation, summary: str, description: str, settings: Settings, **more: Any) -> dict[str, Any]:
    answer, status = more.pop("answer"), more.pop("status", "200")
    return {
        declared.method.lower(): {
            "operationId": declared.name,
            "tags": [_tag(declared)],
            "summary": summary,
            "description": description,
            # In 3.1 the list names what the key must be allowed to do.
            "security": [{"ApiKey": [declared.scope]}] if declared.scope else [],
            **more,
            "responses": {status: answer, **failures(declared, settings)},
        }
    }


def _body(schema: str, named: examples.Examples, settings: Settings, *, required: bool = True) -> dict[str, Any]:
    return {
        "description": f"At most {settings.max_body_bytes:,} bytes." + ("" if required else " May be empty."),
        "required": required,
        "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}, "examples": named}},
    }


def _charged(description: str, schemas: tuple[str, str], named: examples.Examples, *more: str) -> dict[str, Any]:
    """The answer, or its price."""
    one_of = [{"$ref": f"#/components/schemas/{schema}"} for schema in schemas]
    return {
        "description": description,
        "headers": headers(*CREDIT_HEADERS, *RETRY_HEADERS, *LIMIT_HEADERS, *more),
        "content": {"application/json": {"schema": {"oneOf": one_of}, "examples": named}},
    }


_RETRY = {
    "name": KEY_HEADER,
    "in": "header",
    "required": False,
    "description": "A name for this request that you choose, such as a UUID. Whoever sends the same request again with "
    "the same key within 24 hours gets the first answer again and pays nothing.",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARS},
    "example": "8e03978e-40d5-43e8-bc93-6894a57f9324",
}


def _plain(description: str, media_type: str, schema: dict[str, Any], example: Any) -> dict[str, Any]:
    named = {"answer": {"summary": description, "value": example}}
    content = {media_type: {"schema": schema, "examples": named}}
    return {"description": description, "headers": headers(), "content": content}


def _status(description: str, word: str) -> dict[str, Any]:
    schema = {
        "type": "object",
        "required": ["status"],
        "properties": {"status": {"type": "string", "const": word}},
        "additionalProperties": False,
    }
    return _plain(description, "application/json", schema, {"status": word})


def _leads(settings: Settings) -> dict[str, Any]:
    hours = settings.cursor_life_s / 3600
    cursor = {
        "name": "cursor",
        "in": "path",
        "required": True,
        "description": f"The end of a `next` or `previous` path. It lives {hours:g} hours and works with every key of "
        "the account it was made for. The example shows the form only: take yours from an answer.",
        "schema": CURSOR,
        "example": examples.NEXT,
    }
    return {
        SEARCH.path: _operation(
            SEARCH,
            "Find leads",
            "The first page of the leads for which all conditions hold. Costs one lead credit for each lead shown that "
            "has an e-mail address.",
            settings,
            parameters=[_RETRY],
            requestBody=_body("Search", examples.SEARCHES, settings),
            answer=_charged(
                "A page of leads.",
                ("SearchAnswer", "SearchQuote"),
                examples.first_page(),
                NOTES_HEADER,
                "X-Total-Estimated",
            ),
        ),
        PAGE.path: _operation(
            PAGE,
            "Another page of a search",
            "The page behind a `next` or `previous` path: POST to the path as it was answered. Costs what a first page "
            "costs.",
            settings,
            parameters=[cursor, _RETRY],
            requestBody=_body("Page", examples.PAGES, settings, required=False),
            answer=_charged(
                "A page of leads.", ("SearchAnswer", "SearchQuote"), examples.LATER_PAGE, "X-Total-Estimated"
            ),
        ),
        INTERPRET.path: _operation(
            INTERPRET,
            "What a search means, without running it",
            "Takes the body of a search and tells how it is read: the directives it becomes, the words behind each of "
            "them, what was corrected, taken for granted, ignored or not understood, and how many leads match. No lead "
            "is shown and nothing is charged. What only shapes a page (`limit`, `select`, `sort`, `dry_run`, "
            f"`max_lead_credits`, `explain`) changes nothing. Takes {INTERPRET_UNITS} units of the rate limit.",
            settings,
            requestBody=_body("Search", examples.INTERPRETED, settings),
            answer={
                "description": "How the search is read.",
                "headers": headers(NOTES_HEADER, *LIMIT_HEADERS, "X-Total-Estimated"),
                "content": {
                    "application/json": {
                        "schema": {"$ref": "#/components/schemas/InterpretAnswer"},
                        "examples": examples.readings(),
                    }
                },
            },
        ),
        ENRICH.path: _operation(
            ENRICH,
            "What is stored about domains",
            "One item for each domain, in the order of the request; a domain without data is an item too, not an "
            "error. Costs one API credit, and one lead credit for each domain found, a repeated one once.",
            settings,
            parameters=[_RETRY],
            requestBody=_body("Enrich", examples.ENRICHMENTS, settings),
            answer=_charged("The items.", ("EnrichAnswer", "EnrichQuote"), examples.ENRICHED),
        ),
        EVIDENCE.path: _operation(
            EVIDENCE,
            "Where and when the contacts of a lead were seen",
            "For leads that the account paid for, by a search or an enrichment: the pages that showed each address and "
            "number, and since when. What was suppressed is not returned. Costs no credits.",
            settings,
            parameters=EVIDENCE_PATH,
            answer={
                "description": "The values with their pages.",
                "headers": headers(*LIMIT_HEADERS),
                "content": {
                    "application/json": {
                        "schema": {"$ref": "#/components/schemas/EvidenceAnswer"},
                        "examples": {"answer": {"summary": "One address, seen once", "value": EVIDENCE_ANSWER}},
                    }
                },
            },
        ),
        VALUES.path: _operation(
            VALUES,
            "Known values that complete a text",
            "What filters and directives take, by name, alias or code: equal ones first, then names that begin with "
            "`q`, names of which a later word does, aliases that do, and what looks like a slip of the pen; cities "
            "by population, others by name. Costs no credits. An answer may be kept for an hour.",
            settings,
            parameters=VALUES_PATH_AND_QUERY,
            answer=_read("The values that fit best.", "ValuesAnswer"),
        ),
    }


def _read(description: str, schema: str, *more: str) -> dict[str, Any]:
    shown = {**ANSWERS, "ValuesAnswer": VALUES_ANSWER}[schema]
    named = {"answer": {"summary": description, "value": shown}}
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}, "examples": named}}
    return {"description": description, "headers": headers(*LIMIT_HEADERS, *more), "content": content}


def _account(settings: Settings) -> dict[str, Any]:
    ledger = _read("A page of entries, the newest first.", "LedgerAnswer", "Link")
    ledger["content"]["text/csv"] = {
        "schema": {"type": "string"},
        "examples": {"answer": {"summary": "The same as a table.", "value": LEDGER_CSV}},
    }
    return {
        ACCOUNT.path: _operation(
            ACCOUNT,
            "What the account has, and on which terms",
            "Balances, prices and limits of the account, and the key that asks with its scopes and caps.",
            settings,
            answer=_read("The account.", "AccountAnswer"),
        ),
        USAGE.path: _operation(
            USAGE,
            "What was charged, by day, operation and key",
            "Every answered request counts, also one that cost nothing. Days are those of UTC. Refunds are not taken "
            "off: they stand in the ledger.",
            settings,
            parameters=USAGE_QUERY,
            answer=_read("The rows and their sums.", "UsageAnswer"),
        ),
        LEDGER.path: _operation(
            LEDGER,
            "Every entry of the ledger",
            "The newest first, in pages: GET the path in `next` as it was answered. No entry comes twice and none is "
            "left out, however many are written meanwhile. With `Accept: text/csv` the same page as a table.",
            settings,
            parameters=LEDGER_QUERY,
            answer=ledger,
        ),
        RECEIPT.path: _operation(
            RECEIPT,
            "What one request cost, domain by domain",
            "The entries of a request and those that refer to them, such as refunds, the oldest first. Each domain was "
            "charged, or was free, and says why.",
            settings,
            parameters=RECEIPT_PATH,
            answer=_read("The entries with their domains.", "ReceiptAnswer"),
        ),
    }


def _shown(description: str, schema: str, named: examples.Examples) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}, "examples": named}}
    return {"description": description, "headers": headers(*LIMIT_HEADERS), "content": content}


def _opt_out(settings: Settings) -> dict[str, Any]:
    return {
        OPT_OUT.path: _operation(
            OPT_OUT,
            "Ask not to be shown, or what is held",
            "For people whom the data is about; no key. Answers with a ticket and how to prove that the address or "
            "domain is yours: a code is mailed to the address, a token is to be shown on the domain. Nothing is "
            "stored, and the answer is the same whether or not anything is held. At most "
            f"{ASKS_PER_HOUR} requests an hour from one address, {MAILS_PER_HOUR} of them for one e-mail address, "
            f"which gets at most {MAILS_IN_ALL_PER_HOUR} mails whoever asks. The page says whom to write to instead.",
            settings,
            requestBody=_body("OptOut", ASKS, settings),
            status="202",
            answer=_shown("Accepted: it waits for the proof.", "OptOutAsked", ASKED),
        ),
        OPT_OUT_CONFIRM.path: _operation(
            OPT_OUT_CONFIRM,
            "Prove it, and have it done",
            "Takes the ticket, and the code if one was mailed; for a domain its DNS and its site are looked at, for at "
            "most five seconds. Then the request is carried out. The same again is answered alike while the ticket "
            f"lives. At most {CONFIRMATIONS_PER_HOUR} tries an hour from one address, and at one ticket.",
            settings,
            requestBody=_body("OptOutConfirm", CONFIRMATIONS, settings),
            answer=_shown("Done, or what is held.", "OptOutDone", DONE),
        ),
        OPT_OUT_PAGE.path: _operation(
            OPT_OUT_PAGE,
            "Both as a page for people",
            "Says what is done and what is kept. Loads nothing from elsewhere.",
            settings,
            answer=_plain("The page.", "text/html", {"type": "string"}, "<!doctype html>"),
        ),
    }


def _service(settings: Settings) -> dict[str, Any]:
    text = {"type": "string"}
    metric = "# HELP siteglass_requests_total Answers by operation and status\n"
    return {
        HEALTHZ.path: _operation(
            HEALTHZ,
            "Is the process alive?",
            "Asks no engine. For restarting a worker that hangs.",
            settings,
            answer=_status("Alive.", "ok"),
        ),
        READYZ.path: _operation(
            READYZ,
            "Can it answer?",
            "Asks the engines: an index is there and can be read, and the tables are those of this build. For sending "
            "traffic elsewhere.",
            settings,
            answer=_status("Ready.", "ready"),
        ),
        METRICS.path: _operation(
            METRICS,
            "What the service counts about itself",
            "In the text format of Prometheus. Holds no key, no address and no text of a caller.",
            settings,
            answer=_plain("The metrics of this worker.", "text/plain", text, metric),
        ),
        OPENAPI.path: _operation(
            OPENAPI,
            "This document",
            "OpenAPI 3.1, made from the code that answers.",
            settings,
            answer=_plain("The document.", "application/json", {"type": "object"}, {"openapi": "3.1.0"}),
        ),
        DOCS.path: _operation(
            DOCS,
            "This document as a page",
            "To read, and to try calls with a key. Loads nothing from elsewhere.",
            settings,
            answer=_plain("The page.", "text/html", text, "<!doctype html>"),
        ),
    }


def paths(settings: Settings) -> dict[str, Any]:
    """Every path with its operation."""
    return {**_leads(settings), **_account(settings), **_opt_out(settings), **_service(settings)}
