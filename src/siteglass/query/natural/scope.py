"""How far a denial reaches; and what the language of directives cannot say."""

from __future__ import annotations

from siteglass.query.natural.segments import ENTITIES, Segment
from siteglass.query.natural.sentence import Sentence, family
from siteglass.query.natural.vague import VAGUE

_DENIALS_BEHIND = frozenset(("no", "nope", "not", "nein", "non"))
_NEITHER = frozenset(("neither", "weder", "ni", "nem"))
_THINGS = ("flag", "contact", "page")


def deny(sentence: Sentence) -> None:
    """Mark what is denied."""
    denial: Segment | None = None
    covered: str | None = None
    joined = False
    for at, part in enumerate(sentence.parts):
        if part.used:
            continue
        if part.has("double_negation"):
            denial, covered, joined = part, None, False
        elif part.has("negation_after", "exception_after") and _denies_before(sentence, at):
            continue
        elif part.has("negation", "exception") and part.kind not in ENTITIES:
            if _denies_before(sentence, at):
                continue
            denial, covered, joined = part, None, False
        elif part.has("break", "but"):
            denial = None
        elif part.has("and", "or", "comma"):
            joined = True
        elif _deniable(part):
            if denial and (covered is None or (joined and family(part) == covered)):
                _mark(part, denial)
                covered = family(part)
            else:
                denial = None
            joined = False
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
        ):
            denial = None


def _deniable(part: Segment) -> bool:
    return part.kind in ENTITIES or part.kind in VAGUE or part.kind.startswith((*_THINGS, "path"))


def _mark(part: Segment, denial: Segment) -> None:
    part.doubled = denial.has("double_negation")
    part.negated = not part.doubled
    part.denied_by = denial


def _denies_before(sentence: Sentence, at: int) -> bool:
    """ "Klaviyo no": a denial behind what it denies."""
    after = sentence.after(at)
    if after is not None and not after.has("comma", "break", "and", "but"):
        return False
    part = sentence.parts[at]
    if not part.has("negation_after", "exception_after") and part.key not in _DENIALS_BEHIND:
        return False
    covered = ""
    for before in reversed(sentence.parts[:at]):
        thing = before.kind in ENTITIES or before.kind.startswith(_THINGS)
        if thing and not before.used and covered in ("", family(before)):
            before.negated, before.denied_by, covered = True, part, family(before)
        elif not before.has("and", "or", "comma"):
            break
    return covered != ""


def refuse_either(sentence: Sentence) -> None:
    """ "either X or Y" of different kinds, and "no sitemap or robots.txt", cannot be said: reported only."""
    parts = sentence.parts
    for at, part in enumerate(parts):
        if part.key != "either" and not part.key.endswith(" either"):
            continue
        end = next((i for i in range(at, len(parts)) if parts[i].has("comma", "break")), len(parts))
        inside = [other for other in parts[at:end] if _deniable(other) or other.kind == "number"]
        if len({family(one) if one.kind in ENTITIES else f"{one.kind}{one.values}" for one in inside}) > 1:
            sentence.refuse(parts[at:end], EITHER)
    for at in range(len(parts) - 2):
        first, joint, second = parts[at : at + 3]
        if second.has("negation", "function") and at + 3 < len(parts):
            second = parts[at + 3]
        denied = any(part.key in _NEITHER for part in parts[:at])
        if joint.has("or") and first.kind == "flag_nouns" and second.kind == "flag_nouns" and not denied:
            denials = [one.denied_by for one in (first,) if one.denied_by]
            sentence.refuse([*denials, first, joint, second], EITHER)


EITHER = "a search cannot ask for one of two different things; search for each"
