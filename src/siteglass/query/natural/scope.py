"""How far a denial reaches; and what the language of directives cannot say."""

from __future__ import annotations

from siteglass.query.natural.segments import ENTITIES, Segment
from siteglass.query.natural.sentence import Sentence, family
from siteglass.query.natural.vague import VAGUE

_THINGS = ("flag", "contact", "page")


def deny(sentence: Sentence) -> None:
    """Mark what is denied."""
    denial: Segment | None = None
    covered: str | None = None
    joined = False
    for at, part in enumerate(sentence.parts):
        if part.used:
            if part.readings and covered is not None:
                denial = None  # another condition stands between
            continue
        if part.has("double_negation"):
            denial, covered, joined = part, None, False
        elif part.has("negation_after", "exception_after") and _denies_before(sentence, at):
            continue
        elif part.has("negation", "exception") and part.kind not in ENTITIES:
            if _denies_before(sentence, at):
                continue
            if denial and covered is None and _twice(sentence, denial, part):
                part.denied_by, part.doubled = denial, True  # "exclude sites lacking a phone", "lack neither A nor B"
            elif denial and denial.doubled and part.key in sentence.sets["nor"]:
                part.denied_by, part.doubled = denial, True
            denial, covered, joined = part, None, False
        elif part.key in (":", "(") and denial and covered is None:
            continue  # "must not have: TikTok"
        elif part.has("break", "but"):
            denial = None
        elif part.has("and", "or", "comma"):
            joined = True
        elif _deniable(part):
            if denial and (covered is None or (joined and _goes_on(sentence, at, covered))):
                _mark(part, denial)
                covered = family(part)
            else:
                denial = None
            joined = False
        elif denial and covered is None and part.kind in ("judgement", "counting", "instructions"):
            _mark(part, denial)
            denial = None
        elif part.kind == "unknown" and not part.senses:
            if denial and covered is None:
                _mark(part, denial)
                after = sentence.after(at)
                if after is None or after.kind != "unknown":
                    denial = None
            joined = False
        elif (
            covered is not None
            and part.has("using", "offering", "place_preposition", "spending", "generic")
            and not part.has("function")
            and not (joined and part.has("place_preposition"))
            and not _list_goes_on(sentence, at)
        ):
            denial = None


def _twice(sentence: Sentence, first: Segment, second: Segment) -> bool:
    """Whether two denials in a row take each other back."""
    lacking = sentence.sets["lacking"]
    if first.key in lacking:
        return second.key in sentence.sets["neither"]
    return first.has("exception") or (second.key in lacking and first.key not in lacking)


def _list_goes_on(sentence: Sentence, at: int) -> bool:
    """ "aren't manufacturing companies or consultants"."""
    after = sentence.after(at)
    return sentence.parts[at].has("generic") and after is not None and after.has("and", "or", "comma")


def _deniable(part: Segment) -> bool:
    return part.kind in ENTITIES or part.kind in VAGUE or part.kind.startswith((*_THINGS, "path", "mailbox"))


def _goes_on(sentence: Sentence, at: int, covered: str) -> bool:
    """Whether a denial reaches the next member of a list: behind a comma alone only if it is of the same kind."""
    part = sentence.parts[at]
    if family(part) != covered:
        return False
    before = sentence.beside(at, -1)
    only_comma = before is not None and sentence.joint(sentence.parts.index(before), at) == "comma"
    return not only_comma or before is None or before.kind == part.kind or _ends_with_or(sentence, at)


def _ends_with_or(sentence: Sentence, at: int) -> bool:
    following = sentence.beside(at, 1)
    return following is not None and sentence.joint(at, sentence.parts.index(following)) in ("or", "and")


def _mark(part: Segment, denial: Segment) -> None:
    part.doubled = denial.doubled or denial.has("double_negation")
    part.negated = not part.doubled
    part.denied_by = denial


def _denies_before(sentence: Sentence, at: int) -> bool:
    """ "Klaviyo no": a denial behind what it denies."""
    after = sentence.after(at)
    if after is not None and not after.has("comma", "break", "and", "but"):
        return False
    part = sentence.parts[at]
    if not part.has("negation_after", "exception_after") and part.key not in sentence.sets["denials_behind"]:
        return False
    covered = ""
    for before in reversed(sentence.parts[:at]):
        thing = before.kind in ENTITIES or before.kind.startswith(_THINGS)
        if thing and not before.used and covered in ("", family(before)):
            before.negated, before.denied_by, covered = True, part, family(before)
        elif not before.has("and", "or") or (covered and before.has("comma")):
            break  # behind a comma alone another thing is said
    return covered != ""


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
    if not same and not _denied(sentence, left):
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


# Between an "or" and what it joins.
_BETWEEN = (
    "function", "using", "using_after", "place_preposition", "language_marker", "spending", "greater", "at_least",
    "less", "at_most", "negation", "crawled", "between", "around", "offering", "score", "load_time",
)  # fmt: skip


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


EITHER = "a search cannot ask for one of two different things; search for each"
