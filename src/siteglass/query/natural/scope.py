"""How far a denial reaches."""

from __future__ import annotations

from functools import cached_property
from itertools import takewhile

from siteglass.query.natural.excluded_kinds import MODIFIERS, Compound, exclude_kind
from siteglass.query.natural.kinds import ENTITIES, FLAGS, PAGES, Role
from siteglass.query.natural.segments import Segment
from siteglass.query.natural.sentence import Sentence, family
from siteglass.query.natural.trades import find_trades
from siteglass.query.natural.vague import VAGUE

_THINGS = FLAGS | PAGES | {Role.CONTACT}
_ADJECTIVES = frozenset((*VAGUE, Role.FLAG_BAD, Role.FLAG_GOOD))
_DENIABLE = ENTITIES | frozenset(VAGUE) | _THINGS | {Role.PATH, Role.MAILBOX, Role.LAW_FIRM, Role.AGENCY_OF}
_DENYING = (
    Role.INDIFFERENT, Role.DOUBLE_NEGATION, Role.NEGATION_AFTER, Role.EXCEPTION_AFTER, Role.NEGATION, Role.EXCEPTION,
)  # fmt: skip
_TURNING = (Role.BREAK, Role.BUT)
_JOINING = (Role.AND, Role.OR, Role.COMMA)
# What may follow a denial that comes after what it denies.
_AFTER_DENIAL = (Role.COMMA, Role.BREAK, Role.AND, Role.BUT, Role.REQUESTS, Role.NEGATION, Role.EXCEPTION)
# What a site has or lacks.
_HAD = frozenset(("tool", "thing"))
# What a business is; a word without a meaning may be a trade.
_KINDS = frozenset((Role.SERVICE_TYPE, Role.LAW_FIRM, Role.AGENCY_OF, Role.UNKNOWN))
_NOUNS = (Role.GENERIC, Role.SHOP_WORD, Role.SITE_WORD)
# Languages in which two denials in a row may be one.
INDIFFERENT = "this makes no difference to a search"


def deny(sentence: Sentence) -> None:
    """Mark what is denied."""
    scope = _Scope(sentence)
    for at, part in enumerate(sentence.parts):
        scope.step(at, part)
    for compound in scope.compounds:
        exclude_kind(sentence, compound)


