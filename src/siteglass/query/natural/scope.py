"""How far a denial reaches."""

from __future__ import annotations

from siteglass.query.natural.segments import ENTITIES, Segment
from siteglass.query.natural.sentence import Sentence, family
from siteglass.query.natural.vague import VAGUE

_THINGS = ("flag", "contact", "page")
_ADJECTIVES = frozenset((*VAGUE, "flag_bad", "flag_good"))
# What may stand behind a denial that follows what it denies.
_BEHIND = ("comma", "break", "and", "but", "requests", "negation", "exception")
# What a site has or lacks.
_HAD = frozenset(("tool", "thing"))
_INDIFFERENT = "this makes no difference to a search"


def deny(sentence: Sentence) -> None:
    """Mark what is denied."""
    scope = _Scope(sentence)
    for at, part in enumerate(sentence.parts):
        scope.step(at, part)


class _Scope:
    """The denial that is open while a sentence is walked through, and what it has covered so far."""

    def __init__(self, sentence: Sentence) -> None:
        self._sentence = sentence
        self._denial: Segment | None = None
        self._covered: Segment | None = None
        self._joint = ""

    def step(self, at: int, part: Segment) -> None:
        if part.used:
            if part.readings and self._covered is not None:
                self._denial = None  # another condition stands between
        elif part.has("indifferent"):
            _pass_over(self._sentence, at)
            self._denial = None
        elif part.has("double_negation"):
            self._open(part)
        elif part.has("negation_after", "exception_after") and _denies_before(self._sentence, at):
            pass
        elif part.has("negation", "exception") and part.kind not in ENTITIES:
            self._another(at, part)
        elif part.key in (":", "(") and self._denial and self._covered is None:
            pass  # "must not have: TikTok"
        elif part.has("break", "but") or self._ended(part):
            self._denial = None
        elif part.has("and", "or", "comma"):
            self._joint = "or" if part.has("or") else "and" if part.has("and") else "comma"
        elif _deniable(part) and not self._sentence.words.role(part.tokens[0].key, "negation"):
            self._thing(at, part)
        elif part.kind == "flag_bad":
            self._denial = self._covered = part  # "missing headings and a sitemap": one phrase holds its denial
            self._joint = ""
        elif part.kind == "unknown" and not part.senses:
            self._unknown(at, part)
        elif self._denial and self._covered is None and part.kind in ("judgement", "counting", "instructions"):
            _mark(part, self._denial)
            after = self._sentence.after(at)
            if after is None or not self._describes(after):
                self._denial = None
        elif self._closes(at, part):
            self._denial = None

    def _open(self, part: Segment) -> None:
        self._denial, self._covered, self._joint = part, None, ""

    def _another(self, at: int, part: Segment) -> None:
        if _denies_before(self._sentence, at):
            return
        first = self._denial
        if first and self._covered is None and _twice(self._sentence, first, part):
            part.denied_by, part.doubled = first, True  # "exclude sites lacking a phone", "lack neither A nor B"
        elif first and first.doubled and part.key in self._sentence.sets["nor"]:
            part.denied_by, part.doubled = first, True
        elif first and self._covered is None and part.key in self._sentence.sets["neither"]:
            part.denied_by = first  # "no usan ni A ni B": two words for one denial
        self._open(part)

    def _thing(self, at: int, part: Segment) -> None:
        if self._denial and (self._covered is None or self._goes_on(at, part, self._covered)):
            _mark(part, self._denial)
            self._covered = part
        else:
            self._denial = None
        self._joint = ""

    def _unknown(self, at: int, part: Segment) -> None:
        if self._denial and self._covered is None:
            _mark(part, self._denial)
            after = self._sentence.after(at)
            if after is None or (after.kind != "unknown" and not self._describes(after)):
                self._denial = None
        self._joint = ""

    def _describes(self, after: Segment) -> bool:
        """ "no advanced CRM": an adjective stands between the denial and what it denies."""
        return _deniable(after) and not after.used and family(after) in _HAD

    def _ended(self, part: Segment) -> bool:
        """ "no agencies, only SaaS"; "without a phone, die eine E-Mail-Adresse haben": a clause of its own."""
        if self._covered is None:
            return False
        words, sets = set(part.key.split()), self._sentence.sets
        if part.has("function") and not words.isdisjoint(sets["obliging"]):
            return True  # "without a phone, must have an email"
        clause = part.has("function", "using", "offering") and not words.isdisjoint(sets["relative"])
        begins = self._joint == "comma" or part.key not in sets["articles"]
        return not words.isdisjoint(sets["only"]) or (clause and begins)

    def _goes_on(self, at: int, part: Segment, covered: Segment) -> bool:
        """Whether the denial reaches the next member of a list."""
        alike = (part.kind in _ADJECTIVES) == (covered.kind in _ADJECTIVES)
        alike = alike and (family(part) == "place") == (family(covered) == "place")
        if self._joint == "or":
            return alike  # "without a phone or a CRM" means neither
        if self._joint == "and":
            # "missing a CRM and a phone number": a verb in between would have closed the denial
            had = part.kind not in _ADJECTIVES and {family(part), family(covered)} <= _HAD
            return had or family(part) == family(covered)
        if self._joint != "comma" or self._affirmed(at):
            return False
        return part.kind == covered.kind or (alike and _ends_with_or(self._sentence, at))

    def _affirmed(self, at: int) -> bool:
        """ "no phone, email required"."""
        behind = self._sentence.parts[at + 1 : at + 3]
        words = {word for part in behind if part.has("function", "generic") for word in part.key.split()}
        return not self._sentence.sets["affirming"].isdisjoint(words)

    def _closes(self, at: int, part: Segment) -> bool:
        if self._covered is None or part.has("function"):
            return False
        if part.has("place_preposition", "language_marker"):
            return self._joint not in ("and", "or")  # "not in Germany, in Austria"
        after = self._sentence.after(at)
        listed = part.has("generic") and after is not None and after.has("and", "or", "comma")
        return part.has("using", "offering", "spending", "generic") and not listed


