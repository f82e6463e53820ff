"""The contacts of a lead in words: what each is, whose it is, and where and when it was seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Literal

from siteglass.corpus.domains import registrable
from siteglass.corpus.evidence_files import IMPORT_METHOD, PLACE_METHOD, Sighting
from siteglass.corpus.role import is_free_mail
from siteglass.leads.evidence import Evidence

_METHODS = {
    "mailto": "link",
    "tel": "link",
    "text": "text",
    "obfuscated": "disguised text",
    "field": "field of a form",
    "cloudflare": "text hidden by Cloudflare",
    "script": "data of a script",
    "json_ld": "structured data",
    "whatsapp": "WhatsApp link",
    IMPORT_METHOD: "by the operator",
    PLACE_METHOD: "in a map of places",
    "site": "crawl, loaded from a file",
}
_OTHER_DOMAIN = {"affiliate": "related domain", "unknown": "other domain, owner not certain"}
_PHONE = {"own": "Phone · of the business", "unknown": "Phone · owner not certain"}
_HIDDEN = {"email": "address", "phone": "number"}
# By kind of third party, see `ingest.extract.third_parties`: of one value, and of several.
_PARTIES = {
    "designer": ("the web designer", "the web designer"),
    "host": ("the hosting company", "the hosting company"),
    "theme_author": ("the author of the website's theme", "the author of the website's theme"),
    "platform_support": ("the support of a platform", "the support of platforms"),
    "regulator": ("an authority", "authorities"),
    "dpo": ("an external data-protection officer", "an external data-protection officer"),
    "insurer": ("an insurer", "insurers"),
    "carrier": ("a delivery company", "delivery companies"),
    "supplier": ("a supplier", "suppliers"),
    "partner": ("a partner", "partners"),
    "press": ("a press office", "press offices"),
    "jobs": ("a recruiter", "recruiters"),
    "customer": ("a customer", "customers"),
    "directory": ("a company that the website lists", "companies that the website lists"),
    "hotline": ("a public hotline", "public hotlines"),
    "shared": ("someone whom many websites name", "others whom many websites name"),
    "example": ("an example in a text", "examples in a text"),
}
_SOMEONE_ELSE = ("someone else", "someone else")


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
    first_day: date | None = None
    """When a page that shows it first showed it, and when one last did; None: the lead does not say."""
    last_day: date | None = None
    is_reported: bool = False
    """Whether the visitor reported it."""


def contact_lines(record: Mapping[str, Any], evidence: Evidence) -> list[ContactLine]:
    """What the lead shows now, in its order: addresses, then numbers."""
    emails = [
        ContactLine(
            "email", value, _email_owner(record, value, place), _seen(sightings), *_days(record, "email", value)
        )
        for place, (value, sightings) in enumerate(evidence.values["emails"])
    ]
    phones = [
        ContactLine(
            "phone", value, _phone_owner(record, value, place), _seen(sightings), *_days(record, "phone", value)
        )
        for place, (value, sightings) in enumerate(evidence.values["phones"])
    ]
    return [*emails, *phones]


def hidden_lines(record: Mapping[str, Any]) -> list[str]:
    """What the pages of the lead show and the lead does not, because it is someone else's: how many, and whose."""
    counted = Counter(record.get("hidden_contacts", ()))
    return [_hidden_line(entry, count) for entry, count in sorted(counted.items())]


def _hidden_line(entry: str, count: int) -> str:
    kind, _, party = entry.partition(" ")
    one, several = _PARTIES.get(party, _SOMEONE_ELSE)
    if count == 1:
        return f"1 {_HIDDEN[kind]} hidden: it belongs to {one}."
    return f"{count} {_HIDDEN[kind]}{'es' if kind == 'email' else 's'} hidden: they belong to {several}."


def _owner(record: Mapping[str, Any], kind: str, value: str, place: int) -> str:
    """The class of the owner. Leads without details have it of the first value only."""
    if detail := _detail(record, kind, value):
        return str(detail["owner"])
    return str(record.get(f"{kind}_owner", "")) if place == 0 else ""


def _days(record: Mapping[str, Any], kind: str, value: str) -> tuple[date | None, date | None]:
    """When a value was first and last seen; leads of an older crawl do not say it."""
    detail = _detail(record, kind, value)
    first_ms, last_ms = detail.get("first_seen_ms"), detail.get("last_seen_ms")
    return None if first_ms is None else _day(first_ms), None if last_ms is None else _day(last_ms)


def _detail(record: Mapping[str, Any], kind: str, value: str) -> Mapping[str, Any]:
    """What is stored of a value; empty if that is nothing."""
    return next((detail for detail in record.get(f"{kind}s_detail", ()) if detail["value"] == value), {})


def _phone_owner(record: Mapping[str, Any], value: str, place: int) -> str:
    return _PHONE.get(_owner(record, "phone", value, place), "Phone")


def _email_owner(record: Mapping[str, Any], value: str, place: int) -> str:
    kind = "Personal" if value in record["emails_personal"] else "Role address"
    if registrable(value.rpartition("@")[2]) == registrable(record["domain"]):
        return f"{kind} · own domain"
    if is_free_mail(value):
        return f"{kind} · free mail"
    return f"{kind} · {_OTHER_DOMAIN.get(_owner(record, 'email', value, place), 'other domain')}"


def _seen(sightings: Sequence[Sighting]) -> list[SeenOn]:
    return [
        SeenOn(
            one.page,
            _METHODS.get(one.method, one.method),
            _day(one.last_seen_ms),
            is_import=not one.page.startswith(("https://", "http://")),
        )
        for one in sightings
    ]


def _day(time_ms: int) -> date:
    return datetime.fromtimestamp(time_ms / 1000, UTC).date()
