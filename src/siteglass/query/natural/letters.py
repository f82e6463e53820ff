"""Pasted messages: who is greeted, and who signs. Neither says anything of the leads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from siteglass.query.natural.kinds import ENTITIES, Role, TokenKind
from siteglass.query.natural.lexicon import Lexicon
from siteglass.query.natural.text import Token
from siteglass.query.trades import trades

LETTER = "not used, because it greets somebody or signs a message"
# A phrase that opens or closes a letter has at most so many words, and a name that is greeted at most so many.
_MOST_WORDS = 4
# So many words in small letters may be a name.
_SHORT_NAME = 2
_ENDS = frozenset(",.;:!?\n|–—-()")
# A name after one of these, and nothing else before the end, signs a message.
_BEFORE_NAMES = frozenset("\n–—-")
_SMALL = frozenset((Role.FUNCTION, Role.AND, Role.OR))
_SAYING = frozenset((Role.NEGATION, Role.EXCEPTION, Role.REQUESTS, Role.USING, Role.OFFERING, Role.BUT, Role.SPENDING))


def find_letter(tokens: Sequence[Token], lexicon: Lexicon) -> frozenset[int]:
    """The numbers of the words that greet somebody or sign."""
    begins = [at for at in range(len(tokens)) if at == 0 or tokens[at - 1].key in _ENDS]
    greeted = next((some for at in begins[:_MOST_WORDS] if (some := _greeting(tokens, at, lexicon))), range(0))
    signs = (at for at in begins if at > greeted.stop and _signs(tokens, at, lexicon))
    return frozenset(greeted) | frozenset(range(next(signs, len(tokens)), len(tokens)))


def _phrase(tokens: Sequence[Token], at: int, phrases: frozenset[str]) -> int:
    """How many words the longest of some phrases has that begins at a word."""
    keys = [token.key for token in tokens[at : at + _MOST_WORDS]]
    return next((length for length in range(len(keys), 0, -1) if " ".join(keys[:length]) in phrases), 0)


def _greeting(tokens: Sequence[Token], at: int, lexicon: Lexicon) -> range:
    """ "Hi Sarah,", "Dear support team," and "hey Siri find me"."""
    start = at + _phrase(tokens, at, lexicon.sets.openings)
    words = list(takewhile(lambda token: token.key not in _ENDS, tokens[start:]))
    if start == at or not words:
        return range(0)
    if len(words) <= _MOST_WORDS and start + len(words) < len(tokens):
        known = any(_is_known(tokens, i, lexicon) for i in range(start, start + len(words)))
        return range(0) if known else range(at, start + len(words))
    asks = len(words) > 1 and (words[1].key in lexicon.sets.wanting or Role.REQUESTS in lexicon.roles(words[1].key))
    return range(at, start + 1) if asks and words[0].capital and not _is_known(tokens, start, lexicon) else range(0)


def _is_known(tokens: Sequence[Token], at: int, lexicon: Lexicon) -> bool:
    """Whether a word names something that leads are or have: "hi, dentists in Texas"."""
    roles = lexicon.roles(tokens[at].key)
    if not _SMALL.isdisjoint(roles):
        return False
    senses = (sense for _, some in lexicon.matches(tokens, at) for sense in some)
    if trades().find(tokens[at].text):
        return True
    return not _SAYING.isdisjoint(roles) or any(sense.kind in ENTITIES for sense in senses)


def _signs(tokens: Sequence[Token], at: int, lexicon: Lexicon) -> bool:
    """Whether the rest is a signature: a phrase that closes a letter or a name on a new line, then only names."""
    length = _phrase(tokens, at, lexicon.sets.closings)
    if not length:
        named = tokens[at].capital and tokens[at].key in lexicon.sets.first_names
        if not named or tokens[at - 1].key not in _BEFORE_NAMES or _is_known(tokens, at, lexicon):
            return False
    words = [token for token in tokens[at + length :] if token.kind != TokenKind.SIGN]
    if not words or any(_says_something(tokens, i, lexicon) for i in range(at + length, len(tokens))):
        return False
    small = [token for token in words if not token.capital and token.kind == TokenKind.WORD]
    if len(words) <= _SHORT_NAME and all(_is_name(token, lexicon) for token in small):
        return True
    return all(Role.FUNCTION in lexicon.roles(token.key) for token in small)


def _says_something(tokens: Sequence[Token], at: int, lexicon: Lexicon) -> bool:
    """Whether a word asks for something or says what leads have; a word in the middle of a name does not."""
    token = tokens[at]
    if token.kind in (TokenKind.WITH, TokenKind.WITHOUT, TokenKind.OPERATOR):
        return True
    named = token.capital and tokens[at - 1].key not in _ENDS
    return not named and (token.key in lexicon.sets.wanting or not _SAYING.isdisjoint(lexicon.roles(token.key)))


def _is_name(token: Token, lexicon: Lexicon) -> bool:
    return token.key in lexicon.sets.first_names or not lexicon.is_word(token.key)
