"""A sentence as words with their places: the first stage. Numbers, paths and signs are separate words."""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from dataclasses import dataclass, replace

from siteglass.query.folding import fold
from siteglass.query.natural.kinds import TokenKind

# In this order: what a later pattern would tear apart comes first.
_TOKEN = re.compile(
    r"""
    (?P<path>(?<![\w/<€£$+])/[A-Za-z0-9][\w/-]*?(?=-(?:Seiten?|Unterseiten?|pages?)\b|[^\w/-]|$))
  | (?P<without>\bw/o\b|\bw/out\b|(?<![\w/])s/(?=\s))
  | (?P<with>\bw/|(?<![\w/])c/(?=\s))
  | (?P<mailbox>\b[A-Za-z]+@(?!\w))
  | (?P<date>\s?\b\d{4}-\d{2}-\d{2}\b)
  | (?P<number>(?:(?:\b(?:US|R|A|C|AU|CA|NZ|HK|MX))?[$]|[€£])?\s?(?:\d{1,3}(?:[ '’]\d{3})+(?!\d)|\d+(?:[.,]\d+)*)
      \s?(?:(?:k|m|mm|mio|tsd|mil|grand|lakh)(?!\w))?(?=(?:ms|s|secs?|d)\b|\W|$)\+?(?:\s?[€£$](?!\d))?)
  | (?P<operator>>=|<=|[<>=≥≤])
  | (?P<word>[^\W_]+(?:['’.][^\W_]+)*)
  | (?P<sign>[,;:.!?()+&/|\n"–—~-])
    """,
    re.VERBOSE | re.IGNORECASE,
)


_KINDS: dict[str | None, TokenKind] = {kind.value: kind for kind in TokenKind}
# A blank before them belongs to the pattern.
_SPACED = (TokenKind.NUMBER, TokenKind.DATE)
_LEANING_SIGNS = ("-", "!")
# Looked up once: on Python 3.11 the member of an enum costs more than the rest of such a test.
_WORD = TokenKind.WORD
# From so many words on a sentence in capitals is shouted; fewer may be names.
SHOUTED_WORDS = 4
# French and Italian articles and particles that lean on the next word.
_ELIDED = re.compile(r"(?:l|d|n|s|c|j|qu|dell|all|nell|dall|sull|un)'(?=\w{2})")


@dataclass(frozen=True, slots=True)
class Token:
    """A word: where it is, how it was written, and how it is looked up."""

    start: int
    end: int
    text: str
    key: str
    kind: TokenKind
    corrected: bool = False
    quoted: bool = False
    """Meant to the letter."""
    hyphen: bool = False
    """Joined to the next word by a hyphen."""

    @property
    def capital(self) -> bool:
        return self.text[:1].isupper()


def _excludes(text: str, start: int, end: int) -> bool:
    """ "Shopify -Klaviyo", "saas;!Shopify": a sign that leans on the next word only."""
    return (start == 0 or text[start - 1] in " ;,|(\n\t") and text[end : end + 1].isalpha()


def _inside_word(text: str, start: int, end: int, before: list[Token]) -> bool:
    """Whether a hyphen parts a word ("meta-data"), or stands for its missing half ("Shopware- und Magento-Shops")."""
    after = text[end : end + 1]
    leans = (
        bool(before)
        and before[-1].end == start
        and before[-1].kind in (TokenKind.WORD, TokenKind.MAILBOX, TokenKind.PATH)
    )
    return leans and ((after.isalnum() and not after.isdigit()) or after == " ")


