"""Records made from the bytes of cards equal those rebuilt from the stored record, whatever is suppressed."""

from __future__ import annotations

import random
from typing import Any, cast

import msgspec
import orjson
import pytest

from siteglass.billing.credits import Mark
from siteglass.corpus.lead import Lead
from siteglass.index.cards import (
    IN_SOURCE,
    decode_card,
    decode_rest,
    encode_card,
    encode_rest,
    needs_rest,
    shown_record,
)
from siteglass.index.documents import document
from siteglass.index.hits import Hit
from siteglass.leads.contact_details import shown_field
from siteglass.leads.enrich import data_of_hits
from siteglass.leads.search import shown_page
from siteglass.platform.postgres import Postgres
from siteglass.query.fields import ENRICH_SELECTABLE, SEARCH_DEFAULT, SEARCH_SELECTABLE
from siteglass.settings import Settings
from siteglass.suppression.entries import WHOLE
from siteglass.suppression.filter import SuppressionFilter
from siteglass.suppression.values import Hasher
from siteglass.web.responses import encode
from siteglass_demo.leads import generate

HASHER = Hasher(Settings(suppression_secret="a secret of the tests that is long enough"))
LEADS = list(generate(400, seed=29))
PAGES = 300


def _stored(lead: Lead) -> dict[str, Any]:
    """The record as `_source` has it."""
    stored: dict[str, Any] = orjson.loads(orjson.dumps(document(lead, "file.parquet:1")))
    return shown_record(stored)


def _hit(record: dict[str, Any], *, rest: bool) -> Hit:
    card = decode_card(encode_card(record))
    return Hit(1, record["domain"], card, decode_rest(encode_rest(record, IN_SOURCE)) if rest else None)


def _listed(draw: random.Random, lead: Lead) -> bytes | None:
    """What is suppressed of a lead: often nothing, sometimes all."""
    if draw.random() < 0.4:
        return None
    if draw.random() < 0.2:
        return WHOLE
    emails = [one for address in lead.emails for one in HASHER.of_address(address)]
    phones = [one for phone in lead.phones for one in HASHER.of_phone(phone)]
    others = list(HASHER.of_address("somebody@else.example"))
    drawn = [one for one in (*emails, *phones, *others) if draw.random() < 0.5]
    return b"".join(drawn) or None


class _Fixed(SuppressionFilter):
    """A filter with this list, which it reads from no database."""

    def __init__(self, listed: dict[str, bytes], countries: frozenset[str]) -> None:
        async def never() -> None:
            return None

        super().__init__(cast(Postgres, None), HASHER, countries, never)
        self._by_domain = listed


def _scene(seed: int) -> tuple[random.Random, list[dict[str, Any]], _Fixed]:
    draw = random.Random(seed)
    # Some say their own address in a text, where it must not be read either.
    leads = [
        msgspec.structs.replace(lead, description=f"Write to {lead.emails[0]} or call {lead.phones[:1]}")
        if lead.emails and draw.random() < 0.3
        else lead
        for lead in draw.sample(LEADS, 20)
    ]
    listed = {lead.domain: held for lead in leads if (held := _listed(draw, lead)) is not None}
    countries = frozenset(lead.country for lead in leads if draw.random() < 0.15)
    return draw, [_stored(lead) for lead in leads], _Fixed(listed, countries)


@pytest.mark.parametrize("seed", range(PAGES))
def test_a_page_of_cards_is_the_page_of_rebuilt_records(seed: int) -> None:
    draw, records, hidden = _scene(seed)
    select = draw.choice((None, SEARCH_SELECTABLE, tuple(draw.sample(SEARCH_SELECTABLE, draw.randint(1, 6)))))
    only_personal = draw.random() < 0.3
    wanted, marks = [], []
    for record in records:
        kept = hidden.shown(record)
        if kept is None:
            continue
        if only_personal:
            kept = {**kept, "emails": kept["emails_personal"]}
        wanted.append({name: shown_field(kept, name) for name in select or SEARCH_DEFAULT})
        marks.append((kept["domain"], Mark.CHARGED if kept["emails"] else Mark.NO_ADDRESS))

    hits = [_hit(record, rest=needs_rest(select or ())) for record in records]
    shown, marked = shown_page(hits, hidden, select, only_personal=only_personal)

    assert encode(shown) == encode(wanted)
    assert marked == marks


@pytest.mark.parametrize("seed", range(PAGES))
def test_an_enrichment_of_cards_is_the_one_of_rebuilt_records(seed: int) -> None:
    draw, records, hidden = _scene(seed)
    select = draw.choice((ENRICH_SELECTABLE, tuple(draw.sample(ENRICH_SELECTABLE, draw.randint(1, 6)))))
    wanted = {}
    for record in records:
        kept = hidden.shown(record)
        own = ("spending", "social_accounts")
        if kept is not None:
            wanted[kept["domain"]] = {
                name: kept["e"][name] if name in own else shown_field(kept, name) for name in select
            }

    data = data_of_hits([_hit(record, rest=True) for record in records], hidden, select)

    assert {domain: encode(one) for domain, one in data.items()} == {
        domain: encode(one) for domain, one in wanted.items()
    }


def test_the_scenes_have_what_they_are_for() -> None:
    """Leads that are hidden, changed and left as they are; otherwise the tests above would show little."""
    outcomes = {"hidden": 0, "changed": 0, "as it is": 0}
    for seed in range(PAGES):
        _, records, hidden = _scene(seed)
        for record in records:
            kept = hidden.shown(record)
            outcomes["hidden" if kept is None else "as it is" if kept == record else "changed"] += 1

    assert min(outcomes.values()) > 300, outcomes