def _twice(sentence: Sentence, first: Segment, second: Segment) -> bool:
    """Whether two denials in a row take each other back."""
    lacking = sentence.sets["lacking"]
    if first.key in lacking:
        return second.key in sentence.sets["neither"]
    return first.has("exception") or second.has("exception") or second.key in lacking


def _pass_over(sentence: Sentence, at: int) -> None:
    """ "with or without Shopify": neither wanted nor unwanted."""
    passed = [sentence.parts[at]]
    for part in sentence.parts[at + 1 :]:
        if not (part.has("function", "place_preposition", "using") or (_deniable(part) and not part.used)):
            break
        passed.append(part)
        if _deniable(part):
            break
    sentence.refuse(passed, _INDIFFERENT)


def _deniable(part: Segment) -> bool:
    return part.kind in ENTITIES or part.kind in VAGUE or part.kind.startswith((*_THINGS, "path", "mailbox"))


def _ends_with_or(sentence: Sentence, at: int) -> bool:
    following = sentence.beside(at, 1)
    if following is None or not _deniable(following) or following.used:
        return False
    return sentence.joint(at, sentence.parts.index(following)) in ("or", "and")


def _mark(part: Segment, denial: Segment) -> None:
    part.doubled = denial.doubled or denial.has("double_negation")
    part.negated = not part.doubled
    part.denied_by = denial


def _denies_before(sentence: Sentence, at: int) -> bool:
    """ "Klaviyo no", "Klaviyo: no": a denial behind what it denies."""
    after, part = sentence.after(at), sentence.parts[at]
    if after is not None and (not after.has(*_BEHIND) or after.key in ("(", ":")):
        return False
    if not part.has("negation_after", "exception_after") and part.key not in sentence.sets["denials_behind"]:
        return False
    covered = ""
    for before in reversed(sentence.parts[:at]):
        thing = before.kind in ENTITIES or before.kind.startswith(_THINGS)
        if thing and not before.used and covered in ("", family(before)):
            before.negated, before.denied_by, covered = True, part, family(before)
        elif not covered and before.key in (":", "=", "-", "–"):
            continue
        elif not before.has("and", "or") or (covered and before.has("comma")):
            break  # behind a comma alone another thing is said
    return covered != ""
