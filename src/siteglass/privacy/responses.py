"""What people get about their own data: the responses, declared and made."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from siteglass.privacy.opt_out import MAX_HELD, HeldLead
from siteglass.privacy.received_counts import received_text
from siteglass.privacy.subject_requests import CompletedRequest, PendingRequest
from siteglass.privacy.tickets import Purpose
from siteglass.suppression.values import Kind
from siteglass.web.messages import Record, ResponseBody, Time

# How soon a suppressed value is in no response any more.
EFFECTIVE_WITHIN_S = 60
_NOT_COUNTED = "Not counted yet"

Email = Annotated[str, Meta(description="The normalized address; absent for a domain.")]
Domain = Annotated[str, Meta(description="The normalized domain; absent for an address.")]


class DnsRecord(ResponseBody):
    """The record that shows the token; absent for an address."""

    name: Annotated[str, Meta(description="Name of the record.")]
    type: Literal["TXT"]
    value: Annotated[str, Meta(description="The token.")]


class OptOutPending(ResponseBody, kw_only=True):
    """A request that waits for its proof."""

    request: Annotated[
        Purpose,
        Meta(
            description="`opt_out`: stop showing it. `access`: return what is stored, where it came from and since "
            "when."
        ),
    ]
    email: Email | UnsetType = UNSET
    domain: Domain | UnsetType = UNSET
    ticket: Annotated[
        str, Meta(description="The request, encrypted. Send it back unchanged; the service does not store it.")
    ]
    expires_at: Annotated[Time, Meta(description="When the ticket expires.")]
    token: (
        Annotated[str, Meta(description="The token to publish on the domain; absent for an address.")] | UnsetType
    ) = UNSET
    dns: DnsRecord | UnsetType = UNSET
    http: (
        Annotated[
            list[str],
            Meta(
                description="URLs of a text file with the token on a separate line; one of them is enough. Absent for "
                "an address."
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
    effective_within_s: Annotated[int, Meta(description="Seconds until searches and look-ups no longer show it.", ge=0)]


class SeenPage(ResponseBody):
    """A page that showed a value."""

    value: Annotated[str, Meta(description="The address or number.")]
    page: Annotated[str, Meta(description="URL of the page that showed it last.")]
    first_seen: Annotated[Time, Meta(description="When it was first seen on the website.")]
    last_seen: Annotated[Time, Meta(description="When it was last seen there.")]


class StoredRecord(ResponseBody):
    """A record that contains it."""

    domain: Annotated[str, Meta(description="The website that the record is about.")]
    fields: Annotated[list[str], Meta(description="The fields that contain it.")]
    source: Annotated[str, Meta(description="Name of the file that the record came from.")]
    crawled_at: Annotated[Time, Meta(description="When the website was read, or another source said it.")]
    seen: Annotated[
        list[SeenPage],
        Meta(
            description="Where it was seen, as customers see it; for a domain, each of its addresses and numbers. "
            "Empty if the record was not read from web pages."
        ),
    ]
    record: Annotated[Record, Meta(description="The whole record; only for a domain.")] | UnsetType = UNSET


class AccessDone(ResponseBody, kw_only=True, tag_field="request", tag=Purpose.ACCESS.value):
    """What is stored."""

    email: Email | UnsetType = UNSET
    domain: Domain | UnsetType = UNSET
    suppressed_since: Annotated[Time, Meta(description="Since when it is suppressed; null if it is not.")] | None
    suppressed_on: Annotated[
        list[str],
        Meta(
            description="The websites that contained the address when it was suppressed. It is no longer shown, but "
            f"is still in the source files. At most {MAX_HELD}; empty for a domain."
        ),
    ]
    leads: Annotated[list[StoredRecord], Meta(description=f"The records that contain it, at most {MAX_HELD}.")]
    received_by: Annotated[
        str,
        Meta(
            description="How many customers received one of these records, for people. It is counted within minutes "
            "and emailed to the address; confirm again later to see it here."
        ),
    ]


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def pending_response(pending: PendingRequest) -> OptOutPending:
    """A request that waits for its proof."""
    about: dict[str, Any] = {pending.value.kind.value: pending.value.text}
    if pending.token is None:
        next_step = "We emailed a code to the address. POST it with the ticket to /v1/opt-out/confirm."
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
        next="Publish the token in DNS as this TXT record, or in a file at one of these URLs of the site. Then POST "
        "the ticket to /v1/opt-out/confirm.",
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
        received_by=_NOT_COUNTED if done.customers is None else received_text(done.customers),
    )


def _stored(lead: HeldLead, *, whole: bool) -> StoredRecord:
    # People who proved their address do not see the addresses of others on the same site.
    return StoredRecord(
        domain=lead.domain,
        fields=list(lead.fields),
        source=lead.source,
        crawled_at=_moment(lead.crawled_at.timestamp()),
        seen=[
            SeenPage(
                value=one.value,
                page=one.page,
                first_seen=_moment(one.first_seen.timestamp()),
                last_seen=_moment(one.last_seen.timestamp()),
            )
            for one in lead.seen
        ],
        record=lead.record if whole else UNSET,
    )
