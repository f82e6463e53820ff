"""The name in a domain: how a text writes it, and how much a name resembles it."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import takewhile

import idna

from siteglass.ingest.extract.name_words import without_form
from siteglass.query.folding import compact, fold

MIN_SAME_CHARS = 6
MIN_LABEL_CHARS = 4
MAX_ARTICLE = 3
MIN_WORD_CHARS = 3
MAX_NAME_AND_MORE_CHARS = 40
MAX_FORMS = 2
MAX_LOOKED_AT = 12_000
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "å": "aa", "ø": "oe", "&": "and"})
# How people write what a domain cannot, or leaves out.
_LETTERS = {
    "and": r"(?:and|&|und)", "und": r"(?:und|&)", "ae": "(?:ae|ä|æ)", "oe": "(?:oe|ö|ø)", "ue": "(?:ue|ü)",
    "ss": "(?:ss|ß)", "aa": "(?:aa|å)", "a": "[aàáâãäåăą]", "c": "[cçćč]", "d": "[dďđ]", "e": "[eèéêëęě]",
    "g": "[gğ]", "i": "[iìíîïı]", "l": "[lł]", "n": "[nñńň]", "o": "[oòóôõöøő]", "r": "[rř]", "s": "[sśšşș]",
    "t": "[tťțţ]", "u": "[uùúûüůű]", "y": "[yýÿ]", "z": "[zźžż]",
}  # fmt: skip
_PIECES = re.compile("|".join(sorted(_LETTERS, key=len, reverse=True)) + "|.")


def decoded(label: str) -> str:
    """The first part of a domain as people read it."""
    try:
        return idna.decode(label) if label.startswith("xn--") else label
    except idna.IDNAError:
        return label


def of_label(label: str) -> str:
    """A name made of a domain alone: the last resort."""
    return " ".join([word[:1].upper() + word[1:] for word in re.split(r"[-_]+", decoded(label)) if word]) or label


@lru_cache(maxsize=64)
def _spelling(label: str) -> re.Pattern[str] | None:
    wanted = compact(decoded(label))
    if len(wanted) < MIN_LABEL_CHARS:
        return None
    pieces = [_LETTERS.get(piece, re.escape(piece)) for piece in _PIECES.findall(wanted)]
    body = r"(?:\.?\s?&\s?|['’.-]|\.?\s)?".join(pieces)
    return re.compile(rf"(?<![\w@./-])(?:The )?{body}(?![\w@/-]|\.\w)", re.IGNORECASE)


def forms_in(label: str, text: str) -> list[str]:
    """The name in a domain as a text writes it, with blanks and capitals, the commonest first: "Arbors at Sweetgrass"
    for arborsatsweetgrass.com."""
    pattern = _spelling(label)
    if pattern is None:
        return []
    if len(text) > MAX_LOOKED_AT:
        text = f"{text[: MAX_LOOKED_AT // 2]} | {text[-MAX_LOOKED_AT // 2 :]}"
    counts = Counter(" ".join(found.split()) for found in pattern.findall(text) if found != found.lower())
    return [name for name, _ in counts.most_common(MAX_FORMS)]


def likeness(name: str, label: str) -> int:
    """5: the same letters; 4: the name holds the label; 3: the label holds the name; 2: both start with the same
    letters, or each word of the label begins one of the name; 1: the label is the initials; 0: none of these."""
    own = decoded(label)
    wanted = compact(own)
    bare = without_form(name)
    keys = {compact(text) for one in (name, bare) for text in (one, one.lower().translate(_UMLAUTS))}
    keys |= {key.removeprefix("the") for key in keys}
    if wanted in keys:
        return 5
    for key in keys:
        shorter, longer = sorted((key, wanted), key=len)
        if len(shorter) >= 4 and shorter in longer and len(longer) <= 2.5 * len(shorter):
            return 4 if shorter == wanted else 3
        if len(wanted) >= MIN_SAME_CHARS and key.startswith(wanted) and len(name) <= MAX_NAME_AND_MORE_CHARS:
            return 4
    for key in keys:
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(key, wanted, strict=False)))
        if same >= MIN_SAME_CHARS and 5 * same >= 3 * max(len(key), len(wanted)):
            return 2
    return _by_words(re.findall(r"\w+", bare.lower()), own, wanted) or 3 * _covers(name, wanted)


def _covers(name: str, wanted: str) -> bool:
    """Whether beginnings of words of a name make most of the domain: "Araucária Contabilidade" of contabilaraucaria."""
    rest, words, matched = wanted, [word for word in re.findall(r"\w+", fold(name)) if len(word) >= MIN_WORD_CHARS], 0
    for word in sorted(words, key=len, reverse=True):
        size = next((size for size in range(len(word), MIN_WORD_CHARS - 1, -1) if word[:size] in rest), 0)
        if size:
            rest = rest.replace(word[:size], " ", 1)
            matched += 1
    left = len(rest.replace(" ", ""))
    return 1 < matched >= 0.6 * len(words) and 10 * left <= 3 * len(wanted)


def _by_words(words: list[str], own: str, wanted: str) -> int:
    # "Alfarería La Cantarera" of alfareriacantarera.es
    if len(wanted) >= MIN_SAME_CHARS and compact("".join(word for word in words if len(word) > MAX_ARTICLE)) == wanted:
        return 3
    pieces = own.lower().split("-")
    if len(pieces) > 1 and len(pieces) == len(words) and all(map(str.startswith, words, pieces)):
        return 2
    initials = "".join([word[0] for word in words]).casefold()
    return 1 if len(words) >= 3 and initials == wanted else 0
