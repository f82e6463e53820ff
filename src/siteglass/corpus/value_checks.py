"""Values of leads against the vocabulary. Other names are replaced by the value that searches use. What a search could
never find is taken out and reported.

A column has few different values, so each is looked up once for a batch, not once for a lead. The catalogue says which
vocabularies are closed. A value outside an open one is kept: it can be searched literally.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from siteglass.corpus.lead_files import LEAD_SCHEMA, column_values
from siteglass.corpus.rejects import Rejects
from siteglass.query.fields import ASKED
from siteglass.query.vocabulary import Kind, vocabulary

_REMEMBERED = 50_000
_CHECKED = ("language", "country", "city", "technologies", "service_type", "categories_uses", "offers", "trades")


class CheckedValue(NamedTuple):
    """The value as searches know it, or None with the reason and the most similar value."""

    value: str | None
    reason: str = ""
    nearest: str | None = None


def checks_version() -> str:
    """Changes with the vocabulary: what was checked by another version is checked again."""
    return vocabulary().version


def check_values(leads: pa.Table, places: Sequence[int], rejects: Rejects) -> pa.Table:
    """The leads with canonical values, and without unknown ones, which go to `rejects`; `places` are lines or rows."""
    domains = column_values(leads, "domain")
    for field in _CHECKED:
        if field not in leads.schema.names:
            continue
        column = leads.column(field)
        check = _check_of(field)
        checked = {text: check(text) for text in _distinct(column) if text}
        if all(text == one.value for text, one in checked.items()):
            continue
        texts = column_values(leads, field)
        _report(field, texts, checked, domains, places, rejects)
        replaced = [_replaced(text, checked) for text in texts]
        leads = _with_column(leads, field, replaced)
        if field == "trades" and "trade_sources" in leads.schema.names:
            leads = _with_column(leads, "trade_sources", _sources(leads, checked))
    return _check_states(leads, places, rejects) if "state" in leads.schema.names else leads


def _check_of(field: str) -> Callable[[str], CheckedValue]:
    ask = ASKED[field].ask
    if ask.vocabulary is None:
        raise TypeError(f"{field} has no vocabulary")
    kind, closed = ask.vocabulary, ask.closed
    return lambda text: _check_term(kind, text, closed=closed)


@lru_cache(_REMEMBERED)
def _check_term(kind: Kind, text: str, *, closed: bool) -> CheckedValue:
    meanings = vocabulary().resolve(kind, text)
    if len(meanings) == 1:
        return CheckedValue(meanings[0])
    if text in meanings or not closed:
        return CheckedValue(text)
    if meanings:
        return CheckedValue(None, f"means several: {', '.join(meanings)}", meanings[0])
    return CheckedValue(None, f"not a known {kind.replace('_', ' ')}", vocabulary().nearest(kind, text))


def _check_states(leads: pa.Table, places: Sequence[int], rejects: Rejects) -> pa.Table:
    """A state is checked with its country, which has been checked before."""
    states = column_values(leads, "state")
    is_placed = "country" in leads.schema.names
    countries = column_values(leads, "country") if is_placed else [""] * len(states)
    pairs: list[tuple[str, str]] = list(zip(countries, states, strict=True))
    checked = {pair: _check_state(*pair) for pair in set(pairs) if pair[1]}
    if all(state == one.value for (_, state), one in checked.items()):
        return leads
    domains = column_values(leads, "domain")
    for row, pair in enumerate(pairs):
        if pair in checked and (one := checked[pair]).value is None:
            rejects.add(places[row], domains[row], "state", pair[1], one.reason, one.nearest)
    return _with_column(leads, "state", [(checked[pair].value or "") if pair[1] else "" for pair in pairs])


@lru_cache(_REMEMBERED)
def _check_state(country: str, text: str) -> CheckedValue:
    words = vocabulary()
    own = words.states_of(country)
    if country and text in own:
        return CheckedValue(text)
    alpha2 = words.country_alpha2(country) if country else None
    codes = {
        code or prefix
        for prefix, _, code in (meaning.partition("-") for meaning in words.resolve("state", text))
        if not country or (prefix == alpha2 if code else prefix in own)
    }
    if len(codes) == 1:
        return CheckedValue(codes.pop())
    near = words.nearest("state", text)
    if codes and country:
        # Spain has a province and a community of Madrid.
        return CheckedValue(None, f"means several states of {country}: {', '.join(sorted(codes))}", sorted(codes)[0])
    if codes:
        return CheckedValue(None, "a state of several countries; give the country", near)
    if country:
        near = near if near and near.startswith(f"{alpha2}-") else None
        return CheckedValue(None, f"not a known state of {country}", near)
    return CheckedValue(None, "not a known state", near)


def _distinct(column: pa.ChunkedArray[Any]) -> list[str]:
    values: Any = pc.list_flatten(column) if pa.types.is_list(column.type) else column
    distinct: list[str] = values.unique().to_pylist()
    return distinct


def _report(
    field: str,
    texts: Iterable[str | list[str] | None],
    checked: dict[str, CheckedValue],
    domains: Sequence[str],
    places: Sequence[int],
    rejects: Rejects,
) -> None:
    unknown = {text for text, one in checked.items() if one.value is None}
    if not unknown:
        return
    for row, given in enumerate(texts):
        for text in (given,) if isinstance(given, str) else given or ():
            if text in unknown:
                one = checked[text]
                rejects.add(places[row], domains[row], field, text, one.reason, one.nearest)


def _replaced(given: str | list[str] | None, checked: dict[str, CheckedValue]) -> str | list[str] | None:
    if given is None or given == "":
        return given
    if isinstance(given, str):
        return checked[given].value or ""
    values = (checked[text].value for text in given if text)
    return list(dict.fromkeys(value for value in values if value))


def _sources(leads: pa.Table, checked: dict[str, CheckedValue]) -> list[list[tuple[str, str]]]:
    """Where trades were read, by the trades as they are called now."""
    renamed = [
        {checked[trade].value: source for trade, source in given if trade in checked}
        for given in column_values(leads, "trade_sources")
    ]
    return [[(trade, source) for trade, source in given.items() if trade] for given in renamed]


def _with_column(leads: pa.Table, name: str, values: Sequence[Any]) -> pa.Table:
    field = LEAD_SCHEMA.field(name)
    return leads.set_column(leads.schema.get_field_index(name), field, pa.array(values, field.type))