def tokenise(text: str) -> list[Token]:
    """All words and signs of a sentence, in order. A hyphen inside a word only parts it."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind, word = _KINDS[match.lastgroup], match[0]
        start, end = match.span()
        if kind in _SPACED:
            start += len(word) - len(word.lstrip())
            word = word.strip()
            end = start + len(word)
        elif kind == _WORD and word.endswith(("'s", "’s", "'S", "’S")):
            word = word[:-2]
        elif word in _LEANING_SIGNS and _excludes(text, start, end):
            kind = TokenKind.WITHOUT
        elif word == "-" and _inside_word(text, start, end, found):
            found[-1] = replace(found[-1], hyphen=True)
            continue
        key = fold(word).replace("’", "'") or word  # a new line
        elided = _ELIDED.match(key) if kind == _WORD else None
        if elided:
            cut = elided.end()
            found.append(Token(start, start + cut, word[:cut], key[:cut], TokenKind.ELIDED))
            start, word, key = start + cut, word[cut:], key[cut:]
        found.append(Token(start, end, word, key, kind))
    return found


_QUOTED = re.compile(r'"([^"\n]{2,60})"|“([^”\n]{2,60})”|«([^»\n]{2,60})»')


def in_quotes(tokens: list[Token], text: str) -> dict[int, int]:
    """Number of each word in quotes -> number of the first word after these quotes."""
    found: dict[int, int] = {}
    for match in _QUOTED.finditer(text):
        start, end = match.span(match.lastindex or 0)
        inside = [at for at, token in enumerate(tokens) if start <= token.start and token.end <= end]
        found |= dict.fromkeys(inside, inside[-1] + 1 if inside else 0)
    return found


def quietened(tokens: list[Token]) -> list[Token]:
    """A sentence in capitals as if it were in small letters: there capitals say nothing."""
    words = [token for token in tokens if token.kind == _WORD and len(token.text) > 1]
    if len(words) < SHOUTED_WORDS or not all(token.text.isupper() for token in words):
        return tokens
    return [replace(token, text=token.text.lower()) for token in tokens]


def key_of(phrase: str) -> str:
    """How a phrase is looked up. A particle at its end that leans on the next word keeps its apostrophe."""
    key = " ".join([token.key for token in tokenise(phrase)])
    return f"{key}'" if phrase.endswith(("'", "’")) else key


_NUMBERING = ("no", "nr")


def without_abbreviating_stops(tokens: list[Token], abbreviations: Container[str]) -> list[Token]:
    """ "excl. Austin", "max. 5k": the full stop of an abbreviation ends no sentence, unless the text ends with it."""
    made: list[Token] = []
    for at, token in enumerate(tokens):
        before, after = made[-1] if made else None, tokens[at + 1] if at + 1 < len(tokens) else None
        if token.text != "." or before is None or after is None or before.end != token.start:
            made.append(token)
        elif before.key in _NUMBERING and after.text.isdigit():
            made[-1] = replace(before, key="number")  # "no. 1 in Austin" denies nothing
        elif before.key in abbreviations:
            # "ex." excludes; without its stop it is a part of other words: "ex-military".
            made[-1] = replace(before, key="excl") if before.key == "ex" else before
        else:
            made.append(token)
    return made


def with_and(tokens: list[Token], prepositions: Callable[[str], bool]) -> list[Token]:
    """ "uk n ireland": an "n" between two words is "and", but after a preposition it is north."""
    joined = {
        at
        for at, token in enumerate(tokens)
        if token.text == "n" and 0 < at < len(tokens) - 1
        if tokens[at - 1].kind == tokens[at + 1].kind == TokenKind.WORD and not prepositions(tokens[at - 1].key)
    }
    return [replace(token, key="and") if at in joined else token for at, token in enumerate(tokens)]


def with_for(tokens: list[Token], nouns: Callable[[str], bool]) -> list[Token]:
    """ "stores 4 kayaks", "leads 4 my bro": a "4" after such a noun is "for"."""
    made = list(tokens)
    for at in range(1, len(tokens) - 1):
        if tokens[at].text == "4" and tokens[at + 1].kind == TokenKind.WORD and nouns(tokens[at - 1].key):
            made[at] = replace(tokens[at], key="for", kind=TokenKind.WORD)
    return made


def with_per(tokens: list[Token], units: Callable[[str], bool]) -> list[Token]:
    """ "20k/month on ads": a slash between a number and a time is "per"."""
    made = list(tokens)
    for at in range(1, len(tokens) - 1):
        if tokens[at].text == "/" and tokens[at - 1].kind == TokenKind.NUMBER and units(tokens[at + 1].key):
            made[at] = replace(tokens[at], key="per", kind=TokenKind.WORD, hyphen=True)  # Italian, too
    return made


def with_shared_heads(tokens: list[Token], directions: Container[str]) -> list[Token]:
    """ "North and South Carolina" said in full: the shared word comes twice, with the place where it was written."""
    made: list[Token] = []
    for at, token in enumerate(tokens):
        made.append(token)
        if token.key in directions and at + 3 < len(tokens):
            joint, direction, head = tokens[at + 1 : at + 4]
            if joint.key in ("and", "or", "&") and direction.key in directions and head.kind == TokenKind.WORD:
                made.append(head)
    return made
