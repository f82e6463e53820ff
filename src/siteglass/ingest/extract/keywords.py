"""At most 20 terms that a page is about: words and pairs of words, by where they occur and how often.

Each place gives a term points once: title 6, meta keywords 5, first heading 5, description 3, other headings 2.
Occurrences in the main text give 1, 2, 3 ... points for 1, 2, 4 ... times. A pair of neighbours counts half as much
again and replaces words that hardly occur without it. Words of grammar and of navigation in the larger languages are
left out. Scripts without blanks between words (Chinese, Japanese, Thai ...) are not taken apart: there, only meta
keywords and the short parts of the title are terms.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import pairwise

from siteglass.ingest.extract.stop_words import STOP_WORDS
from siteglass.ingest.extract.texts import Texts

MAX_KEYWORDS = 20
MAX_TERM_CHARS = 50
_MAX_TEXT_CHARS = 4_000
_MAX_STATED = 15
_MIN_POINTS = 3.0
_PAIR_FACTOR = 1.5

_WORD = re.compile(r"[^\W\d_][\w&'’+#-]*[\w+#]", re.UNICODE)
_PHRASE_END = re.compile(r"[.,;:!?()|/\"“”„«»•·–—\n]+| - ")
_STATED_END = re.compile(r"[,;|\n、，；]+")
# Han, kana, Thai, Lao, Myanmar, Khmer.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_MAX_UNSPACED_CHARS = 12


def keywords(texts: Texts, stated: str) -> tuple[str, ...]:
    """Terms, the strongest first; `stated` is the content of the meta tag of that name."""
    points: dict[str, float] = defaultdict(float)
    pairs: dict[str, tuple[str, str]] = {}
    for term in _stated_terms(stated):
        points[term] += 5
    others = " | ".join(texts.headings)
    for text, worth in ((texts.title, 6), (texts.heading, 5), (texts.description, 3), (others, 2)):
        _count(text, points, pairs, worth)
    _count_text(texts.main[:_MAX_TEXT_CHARS], points, pairs)
    for pair, (first, second) in pairs.items():
        points[pair] *= _PAIR_FACTOR
        for word in (first, second):
            if points[word] < points[pair]:
                points[word] *= 0.4
    kept = [term for term, worth in points.items() if worth >= _MIN_POINTS]
    return tuple(sorted(kept, key=lambda term: (-points[term], term))[:MAX_KEYWORDS])


def _stated_terms(stated: str) -> list[str]:
    found = [" ".join(term.lower().split()) for term in _STATED_END.split(stated[:2_000])]
    usable = [term for term in found if 2 <= len(term) <= MAX_TERM_CHARS and term not in STOP_WORDS]
    return list(dict.fromkeys(usable))[:_MAX_STATED]


def _count(text: str, points: dict[str, float], pairs: dict[str, tuple[str, str]], worth: int) -> None:
    """Points for every term of a short text, once each."""
    terms: set[str] = set()
    for phrase in _PHRASE_END.split(text.lower()):
        if _UNSPACED.search(phrase):
            whole = phrase.strip()
            if 2 <= len(whole) <= _MAX_UNSPACED_CHARS:
                terms.add(whole)
            continue
        words = _WORD.findall(phrase)
        terms.update(filter(_is_term, words))
        for first, second in pairwise(words):
            if first != second and _is_term(first) and _is_term(second):
                pairs.setdefault(f"{first} {second}", (first, second))
                terms.add(f"{first} {second}")
    for term in terms:
        points[term] += worth


def _count_text(text: str, points: dict[str, float], pairs: dict[str, tuple[str, str]]) -> None:
    words = _WORD.findall(text.lower())
    for word, times in Counter(words).items():
        if (times > 1 or word in points) and _is_term(word):
            points[word] += times.bit_length()
    for (first, second), times in Counter(pairwise(words)).items():
        pair = f"{first} {second}"
        if (times > 2 or pair in points) and first != second and _is_term(first) and _is_term(second):
            pairs.setdefault(pair, (first, second))
            points[pair] += times.bit_length()


def _is_term(word: str) -> bool:
    return 3 <= len(word) <= 30 and word not in STOP_WORDS and (word.isascii() or not _UNSPACED.search(word))
