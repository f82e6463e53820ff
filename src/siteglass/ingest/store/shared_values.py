"""Addresses and numbers that many domains show: those of a designer, a host, a network of sites. Nobody's own there.

The store keeps which domains ever showed a value, so that a run counts without reading pages. A count never shrinks but
by a purge. So what a run adds can only lift values over the threshold, and their domains are merged again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Set

import numpy as np
import pyarrow as pa

from siteglass.ingest.grouped import ASCENDING, column, exploded, listed, pc
from siteglass.ingest.ownership import Owner

MIN_DOMAINS = 50
"""A group of businesses rarely has as many sites; a designer or a host soon has."""
_PAIRS: dict[str, pa.DataType] = {"domain": pa.string(), "value": pa.int64()}
PAIRS_SCHEMA: pa.Schema = pa.schema(_PAIRS)
SHARED_OWNER = Owner("third_party", 85, "shared", "many_sites")

SharedValues = frozenset[int]
"""Keys of values, see `value_key`."""


def value_key(kind: str, value: str) -> int:
    """A value as a number of 64 bits."""
    digest = hashlib.blake2b(f"{kind} {value}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def counts_for(domain: str, kind: str, value: str) -> bool:
    """Whether a value that a domain shows may be someone else's. An address on the domain is its own, whoever else
    shows it. A number without its country is not the same one everywhere."""
    if kind == "email":
        host = value.rpartition("@")[2]
        return host != domain and not host.endswith("." + domain)
    return kind == "phone" and value.startswith("+")


def is_shared(domain: str, kind: str, value: str, shared: Set[int]) -> bool:
    """Whether a value of a domain is one of many domains."""
    return bool(shared) and counts_for(domain, kind, value) and value_key(kind, value) in shared


def pairs_of(pages: pa.Table) -> pa.Table:
    """Which domains of folded pages ever showed which values."""
    rows = pages.select(["seen"]).append_column("lead", pa.array(np.arange(pages.num_rows)))
    seen = exploded(rows, "seen")
    domains: list[str] = column(pages, "domain").take(column(seen, "lead")).to_pylist()
    told = dict.fromkeys(
        one for one in zip(domains, listed(seen, "kind"), listed(seen, "value"), strict=True) if counts_for(*one)
    )
    domains = [domain for domain, _, _ in told]
    keys = [value_key(kind, value) for _, kind, value in told]
    return distinct(pa.table([pa.array(domains, pa.string()), pa.array(keys, pa.int64())], schema=PAIRS_SCHEMA))


def distinct(pairs: pa.Table) -> pa.Table:
    """Each pair once, in the order of domains."""
    pairs = pairs.group_by(["domain", "value"], use_threads=False).aggregate([])
    return pairs.sort_by([("domain", ASCENDING), ("value", ASCENDING)])


def over_threshold(pairs: pa.Table, least: int) -> pa.Table:
    """Of pairs, which may come twice, those of values that at least so many domains show."""
    pairs = distinct(pairs)
    counts = pairs.group_by("value", use_threads=False).aggregate([("domain", "count")])
    shared = column(counts.filter(pc.greater_equal(counts.column("domain_count"), least)), "value")
    return pairs.filter(pc.is_in(pairs.column("value"), value_set=shared))
