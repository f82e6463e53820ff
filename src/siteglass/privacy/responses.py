"""What people get about their own data: the responses, declared and made."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from siteglass.privacy.opt_out import MAX_HELD, HeldLead
from siteglass.privacy.subject_requests import CompletedRequest, PendingRequest
from siteglass.privacy.tickets import Purpose
from siteglass.suppression.values import Kind
from siteglass.web.messages import Record, ResponseBody, Time

# How soon a suppressed value is in no response any more.
EFFECTIVE_WITHIN_S = 60

Email = Annotated[str, Meta(description="The address as it is understood; absent for a domain.")]
Domain = Annotated[str, Meta(description="The domain as it is understood; absent for an address.")]


class DnsRecord(ResponseBody):
    """The record that shows the token; absent for an address."""

    name: Annotated[str, Meta(description="Name of the record.")]
    type: Literal["TXT"]
    value: Annotated[str, Meta(description="The token.")]


class OptOutPending(ResponseBody, kw_only=True):
    """A request that waits for its proof."""

    request: Annotated[
        Purpose,
        Meta(description="`opt_out`: do not show it any more. `access`: what is stored, from where, since when."),
    ]
    email: Email | UnsetType = UNSET
    domain: Domain | UnsetType = UNSET
    ticket: Annotated[
        str, Meta(description="The request, sealed. Send it back as it is; nothing of it is stored here.")
    ]
    expires_at: Annotated[Time, Meta(description="Until when it can be proven.")]
    token: Annotated[str, Meta(description="What the domain must show; absent for an address.")] | UnsetType = UNSET
    dns: DnsRecord | UnsetType = UNSET
    http: (
        Annotated[
            list[str],
            Meta(
                description="Addresses of a text file that has the token on a line of its own, either of which will "
                "do; absent for an address."
            ),
        ]
        | UnsetType
    ) = UNSET
    next: Annotated[str, Meta(description="What to do next, for people.")]


class OptOutDone(ResponseBody, kw_only=True, tag_field="request", tag=Purpose.OPT_OUT.value):
    """Not shown any more."""

    email: Email | UnsetType = UNSET
    domain: Domain | UnsetType = UNSET
    suppressed: Annotated[bool, Meta(extra_json_schema={"const": True})]
    effective_within_s: Annotated[
        int, Meta(description="Seconds until no search and no look-up shows it any more.", ge=0)
    ]


class StoredRecord(ResponseBody):
    """A record that contains it."""

    domain: Annotated[str, Meta(description="The website that the record is about.")]
    fields: Annotated[list[str], Meta(description="The fields that contain it.")]
    source: Annotated[str, Meta(description="Name of the file that the record came with.")]
    crawled_at: Annotated[Time, Meta(description="When the website was read.")]
    record: Annotated[Record, Meta(description="All of the record; only for a domain.")] | UnsetType = UNSET


class AccessDone(ResponseBody, kw_only=True, tag_field="request", tag=Purpose.ACCESS.value):
    """What is stored."""

    email: Email | UnsetType = UNSET
    domain: Domain | UnsetType = UNSET
    suppressed_since: Annotated[Time, Meta(description="Since when it is not shown; null if it is.")] | None
    suppressed_on: Annotated[
        list[str],
        Meta(
            description="The websites that showed the address when it was suppressed. It is not shown, and still in "
            f"the files that records come from. At most {MAX_HELD}; none for a domain."
        ),
    ]
    leads: Annotated[list[StoredRecord], Meta(description=f"The records that contain it, at most {MAX_HELD}.")]


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def pending_response(pending: PendingRequest) -> OptOutPending:
    """A request that waits for its proof."""
    about: dict[str, Any] = {pending.value.kind.value: pending.value.text}
    if pending.token is None:
        next_step = "A code was mailed to the address. POST it with the ticket to /v1/opt-out/confirm."
        return OptOutPending(
            request=pending.purpose,
            **about,
            ticket=pending.ticket,
            expires_at=_moment(pending.expires_s),
            next=next_step,
        )
    in_dns, *on_site = pending.places
    return OptOutPending(
        request=pending.purpose,
        **about,
        ticket=pending.ticket,
        expires_at=_moment(pending.expires_s),
        token=pending.token,
        dns=DnsRecord(name=in_dns, type="TXT", value=pending.token),
        http=on_site,
        next="Put the token into DNS as this TXT record, or into a file at one of these addresses of the site. "
        "Then POST the ticket to /v1/opt-out/confirm.",
    )


def completed_response(done: CompletedRequest) -> OptOutDone | AccessDone:
    """A request that was carried out."""
    about: dict[str, Any] = {done.value.kind.value: done.value.text}
    if done.held is None:
        return OptOutDone(**about, suppressed=True, effective_within_s=EFFECTIVE_WITHIN_S)
    since = done.held.suppressed_since
    return AccessDone(
        **about,
        suppressed_since=None if since is None else _moment(since.timestamp()),
        suppressed_on=done.held.sites,
        leads=[_stored(lead, whole=done.value.kind is Kind.DOMAIN) for lead in done.held.leads],
    )


def _stored(lead: HeldLead, *, whole: bool) -> StoredRecord:
    # People who proved an address of theirs do not see those of others on the same site.
    return StoredRecord(
        domain=lead.domain,
        fields=list(lead.fields),
        source=lead.source,
        crawled_at=_moment(lead.crawled_at.timestamp()),
        record=lead.record if whole else UNSET,
    )
