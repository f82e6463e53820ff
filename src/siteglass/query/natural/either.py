"""Two different things joined by "or", which no search can ask for: reported, and neither is written."""

from __future__ import annotations

from siteglass.query.natural.segments import ENTITIES, Segment
from siteglass.query.natural.sentence import Sentence, family
from siteglass.query.natural.vague import VAGUE

EITHER = "a search cannot ask for one of two different things; search for each"
# Between an "or" and what it joins.
_BETWEEN = (
    "function", "using", "using_after", "place_preposition", "language_marker", "spending", "greater", "at_least",
    "less", "at_most", "negation", "crawled", "between", "around", "offering", "score", "load_time",
)  # fmt: skip


def refuse_either(sentence: Sentence) -> None:
    """ "either X or Y" of different kinds cannot be said: reported only. Before numbers are read."""
    parts = sentence.parts
    for at, part in enumerate(parts):
        if part.key == "either" or part.key.endswith(" either"):
            end = next((i for i in range(at, len(parts)) if parts[i].has("comma", "break")), len(parts))
            if len({_asked(other) for other in parts[at:end] if _asked(other)}) > 1:
                sentence.refuse(parts[at:end], EITHER)
        elif part.has("or") and not part.used:
            _refuse_or(sentence, at)


def _refuse_or(sentence: Sentence, at: int) -> None:
    """ "on LinkedIn or with an Instagram": two things that stand right before and behind an "or"."""
    left, right = _things(sentence, at, -1), _things(sentence, at, 1)
    if left is None or right is None or sentence.parts[at].key in sentence.sets["nor"]:
        return
    first, second = sentence.parts[left], sentence.parts[right]
    same = _asked(first) == _asked(second) or {_asked(first), _asked(second)} <= {"place", "language"}
    if not same and (not _denied(sentence, left) or _own_verb(sentence, at, right)):
        while left and sentence.parts[left - 1].has("negation", "function"):
            left -= 1  # what denies the first belongs to it
        sentence.refuse([part for part in sentence.parts[left : right + 1] if not part.used], EITHER)


def _asked(part: Segment) -> str:
    """What a condition asks about: two of the same can be alternatives of one line."""
    if part.used:
        return ""
    if part.kind in ("technology", "category"):
        return part.kind
    if part.kind in ENTITIES:
        return {"spoken": "language"}.get(part.kind, family(part))
    if part.kind.startswith(("flag", "contact")):
        return f"{part.kind} {part.values}"
    if part.kind in VAGUE:
        return VAGUE[part.kind].partition("(")[0].lstrip("!@")
    return {"path": "page", "page_whole": "page", "number": "number"}.get(part.kind, "")


def _things(sentence: Sentence, at: int, step: int) -> int | None:
    """The thing that an "or" joins, on one of its sides."""
    i = at + step
    while 0 <= i < len(sentence.parts):
        part = sentence.parts[i]
        if _asked(part):
            return i
        if not part.has(*_BETWEEN) and not (step < 0 and part.has("unit", "spending", "per_month")):
            return None
        i += step
    return None


def _denied(sentence: Sentence, at: int) -> bool:
    """ "without A or B" means neither, which can be said of all but flags."""
    if sentence.parts[at].kind == "flag_nouns" and not any(
        part.key in sentence.sets["neither"] for part in sentence.parts[:at]
    ):
        return False
    for part in reversed(sentence.parts[:at]):
        if part.has("negation", "exception"):
            return True
        if not part.has("function", "and", "or", "comma", "using") and not _asked(part):
            return False
    return False


def _own_verb(sentence: Sentence, at: int, right: int) -> bool:
    """ "not using Shopify or based in Texas": what stands behind the "or" is said by itself."""
    between = [part for part in sentence.parts[at + 1 : right] if not part.has("function")]
    return any(part.has("using", "place_preposition", "offering") for part in between)
