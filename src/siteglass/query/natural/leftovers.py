"""What is left at the end: words to keywords, words that help, words to ignore, words to report."""

from __future__ import annotations

import re

from siteglass.query.natural.segments import ENTITIES, Segment
from siteglass.query.natural.sentence import Reading, Sentence, line

_WORD = re.compile(r"\w")
# Kinds that are reported because no search can do what they ask, and why.
_REFUSED = {
    "sorting": "a sentence cannot ask for an order; send `sort`",
    "distance": "a search knows no distances; the place is taken as it is",
    "counting": "a sentence cannot say how many; send `limit`",
    "judgement": "no field of a lead tells this",
    "instructions": "this is no condition on a lead",
    "social_in_general": "name the network: a search asks for each by itself",
}
# Words that only help the next ones to say something.
_HELPING = frozenset(
    (
        "place_preposition", "using", "offering", "spending", "crawled", "since", "within_last", "language_marker",
        "score", "load_time", "between", "greater", "less", "at_least", "at_most", "equal", "around", "per_month",
    )
)  # fmt: skip
_DENYING = ("negation", "exception", "negation_after", "exception_after", "double_negation")


def read_keywords(sentence: Sentence) -> None:
    """Words that carry meaning and are no known value: one line for each phrase."""
    phrase: list[Segment] = []
    for part in [*sentence.parts, None]:
        if part is not None and _meaningful(part) and not part.negated:
            phrase.append(part)
            continue
        if phrase:
            text = " ".join(one.text.lower() for one in phrase)
            sentence.say(line("keywords", [text]), phrase, "keyword", confidence=0.9)
            phrase = []
        if part is not None and _meaningful(part):
            denial = [part.denied_by] if part.denied_by else []
            sentence.refuse([*denial, part], "no known value, so it cannot be excluded")


def _meaningful(part: Segment) -> bool:
    plain = part.kind == "unknown" and not part.used and all(sense.kind in ENTITIES for sense in part.senses)
    return plain and _WORD.search(part.text) is not None


def refuse_rest(sentence: Sentence) -> None:
    """Report what no search can do, and every denial that denies nothing."""
    reported = {id(part) for refused in sentence.refused for part in refused.parts}
    for part in sentence.parts:
        if part.readings or id(part) in reported:
            continue
        if part.kind in _REFUSED and not part.used:
            sentence.refuse([part], _REFUSED[part.kind])
        elif part.has(*_DENYING) and part.kind in _DENYING and not part.used:
            sentence.refuse([part], "a denial of nothing that is known; nothing was excluded for it")
            sentence.dangling_denial = True


def attach_helpers(sentence: Sentence) -> None:
    """Give small words to the condition they help to say: "in the", "using", "and" inside a list."""
    parts = sentence.parts
    refused = {id(part) for one in sentence.refused for part in one.parts}
    following: list[Reading] = []
    waiting: list[Segment] = []
    for part in reversed(parts):
        if part.readings:
            following, waiting = part.readings, []
        elif id(part) in refused:
            following, waiting = [], []
        elif following and part.has(*_HELPING):
            for helper in [*waiting, part]:
                helper.readings = list(following)
            waiting = []
        elif following and part.has("function"):
            waiting.append(part)
        else:
            following, waiting = [], []
    for at in range(1, len(parts) - 1):
        if not parts[at].readings and parts[at].has("and", "or", "comma"):
            shared = [one for one in parts[at - 1].readings if one in parts[at + 1].readings]
            parts[at].readings = shared
    for part in parts:
        for reading in part.readings:
            if part not in reading.parts:
                reading.parts.append(part)
