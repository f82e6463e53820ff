"""Which domains ever led to which, see `ingest.aliases`. What one of them says now can change the lead of another.

Domains that are linked are therefore merged together. The store keeps all links that there ever were: of one that is
gone, a lead may still have the alias.
"""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa

from siteglass.ingest.aliases import claims_in
from siteglass.ingest.grouped import ASCENDING, column, listed, pc

_LINKS: dict[str, pa.DataType] = {"domain": pa.string(), "target": pa.string()}
LINKS_SCHEMA: pa.Schema = pa.schema(_LINKS)


def links_of(pages: pa.Table) -> pa.Table:
    """The links of some pages."""
    claims = claims_in(pages)
    return distinct_links(pa.table([column(claims, "domain"), column(claims, "alias_of")], schema=LINKS_SCHEMA))


def distinct_links(links: pa.Table) -> pa.Table:
    """Each link once, in the order of domains."""
    links = links.group_by(["domain", "target"], use_threads=False).aggregate([])
    return links.sort_by([("domain", ASCENDING), ("target", ASCENDING)])


def with_linked(domains: Collection[str], links: pa.Table) -> set[str]:
    """Domains, and all that are connected with them by links."""
    found, new = set(domains), set(domains)
    while new:
        wanted = pa.array(sorted(new), pa.string())
        near = links.filter(
            pc.or_(
                pc.is_in(links.column("domain"), value_set=wanted), pc.is_in(links.column("target"), value_set=wanted)
            )
        )
        new = {*listed(near, "domain"), *listed(near, "target")} - found
        found |= new
    return found
