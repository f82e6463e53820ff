"""What a sentence says about the person who asks."""

from __future__ import annotations

from siteglass.query.natural.kinds import Role
from siteglass.query.natural.sentence import Sentence

_ENDS = (Role.BREAK, Role.COMMA)
# "seo agency owner here,": so many words say who is asking.
_INTRODUCTION = 6


def pass_over_asker(sentence: Sentence) -> None:
    """What is said about the person asking is passed over: up to whom it is for, or a whole sentence of its own."""
    parts, at = sentence.parts, 0
    while at < len(parts):
        if _speaks_of_self(sentence, at):
            stop = next((i for i in range(at + 1, len(parts)) if parts[i].has(Role.BREAK, Role.REQUESTS)), len(parts))
            ends = [i for i in range(at + 1, stop) if parts[i].key in sentence.sets[f"for_whom_{sentence.language}"]]
            if not ends and not (stop < len(parts) - 1 and parts[stop].has(Role.BREAK)):
                ends = [
                    i
                    for i in range(at + 1, stop)
                    if parts[i].has(Role.COMMA) or parts[i].key in sentence.sets["for_what"]
                ]
            turns = stop < len(parts) and any(part.has(Role.BUT) for part in parts[at:stop])
            end = ends[0] if ends and not turns else stop
            for part in parts[at:end]:
                part.used = True
            sentence.asides.append(parts[at:end])
            at = end
        at += 1


def _introduces(sentence: Sentence) -> bool:
    """ "agency owner here. ..."."""
    ends = [at for at, part in enumerate(sentence.parts[:_INTRODUCTION]) if part.has(*_ENDS)]
    return bool(ends) and ends[0] > 0 and sentence.parts[ends[0] - 1].key == "here"


def _speaks_of_self(sentence: Sentence, at: int) -> bool:
    part, after = sentence.parts[at], sentence.after(at)
    if part.has(Role.ABOUT_ME) or (at == 0 and _introduces(sentence)):
        return True
    new = at == 0 or sentence.parts[at - 1].has(*_ENDS)
    if part.key in sentence.sets["askers"] and after is not None and after.has(Role.OFFERING):
        article = at > 0 and sentence.parts[at - 1].has(Role.FUNCTION)  # "The client sells payroll software."
        return new or (article and (at == 1 or sentence.parts[at - 2].has(*_ENDS)))
    if not new or part.key not in sentence.sets["asking"] or after is None:
        return False
    return after.has(Role.OFFERING) or after.kind == Role.NUMBER or (after.kind == Role.UNKNOWN and not after.senses)
