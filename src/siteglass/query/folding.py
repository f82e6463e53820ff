"""Spellings that must not matter: letter case, accents, spaces, and, for names of things, punctuation.
The same functions make the keys when the vocabulary is built and when it is asked."""

import re
import unicodedata

# Letters that Unicode does not take apart into a base and a mark, though a reader does.
_LETTERS = {
    "ø": "o",
    "ł": "l",
    "đ": "d",
    "ð": "d",
    "þ": "th",
    "æ": "ae",
    "œ": "oe",
    "\u0131": "i",
    "ħ": "h",
    "ŧ": "t",
    # Apostrophes and hyphens that look like the plain ones.
    "\u2019": "'",
    "\u2018": "'",
    "\u02bc": "'",
    "\u02bb": "'",
    "`": "'",
    "\u00b4": "'",
    "\u2010": "-",
    "\u2011": "-",
    "\u2013": "-",
    "\u2014": "-",
}
LOOSE = str.maketrans({"-": " ", "_": " ", "&": " and ", ".": None, "'": None, ",": " "})
_NOT_COMPACT = re.compile(r"[^\w+#]+|_+")

# Canonical combining classes of marks that are part of the letter: the Japanese voicing mark (8), the
# Indic vowel killer (9). Without them different words would become one.
_KEPT_MARKS = frozenset({0, 8, 9})
_FIRST_MARK = "\u0300"


def fold(text: str) -> str:
    """Case and accents never matter, white space counts once. Idempotent."""
    if not text.isascii():
        # Twice, because folding case can bring new marks to light ("İ" becomes "i" and a dot).
        folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
        # By the few characters that occur, not by each place: pages are long.
        for char in set(folded):
            if char >= _FIRST_MARK and unicodedata.combining(char) not in _KEPT_MARKS:
                folded = folded.replace(char, "")
        text = unicodedata.normalize("NFC", folded)
        for char in _LETTERS.keys() & set(text):
            text = text.replace(char, _LETTERS[char])
    return " ".join(text.casefold().split())


def loose(text: str) -> str:
    """Key of a place or a language: `fold`, and "St. John's" is "st johns", "Baden-Baden" "baden baden"."""
    return " ".join(fold(text).translate(LOOSE).split())


def compact(text: str) -> str:
    """Key of a product, category or business type: `fold` without spaces and punctuation but + and #."""
    return compact_folded(fold(text))


def compact_folded(folded: str) -> str:
    """`compact` of a text that is folded."""
    return folded if folded.isalnum() else _NOT_COMPACT.sub("", folded)
