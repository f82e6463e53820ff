"""What people are answered about their own data, as JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from starlette.responses import Response

from siteglass.privacy.opt_out import HeldLead
from siteglass.privacy.subject_requests import CompletedRequest, PendingRequest
from siteglass.suppression.values import Kind
from siteglass.web.responses import json_response

# How soon whoever was suppressed is in no answer any more.
EFFECTIVE_WITHIN_S = 60


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def asked_body(asked: PendingRequest) -> dict[str, Any]:
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


def done_body(done: CompletedRequest) -> dict[str, Any]:
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


def pending_response(asked: PendingRequest) -> Response:
    """Accepted, not done."""
    return json_response(asked_body(asked), 202)


def completed_response(done: CompletedRequest) -> Response:
    """Done."""
    return json_response(done_body(done))
