"""Words of a sentence that the caller requires: they become keywords, whatever else they could mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from siteglass.query.natural.kinds import TokenKind
from siteglass.query.natural.sentence import Sentence
from siteglass.query.natural.text import Token, tokenise


def says(query: str, phrase: str) -> bool:
    """Whether a sentence has a phrase, word by word."""
    return bool(find_required(tokenise(query), [phrase]))


def find_required(tokens: Sequence[Token], phrases: Sequence[str]) -> dict[int, str]:
    """Number of each word that belongs to one of the phrases -> the phrase, as its words in small letters."""
    found: dict[int, str] = {}
    for phrase in phrases:
        wanted = tokenise(phrase)
        keys = [token.key for token in wanted]
        text = " ".join(token.text.lower() for token in wanted if token.kind != TokenKind.SIGN)
        for at in range(len(tokens) - len(keys) + 1 if text else 0):
            if [token.key for token in tokens[at : at + len(keys)]] == keys:
                found |= dict.fromkeys(range(at, at + len(keys)), text)
    return found


def read_required(sentence: Sentence, required: Mapping[int, str]) -> None:
    """Write each required phrase; `required` has the phrase by where its words begin."""
    for phrase in dict.fromkeys(required.values()):
        parts = [part for part in sentence.parts if required.get(part.tokens[0].start) == phrase]
        sentence.say("keywords", [phrase], parts, "required")
