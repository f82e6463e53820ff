"""SuppressionSnapshot: a copy of the list of opt-outs for a run. What is on it gets into neither facts nor leads.

The loader checks the list again; this keeps suppressed values out of the files in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import compress
from typing import Any

from msgspec.structs import replace

from siteglass.corpus.lead import Lead
from siteglass.ingest.facts import ContactSighting, PageFacts, SeenValue
from siteglass.ingest.sources import record_of, row_of
from siteglass.settings import Settings
from siteglass.suppression.calling_codes import ALL_CODES
from siteglass.suppression.redaction import changes, lead_getter, lead_with, names, without_aliases
from siteglass.suppression.values import Hasher

Hashes = Callable[[str], Iterable[bytes]]


@cache
def _hasher(secret: str) -> Hasher:
    return Hasher(Settings(suppression_secret=secret))


@dataclass(frozen=True, slots=True)
class SuppressionSnapshot:
    """Listed domains, and the keyed hashes of listed addresses and phones; goes to worker processes as it is."""

    domains: frozenset[str]
    hashes: frozenset[bytes]
    secret: str = field(repr=False)

    def hides_domain(self, domain: str) -> bool:
        """Whether a domain, or a site that it belongs to, is listed."""
        return not self.domains.isdisjoint(names(domain))

    def page(self, facts: PageFacts) -> PageFacts | None:
        """The facts of a page without what is listed; None if its domain is."""
        if self.hides_domain(facts.domain):
            return None
        if record := record_of(facts):
            lead = self.lead(record.lead) or record.lead
            return facts if lead is record.lead else row_of(replace(record, lead=lead))
        if not self.hashes:
            return facts
        hasher = _hasher(self.secret)
        # Contacts are not plain texts as in a lead. The numbers among them show what texts may mean.
        plain = {"emails": (), "phones": tuple(one.value for one in facts.phones)}
        changed = changes(
            lambda name: plain[name] if name in plain else getattr(facts, name, None), self.hashes, hasher
        )
        changed["emails"] = self._kept(facts.emails, hasher.of_address)
        changed["phones"] = tuple(one for one in facts.phones if not any(map(self._hides_phone, _readings(one.value))))
        changed["path"] = self.address(facts.path, plain["phones"])
        changed["seen"] = tuple(one for one in facts.seen if not self._hides_seen(one))
        return replace(facts, **changed, **self._evidence(facts, plain["phones"]))

    def lead(self, lead: Lead) -> Lead | None:
        """The lead without what is listed; None if its domain is. The same one if nothing of it is."""
        if self.hides_domain(lead.domain):
            return None
        lead = without_aliases(lead, self.domains)
        return lead_with(lead, changes(lead_getter(lead), self.hashes, _hasher(self.secret))) if self.hashes else lead

    def address(self, url: str, phones: Sequence[str]) -> str:
        """The address of a page without what is listed; `phones` are those of its site."""
        if not self.hashes:
            return url
        record = {"url": url, "phones": phones}
        return str(changes(record.get, self.hashes, _hasher(self.secret)).get("url", url))

    def _evidence(self, facts: PageFacts, phones: Sequence[str]) -> dict[str, Any]:
        """The names and marks of a page that hold nothing listed. What is left of one that does would mislead."""
        texts = [*(one.name for one in facts.names), *(one.excerpt for one in facts.marks)]
        record = {"keywords": texts, "phones": phones}
        cut = changes(record.get, self.hashes, _hasher(self.secret)).get("keywords", texts)
        is_same = [one == other for one, other in zip(texts, cut, strict=True)]
        return {
            "names": tuple(compress(facts.names, is_same)),
            "marks": tuple(compress(facts.marks, is_same[len(facts.names) :])),
        }

    def _hides_seen(self, seen: SeenValue) -> bool:
        if seen.kind == "email":
            return not self.hashes.isdisjoint(_hasher(self.secret).of_address(seen.value))
        return seen.kind == "phone" and any(map(self._hides_phone, _readings(seen.value)))

    def _hides_phone(self, phone: str) -> bool:
        return not self.hashes.isdisjoint(_hasher(self.secret).of_phone(phone))

    def _kept(self, found: Iterable[ContactSighting], hashes_of: Hashes) -> tuple[ContactSighting, ...]:
        return tuple(one for one in found if self.hashes.isdisjoint(hashes_of(one.value)))


def _readings(phone: str) -> Iterator[str]:
    """A number, and if no country is known for it, what it is in each."""
    yield phone
    if not phone.startswith("+"):
        yield from (f"+{code}{national}" for code in ALL_CODES for national in {phone, phone.lstrip("0")})
