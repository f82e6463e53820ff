"""Which domains are leads, and what their robots.txt and sitemaps say: a row for each domain of many captures.

The newest home page decides for the whole domain, "/" before others such as "/en". If it is parked, redirects elsewhere
or asks not to be listed, there is no lead; other pages may ask it for themselves. A page that could not be fetched, or
an error page with status 200, is skipped, and an older one counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from siteglass.ingest.captures import LIGHT, speaks
from siteglass.ingest.grouped import DESCENDING, Order, firsts, mask, pc, spread

MAX_DOMAIN_CHARS = 253
NO_PAGE = "no_page"
"""The reason that does not refuse a domain: it is a lead if a record of another source says something of it."""
COLUMNS = (*LIGHT, "has_robots", "has_sitemap", "audits", "technologies", "social_links")
"""What is asked of captures."""
_NEWEST: tuple[Order, ...] = tuple(
    (name, DESCENDING) for name in ("captured_at_ms", "digest", "url", "archive", "offset")
)


def signals(captures: pa.Table, leads: Any, domains: pa.Array[Any]) -> pa.Table:
    """Columns `dropped`, the reason why a domain is not a lead or "", `alias_of`, the other site that its home page
    leads to or "", has_robots, robots_audits, has_sitemap, and mail_technologies,
    what receives its mail, with its marks and the time."""
    return _Signals(captures, leads, len(domains)).rows(domains)


class _Signals:
    def __init__(self, captures: pa.Table, leads: Any, count: int) -> None:
        self._captures = captures.select(COLUMNS).append_column("lead", pa.array(leads))
        self._leads, self._count = leads, count

    def rows(self, domains: pa.Array[Any]) -> pa.Table:
        robots = self._newest(self._known("robots", "has_robots"))
        told = [
            spread(self._newest(self._known(kind, "has_sitemap")), "has_sitemap", self._count, None)
            for kind in ("robots", "sitemap")
        ]
        either = pc.or_(told[0].fill_null(False), told[1].fill_null(False))
        unknown = pc.and_(pc.is_null(told[0]), pc.is_null(told[1]))
        home = self._home()
        dns = self._newest(self._captures.filter(pc.starts_with(self._captures.column("url"), "dns:")))
        return pa.table(
            {
                "domain": domains,
                "dropped": self._dropped(domains, home),
                "alias_of": spread(home, "alias_of", self._count, ""),
                "has_robots": spread(robots, "has_robots", self._count, None),
                "robots_audits": spread(robots, "audits", self._count, None),
                "has_sitemap": pc.if_else(unknown, pa.scalar(None, pa.bool_()), either),
                "mail_technologies": spread(dns, "technologies", self._count, None),
                "mail_marks": spread(dns, "social_links", self._count, None),
                "mail_seen_ms": spread(dns, "captured_at_ms", self._count, None),
            }
        )

    def _is_redirect(self) -> Any:
        is_redirect = pc.equal(self._captures.column("kind"), "redirect")
        return pc.and_(is_redirect, pc.not_equal(self._captures.column("redirects_to"), ""))

    def _home(self) -> pa.Table:
        """The home page that decides, of domains that have one."""
        kind = self._captures.column("kind")
        tells = pc.or_(pc.or_(pc.equal(kind, "page"), pc.equal(kind, "parked")), self._is_redirect())
        homes = self._captures.filter(pc.and_(self._captures.column("is_home"), tells))
        homes = homes.append_column("is_root", pc.equal(homes.column("path"), "/").cast(pa.int8()))
        return self._newest(homes, ("is_root", DESCENDING))

    def _dropped(self, domains: pa.Array[Any], home: pa.Table) -> Any:
        kind = self._captures.column("kind")
        parked = pc.equal(kind, "parked")
        home_kind = spread(home, "kind", self._count, "").to_numpy(zero_copy_only=False)
        named = pc.and_(
            pc.match_substring_regex(domains, r"^[a-z0-9_-]+(\.[a-z0-9_-]+)+$"),
            pc.less_equal(pc.utf8_length(domains), MAX_DOMAIN_CHARS),
        )
        # The first that holds.
        reasons: list[tuple[Any, str]] = [
            (~mask(named), "name"),
            (home_kind == "parked", "parked"),
            (home_kind == "redirect", "alias"),
            (mask(spread(home, "noindex", self._count, False)), "noindex"),
            (self._any(speaks(self._captures)), ""),
            (self._any(parked), "parked"),
            (self._any(self._is_redirect()), "alias"),
        ]
        return pa.array(np.select([holds for holds, _ in reasons], [name for _, name in reasons], NO_PAGE))

    def _known(self, kind: str, name: str) -> pa.Table:
        return self._captures.filter(
            pc.and_(pc.equal(self._captures.column("kind"), kind), pc.is_valid(self._captures.column(name)))
        )

    def _newest(self, rows: pa.Table, *before: Order) -> pa.Table:
        return firsts(rows, *before, *_NEWEST)

    def _any(self, holds: Any) -> Any:
        """The domains of which it holds for a capture."""
        return np.bincount(self._leads[mask(holds)], minlength=self._count) > 0
