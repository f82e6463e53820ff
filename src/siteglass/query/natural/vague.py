"""Words that are vague, and the one meaning each is given."""

from __future__ import annotations

from typing import NamedTuple

from siteglass.query.natural.keywords import is_left
from siteglass.query.natural.segments import Reading
from siteglass.query.natural.sentence import Sentence


class VagueMeaning(NamedTuple):
    """The condition that a vague word is taken for."""

    directive: str
    value: str
    negated: bool = False


VAGUE = {
    "slow": VagueMeaning("load_time", ">3000"),
    "very_slow": VagueMeaning("load_time", ">5000"),
    "fast": VagueMeaning("load_time", "<1500"),
    "poor_seo": VagueMeaning("score", "<50"),
    "good_seo": VagueMeaning("score", ">70"),
    "excellent_seo": VagueMeaning("score", ">80"),
    "heavy_spender": VagueMeaning("spends", ">10000"),
    "low_spender": VagueMeaning("spends", "<1000"),
    "runs_ads": VagueMeaning("spends", ">0"),
    "no_ads": VagueMeaning("spends", ">0", negated=True),
    "recent": VagueMeaning("updated_within", "30d"),
    "this_week": VagueMeaning("updated_within", "7d"),
    "this_year": VagueMeaning("updated_after", "{year}-01-01"),
}
_NO_SITES = frozenset(("requests", "instructions"))
_SPEEDS = frozenset(("slow", "fast"))
# Said in so many words: nothing is assumed.
_PLAIN = frozenset(("runs_ads", "no_ads", "this_week", "this_year"))


def read_vague(sentence: Sentence) -> None:
    """Write what vague words mean."""
    for at, part in enumerate(sentence.parts):
        if part.used or part.kind not in VAGUE or _describes_other(sentence, at):
            continue
        if part.kind == "runs_ads" and (amount := _amount_spent(sentence)):
            part.used = True
            part.readings.append(amount)  # "with an ad budget of at least $2k" says it once
            continue
        directive, value, negated = VAGUE[part.kind]
        value, negated = value.format(year=sentence.today.year), negated != part.negated
        taken_as = f"{part.text!r} is taken as {'!' * negated}@{directive}({value})"
        assumption = "" if part.kind in _PLAIN else taken_as
        sentence.say(directive, [value], [part], "vague word", negated=negated, assumption=assumption)


def _describes_other(sentence: Sentence, at: int) -> bool:
    """ "a quick recap", "fast reply": not a word about sites."""
    after = sentence.after(at)
    return sentence.parts[at].kind in _SPEEDS and after is not None and (is_left(after) or after.kind in _NO_SITES)


def _amount_spent(sentence: Sentence) -> Reading | None:
    spent = (reading for reading in sentence.readings if reading.directive == "spends")
    return next((reading for reading in spent if not any(clause.negated for clause in reading.clauses)), None)
