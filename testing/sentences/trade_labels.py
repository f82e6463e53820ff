"""Labels that were written before trades existed, read as rule 1 of the guideline allows.

Such a label says `@keywords(dentist)`, or `@keywords(furniture)` with `@service_type(Ecommerce)`. A trade is accepted
in their place if the words of the sentence that name it are the words of the label. What the label's keyword says
besides ("vegan" of "vegan bakery") must still be a keyword.
"""

from __future__ import annotations

import re

from siteglass.query.folding import fold
from siteglass.query.natural.kinds import Role
from siteglass.query.natural.lexicon import lexicon
from siteglass.query.trades import trades
from siteglass.query.vocabulary import vocabulary
from testing.sentences.meaning import Atom, stem

_WORD = re.compile(r"[^\W_]+")
_MOST_WORDS = 6


def with_trades(query: str, wanted: set[Atom], found: set[Atom]) -> set[Atom]:
    """The label with the trades that were found in place of the conditions that say them."""
    if any(atom.field == "trades" for atom in wanted):
        return wanted  # the label knows them
    for atom in sorted(found - wanted):
        if atom.field == "trades":
            wanted = _replaced(query, wanted, found, atom)
    return wanted


def _replaced(query: str, wanted: set[Atom], found: set[Atom], trade: Atom) -> set[Atom]:
    spans = _names(query, trade.values)
    words = {stem(fold(word)) for span in spans for word in span}
    types = {value for span in spans for value in _types(span)}
    kept: set[Atom] = set()
    for atom in wanted:
        if atom.negated != trade.negated:
            kept.add(atom)
        elif atom.field == "service_type" and types & {value.lower() for value in atom.values}:
            rest = frozenset(value for value in atom.values if value.lower() not in types)
            kept |= {atom._replace(values=rest)} if rest else set()
        elif (
            atom.field == "keywords" and (said := {fold(one) for value in atom.values for one in value.split()}) & words
        ):
            rest = frozenset([" ".join(sorted(said - words))])
            kept |= {atom._replace(values=rest)} if said - words else set()
        else:
            kept.add(atom)
    return wanted if kept == wanted else kept | {trade}


def _names(query: str, ids: frozenset[str]) -> list[list[str]]:
    """The longest runs of words that name one of the trades."""
    words = [match[0] for match in _WORD.finditer(query)]
    spans: list[list[str]] = []
    at = 0
    while at < len(words):
        lengths = range(min(_MOST_WORDS, len(words) - at), 0, -1)
        length = next((one for one in lengths if ids & set(trades().find(" ".join(words[at : at + one])))), 0)
        if length:
            spans.append(words[at : at + length])
        at += length or 1
    return spans


def _types(span: list[str]) -> set[str]:
    """Kinds of business that words of a name say: "shop" is Ecommerce."""
    if any(lexicon().role(fold(word), Role.SHOP_WORD) for word in span):
        return {"ecommerce"}
    known = vocabulary()
    forms = [form for word in span for form in (word, stem(word))]
    return {type_.lower() for form in forms for type_ in known.resolve("service_type", form)}
