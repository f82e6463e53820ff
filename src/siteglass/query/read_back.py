"""A search as one English sentence, so that a person can check what is searched for.

    Agencies in London, GB that use WordPress and have a LinkedIn page
    ^subject ^place             ^phrases of the conditions

Each row of the catalogue has the wording of its condition (`Ask.says`); this module joins the phrases. The same
criteria always give the same sentence. Its length is limited: of a long list it has the first values, and counts the
others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from siteglass.query.criteria import AnyOf, Branch, Change, Condition, Criteria, Value
from siteglass.query.field import Kind
from siteglass.query.value_names import technology_name, value_name, window_name, with_article
from siteglass.query.vocabulary import vocabulary

MAX_CHARS = 1_500

_Item = TypeVar("_Item")

_SUBJECT = "are {}"
_NARROW_TO_WIDE = ("city", "state", "country", "subregion", "region")
_JOINING = re.compile(r" (?:or|and|nor) ")
_TAKES_NOT = re.compile(r"are |were |have (?:added|dropped) ")
_LIST = re.compile(rf", |{_JOINING.pattern}")
# A long list of countries that lacks so many of a group is named by the group: "the EU except France".
_MAX_MISSING = 3


class _Limits(NamedTuple):
    """How much of a search the sentence shows."""

    values: int
    value_chars: int
    conditions: int
    branches: int


# The first limits whose sentence is short enough are used. The last ones always are.
_LIMITS = (_Limits(5, 60, 12, 6), _Limits(3, 40, 8, 4), _Limits(1, 24, 4, 2))


def read_back(criteria: Criteria) -> str:
    """The search as a sentence of at most `MAX_CHARS` characters."""
    sentences = (_Writer(limits).sentence(criteria) for limits in _LIMITS)
    return next(sentence for sentence in sentences if len(sentence) <= MAX_CHARS)


@dataclass
class _Phrase:
    """What conditions with the same wording say: "use {}" of Shopify and Klaviyo."""

    template: str
    names: list[str]
    joined_by: str
    negated: bool = False


class _Writer:
    """Writes sentences within some limits."""

    def __init__(self, limits: _Limits) -> None:
        self._limits = limits

    def sentence(self, criteria: Criteria) -> str:
        clauses, hidden_count = _first(criteria.conditions, self._limits.conditions)
        groups = [clause for clause in clauses if isinstance(clause, AnyOf)]
        plain = [clause for clause in clauses if isinstance(clause, Condition)]
        subject = next((one for one in plain if one.ask.says == _SUBJECT and not one.negated), None)
        places, country = _places(plain)
        rest = [one for one in plain if one is not subject and one not in places]
        nouns = "businesses" if subject is None else self._listed(self._names(subject, country), "or")
        that = [self._phrases(rest, country)] if rest else []
        that.extend(self._either(group.branches) for group in groups if not group.negated)
        if hidden_count:
            that.append(f"meet {hidden_count} more conditions")
        excluded = [branch for group in groups if group.negated for branch in group.branches]
        sentence = "".join(
            (
                nouns if clauses else f"all {nouns}",
                f" in {self._place(places, country)}" if places else "",
                f" that {', and that '.join(that)}" if that else "",
                *(f", except those that {self._branch(branch)}" for branch in excluded),
            )
        )
        return sentence[:1].upper() + sentence[1:]

    def _either(self, branches: Sequence[Branch]) -> str:
        """Alternatives; parentheses show where one with several parts begins and ends."""
        shown, hidden_count = _first(branches, self._limits.branches)
        texts = [self._branch(branch) for branch in shown]
        texts = [f"({text})" if _JOINING.search(text) else text for text in texts]
        if hidden_count:
            texts.append(f"meet one of {hidden_count} more alternatives")
        simple = len(texts) == 2 and not any(", " in text for text in texts)
        return f"either {(' or ' if simple else ', or ').join(texts)}"

    def _branch(self, branch: Branch) -> str:
        """Conditions that hold together, without a subject: "use Shopify and are in Austin, US"."""
        conditions, hidden_count = _first(branch, self._limits.conditions)
        places, country = _places(conditions)
        rest = [one for one in conditions if one not in places]
        texts = [f"are in {self._place(places, country)}"] if places else []
        if rest:
            texts.append(self._phrases(rest, country))
        if hidden_count:
            texts.append(f"meet {hidden_count} more conditions")
        return _conjoined(texts)

    def _phrases(self, conditions: Sequence[Condition], country: str | None) -> str:
        """What the conditions say; what they exclude comes last, after "but"."""
        phrases = self._merged(conditions, country)
        wanted = [phrase for phrase in phrases if not phrase.negated]
        excluded = [phrase for phrase in phrases if phrase.negated]
        said, denied = (_conjoined([self._text(phrase) for phrase in some]) for some in (wanted, excluded))
        if not (wanted and excluded):
            return said or denied
        template = wanted[0].template
        if len(wanted) == len(excluded) == 1 and template == excluded[0].template and template.endswith("{}"):
            denied = self._denied_names(excluded[0])  # "use Shopify, but not Klaviyo"
        return f"{said}, but {denied}"

    def _merged(self, conditions: Sequence[Condition], country: str | None) -> list[_Phrase]:
        """A phrase per condition, one for all that exclude with the same wording, and one for all with one value."""
        phrases: list[_Phrase] = []
        shared: dict[tuple[str, bool], _Phrase] = {}
        for condition in conditions:
            template, names = condition.ask.says, self._names(condition, country)
            if condition.ask.kind is Kind.CHANGE:
                template, names = self._changes(condition, names)
            elif condition.ask.kind is Kind.FLAG:
                verb, _, noun = template.partition(" ")
                template, names = f"{verb} {{}}", [noun]
            key = (template, condition.negated)
            if not condition.negated and len(names) > 1:
                phrases.append(_any_of(template, names, lacks=condition.ask.kind is Kind.LACKS))
            elif key in shared and condition.ask.kind is Kind.NUMBER:
                # Criteria have upper bounds first; people say "more than 10 and less than 20".
                shared[key].names[:0] = names
            elif key in shared:
                shared[key].names.extend(names)
            else:
                shared[key] = _Phrase(template, names, "and", condition.negated)
                phrases.append(shared[key])
        return phrases

    def _changes(self, condition: Condition, names: list[str]) -> tuple[str, list[str]]:
        """Technologies that changed in the same time share it: "have added Klaviyo or Drip in the last 30 days"."""
        changes = [value for value in condition.values if isinstance(value, Change)]
        windows = {window_name(change) for change in changes}
        if len(windows) > 1:
            return condition.ask.says, names
        return f"{condition.ask.says} {windows.pop()}", [self._cut(technology_name(change)) for change in changes]

    def _text(self, phrase: _Phrase) -> str:
        template, names = phrase.template, phrase.names
        if phrase.negated and len(names) == 1:
            verb, _, rest = template.partition(" ")
            takes_not = _TAKES_NOT.match(template)
            return f"{verb} not {rest}".format(*names) if takes_not else f"do not {template}".format(*names)
        if phrase.negated:
            return template.format(self._denied_names(phrase))
        return template.format(self._listed(names, phrase.joined_by))

    def _denied_names(self, phrase: _Phrase) -> str:
        names = phrase.names
        match len(names):
            case 1:
                return f"not {names[0]}"
            case 2:
                return f"neither {names[0]} nor {names[1]}"
            case _:
                return f"none of {self._listed(names, 'and')}"

    def _place(self, conditions: Sequence[Condition], country: str | None) -> str:
        """Places from the narrowest to the widest: "Austin, Texas, US", or "Austin or Dallas, in the United States"."""
        texts = [self._listed(self._names(one, country), "or") for one in conditions]
        if country:
            end = next(at for at, one in enumerate(conditions) if one.field == "country")
            start = end
            while start and len(conditions[start - 1].values) == 1:
                start -= 1
            if start < end:
                code = vocabulary().country_alpha2(country) or country
                texts[start : end + 1] = [", ".join([*texts[start:end], code])]
        return ", in ".join(texts)

    def _names(self, condition: Condition, country: str | None) -> list[str]:
        if condition.field == "country" and len(condition.values) > self._limits.values + 1:
            group = _group_name({str(value) for value in condition.values})
            if group:
                return [group]
        return [self._name(condition, value, country) for value in condition.values]

    def _name(self, condition: Condition, value: Value, country: str | None) -> str:
        if isinstance(value, Change):  # a long name is cut, never the time
            return f"{self._cut(technology_name(value))} {window_name(value)}"
        return self._cut(value_name(condition.ask, value, country))

    def _cut(self, name: str) -> str:
        most = self._limits.value_chars
        if len(name) <= most:
            return name
        return f'{name[: most - 2]}…"' if name.endswith('"') else f"{name[: most - 1]}…"

    def _listed(self, names: Sequence[str], word: str) -> str:
        shown, hidden_count = _first(names, self._limits.values)
        return _list([*shown, f"{hidden_count} more"] if hidden_count else shown, word)


def _first(items: Sequence[_Item], most: int) -> tuple[Sequence[_Item], int]:
    """The items to show, and how many are left; a single one is shown, because "1 more" would not be shorter."""
    return (items, 0) if len(items) <= most + 1 else (items[:most], len(items) - most)


def _places(conditions: Sequence[Condition]) -> tuple[list[Condition], str | None]:
    """One place condition per field from the narrowest field to the widest, and the country if there is only one."""
    by_field: dict[str, Condition] = {}
    for condition in conditions:
        if condition.field in _NARROW_TO_WIDE and not condition.negated:
            by_field.setdefault(condition.field, condition)
    countries = by_field["country"].values if "country" in by_field else ()
    return [by_field[name] for name in _NARROW_TO_WIDE if name in by_field], str(countries[0]) if len(
        countries
    ) == 1 else None


def _any_of(template: str, names: list[str], *, lacks: bool) -> _Phrase:
    """Alternatives. "lack CRM or CMS software" could mean both, so what is lacked is "at least one of" them."""
    if lacks:
        return _Phrase(template.format("at least one of {}"), names, "and")
    return _Phrase(template, names, "or")


def _group_name(countries: set[str]) -> str | None:
    """The everyday name of a group of countries, with those that are missing: "the EU except France"."""
    for group, members in vocabulary().groups().items():
        missing = sorted(set(members) - countries)
        if countries <= set(members) and len(missing) <= _MAX_MISSING:
            names = [with_article(vocabulary().country_name(country)) for country in missing]
            return f"{with_article(group)} except {_list(names, 'and')}" if names else with_article(group)
    return None


def _list(names: Sequence[str], word: str) -> str:
    """ "A", "A or B", "A, B or C"."""
    *before, last = names
    return f"{', '.join(before)} {word} {last}" if before else last


def _conjoined(phrases: Sequence[str]) -> str:
    """Phrases that all hold. A comma before "and" keeps it apart from the "or" and "and" inside a phrase."""
    if len(phrases) == 2 and not any(map(_LIST.search, phrases)):
        return " and ".join(phrases)
    *before, last = phrases or [""]
    return f"{', '.join(before)}, and {last}" if before else last
