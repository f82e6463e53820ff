"""The name in a domain: how a text writes it, and how much a name resembles it."""

from __future__ import annotations

import re
from collections import Counter
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
# One base letter for each accented one, so that places in a text stay the same.
_BASES = str.maketrans(
    "àáâãäåăąçćčďđèéêëęěğìíîïıłñńňòóôõöøőřśšşșßťțţùúûüůűýÿźžż’",
    "aaaaaaaacccddeeeeeegiiiiilnnnooooooorsssssttt" + "uuuuuuyyzzz'",
)
_AS_TWO = {"ä": "e", "æ": "e", "ö": "e", "ø": "e", "ü": "e", "ß": "s", "å": "a"}
"""Letters that domains write as two, with the second one."""
_BETWEEN = frozenset(" .'&-")
MAX_BETWEEN = 3


def decoded(label: str) -> str:
    """The first part of a domain as people read it."""
    try:
        return idna.decode(label) if label.startswith("xn--") else label
    except idna.IDNAError:
        return label


def of_label(label: str) -> str:
    """A name made of a domain alone: the last resort."""
    return " ".join([word[:1].upper() + word[1:] for word in re.split(r"[-_]+", decoded(label)) if word]) or label


def forms_in(label: str, text: str) -> list[str]:
    """The name in a domain as a text writes it, with blanks and capitals, the commonest first: "Arbors at Sweetgrass"
    for arborsatsweetgrass.com."""
    wanted = compact(decoded(label))
    if len(wanted) < MIN_LABEL_CHARS:
        return []
    if len(text) > MAX_LOOKED_AT:
        text = f"{text[: MAX_LOOKED_AT // 2]} | {text[-MAX_LOOKED_AT // 2 :]}"
    lowered = text.lower()
    if len(lowered) != len(text):
        return []  # a letter that is two in lower case: places would not be the same
    bare = lowered if lowered.isascii() else lowered.translate(_BASES)
    seconds = {wanted[1], wanted[2], *_BETWEEN}  # "Ökohaus" of oekohaus
    counts: Counter[str] = Counter()
    start = bare.find(wanted[0])
    while start >= 0:
        # Most letters that are equal to the first are followed by another one.
        begins = bare[start + 1 : start + 2] in seconds and _is_edge(text, start - 1, -1)
        end = _end_of(wanted, bare, lowered, start) if begins else -1
        if end > 0 and _is_edge(text, end, 1):
            first = start - 4 if text[max(0, start - 4) : start] == "The " else start
            counts[" ".join(text[first:end].split())] += 1
            start = end
        start = bare.find(wanted[0], start + 1)
    written = [name for name, _ in counts.most_common() if name != name.lower() and " - " not in name]
    return written[:MAX_FORMS]


def _is_edge(text: str, place: int, step: int) -> bool:
    """Whether a name may end before a place: not within a word, an address of the web, or one of mail."""
    here, after = text[place : place + 1] if place >= 0 else "", text[place + 1 : place + 2]
    if step > 0 and here == ".":
        return not after.isalnum()
    return not (here.isalnum() or (here and here in "@/_.-" and step < 0) or (here and here in "@/_"))


def _end_of(wanted: str, bare: str, lowered: str, start: int) -> int:
    """Where the letters of a name end that start at a place of a text, with few marks between them; -1 if they are not
    there."""
    place, found, between = start, 0, 0
    while found < len(wanted) and place < len(bare):
        if bare[place] == wanted[found]:
            place, found, between = place + 1, found + 1, 0
        elif _AS_TWO.get(lowered[place - 1]) == wanted[found] and not between:
            found += 1
        elif bare[place] == "&" and wanted.startswith(("and", "und"), found):
            place, found, between = place + 1, found + 3, 0
        elif bare[place] in _BETWEEN and between < MAX_BETWEEN:
            place, between = place + 1, between + 1
        else:
            return -1
    return place if found >= len(wanted) else -1


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
