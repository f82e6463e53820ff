"""The stages in their order: words to a sentence that was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date

from siteglass.query.criteria import Condition
from siteglass.query.natural.accounting import account
from siteglass.query.natural.agreement import Decided, agree, without
from siteglass.query.natural.alternatives import read_alternatives
from siteglass.query.natural.amounts import read_numbers
from siteglass.query.natural.changes import read_changes, refuse_changes
from siteglass.query.natural.choice import choose
from siteglass.query.natural.corrections import take_back
from siteglass.query.natural.dates import read_dates
from siteglass.query.natural.keywords import read_keywords
from siteglass.query.natural.kinds import Role
from siteglass.query.natural.leftovers import attach_helpers, refuse_foreign, refuse_orders, refuse_rest
from siteglass.query.natural.letters import LETTER, find_letter
from siteglass.query.natural.lexicon import Lexicon, Matches, Sense, in_language, lexicon
from siteglass.query.natural.literals import Literal, take_literals
from siteglass.query.natural.pairs import join_pairs
from siteglass.query.natural.places import read_places
from siteglass.query.natural.required import find_required, read_required
from siteglass.query.natural.scope import deny
from siteglass.query.natural.segments import Reading, Segment, segment
from siteglass.query.natural.sentence import Sentence, Steps
from siteglass.query.natural.text import (
    Token,
    in_quotes,
    quietened,
    tokenise,
    with_and,
    with_for,
    with_per,
    with_shared_heads,
    without_abbreviating_stops,
)
from siteglass.query.natural.things import read_agencies, read_languages, read_law_firms, read_things
from siteglass.query.natural.tools import read_tools, read_types
from siteglass.query.natural.trades import languages_of_nouns, read_trades
from siteglass.query.natural.typos import corrected
from siteglass.query.natural.vague import read_vague
from siteglass.query.natural.wishes import refuse_topics, refuse_wishes

# Nouns after which a "4" is "for".
_NOUNS = (Role.GENERIC, Role.SHOP_WORD, Role.SITE_WORD)


@dataclass(frozen=True, slots=True)
class Words:
    """A sentence in words, misspelt ones put right, with the phrases that begin at each and the literal directives."""

    tokens: Sequence[Token]
    found: Sequence[Matches]
    decided: Decided
    literals: Sequence[Literal]
    language: str
    required: Mapping[int, str]
    """Where a required word begins -> its phrase."""
    letter: frozenset[int]
    """Where the words begin that greet somebody or sign."""


def split(query: str, require: Sequence[str] = ()) -> Words:
    """The words of a sentence; phrases to require keep no other meaning."""
    words = lexicon()
    text, literals = take_literals(query)
    tokens = without_abbreviating_stops(quietened(tokenise(text)), words.sets.abbreviations)
    tokens = with_and(tokens, lambda word: words.role(word, Role.PLACE_PREPOSITION) is not None)
    tokens = with_for(tokens, lambda word: not words.roles(word).isdisjoint(_NOUNS))
    tokens = with_per(tokens, lambda word: words.role(word, Role.UNIT) is not None)
    tokens = with_shared_heads(tokens, words.sets.directions)
    quoted, required = in_quotes(tokens, text), find_required(tokens, require)
    letter = find_letter(tokens, words) - quoted.keys() - required.keys()
    literal = quoted.keys() | required.keys() | letter
    tokens = [replace(token, quoted=at in literal) for at, token in enumerate(tokens)] if literal else tokens
    body = [token for at, token in enumerate(tokens) if at not in letter]
    language = words.language(body, languages_of_nouns(body))
    apart = required.keys() | letter
    found = _matches(tokens, quoted, apart, words, language)
    right = corrected(tokens, found, words, language, literal)
    if right != tokens:
        found = _matches(right, quoted, apart, words, language)
    decided = agree(right, found, words)
    signed = frozenset(right[at].start for at in letter)
    if decided:
        rest = [token for token in without(right, decided) if token.start not in signed]
        language = words.language(rest, languages_of_nouns(rest))
    starts = {right[at].start: phrase for at, phrase in required.items()}
    return Words(right, found, decided, literals, language, starts, signed)


def _matches(
    tokens: Sequence[Token], quoted: Mapping[int, int], apart: Set[int], words: Lexicon, language: str
) -> list[Matches]:
    """The phrases that begin at each word. Words in quotes are one phrase, if it is known, or else bare words; those
    that are apart are in no phrase."""
    found = []
    for at in range(len(tokens)):
        some = [
            (length, senses) for length, every in words.matches(tokens, at) if (senses := in_language(every, language))
        ]
        if at in quoted:
            some = [match for match in some if at + match[0] == quoted[at] and (at == 0 or at - 1 not in quoted)]
        if apart:
            some = [match for match in some if not any(i in apart for i in range(at, at + match[0]))]
        found.append(some)
    return found


def read(words: Words, today: date, steps: Steps, forced: Mapping[int, Sense] | None = None) -> Sentence:
    """What the words mean; `forced` are senses of the words that begin at some offsets. Raises QueryError if it takes
    more steps than are left."""
    known = lexicon()
    parts = segment(words.tokens, words.found, known, words.decided)
    sentence = Sentence(parts, known, today, words.language, steps)
    if words.letter:
        sentence.refuse([part for part in parts if part.tokens[0].start in words.letter], LETTER, settled=True)
    for literal in words.literals:
        part = Segment([literal.token])
        if literal.problem:
            sentence.refuse([part], literal.problem)
        else:
            only = literal.clauses[0] if len(literal.clauses) == 1 else None
            directive = only.ask.directive if isinstance(only, Condition) else ""
            sentence.note(Reading(literal.clauses, [part], "directive", directive=directive))
    read_required(sentence, words.required)
    join_pairs(parts, sentence.sets.unless)
    choose(sentence, forced or {})
    take_back(sentence)
    refuse_topics(sentence)
    read_changes(sentence)
    refuse_wishes(sentence)
    read_alternatives(sentence, _read_branch)
    refuse_changes(sentence)
    refuse_orders(sentence)
    _read_conditions(sentence)
    refuse_foreign(sentence)
    read_keywords(sentence)
    refuse_rest(sentence)
    attach_helpers(sentence)
    account(sentence)
    return sentence


def _read_branch(sentence: Sentence) -> None:
    """The stages that make the conditions of one branch of alternatives."""
    read_changes(sentence)
    _read_conditions(sentence)


def _read_conditions(sentence: Sentence) -> None:
    """The stages that make conditions, of a whole sentence or of one branch of alternatives."""
    read_dates(sentence)
    read_numbers(sentence)
    deny(sentence)
    read_law_firms(sentence)
    read_agencies(sentence)
    read_trades(sentence)
    read_vague(sentence)
    read_things(sentence)
    read_languages(sentence)
    read_places(sentence)
    read_tools(sentence)
    read_types(sentence)
