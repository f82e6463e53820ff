"""Aliases: domains that are only another door to a website. Their home page redirects to it, or names it as canonical.

Whether such a website is a lead is said by `signals`. A domain that redirects is not a lead anyway; one that names
another as canonical is a lead unless the other one is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from siteglass.ingest.captures import believable, numbered
from siteglass.ingest.grouped import column, listed, pc
from siteglass.ingest.signals import COLUMNS, signals

MAX_HOPS = 5
"""Domains may redirect to domains that redirect."""
MAX_ALIASES = 50
"""More domains lead to platforms only, such as brokers of domains. None of them is an alias then."""
MAX_MIRRORS = 10
"""More sites name that of a template as canonical, by mistake. All of them are leads then."""

_CLAIM = ("domain", "is_home", "alias_of")

ReadColumns = Callable[[Sequence[str]], Iterable[pa.Table]]


@dataclass(frozen=True, slots=True)
class Aliases:
    """All aliases of a merge; goes to workers as it is."""

    names: Mapping[str, tuple[str, ...]]
    """By the domain of their lead, in order."""
    mirrors: frozenset[str]
    """Those among them that would be leads."""


NO_ALIASES = Aliases({}, frozenset())


def aliases_of_files(paths: Iterable[Path]) -> Aliases:
    """The aliases that files of page facts tell of. Few columns are read, and only rows of some domains are kept."""
    paths = list(paths)

    def read(columns: Sequence[str]) -> Iterator[pa.Table]:
        for path in paths:
            with pq.ParquetFile(path) as file:
                for number in range(file.num_row_groups):
                    yield file.read_row_group(number, columns=[*columns], use_threads=False)

    return find_aliases(read)


def find_aliases(read: ReadColumns) -> Aliases:
    """The aliases that captures tell of; `read` gives some columns of all of them, each time it is called."""
    concerned: set[str] = set()
    for table in read(_CLAIM):
        claims = claims_in(table)
        concerned.update(listed(claims, "domain"), listed(claims, "alias_of"))
    if not concerned:
        return NO_ALIASES
    wanted = pa.array(sorted(concerned), pa.string())
    rows = [
        believable(table.filter(pc.is_in(table.column("domain"), value_set=wanted)).select(COLUMNS))
        for table in read(COLUMNS)
    ]
    captures = pa.concat_tables(rows).combine_chunks()
    if not captures.num_rows:
        return NO_ALIASES
    leads, domains = numbered(captures)
    states = signals(captures, leads, domains)
    redirects, sites = (_targets(states.filter(pc.equal(states.column("dropped"), why))) for why in ("alias", ""))
    return resolve({domain: target for domain, target in redirects.items() if target}, sites)


def claims_in(captures: pa.Table) -> pa.Table:
    """The home pages that lead to another site."""
    return captures.filter(pc.and_(captures.column("is_home"), pc.not_equal(captures.column("alias_of"), "")))


def _targets(sites: pa.Table) -> dict[str, str]:
    return dict(zip(listed(sites, "domain"), listed(sites, "alias_of"), strict=True))


def resolve(redirects: Mapping[str, str], leads: Mapping[str, str]) -> Aliases:
    """The aliases by what domains claim: those that redirect with their target; and those that may be leads, each with
    the site that it names as canonical, or ""."""
    mirrors = {domain: target for domain, target in leads.items() if target and leads.get(target) == ""}
    counts = Counter(mirrors.values())
    targets = {**redirects, **{domain: site for domain, site in mirrors.items() if counts[site] <= MAX_MIRRORS}}
    found: dict[str, list[str]] = defaultdict(list)
    for alias in sorted(targets):
        site, hops = targets[alias], 1
        while site in targets and hops < MAX_HOPS:
            site, hops = targets[site], hops + 1
        if site not in targets:  # else they redirect in a circle, or without end
            found[site].append(alias)
    names = {site: tuple(aliases) for site, aliases in found.items() if len(aliases) <= MAX_ALIASES}
    return Aliases(names, frozenset(one for aliases in names.values() for one in aliases if one in mirrors))


def with_aliases(rows: pa.Table, aliases: Aliases) -> pa.Table:
    """Rows of leads, with the names of each."""
    names = [list(aliases.names.get(domain, ())) for domain in column(rows, "domain").to_pylist()]
    return rows.append_column("aliases", pa.array(names, pa.list_(pa.string())))
