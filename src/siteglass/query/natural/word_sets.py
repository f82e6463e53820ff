"""Short lists of words that single rules turn on. scripts/language/sets.toml and speech.toml have the words, and say of
each list what it is for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class WordSets:
    """Every list as a set of keys."""

    abbreviations: frozenset[str]
    directions: frozenset[str]
    us_states_first: frozenset[str]
    uk_nations: frozenset[str]
    state_words: frozenset[str]
    states_named: frozenset[str]
    weak_markers: frozenset[str]
    language_prepositions: frozenset[str]
    english_nouns: frozenset[str]
    shop_adjectives: frozenset[str]
    word_codes: frozenset[str]
    initialisms: frozenset[str]
    word_places: frozenset[str]
    asking: frozenset[str]
    persons: frozenset[str]
    of_leads: frozenset[str]
    wanting: frozenset[str]
    sources: frozenset[str]
    own: frozenset[str]
    askers: frozenset[str]
    for_what: frozenset[str]
    purposes: frozenset[str]
    of: frozenset[str]
    inside_nouns: frozenset[str]
    noun_links: frozenset[str]
    about: frozenset[str]
    business_nouns: frozenset[str]
    yesterday: frozenset[str]
    before: frozenset[str]
    ago: frozenset[str]
    within: frozenset[str]
    range_joints: frozenset[str]
    between_joints: frozenset[str]
    counted: frozenset[str]
    other_money: frozenset[str]
    results: frozenset[str]
    denials_behind: frozenset[str]
    lacking: frozenset[str]
    only: frozenset[str]
    relative: frozenset[str]
    group_openers: frozenset[str]
    one_of: frozenset[str]
    obliging: frozenset[str]
    articles: frozenset[str]
    affirming: frozenset[str]
    insisting: frozenset[str]
    bare_denials: frozenset[str]
    nor: frozenset[str]
    neither: frozenset[str]
    together: frozenset[str]
    unless: frozenset[str]
    address_words: frozenset[str]
    small_words: frozenset[str]
    carry_meaning: frozenset[str]
    wishes: frozenset[str]
    naming: frozenset[str]
    taking: frozenset[str]
    people: frozenset[str]
    doubtful_codes: frozenset[str]
    counted_only: frozenset[str]
    openings: frozenset[str]
    closings: frozenset[str]
    others_asking: frozenset[str]
    topics: frozenset[str]
    topics_alone: frozenset[str]
    unlikely: frozenset[str]
    switch_from: frozenset[str]
    switch_to: frozenset[str]
    verbs: frozenset[str]
    participles: frozenset[str]
    chat: frozenset[str]
    first_names: frozenset[str]
    country_beside: Mapping[str, frozenset[str]]
    """By name."""
    placing: Mapping[str, frozenset[str]]
    """By language."""
    for_whom: Mapping[str, frozenset[str]]
    """By language."""


def word_sets(content: Mapping[str, Any]) -> WordSets:
    """The sets of the compiled tables. TypeError if their names are not those of the fields."""
    return WordSets(**{name: _words(some) for name, some in content.items()})


def _words(some: Any) -> Any:
    """A list as a set; of a table of lists a set for each."""
    return {name: _words(words) for name, words in some.items()} if isinstance(some, dict) else frozenset(some)
