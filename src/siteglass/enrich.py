"""Operation 2: domains to items, one each, in the order of the request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from siteglass.backends import Backends
from siteglass.domains import NotAHost, candidates
from siteglass.index.lookup import LookedUp, look_up
from siteglass.index.names import Names

# What enrichment spells differently from search lies beside the record.
_OWN = ("spending", "social_accounts")


async def enrich(
    backends: Backends, names: Names, domains: Sequence[str], select: Sequence[str]
) -> list[dict[str, Any]]:
    """An item for every domain sent; one look-up for all."""
    wanted: dict[str, tuple[str, ...] | NotAHost] = {}
    for domain in domains:
        try:
            wanted[domain] = candidates(domain)
        except NotAHost as error:
            wanted[domain] = error
    hosts = {name for found in wanted.values() if not isinstance(found, NotAHost) for name in found}
    looked_up = await look_up(backends, names, sorted(hosts))
    return [_item(domain, wanted[domain], looked_up, select) for domain in domains]


def _item(
    domain: str, wanted: tuple[str, ...] | NotAHost, looked_up: LookedUp, select: Sequence[str]
) -> dict[str, Any]:
    if isinstance(wanted, NotAHost):
        return {"status": "error", "domain": domain, "message": f"{domain!r} {wanted}"}
    for name in wanted:
        if name in looked_up.failed:
            message = "The look-up of this domain failed and was not charged. Ask for it again."
            return {"status": "error", "domain": domain, "message": message}
        if name in looked_up.records:
            return {"status": "success", "domain": domain, "data": _data(looked_up.records[name], select)}
    return {"status": "not_found", "domain": domain, "message": f"No data found for {domain}"}


def _data(record: dict[str, Any], select: Sequence[str]) -> dict[str, Any]:
    own = record["e"]
    return {name: own[name] if name in _OWN else record[name] for name in select}
