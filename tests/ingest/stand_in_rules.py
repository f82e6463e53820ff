"""Rules that stand in for the real ones where tests are about the merge: small, and easy to know by heart."""

from __future__ import annotations

from siteglass.corpus.address_kinds import AddressKind
from siteglass.ingest.ownership import Owner
from siteglass.ingest.rules import Rules

KEY_PATHS = ("/contact", "/about", "/imprint")

_ROLE, _UNKNOWN = AddressKind("role", "role_word"), AddressKind("unknown", "no_sign")
RULES = Rules(
    priority=lambda path: KEY_PATHS.index(path) if path in KEY_PATHS else 10 + path.count("/"),
    kind=lambda address, _name, _is_named: _ROLE if address.startswith(("info@", "sales@")) else _UNKNOWN,
    is_free_mail=lambda address: address.endswith("@free.example"),
    score=lambda audits: 100 * sum(audits.values()) // len(audits) if audits else None,
    owners=lambda _domain, _name, contexts: {(one.kind, one.value): Owner("own", 90) for one in contexts},
    spending=lambda technologies, country: None if technologies is None else 7 * len(technologies) + len(country),
)
