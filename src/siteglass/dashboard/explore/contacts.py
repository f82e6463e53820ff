"""The contacts of a lead in words: what each is, whose it is, and where it was seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Literal

from siteglass.corpus.domains import registrable
from siteglass.corpus.evidence_files import IMPORT_METHOD, Sighting
from siteglass.ingest.extract.role import is_free_mail
from siteglass.leads.evidence import Evidence

_METHODS = {
    "mailto": "link",
    "tel": "link",
    "text": "text",
    "obfuscated": "disguised text",
    "cloudflare": "text hidden by Cloudflare",
    "script": "data of a script",
    "json_ld": "structured data",
    "whatsapp": "WhatsApp link",
    IMPORT_METHOD: "by the operator",
}
_OTHER_DOMAIN = {"affiliate": "related domain", "unknown": "other domain, owner not certain"}
_PHONE = {"own": "Phone · of the business", "unknown": "Phone · owner not certain"}


@dataclass(frozen=True, slots=True)
class SeenOn:
    """A page that shows a value, or the file that it was imported from."""

    url: str
    how: str
    day: date
    is_import: bool = False

    @property
    def is_link(self) -> bool:
        """Whether a browser may be sent there."""
        return self.url.startswith(("https://", "http://"))

    @property
    def shown(self) -> str:
        """The address as people write it."""
        return self.url.partition("://")[2].removeprefix("www.").rstrip("/") or self.url


@dataclass(frozen=True, slots=True)
class ContactLine:
    """An address or a number."""

    kind: Literal["email", "phone"]
    value: str
    owner: str
    seen: Sequence[SeenOn]
    """The newest first; empty if nothing is recorded."""
    is_reported: bool = False
    """Whether the visitor reported it."""


def contact_lines(record: Mapping[str, Any], evidence: Evidence) -> list[ContactLine]:
    """What the lead shows now, in its order: addresses, then numbers."""
    emails = [
        ContactLine("email", value, _email_owner(record, value, place), _seen(sightings))
        for place, (value, sightings) in enumerate(evidence.values["emails"])
    ]
    phones = [
        ContactLine("phone", value, _PHONE.get(_owner(record, "phone", place), "Phone"), _seen(sightings))
        for place, (value, sightings) in enumerate(evidence.values["phones"])
    ]
    return [*emails, *phones]


def _owner(record: Mapping[str, Any], kind: str, place: int) -> str:
    """The class of the owner, which is stored of the first value only."""
    return str(record.get(f"{kind}_owner", "")) if place == 0 else ""


def _email_owner(record: Mapping[str, Any], value: str, place: int) -> str:
    kind = "Personal" if value in record["emails_personal"] else "Role address"
    if registrable(value.rpartition("@")[2]) == registrable(record["domain"]):
        return f"{kind} · own domain"
    if is_free_mail(value):
        return f"{kind} · free mail"
    return f"{kind} · {_OTHER_DOMAIN.get(_owner(record, 'email', place), 'other domain')}"


def _seen(sightings: Sequence[Sighting]) -> list[SeenOn]:
    return [
        SeenOn(
            one.page,
            _METHODS.get(one.method, one.method),
            _day(one.last_seen_ms),
            is_import=one.method == IMPORT_METHOD,
        )
        for one in sightings
    ]


def _day(time_ms: int) -> date:
    return datetime.fromtimestamp(time_ms / 1000, UTC).date()
