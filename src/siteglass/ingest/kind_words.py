"""Kinds of business by the words of a site's name, title and description, in the languages of pages.

The table has beginnings of folded words: "klini" is in Klinik, klinika and klinike. A dot stands for a blank, a low
line for the end of a word. Words of scripts without blanks count anywhere.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple

from siteglass.query.folding import fold

MAX_CHARS = 300
_MAX_WORDS = 4
_SIGNS = str.maketrans(dict.fromkeys("-–—&/.,;:|!?()[]\"“”„«»·•'’", " "))
# Those who a business works for are not what it is: "advice for manufacturers", "Software für Zahnärzte".
_FOR = frozenset(
    ("for", "fur", "pour", "para", "per", "voor", "dla", "pro", "pre", "til", "till", "pentru", "для", "за", "για")
)
_WORDS_BETWEEN = 3
# Hebrew and Arabic, which put articles before words, and what comes after them.
_JOINED_SCRIPTS = ((0x0590, 0x0700), (0x0E00, 0x0E80), (0x2E80, 0xD7B0))


class _Words(NamedTuple):
    by_start: dict[str, list[tuple[str, str]]]
    """Beginnings of words by their first letters."""
    anywhere: list[tuple[str, str]]


@cache
def _words() -> _Words:
    table = files("siteglass.ingest").joinpath("service_type_words.tsv").read_text(encoding="utf-8")
    found = _Words({}, [])
    for line in table.splitlines()[1:]:
        kind, _, words = line.partition("\t")
        for word in words.split():
            phrase = fold(word.replace(".", " ").removesuffix("_")) + ("_" if word.endswith("_") else "")
            if _is_joined(phrase[0]):
                found.anywhere.append((phrase, kind))
            else:
                found.by_start.setdefault(phrase.removesuffix("_")[:4], []).append((phrase, kind))
    return found


def kinds_named(text: str) -> set[str]:
    """The kinds of business that a text names for its own site."""
    text = fold(text[:MAX_CHARS]).translate(_SIGNS)
    known = _words()
    by_start = known.by_start
    kinds: set[str] = set()
    words = text.split()
    for place, word in enumerate(words):
        for start in (word[:4], word[:3], word[:2]):
            if start in by_start:
                rest = " ".join(words[place : place + _MAX_WORDS])
                kinds.update(
                    kind
                    for phrase, kind in by_start[start]
                    if _begins(rest, phrase) and not _is_of_others(words, place)
                )
    if not text.isascii() and any(map(_is_joined, text)):
        kinds.update(kind for phrase, kind in known.anywhere if phrase in text)
    return kinds


def _begins(rest: str, phrase: str) -> bool:
    if not phrase.endswith("_"):
        return rest.startswith(phrase)
    return rest.startswith(phrase[:-1]) and rest[len(phrase) - 1 : len(phrase)] in ("", " ")


def _is_of_others(words: list[str], place: int) -> bool:
    return not _FOR.isdisjoint(words[max(0, place - _WORDS_BETWEEN) : place])


def _is_joined(letter: str) -> bool:
    return any(first <= ord(letter) < last for first, last in _JOINED_SCRIPTS)
