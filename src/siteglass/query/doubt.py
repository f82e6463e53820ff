"""What makes the reading of a search doubtful. Everybody who warns, stops or refuses asks here: `strict`, the headers
of responses, `needs_review` for programs that buy, and the pages of the dashboard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from siteglass.query.body import Meaning
from siteglass.query.filters import describe_clause
from siteglass.query.natural import LOW_CONFIDENCE, Interpretation
from siteglass.query.natural.interpretation import TOO_LARGE, Note, Span, Understood
from siteglass.query.notes import find_notes

# Below it, whoever buys is asked first.
REVIEW_CONFIDENCE = 0.5
NO_CONDITION = (
    "it contains no condition, so it would match all leads. Describe the leads you want, send a filter, or omit "
    "`query` to search all leads. Nothing was charged"
)
_MAX_SAID_CHARS = 64

DoubtKind = Literal["unused", "corrected", "condition", "unsure", "empty"]


@dataclass(frozen=True, slots=True)
class Doubt:
    """One thing to know before trusting a search, with the words that it is about."""

    kind: DoubtKind
    message: str
    words: tuple[Span, ...] = ()
    to: str = ""
    """What a misspelt word was taken for."""
    excludes: bool = False
    """Whether the words exclude something, which the search therefore does not."""

    @property
    def said(self) -> str:
        """The words that it is about."""
        return " ".join(span.text for span in self.words)


def find_doubts(meaning: Meaning) -> list[Doubt]:
    """All doubts about a search, in the order of its words."""
    on_conditions = [Doubt("condition", note.message) for note in find_notes(meaning.said)]
    sentence = meaning.sentence
    if sentence is None:
        return on_conditions
    on_words = [
        *(
            Doubt("unused", note.message, note.words, excludes=note.excludes)
            for note in unused_notes(meaning)
            if not note.settled
        ),
        *(Doubt("corrected", f"read as {one.to!r}", (one.word,), one.to) for one in sentence.corrections),
        *(Doubt("unsure", note.message, note.words, excludes=note.excludes) for note in sentence.doubted),
        *_unsure(sentence),
    ]
    found = [*sorted(on_words, key=lambda one: one.words[0].start if one.words else 0), *on_conditions]
    if not found and not meaning.criteria.conditions:
        return [Doubt("empty", NO_CONDITION)]
    return found


def needs_review(meaning: Meaning) -> bool:
    """Whether somebody should look at the reading before it is paid for: something said to be left out may be in it."""
    return confidence_of(meaning) < REVIEW_CONFIDENCE or any(doubt.excludes for doubt in find_doubts(meaning))


def confidence_of(meaning: Meaning) -> float:
    """How sure the whole reading is; not at all, if a sentence says nothing to search for."""
    if meaning.sentence is None:
        return 1.0
    if not meaning.criteria.conditions:
        return 0.0
    return meaning.sentence.confidence


def unused_notes(meaning: Meaning) -> list[Note]:
    """Words that are not searched: what no search says, what a filter replaces, and what is too much for a search."""
    if meaning.sentence is None:
        return []
    read = meaning.sentence.understood
    replaced = {
        read[said].words: TOO_LARGE if given is None else f"{describe_clause(given)} is given, and replaces this"
        for said, given in meaning.unused.items()
    }
    return [
        *meaning.sentence.unsupported,
        *(Note(words, message) for words, message in replaced.items()),
    ]


def _unsure(sentence: Interpretation) -> list[Doubt]:
    """The least certain condition, with its assumptions, if the whole is not certain enough."""
    if sentence.confidence >= LOW_CONFIDENCE or sentence.doubted or not sentence.conditions:
        return []
    unsure = min(sentence.conditions, key=lambda one: one.confidence)
    why = "".join(f" ({note.message})" for note in sentence.assumptions if note.words == unsure.words)
    return [Doubt("unsure", f"not sure that this means {unsure.directive}{why}", unsure.words)]


def said_by(told: Doubt | Note | Understood) -> str:
    """The words of a message, quoted and cut."""
    return repr(" ".join(span.text for span in told.words)[:_MAX_SAID_CHARS])
