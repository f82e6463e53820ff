"""Aliases: which domains are another door to a lead, by what their home pages say, and how leads get their names."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import read_parquet
from siteglass.ingest.aliases import (
    MAX_ALIASES,
    MAX_HOPS,
    MAX_MIRRORS,
    NO_ALIASES,
    Aliases,
    aliases_of_files,
    find_aliases,
    resolve,
)
from siteglass.ingest.facts import FACTS_SCHEMA, PageFacts, to_batch
from siteglass.ingest.single_part import merge_in_process
from siteglass.ingest.suppression_snapshot import SuppressionSnapshot
from testing.random_facts import START_MS, plain_page, write_facts


def _page(domain: str, path: str = "/", **values: Any) -> PageFacts:
    return plain_page(domain, path, **{"title": f"Of {domain}", "text": "Some words", **values})


def _redirect(domain: str, target: str, path: str = "/", **values: Any) -> PageFacts:
    alias_of = target if path == "/" else ""
    return _page(domain, path, kind="redirect", redirects_to=target, title="", text="", alias_of=alias_of, **values)


def _table(facts: list[PageFacts]) -> pa.Table:
    return pa.Table.from_batches([to_batch(facts)], FACTS_SCHEMA)


def _found(facts: list[PageFacts]) -> Aliases:
    tables = [_table([one]) for one in facts]
    return find_aliases(lambda columns: (table.select(columns) for table in tables))


def _leads(facts: list[PageFacts], out: Path) -> dict[str, tuple[str, ...]]:
    out.mkdir(exist_ok=True)
    merge_in_process([_table(facts)], out)
    leads = [lead for path in out.glob("*.parquet") for _, group in read_parquet(path) for lead in group]
    return {lead.domain: lead.aliases for lead in leads}


def test_leads_have_the_domains_that_lead_to_them(tmp_path: Path) -> None:
    facts = [
        _page("new.example"),
        _redirect("old.example", "new.example"),
        _redirect("older.example", "old.example"),
        _page("mirror.example", alias_of="new.example"),
        _page("other.example"),
        _redirect("deep.example", "other.example", "/shop"),  # only a page that is not its home
        _redirect("to-nobody.example", "nobody.example"),
    ]
    assert _leads(facts, tmp_path / "leads") == {
        "new.example": ("mirror.example", "old.example", "older.example"),
        "other.example": (),
    }


def test_files_and_tables_say_the_same(tmp_path: Path) -> None:
    facts = [_page("new.example"), _redirect("old.example", "new.example"), _page("a.example", alias_of="new.example")]
    write_facts(tmp_path, facts)
    aliases = aliases_of_files(tmp_path.glob("*.parquet"))
    assert aliases == _found(facts) == Aliases({"new.example": ("a.example", "old.example")}, frozenset(["a.example"]))
    assert _found([_page("new.example")]) == NO_ALIASES


@pytest.mark.parametrize("is_newer", [True, False])
def test_the_newest_home_page_decides(is_newer: bool) -> None:
    later_ms = START_MS + (1 if is_newer else -1)
    facts = [
        _page("new.example"),
        _page("old.example"),
        _redirect("old.example", "new.example", captured_at_ms=later_ms),
    ]
    assert _found(facts).names == ({"new.example": ("old.example",)} if is_newer else {})


@pytest.mark.parametrize(
    "target",
    [
        [],  # never crawled
        [_redirect("new.example", "elsewhere.example")],
        [_page("new.example", alias_of="a.example")],  # each names the other
        [_page("new.example", alias_of="third.example"), _page("third.example")],
        [_page("new.example", kind="parked")],
        [_page("new.example", noindex=True)],
    ],
    ids=["unknown", "redirects", "back", "further", "parked", "noindex"],
)
def test_a_site_stays_a_lead_if_its_canonical_one_is_not_a_lead_of_its_own(
    tmp_path: Path, target: list[PageFacts]
) -> None:
    leads = _leads([_page("a.example", alias_of="new.example"), *target], tmp_path / "leads")
    assert leads["a.example"] == ()


def test_a_site_that_forbids_indexing_is_no_alias() -> None:
    facts = [_page("new.example"), _page("a.example", alias_of="new.example", noindex=True)]
    assert _found(facts).names == {}


def test_chains_end_and_circles_lead_nowhere() -> None:
    chain = {f"{number}.example": f"{number + 1}.example" for number in range(MAX_HOPS + 3)}
    end = f"{MAX_HOPS + 3}.example"
    assert resolve(chain, {end: ""}) == Aliases({end: tuple(sorted(chain)[3:])}, frozenset())
    circle = {"a.example": "b.example", "b.example": "c.example", "c.example": "a.example", "in.example": "a.example"}
    assert resolve(circle, {}) == NO_ALIASES
    assert resolve({"self.example": "self.example"}, {}) == NO_ALIASES


def test_platforms_and_templates_have_no_aliases() -> None:
    redirects = {f"{number}.example": "platform.example" for number in range(MAX_ALIASES)}
    assert len(resolve(redirects, {"platform.example": ""}).names["platform.example"]) == MAX_ALIASES
    assert resolve({**redirects, "more.example": "platform.example"}, {"platform.example": ""}) == NO_ALIASES
    mirrors = {f"{number}.example": "template.example" for number in range(MAX_MIRRORS)}
    assert resolve({}, {**mirrors, "template.example": ""}).mirrors == frozenset(mirrors)
    assert resolve({}, {**mirrors, "more.example": "template.example", "template.example": ""}) == NO_ALIASES


_NAMES = [f"{letter}.example" for letter in "abcdefgh"]
_CLAIMS = st.dictionaries(st.sampled_from(_NAMES), st.sampled_from(["", *_NAMES]))


@given(redirects=_CLAIMS, sites=_CLAIMS)
def test_every_alias_has_one_lead_and_no_lead_is_an_alias(redirects: dict[str, str], sites: dict[str, str]) -> None:
    redirects = {domain: target for domain, target in redirects.items() if target}
    sites = {domain: target for domain, target in sites.items() if domain not in redirects and domain != target}
    aliases = resolve(redirects, sites)
    names = [name for some in aliases.names.values() for name in some]
    assert len(names) == len(set(names))
    leads = sites.keys() - aliases.mirrors
    assert leads.isdisjoint(names)
    for lead, some in aliases.names.items():
        assert lead not in redirects
        assert lead not in aliases.mirrors
        for name in some:
            assert lead in _reachable(name, {**redirects, **sites})
    # Whatever can be followed to a lead within the limit is an alias of it.
    for domain in redirects:
        steps = [domain]
        while steps[-1] in redirects and len(steps) <= MAX_HOPS:
            steps.append(redirects[steps[-1]])
        if steps[-1] in leads:
            assert domain in aliases.names[steps[-1]]


def _reachable(start: str, targets: dict[str, str]) -> list[str]:
    found = [start]
    while (target := targets.get(found[-1])) and target not in found:
        found.append(target)
    return found


def test_order_does_not_matter() -> None:
    chance = random.Random(3)
    facts = [_page(f"lead-{number}.example") for number in range(5)]
    for number in range(40):
        target = f"{chance.choice(('lead', 'alias'))}-{chance.randrange(5)}.example"
        made = _redirect if chance.random() < 0.7 else lambda one, to: _page(one, alias_of=to)
        facts.append(made(f"alias-{number}.example", target))
    expected = _found(facts)
    assert expected.names
    assert expected.mirrors
    for _ in range(5):
        chance.shuffle(facts)
        assert _found(facts) == expected


def test_an_alias_that_opted_out_is_not_recorded() -> None:
    lead = Lead(domain="new.example", crawled_at_ms=START_MS, aliases=("old.example", "shop.gone.example"))
    snapshot = SuppressionSnapshot(frozenset({"gone.example"}), frozenset(), "x" * 32)
    kept = snapshot.lead(lead)
    assert kept is not None
    assert kept.aliases == ("old.example",)
    assert SuppressionSnapshot(frozenset({"else.example"}), frozenset(), "x" * 32).lead(lead) is lead
