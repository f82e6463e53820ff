"""Words that are vague, and the one meaning each is given."""

from __future__ import annotations

from typing import NamedTuple

from siteglass.query.natural.keywords import is_left
from siteglass.query.natural.kinds import Role
from siteglass.query.natural.segments import Reading
from siteglass.query.natural.sentence import Sentence


class VagueMeaning(NamedTuple):
    """The condition that a vague word is taken for."""

    directive: str
    value: str
    negated: bool = False


VAGUE = {
    Role.SLOW: VagueMeaning("load_time", ">3000"),
    Role.VERY_SLOW: VagueMeaning("load_time", ">5000"),
    Role.FAST: VagueMeaning("load_time", "<1500"),
    Role.POOR_SEO: VagueMeaning("score", "<50"),
    Role.GOOD_SEO: VagueMeaning("score", ">70"),
    Role.EXCELLENT_SEO: VagueMeaning("score", ">80"),
    Role.HEAVY_SPENDER: VagueMeaning("spends", ">10000"),
    Role.LOW_SPENDER: VagueMeaning("spends", "<1000"),
    Role.RUNS_ADS: VagueMeaning("spends", ">0"),
    Role.NO_ADS: VagueMeaning("spends", ">0", negated=True),
    Role.RECENT: VagueMeaning("updated_within", "30d"),
    Role.THIS_WEEK: VagueMeaning("updated_within", "7d"),
    Role.THIS_YEAR: VagueMeaning("updated_after", "{year}-01-01"),
}
_NO_SITES = frozenset((Role.REQUESTS, Role.INSTRUCTIONS))
_SPEEDS = frozenset((Role.SLOW, Role.FAST))
# Said in so many words: nothing is assumed.
_PLAIN = frozenset((Role.RUNS_ADS, Role.NO_ADS, Role.THIS_WEEK, Role.THIS_YEAR))


def read_vague(sentence: Sentence) -> None:
    """Write what vague words mean."""
    for at, part in enumerate(sentence.parts):
        if part.used or part.kind not in VAGUE or _describes_other(sentence, at):
            continue
        if part.kind == Role.RUNS_ADS and (amount := _amount_spent(sentence)):
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
