"""Flags, contacts, pages, languages and law firms to directive lines."""

from __future__ import annotations

from siteglass.query.natural.segments import Segment
from siteglass.query.natural.sentence import Sentence, line

FLAGS = {
    "sitemap": "missing_sitemap", "robots": "missing_robot", "schema": "missing_schema",
    "description": "missing_description", "heading": "missing_heading", "https": "not_secure",
    "responsive": "not_responsive",
}  # fmt: skip


def read_law_firms(sentence: Sentence) -> None:
    """The one trade that is a business type and an offer."""
    for part in sentence.parts:
        if part.has("law_firm") and not part.used:
            sentence.say(line("service_type", ["Firm"], negated=part.negated), [part], "business type")
            if not part.negated:
                sentence.say(line("offers", ["legal_service"]), [part], "business type")


def read_agencies(sentence: Sentence) -> None:
    """One word for an agency and what it offers: "Werbeagentur"."""
    for part in sentence.parts:
        if part.kind == "agency_of" and not part.used:
            sentence.say(line("service_type", ["Agency"], negated=part.negated), [part], "business type")
            if not part.negated:
                sentence.say(line("offers", part.values), [part], "business type")


def read_things(sentence: Sentence) -> None:
    """Write what a site has or lacks."""
    for at, part in enumerate(sentence.parts):
        if part.used:
            continue
        match part.kind:
            case "flag_nouns":
                _flag(sentence, part, bad=part.negated)
            case "flag_bad":
                _flag(sentence, part, bad=not part.negated)
            case "flag_good":
                _flag(sentence, part, bad=part.negated)
            case "contact":
                name = part.values[0]
                if name == "personal_email":
                    sentence.say("@no_generic_emails", [part], "contact")
                else:
                    sentence.say(line(f"has_{name}", negated=part.negated), [part], "contact")
            case "path":
                _paths(sentence, at)
            case "page_whole":
                sentence.say(line("pages", part.values, negated=part.negated), [part], "page")
            case "page_name" if sentence.page_follows(at):
                both = sentence.parts[at : at + 2]
                sentence.say(line("pages", part.values, negated=part.negated), both, "page")


def _flag(sentence: Sentence, part: Segment, *, bad: bool) -> None:
    sentence.say(line(FLAGS[part.values[0]], negated=not bad), [part], "flag")


def _paths(sentence: Sentence, at: int) -> None:
    end = at
    for i in range(at + 1, len(sentence.parts)):
        between = sentence.parts[end + 1 : i]
        if sentence.parts[i].kind == "path" and any(part.has("or") for part in between):
            end = i
        elif not sentence.parts[i].has("or", "comma", "function", "page_word", "using"):
            break
    parts = sentence.parts[at : end + 1]
    paths = [part.tokens[0].text.lower().rstrip("/") for part in parts if part.kind == "path"]
    sentence.say(line("pages", paths, negated=parts[0].negated), parts, "page")


def read_languages(sentence: Sentence) -> None:
    """Languages of one sentence are alternatives."""
    said = [part for part in sentence.parts if part.kind in ("language", "spoken") and not part.used]
    for negated in (False, True):
        some = [part for part in said if part.negated == negated]
        if some:
            sentence.say(line("lang", [part.values[0] for part in some], negated=negated), some, "language")
