"""Words that are vague, and the one meaning each is given."""

from __future__ import annotations

from siteglass.query.natural.keywords import is_left
from siteglass.query.natural.segments import Reading
from siteglass.query.natural.sentence import Sentence

VAGUE = {
    "slow": "@load_time(>3000)", "very_slow": "@load_time(>5000)", "fast": "@load_time(<1500)",
    "poor_seo": "@score(<50)", "good_seo": "@score(>70)", "excellent_seo": "@score(>80)",
    "heavy_spender": "@spends(>10000)", "low_spender": "@spends(<1000)", "runs_ads": "@spends(>0)",
    "no_ads": "!@spends(>0)", "recent": "@updated_within(30d)", "this_week": "@updated_within(7d)",
    "this_year": "@updated_after({year}-01-01)",
}  # fmt: skip
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
        line = VAGUE[part.kind].format(year=sentence.today.year)
        if part.negated:
            line = line[1:] if line.startswith("!") else f"!{line}"
        assumption = "" if part.kind in _PLAIN else f"{part.text!r} is taken as {line}"
        sentence.say(line, [part], "vague word", assumption=assumption)


def _describes_other(sentence: Sentence, at: int) -> bool:
    """ "a quick recap", "fast reply": not a word about sites."""
    after = sentence.after(at)
    return sentence.parts[at].kind in _SPEEDS and after is not None and (is_left(after) or after.kind in _NO_SITES)


def _amount_spent(sentence: Sentence) -> Reading | None:
    return next((reading for reading in sentence.readings if reading.line.startswith("@spends(")), None)