class _Scope:
    """The denial that is open while a sentence is walked through, and what it has covered so far."""

    def __init__(self, sentence: Sentence) -> None:
        self._sentence = sentence
        self._denial: Segment | None = None
        self._covered: Segment | None = None
        self._members: list[int] = []
        """Where the denial's list has its members; of a phrase its last word."""
        self._joint: Role | None = None
        self._listed = False
        """A colon after the denial begins a list of what it denies."""
        self.compounds: list[Compound] = []

    @cached_property
    def _trades(self) -> dict[int, tuple[list[int], str]]:
        """Where a phrase that names a trade begins -> all its places, and the trade."""
        return {places[0]: (places, trade) for places, trade in find_trades(self._sentence)}

    def step(self, at: int, part: Segment) -> None:
        if self._denial and self._members and at <= self._members[-1]:
            return  # the rest of "insurance companies"
        if part.used:
            if part.readings and self._covered is not None:
                self._denial = None  # another condition is between
        elif part.has(*_DENYING) and self._denies(at, part):
            pass
        elif part.key in (":", "(") and self._denial and self._covered is None:
            self._listed = part.key == ":"  # "must not have: TikTok"
        elif part.has(*_TURNING) or self._ended(part):
            self._denial = None
        elif part.has(*_JOINING):
            self._joint = Role.OR if part.has(Role.OR) else Role.AND if part.has(Role.AND) else Role.COMMA
        elif (_deniable(part) or (self._denial and at in self._trades)) and not self._holds_denial(part):
            self._thing(at, part)
        elif part.kind == Role.FLAG_BAD:
            self._open(part)
            self._covered = part  # "missing headings and a sitemap": one phrase holds its denial
        elif part.kind == Role.UNKNOWN and not part.senses:
            self._unknown(at, part)
        elif self._denial and self._covered is None and part.kind in (Role.JUDGEMENT, Role.COUNTING, Role.INSTRUCTIONS):
            _mark(part, self._denial)
            after = self._sentence.after(at)
            if after is None or not self._describes(after):
                self._denial = None
        elif self._denial and self._closes(at, part):
            self._denial = None

    def _holds_denial(self, part: Segment) -> bool:
        """ "not secure" is a denial itself; "non-profits" is a kind of business, whatever its name begins with."""
        return part.kind not in ENTITIES and self._sentence.words.role(part.tokens[0].key, Role.NEGATION) is not None

    def _denies(self, at: int, part: Segment) -> bool:
        """Take a phrase that denies something; False if it does not do so where it is."""
        if part.has(Role.INDIFFERENT):
            _pass_over(self._sentence, at)
            self._denial = None
        elif part.has(Role.DOUBLE_NEGATION):
            self._open(part)
        elif part.has(Role.NEGATION_AFTER, Role.EXCEPTION_AFTER) and self._denies_before(at):
            pass
        elif (part.has(Role.NEGATION, Role.EXCEPTION) or self._opens_group(at)) and part.kind not in ENTITIES:
            self._another(at, part)
        else:
            return False
        return True

    def _opens_group(self, at: int) -> bool:
        """ "missing both a phone and an email": a denial before a group denies that, and not what is before."""
        after = self._sentence.after(at)
        return after is not None and after.key in self._sentence.sets.group_openers

    def _open(self, part: Segment) -> None:
        self._denial, self._covered, self._joint, self._members, self._listed = part, None, None, [], False

    def _another(self, at: int, part: Segment) -> None:
        if self._denies_before(at):
            return
        first = self._denial
        if first and self._covered is None and _twice(self._sentence, first, part):
            part.denied_by, part.doubled = first, True  # "exclude sites lacking a phone", "lack neither A nor B"
        elif first and first.doubled and part.key in self._sentence.sets.nor:
            part.denied_by, part.doubled = first, True
        elif first and self._covered is None and part.key in self._sentence.sets.neither:
            part.denied_by = first  # "no usan ni A ni B": two words for one denial
        self._open(part)

    def _thing(self, at: int, part: Segment) -> None:
        head = self._denial is not None and self._is_head(at, part)
        if self._denial and (head or self._covered is None or self._goes_on(at, part, self._covered)):
            places, trade = self._trades.get(at, ([at], ""))
            for place in places:
                _mark(self._sentence.parts[place], self._denial)
            if head:
                self.compounds.append(Compound(self._modifiers(), places, trade))
            self._covered = part
            self._members.append(places[-1])
        else:
            self._denial = None
        self._joint = None

    def _is_head(self, at: int, part: Segment) -> bool:
        """ "excluding marketing agencies": a noun right after what says which ones; they are excluded, others are not.

        "No CRM agencies" without another noun are agencies that have none, and so are "non-Shopify agencies"."""
        denial, covered = self._denial, self._covered
        if denial is None or covered is None or self._joint or self._members[-1:] != [at - 1]:
            return False
        if covered.kind not in MODIFIERS or denial.tokens[-1].hyphen or denial.key == "non":
            return False
        if part.kind != Role.SERVICE_TYPE and at not in self._trades:
            return False
        direct = self._sentence.parts.index(denial) == self._members[0] - 1
        return denial.has(Role.EXCEPTION) or (direct and self._has_subject(denial))

    def _has_subject(self, denial: Segment) -> bool:
        """Whether a noun before the denial says what is looked for."""
        before = self._sentence.parts[: self._sentence.parts.index(denial)]
        named = any(part.kind in (Role.SERVICE_TYPE, Role.LAW_FIRM) or part.has(*_NOUNS) for part in before)
        return named or any(at < len(before) for at in self._trades)

    def _modifiers(self) -> list[int]:
        """The last members of the list that are of one kind: "marketing and SEO agencies"."""
        parts, found = self._sentence.parts, self._members[-1:]
        for at in reversed(self._members[:-1]):
            if parts[at].kind != parts[found[0]].kind:
                break
            found.insert(0, at)
        return found

    def _unknown(self, at: int, part: Segment) -> None:
        if self._denial and self._covered is None:
            _mark(part, self._denial)
            after = self._sentence.after(at)
            if after is not None and after.key in self._sentence.sets.of:
                after = self._sentence.after(at + 1)  # "senza calendario di prenotazione"
            if after is None or (after.kind != Role.UNKNOWN and not self._describes(after)):
                self._denial = None
        self._joint = None

    def _describes(self, after: Segment) -> bool:
        """ "no advanced CRM": an adjective is between the denial and what it denies."""
        return _deniable(after) and not after.used and family(after) in _HAD

    def _ended(self, part: Segment) -> bool:
        """ "no agencies, only SaaS"; "without a phone, die eine E-Mail-Adresse haben": a separate clause."""
        if self._covered is None:
            return False
        words, sets = set(part.key.split()), self._sentence.sets
        if part.has(Role.FUNCTION) and not words.isdisjoint(sets.obliging):
            return True  # "without a phone, must have an email"
        clause = part.has(Role.FUNCTION, Role.USING, Role.OFFERING) and not words.isdisjoint(sets.relative)
        begins = self._joint == Role.COMMA or part.key not in sets.articles
        return not words.isdisjoint(sets.only) or (clause and begins)

    def _goes_on(self, at: int, part: Segment, covered: Segment) -> bool:
        """Whether the denial reaches the next member of a list."""
        if len(part.tokens) > 1 and Role.USING in self._sentence.words.roles(part.tokens[0].key):
            return False  # "ohne Facebook, mit Telefon"
        if self._listed and self._joint is not None:
            return not self._affirmed(at)
        similar = (part.kind in _ADJECTIVES) == (covered.kind in _ADJECTIVES)
        similar = similar and (family(part) == "place") == (family(covered) == "place")
        if self._joint is not None and self._names_kind(at) and self._covers_kind(covered):
            return self._next_kind(at, part, covered)
        if self._joint == Role.OR:
            return similar  # "without a phone or a CRM" means neither
        if self._joint == Role.AND:
            # "missing a CRM and a phone number": a verb in between would have closed the denial
            had = part.kind not in _ADJECTIVES and {family(part), family(covered)} <= _HAD
            return had or family(part) == family(covered)
        if self._joint != Role.COMMA or self._affirmed(at):
            return False
        return part.kind == covered.kind or (similar and _ends_with_or(self._sentence, at))

    def _names_kind(self, at: int) -> bool:
        """Whether a kind of business begins here: "agencies", "dentists", "marketing agencies", "Shopify stores"."""
        part, after = self._sentence.parts[at], self._sentence.after(at)
        if part.kind in MODIFIERS and after is not None and after.kind == Role.SERVICE_TYPE:
            return True
        return at in self._trades or (part.kind != Role.UNKNOWN and self._covers_kind(part))

    def _covers_kind(self, part: Segment) -> bool:
        """Whether these words, or the last ones of a phrase, name a kind of business."""
        if part.kind == Role.TECHNOLOGY:
            return self._sentence.words.role(part.tokens[-1].key, Role.SHOP_WORD) is not None
        return part.kind in _KINDS

    def _next_kind(self, at: int, part: Segment, covered: Segment) -> bool:
        """ "excluding hospitals, agencies and law firms": one denial for kinds of businesses of all sorts."""
        if self._joint != Role.COMMA:
            return True
        if self._affirmed(at):
            return False
        listed = self._denial is not None and self._denial.has(Role.EXCEPTION) and self._has_subject(self._denial)
        return listed or (part.kind == covered.kind and part.kind != Role.UNKNOWN) or self._list_ends(at)

    def _list_ends(self, at: int) -> bool:
        """Whether kinds of businesses follow up to an "and" or "or", and one after it."""
        last = self._trades[at][0][-1] if at in self._trades else at
        for place in range(last + 1, len(self._sentence.parts) - 1):
            part = self._sentence.parts[place]
            if part.has(Role.AND, Role.OR):
                return self._names_kind(place + 1)
            inside = any(first <= place <= places[-1] for first, (places, _) in self._trades.items())
            if not (inside or part.has(Role.COMMA, Role.GENERIC) or self._names_kind(place)):
                return False
        return False

    def _affirmed(self, at: int) -> bool:
        """ "no phone, email required", "ohne TikTok, Telefon muss vorhanden sein"."""
        same_thing = takewhile(lambda part: not _parts_things(part), self._sentence.parts[at + 1 : at + 3])
        words = {word for part in same_thing for word in part.key.split()}
        if not (self._sentence.sets.affirming | self._sentence.sets.obliging).isdisjoint(words):
            return True
        before = {word for part in self._sentence.parts[max(0, at - 2) : at] for word in part.key.split()}
        return not self._sentence.sets.insisting.isdisjoint(before)  # "ohne Telefon, dafür E-Mail"

    def _denies_before(self, at: int) -> bool:
        """ "Klaviyo no", "Klaviyo: no", "Austin excl.": a denial after what it denies."""
        sentence = self._sentence
        after, part = sentence.after(at), sentence.parts[at]
        if after is not None and (not after.has(*_AFTER_DENIAL) or after.key in ("(", ":")):
            return False
        if self._opens_group(at):
            return False
        if not part.has(Role.NEGATION_AFTER, Role.EXCEPTION_AFTER):
            taken_back = after is not None and after.has(Role.NEGATION, Role.EXCEPTION)  # "not excluding Austin"
            shortened = part.has(Role.EXCEPTION) and part.key in sentence.sets.abbreviations
            if taken_back or not (shortened or part.key in sentence.sets.denials_behind):
                return False
        return self._cover_before(at, part)

    def _cover_before(self, at: int, part: Segment) -> bool:
        """Mark what a denial that follows denies: a thing, or the last ones of a list; returns whether there is one."""
        covered, last = "", at
        for place in range(at - 1, -1, -1):
            before = self._sentence.parts[place]
            # A word without a meaning may be a trade: "dentists excluded".
            thing = _deniable_before(before)
            if thing and covered in ("", _family(before)):
                before.negated, before.denied_by, covered, last = True, part, _family(before), place
            elif thing and place == last - 1 and before.kind in MODIFIERS:
                before.negated, before.denied_by = True, part  # "marketing agencies excluded"
                self.compounds.append(Compound([place], [last]))
            elif not covered and (before.key in (":", "=", "-", "–") or before.has(Role.FUNCTION)):
                continue  # "agencies should be left out"
            elif not covered and before.has(*_NOUNS) and place and _deniable_before(self._sentence.parts[place - 1]):
                continue  # "WordPress sites excluded"
            elif before.has(Role.FUNCTION) and self._beside_joint(place):
                continue  # "a phone number and a sitemap are missing"
            elif not before.has(Role.AND, Role.OR) or (covered and before.has(Role.COMMA)):
                break  # a comma alone begins another thing
        return covered != ""

    def _beside_joint(self, at: int) -> bool:
        return any(part.has(Role.AND, Role.OR) for part in self._sentence.parts[max(0, at - 1) : at + 2])

    def _closes(self, at: int, part: Segment) -> bool:
        if self._covered is None or part.has(Role.FUNCTION):
            return False
        if part.has(Role.PLACE_PREPOSITION, Role.LANGUAGE_MARKER):
            return self._joint not in (Role.AND, Role.OR)  # "not in Germany, in Austria"
        after = self._sentence.after(at)
        listed = part.has(Role.GENERIC) and after is not None and after.has(Role.AND, Role.OR, Role.COMMA)
        return part.has(Role.USING, Role.OFFERING, Role.SPENDING, Role.GENERIC) and not listed


