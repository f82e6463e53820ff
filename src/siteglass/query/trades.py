"""What a company is: the trades the service knows, in eight languages, and the words that name them.
Read once from the packaged file; no other I/O."""

import gzip
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import files
from types import MappingProxyType
from typing import Any, NamedTuple

import orjson

from siteglass.query.folding import compact
from siteglass.query.nearest import TEXT_LENGTH_MAX

__all__ = ["Trade", "Trades", "trades"]


_NOTHING: Mapping[str, str] = MappingProxyType({})


class Trade(NamedTuple):
    id: str
    parent: str  # the id of the wider trade; "" if there is none
    schema_org: str  # the type of schema.org that says the same; "" if there is none


class Trades:
    """Words are looked up by `compact` key, with their plurals and compounds: "Roofing Companies" is `roofer`."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.version: str = content["version"]
        self.languages: tuple[str, ...] = tuple(content["languages"])
        self._trades = {row[0]: Trade(row[0], row[1], row[2]) for row in content["trades"]}
        self._names: dict[str, list[str]] = {row[0]: row[3] for row in content["trades"]}
        self._packed: dict[str, list[str]] = content["forms"]
        self._packed_services: dict[str, list[str]] = content["services"]
        self._children: dict[str, list[str]] = {}
        for one in self._trades.values():
            self._children.setdefault(one.parent, []).append(one.id)

    def ids(self) -> tuple[str, ...]:
        """Every trade, the widest first."""
        return tuple(self._trades)

    def trade(self, trade: str) -> Trade:
        """KeyError if there is no such trade."""
        return self._trades[trade]

    def name(self, trade: str, language: str = "en") -> str:
        """As it is shown; in English for a language that is not in `languages`. KeyError if there is no such trade."""
        position = self.languages.index(language) if language in self.languages else 0
        return self._names[trade][position]

    def names(self, trade: str) -> Sequence[str]:
        """Its name in each of `languages`. KeyError if there is no such trade."""
        return self._names[trade]

    def parents(self, trade: str) -> tuple[str, ...]:
        """The wider trades, the nearest first. KeyError if there is no such trade."""
        parent = self._trades[trade].parent
        return (parent, *self.parents(parent)) if parent else ()

    def top(self, trade: str) -> str:
        """The widest trade that it belongs to. KeyError if there is no such trade."""
        return (trade, *self.parents(trade))[-1]

    def children(self, trade: str) -> tuple[str, ...]:
        """The trades directly below."""
        return tuple(self._children.get(trade, ()))

    def included(self, trade: str) -> tuple[str, ...]:
        """The trade and all below it: who searches for one means them too. KeyError if there is no such trade."""
        below = [other for child in self._children.get(trade, ()) for other in self.included(child)]
        return (self._trades[trade].id, *below)

    def of_schema_org(self, kind: str) -> str | None:
        """The trade that a type of schema.org names, such as "RoofingContractor"."""
        return self._by_schema_org.get(kind)

    def find(self, text: str, language: str | None = None) -> tuple[str, ...]:
        """The trades that the whole text names: at most one in a language. Without a language all are asked, and a
        word that means different trades in different languages gives them all, in the order of `languages`."""
        meanings = self.meanings(text)
        if language is None:
            return tuple(dict.fromkeys(meanings.values()))
        return (meanings[language],) if language in meanings else ()

    def meanings(self, text: str) -> dict[str, str]:
        """Language -> the trade that the whole text names in it, in the order of `languages`."""
        return self._meanings(compact(text[:TEXT_LENGTH_MAX]))

    def _meanings(self, key: str) -> dict[str, str]:
        return {language: trade for language, forms in self._forms.items() if (trade := forms.get(key))}

    def begins_form(self, text: str) -> bool:
        """Whether a form of any language begins with the text."""
        return self.meanings_if_begun(text) is not None

    def meanings_if_begun(self, text: str) -> Mapping[str, str] | None:
        """What the whole text means, as `meanings` has it; None if no form of any language begins with it."""
        key = compact(text[:TEXT_LENGTH_MAX])
        near = bisect_left(self._sorted_forms, key)
        form = self._sorted_forms[near] if near < len(self._sorted_forms) else ""
        if form == key:
            return self._meanings(key)
        return _NOTHING if form.startswith(key) and form else None

    def forms(self, language: str) -> Mapping[str, str]:
        """Every form of a language as a `compact` key, with its trade: for texts that have many words to look up.
        KeyError if there is no such language."""
        return self._forms[language]

    def services(self, language: str) -> dict[str, list[str]]:
        """Words for what businesses do and sell as `compact` keys, each with the trades that use it: "root canal".
        KeyError if there is no such language."""
        found: dict[str, list[str]] = {}
        for trade, keys in zip(self._trades, self._packed_services[language], strict=True):
            for key in keys.split():
                found.setdefault(key, []).append(trade)
        return found

    @cached_property
    def _forms(self) -> Mapping[str, Mapping[str, str]]:
        """Language -> key -> trade."""
        tables: dict[str, Mapping[str, str]] = {}
        for language, packed in self._packed.items():
            table: dict[str, str] = {}
            for trade, keys in zip(self._trades, packed, strict=True):
                table.update(dict.fromkeys(keys.split(), trade))
            tables[language] = MappingProxyType(table)
        return MappingProxyType(tables)

    @cached_property
    def _sorted_forms(self) -> Sequence[str]:
        """The forms of all languages, in order."""
        return sorted({form for forms in self._forms.values() for form in forms})

    @cached_property
    def by_name(self) -> Mapping[str, str]:
        """Key of an id or a name -> trade, English first: of two trades that share a name the first language decides.
        Unlike `find`, it knows names that are too ordinary for a sentence, such as "Technology"."""
        found = {compact(trade): trade for trade in self._trades}
        for position in range(len(self.languages)):
            for trade, names in self._names.items():
                found.setdefault(compact(names[position]), trade)
        return MappingProxyType(found)

    @cached_property
    def _by_schema_org(self) -> Mapping[str, str]:
        return MappingProxyType({one.schema_org: one.id for one in self._trades.values() if one.schema_org})


@cache
def trades() -> Trades:
    """The trades that are shipped; read at the first call."""
    packed = files("siteglass.query").joinpath("trades.json.gz").read_bytes()
    return Trades(orjson.loads(gzip.decompress(packed)))
