"""What completion promises of every known value and of any text; exact answers are asked for over HTTP."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siteglass.query.completion import COMPLETABLE, KnownValue, complete
from siteglass.query.field import Kind as FieldKind
from siteglass.query.fields import ASKED
from siteglass.query.folding import fold
from siteglass.query.vocabulary import Kind, vocabulary

KINDS: tuple[Kind, ...] = get_args(Kind)
VOCABULARY = vocabulary()
MOST = 50


def _first(kind: Kind, text: str) -> KnownValue | None:
    found, _ = complete(kind, text, 1)
    return found[0].known if found else None


def _all(kind: Kind) -> list[KnownValue]:
    """Every value, each found by itself."""
    found = {value: _first(kind, value) for value in VOCABULARY.values(kind)}
    assert [value for value, known in found.items() if known is None or known.value != value] == []
    return [known for known in found.values() if known]


@pytest.mark.promise("values.every")
@pytest.mark.parametrize("kind", KINDS)
def test_every_value_comes_first_for_itself_in_any_case(kind: Kind) -> None:
    # Of two names that differ in case only, each comes first as it is written: no other text can tell them apart.
    alike = {"ZoomInfo", "Zoominfo"}
    values = [known.value for known in _all(kind) if known.value not in alike]
    for spelled in (str.upper, str.lower):
        assert [value for value in values if getattr(_first(kind, spelled(value)), "value", "") != value] == []


@pytest.mark.promise("values.every")
@pytest.mark.parametrize("kind", KINDS)
def test_every_value_comes_first_for_its_name(kind: Kind) -> None:
    known = _all(kind)
    by_name: dict[str, set[str]] = {}
    for one in known:
        by_name.setdefault(one.name, set()).add(one.value)
    for one in known:
        found, _ = complete(kind, one.name, len(by_name[one.name]))
        assert one.value in {each.known.value for each in found}, one
        assert {each.alias for each in found} == {None}
    if kind != "state":  # only states share names
        assert all(len(values) == 1 for values in by_name.values())


@pytest.mark.promise("values.every")
@pytest.mark.parametrize("kind", KINDS)
def test_every_alias_finds_first_what_a_filter_takes_it_for(kind: Kind) -> None:
    aliases = list(VOCABULARY.aliases(kind))
    for alias, _ in aliases[:: 1 + len(aliases) // 10_000]:
        meant = VOCABULARY.resolve(kind, alias)
        first = _first(kind, alias)
        assert first is not None, alias
        # A code of a state stands for those of all countries; another state may have it as its name ("Ba").
        codes = {first.value.partition("-")[2], fold(first.name).upper()} if kind == "state" else set()
        assert {first.value, *codes} & set(meant), alias


@pytest.mark.promise("values.every")
def test_codes() -> None:
    for alpha3 in VOCABULARY.values("country"):
        alpha2 = VOCABULARY.country_alpha2(alpha3)
        assert alpha2 is not None
        (found,), _ = complete("country", alpha2.lower(), 1)
        assert (found.known.value, found.alias) == (alpha3, alpha2)
        states, _ = complete("state", "", MOST, alpha3)
        for state in states:
            (found,), _ = complete("state", state.known.value.partition("-")[2], 1, alpha3)
            assert found.known == state.known


@pytest.mark.promise("values.field")
def test_every_field_with_a_vocabulary_can_be_completed_by_each_of_its_names() -> None:
    named = (FieldKind.TERM, FieldKind.LACKS, FieldKind.CHANGE)
    terms = [asked for asked in ASKED.values() if asked.ask.kind in named]
    for asked in terms:
        for name in (asked.name, asked.ask.directive, *(filter_.name for filter_ in asked.ask.filters)):
            assert COMPLETABLE[name] == (asked.name, asked.ask.vocabulary)
    assert {one.field for one in COMPLETABLE.values()} == {asked.name for asked in terms}


BEGUN = st.one_of(
    st.text(max_size=64),
    st.sampled_from(["", "s", "san", "new y", "us-", "GA", "北", "-", "...", "ſ", "ﷺ" * 64, "İ"]),
    st.builds(
        lambda name, end: name[:end], st.sampled_from([city.name for city in VOCABULARY.cities()]), st.integers(1, 12)
    ),
)


@given(st.sampled_from(KINDS), BEGUN, st.integers(1, MOST), st.sampled_from([None, "USA", "MCO", "ATA"]))
def test_any_text_is_answered(kind: Kind, text: str, limit: int, country: str | None) -> None:
    country = country if kind in ("state", "city") else None
    found, more = complete(kind, text, limit, country)
    assert len(found) <= limit
    assert not more or len(found) == limit
    assert len({one.known for one in found}) == len(found)
    assert {one.known.country for one in found} <= {country} or country is None
    longer, _ = complete(kind, text, MOST, country)
    assert longer[: len(found)] == found
    assert not more or len(longer) > len(found) or limit == MOST
