"""The enrichments that API keys start: domains as they were sent, and every item as a plain enrichment returns it.

Two batches may find the same lead, one by its domain and one by an alias. So each page also lists its leads: what was
charged with an earlier page of the job is free in a later one.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence, Set
from dataclasses import replace

import orjson

from siteglass.billing.credits import Mark
from siteglass.leads.charging import Offer

LEADS = "leads"
"""The field of a page that lists its leads."""


def pack_domains(domains: Sequence[str]) -> bytes:
    """What the job keeps of its domains."""
    return zlib.compress(orjson.dumps(domains), 1)


def unpack_domains(source: bytes) -> list[str]:
    """The domains of a job."""
    domains: list[str] = orjson.loads(zlib.decompress(source))
    return domains


def batch_offer(offer: Offer, charged: Set[str], *, is_first: bool) -> Offer:
    """An enrichment as a part of a job: one API credit for all parts, and each lead once."""
    bill = offer.bill
    leads = bill.leads
    marks = [
        (domain, Mark.PAID_BEFORE if mark is Mark.CHARGED and domain in charged else mark)
        for domain, mark in bill.domains
    ]
    body = b"%b,%b:%b}" % (offer.body.removesuffix(b"}"), orjson.dumps(LEADS), orjson.dumps(leads))
    return replace(offer, bill=replace(bill, api=bill.api if is_first else 0, domains=marks), body=body)
