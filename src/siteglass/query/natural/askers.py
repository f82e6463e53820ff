"""What a sentence says about its author."""

from __future__ import annotations

from collections.abc import Sequence

from siteglass.query.natural.kinds import Role
from siteglass.query.natural.lexicon import ENGLISH
from siteglass.query.natural.segments import Segment
from siteglass.query.natural.sentence import Sentence

_FULL_STOPS = frozenset((".", "!", "?", "\n"))
_ENDS = (Role.BREAK, Role.COMMA)
# "seo agency owner here,": so many words say who is asking.
_INTRODUCTION = 6


def pass_over_asker(sentence: Sentence) -> None:
    """Skip what is said about the author: up to whom the search is for, or a whole separate sentence."""
    _pass_over_talk(sentence)
    parts, at = sentence.parts, 0
    while at < len(parts):
        if _speaks_of_self(sentence, at):
            stop = _end_of_aside(parts, at)
            ends = [i for i in range(at + 1, stop) if parts[i].key in sentence.sets.for_whom[sentence.language]]
            if not ends and not (stop < len(parts) - 1 and parts[stop].has(Role.BREAK)):
                ends = [
                    i for i in range(at + 1, stop) if parts[i].has(Role.COMMA) or parts[i].key in sentence.sets.for_what
                ]
            turns = stop < len(parts) and any(part.has(Role.BUT) for part in parts[at:stop])
            end = ends[0] if ends and not turns else stop
            for part in parts[at:end]:
                part.used = True
            sentence.asides.append(parts[at:end])
            at = end
        at += 1


def _pass_over_talk(sentence: Sentence) -> None:
    """Of several sentences in English, pass over talk: sentences with "we" or "you" in them that request nothing and
    say nothing of the leads. An example: "Last time you gave us florists in Paris. Now we want bookstores in Lyon."."""
    if sentence.language != ENGLISH:
        return
    ends = [at for at, part in enumerate(sentence.parts) if part.key in _FULL_STOPS] + [len(sentence.parts)]
    spoken = [sentence.parts[start:end] for start, end in zip([0, *(end + 1 for end in ends)], ends, strict=False)]
    wanted = [_wants(sentence, parts) for parts in spoken]
    if not any(wanted):
        return
    for parts, wants in zip(spoken, wanted, strict=True):
        words = {token.key for part in parts for token in part.tokens}
        talk = words & sentence.sets.persons and not words & sentence.sets.of_leads
        pitch = any(part.has(Role.ABOUT_ME) for part in parts)  # "I sell payroll software to manufacturers in Ohio."
        if talk and not wants and not pitch and not any(part.used for part in parts):
            for part in parts:
                part.used = True
            sentence.asides.append(parts)


def _wants(sentence: Sentence, parts: Sequence[Segment]) -> bool:
    return any(token.key in sentence.sets.wanting for part in parts for token in part.tokens)


def _end_of_aside(parts: Sequence[Segment], at: int) -> int:
    """Where the sentence ends that begins at a place, what is in brackets included, or where a request begins."""
    depth = 0
    for i in range(at + 1, len(parts)):
        depth += (parts[i].key == "(") - (parts[i].key == ")")
        if parts[i].has(Role.REQUESTS) or (parts[i].has(Role.BREAK) and parts[i].key not in "()" and not depth):
            return i
    return len(parts)


def _introduces(sentence: Sentence) -> bool:
    """ "agency owner here. ..."."""
    ends = [at for at, part in enumerate(sentence.parts[:_INTRODUCTION]) if part.has(*_ENDS)]
    return bool(ends) and ends[0] > 0 and sentence.parts[ends[0] - 1].key == "here"


def _speaks_of_self(sentence: Sentence, at: int) -> bool:
    part, after = sentence.parts[at], sentence.after(at)
    if part.has(Role.ABOUT_ME) or (at == 0 and _introduces(sentence)):
        return True
    new = at == 0 or sentence.parts[at - 1].has(*_ENDS)
    if part.key in sentence.sets.askers and after is not None and after.has(Role.OFFERING):
        article = at > 0 and sentence.parts[at - 1].has(Role.FUNCTION)  # "The client sells payroll software."
        return new or (article and (at == 1 or sentence.parts[at - 2].has(*_ENDS)))
    if not new or part.key not in sentence.sets.asking or after is None:
        return False
    return after.has(Role.OFFERING) or after.kind == Role.NUMBER or (after.kind == Role.UNKNOWN and not after.senses)
