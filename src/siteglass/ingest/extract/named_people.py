"""Which addresses of a page are those of people whom the page names: "a.weber@" where it says "Anna Weber"."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec.structs import replace

from siteglass.corpus.address_kinds import is_given_name, kind_of
from siteglass.corpus.role import is_role_word
from siteglass.ingest.extract.gazetteer import cities_named
from siteglass.ingest.extract.name_words import is_page_word
from siteglass.ingest.extract.page import Page
from siteglass.ingest.facts import NAMED, ContactSighting
from siteglass.query.folding import compact, fold
from siteglass.query.trades import trades

MAX_NAMES = 2_000
MAX_TEXT_CHARS = 60_000
MIN_NAME_CHARS = 3

_PART = r"[^\W\d_a-zа-яёіїєґα-ω][\w'’]{1,40}(?:-[^\W\d_]\w{1,40})?"
# "Anna Weber", "Anna M. Weber", "Jan van den Berg"; "Weber, Anna" is found, too. A space only: names end with lines.
_NAMES = re.compile(
    rf"(?<![\w@.-])({_PART}),? (?:[^\W\d_]\. )?"
    rf"((?:(?:van|von|de|da|do|del|di|den|der|af|av|el|al|la|zu|ten|ter) ){{0,2}}{_PART})"
)
# Addresses are in Latin letters, whatever the page is written in. Of several usual ways one that most people share.
_TO_LATIN = {
    "а": "a", "б": "b", "в": "v", "г": "g", "ґ": "g", "д": "d", "е": "e", "є": "e", "ж": "zh", "з": "z", "и": "i",
    "і": "i", "к": "k", "л": "l", "м": "m", "н": "n", "о": "o", "п": "p", "р": "r", "с": "s", "т": "t", "у": "u",
    "ф": "f", "х": "kh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "shch", "ъ": "a", "ы": "y", "ь": "", "э": "e",
    "ю": "yu", "я": "ya", "α": "a", "β": "v", "γ": "g", "δ": "d", "ε": "e", "ζ": "z", "η": "i", "θ": "th", "ι": "i",
    "κ": "k", "λ": "l", "μ": "m", "ν": "n", "ξ": "x", "ο": "o", "π": "p", "ρ": "r", "σ": "s", "ς": "s", "τ": "t",
    "υ": "y", "φ": "f", "χ": "ch", "ψ": "ps", "ω": "o",
}  # fmt: skip
_GREEK_PAIRS = (("αυ", "av"), ("ευ", "ev"), ("ου", "ou"), ("μπ", "b"), ("ντ", "nt"))
_latin = str.maketrans(_TO_LATIN)
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})


def with_people(page: Page, emails: Sequence[ContactSighting]) -> tuple[ContactSighting, ...]:
    """The addresses, those of people whom the page names with the label for it."""
    wanted = {_local(one.value) for one in emails if _may_be_of_person(one.value)}
    if not wanted:
        return tuple(emails)
    text = " . ".join(page.lines)[:MAX_TEXT_CHARS]
    # A page that writes a word without a capital, too, means no name by it: "Private Dining", "valves".
    words = set(text.split())
    named: set[str] = set()
    for first, last in _pairs(text):
        fitting = wanted.intersection(_forms(first, last)) - named
        if fitting and _is_name(first, last, words):
            named |= fitting
    return tuple([replace(one, label=NAMED) if _local(one.value) in named else one for one in emails])


def _may_be_of_person(address: str) -> bool:
    """The name of a family may be that of its business, too."""
    kind = kind_of(address)
    return not kind.is_generic or kind.reason == "business_name"


def _local(address: str) -> str:
    return compact(address.partition("@")[0].rstrip("0123456789"))


def _pairs(text: str) -> Iterable[tuple[str, str]]:
    """Pairs of words that may be a first and a last name, each once."""
    pairs: dict[tuple[str, str], None] = {}
    start = 0
    while len(pairs) < MAX_NAMES and (match := _NAMES.search(text, start)):
        pairs.setdefault((match[1], match[2]))
        start = match.start(2)  # "Dr Anna Weber": the second word may be the first of the next pair
    return pairs


def _is_name(first: str, last: str, words: Collection[str]) -> bool:
    if any(map(_is_common, (first, *last.split()))) or cities_named(f"{first} {last}"):
        return False
    return is_given_name(compact(first)) or not any(word.lower() in words for word in (first, last))


def _is_common(word: str) -> bool:
    key = fold(word)
    return is_role_word(key) or (is_page_word(key) and len(key) > MIN_NAME_CHARS) or bool(trades().meanings(key))


def _forms(first: str, last: str) -> Iterator[str]:
    """How addresses write a name: anna.weber, weber.anna, a.weber, annaw, anna, weber."""
    for spelled_first, spelled_last in {(_latin_of(first), _latin_of(last)), (_german(first), _german(last))}:
        for one, other in ((spelled_first, spelled_last), (spelled_last, spelled_first)):
            if len(one) < 2 or len(other) < 2:
                continue
            yield one + other
            yield one[0] + other
            yield other + one[0]
            # "Audco Valves": a last name alone needs a first name that is one.
            if len(one) >= MIN_NAME_CHARS and (one == spelled_first or is_given_name(spelled_first)):
                yield one
            if "-" in first and one == spelled_first:
                yield "".join(part[:1] for part in spelled_first.split("-")) + other


def _latin_of(name: str) -> str:
    folded = fold(name)
    if not folded.isascii():
        for letters, sound in _GREEK_PAIRS:
            folded = folded.replace(letters, sound)
    return compact(folded.translate(_latin))


def _german(name: str) -> str:
    return compact(fold(name.lower().translate(_UMLAUTS)))
