"""Flags, contacts, pages, languages and law firms to conditions."""

from __future__ import annotations

from siteglass.query.directives import make_condition
from siteglass.query.natural.kinds import Role
from siteglass.query.natural.segments import Segment
from siteglass.query.natural.sentence import Sentence

FLAGS = {
    "sitemap": "missing_sitemap", "robots": "missing_robot", "schema": "missing_schema",
    "description": "missing_description", "heading": "missing_heading", "https": "not_secure",
    "responsive": "not_responsive",
}  # fmt: skip
_PAGES = frozenset((Role.PATH, Role.PAGE_WHOLE, Role.PAGE_NAME))
_LANGUAGES = frozenset((Role.LANGUAGE, Role.SPOKEN))
_PERSONAL = "a search can leave out shared mailboxes, not personal ones"


def read_law_firms(sentence: Sentence) -> None:
    """The one trade that is a business type and an offer; other firms stay where it is excluded."""
    for part in sentence.parts:
        if not part.has(Role.LAW_FIRM) or part.used:
            continue
        if part.negated:
            sentence.say("trade", ["law_firm"], [part], "trade", negated=True)
        else:
            sentence.say("service_type", ["Firm"], [part], "business type")
            sentence.say("offers", ["legal_service"], [part], "business type")


def read_agencies(sentence: Sentence) -> None:
    """One word for an agency and what it offers: "Werbeagentur"."""
    for part in sentence.parts:
        if part.kind != Role.AGENCY_OF or part.used:
            continue
        if part.negated:
            both = (make_condition("service_type", ["Agency"]), make_condition("offers", part.values))
            sentence.say_any([both], [part], "business type", negated=True)
        else:
            sentence.say("service_type", ["Agency"], [part], "business type")
            sentence.say("offers", part.values, [part], "business type")


def read_things(sentence: Sentence) -> None:
    """Write what a site has or lacks."""
    for at, part in enumerate(sentence.parts):
        if part.used:
            continue
        match part.kind:
            case Role.FLAG_NOUNS:
                _flag(sentence, part, bad=part.negated)
            case Role.FLAG_BAD:
                _flag(sentence, part, bad=not part.negated)
            case Role.FLAG_GOOD:
                _flag(sentence, part, bad=part.negated)
            case Role.CONTACT:
                name = part.values[0]
                if name == "email" and part.negated and _mailbox_follows(sentence, at):
                    continue  # "sem e-mails info@": the mailbox says it
                if name == "personal_email" and part.negated:
                    sentence.refuse(part.with_denial(), _PERSONAL)
                elif name == "personal_email":
                    sentence.say("no_generic_emails", (), [part], "contact")
                else:
                    sentence.say(f"has_{name}", (), [part], "contact", negated=part.negated)
            case Role.MAILBOX:
                _mailbox(sentence, at)
            case _ if _page(sentence, at):
                _pages(sentence, at)


def _mailbox(sentence: Sentence, at: int) -> None:
    """ "no info@ addresses"."""
    part, after = sentence.parts[at], sentence.after(at)
    said = [part, after] if after and after.key in sentence.sets.address_words else [part]
    before = sentence.parts[at - 1] if at else None
    if before and not before.used and (_is_email(before) or before.key in sentence.sets.address_words):
        said.insert(0, before)
    if any(one.negated for one in said):
        sentence.say("no_generic_emails", (), said, "contact")
    else:
        sentence.refuse(said, "a search can leave out such mailboxes, not ask for them")


def _is_email(part: Segment) -> bool:
    return part.kind == Role.CONTACT and part.values == ("email",)


def _mailbox_follows(sentence: Sentence, at: int) -> bool:
    after = sentence.after(at)
    return after is not None and after.kind == Role.MAILBOX


def _page(sentence: Sentence, at: int) -> str:
    """The path of the page that is named at a place, or nothing."""
    part = sentence.parts[at]
    if part.kind not in _PAGES:
        return ""
    if part.kind == Role.PATH:
        return part.tokens[0].text.lower().rstrip("/")
    named = part.kind == Role.PAGE_WHOLE or (part.kind == Role.PAGE_NAME and sentence.page_follows(at))
    return part.values[0] if named else ""


def _pages(sentence: Sentence, at: int) -> None:
    """A page, or a list of pages with "or"."""
    paths, end, last = [_page(sentence, at)], at, at
    while True:
        last += 1
        while last < len(sentence.parts) and sentence.parts[last].has(
            Role.OR, Role.COMMA, Role.FUNCTION, Role.PAGE_WORD, Role.USING
        ):
            last += 1
        between = sentence.parts[end + 1 : last]
        path = _page(sentence, last) if last < len(sentence.parts) else ""
        if not path or not any(part.has(Role.OR) for part in between):
            break
        paths.append(path)
        end = last
    if sentence.page_follows(end):
        end += 1
    part = sentence.parts[at]
    sentence.say("pages", paths, sentence.parts[at : end + 1], "page", negated=part.negated)


def _flag(sentence: Sentence, part: Segment, *, bad: bool) -> None:
    sentence.say(FLAGS[part.values[0]], (), [part], "flag", negated=not bad)


def read_languages(sentence: Sentence) -> None:
    """Languages of one sentence are alternatives."""
    said = [part for part in sentence.parts if part.kind in _LANGUAGES and not part.used]
    for negated in (False, True):
        some = [part for part in said if part.negated == negated]
        if some:
            sentence.say("lang", [part.values[0] for part in some], some, "language", negated=negated)