def _parts_things(part: Segment) -> bool:
    """A joint, or a sign that ends a clause, apart from a colon: "phone: yes"."""
    return part.has(*_JOINING) or (part.has(Role.BREAK) and part.key not in (":", "-", "–"))


def _twice(sentence: Sentence, first: Segment, second: Segment) -> bool:
    """Whether two denials in a row take each other back."""
    lacking = sentence.sets.lacking
    if first.key in lacking:
        # "sin ni teléfono ni email" denies once
        return second.key in sentence.sets.neither and not sentence.grammar.denies_twice
    return first.has(Role.EXCEPTION) or second.has(Role.EXCEPTION) or second.key in lacking


def _pass_over(sentence: Sentence, at: int) -> None:
    """ "with or without Shopify": neither wanted nor unwanted."""
    passed = [sentence.parts[at]]
    for part in sentence.parts[at + 1 :]:
        if not (part.has(Role.FUNCTION, Role.PLACE_PREPOSITION, Role.USING) or (_deniable(part) and not part.used)):
            break
        passed.append(part)
        if _deniable(part):
            break
    sentence.refuse(passed, INDIFFERENT)


def _deniable(part: Segment) -> bool:
    return part.kind in _DENIABLE


def _ends_with_or(sentence: Sentence, at: int) -> bool:
    following = sentence.beside(at, 1)
    if following is None or not _deniable(following) or following.used:
        return False
    return sentence.joint(at, sentence.parts.index(following)) in (Role.OR, Role.AND)


def _mark(part: Segment, denial: Segment) -> None:
    part.doubled = denial.doubled or denial.has(Role.DOUBLE_NEGATION)
    part.negated = not part.doubled
    part.denied_by = denial


def _deniable_before(part: Segment) -> bool:
    """Whether a denial after it may deny it."""
    return not part.used and (part.kind in ENTITIES or part.kind in _THINGS or part.kind in _KINDS)


def _family(part: Segment) -> str:
    """What a denial that follows denies together: kinds of businesses of all sorts, or things of one kind."""
    return "kind" if part.kind in _KINDS else family(part)
