"""An enrichment needs 1 API credit and a lead credit for each domain found: lacking either, nothing is shown."""

from __future__ import annotations

from typing import Any

import pytest

from siteglass.access.keys import KeyLimits
from siteglass.billing.credits import Mark
from testing.api_calls import ENRICH
from testing.customers import STOCK, Bank, Marks, capped, too_few

FOUND = [lead.domain for lead in STOCK[:5]]


def _body(*domains: str) -> dict[str, Any]:
    return {"domains": list(domains)}


def _charged(*domains: str) -> Marks:
    return [(domain, Mark.CHARGED) for domain in domains]


@pytest.mark.promise("error.INSUFFICIENT_CREDITS", "credits.too_few", "credits.message")
@pytest.mark.parametrize(("api", "lead"), [(0, 5), (1, 4), (0, 0), (0, 4), (50, 0), (0, 50)])
def test_either_kind_missing(bank: Bank, api: int, lead: int) -> None:
    poor = bank.customer(api=api, lead=lead)
    with poor.untouched():
        too_few(poor.client.post(ENRICH, json=_body(*FOUND)), need=(1, 5), balance=(api, lead))


def test_exactly_enough(bank: Bank) -> None:
    customer = bank.customer(api=1, lead=5)
    customer.pays(ENRICH, _body(*FOUND), "enrich", 1, _charged(*FOUND))
    assert customer.balance() == (0, 0)


def test_fewer_domains_then_work(bank: Bank) -> None:
    customer = bank.customer(api=1, lead=2)
    with customer.untouched():
        too_few(customer.client.post(ENRICH, json=_body(*FOUND[:3])), need=(1, 3), balance=(1, 2))
    customer.pays(ENRICH, _body(*FOUND[:2]), "enrich", 1, _charged(*FOUND[:2]))


@pytest.mark.promise("charge.enrich_nothing")
def test_nothing_found_needs_the_api_credit(bank: Bank) -> None:
    customer = bank.customer(api=1)
    customer.pays(ENRICH, _body("nope.invalid"), "enrich", 1, [("nope.invalid", Mark.NOT_FOUND)])
    with customer.untouched():
        too_few(customer.client.post(ENRICH, json=_body("nope.invalid")), need=(1, 0), balance=(0, 0))
    with customer.untouched():
        too_few(customer.client.post(ENRICH, json=_body("", "10.0.0.1")), need=(1, 0), balance=(0, 0))


def test_repeats_need_one_credit(bank: Bank) -> None:
    customer = bank.customer(api=2, lead=1)
    forms = (FOUND[0], f"www.{FOUND[0]}", f"https://{FOUND[0]}/about", FOUND[0].upper())
    customer.pays(ENRICH, _body(*forms), "enrich", 1, _charged(FOUND[0]))
    with customer.untouched():
        too_few(customer.client.post(ENRICH, json=_body(*forms)), need=(1, 1), balance=(1, 0))


@pytest.mark.promise("error.CREDIT_CAP_EXCEEDED", "key.daily_cap")
def test_the_daily_caps_of_a_key(bank: Bank) -> None:
    held = bank.customer(api=9, lead=9, limits=KeyLimits(daily_api_cap=2, daily_lead_cap=3))
    with held.untouched():
        capped(held.client.post(ENRICH, json=_body(*FOUND[:4])), need=4, left=3)
    held.pays(ENRICH, _body(*FOUND[:2]), "enrich", 1, _charged(*FOUND[:2]))
    with held.untouched():
        capped(held.client.post(ENRICH, json=_body(*FOUND[:2])), need=2, left=1)
    held.pays(ENRICH, _body("nope.invalid"), "enrich", 1, [("nope.invalid", Mark.NOT_FOUND)])
    with held.untouched():
        capped(held.client.post(ENRICH, json=_body("nope.invalid")), need=1, left=0)
    assert held.balance() == (7, 7)
