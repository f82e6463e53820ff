"""A second look at a reading: checks that know the sentence and the conditions with their words, and nothing of how
the reading was made. A rule that misfires is sure of itself; these checks have separate tables, so that they do not
misfire with it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

from siteglass.query.criteria import AnyOf, Clause, Condition, Range

# The opposite may be searched: whoever buys is asked first.
_OPPOSITE = 0.45
_DOUBTED = 0.59
# An exclusion reaches what is said so many words after or before it.
_REACH = 5
# One that takes a second one back has hardly a word between: "drop anyone lacking a phone".
_NEXT = 2

# Words that exclude. Those of "" exclude in every language; the others are words of something else elsewhere.
_EXCLUDING = {
    "": r"""without|w/o|w/out|non(?=-)|not|never|neither|nor|cannot|nothing (?:on|with|built|made|from|in)|\w+n't
        |dont|doesnt|isnt|arent|havent|hasnt|except(?:ing|ion)?|excl?|exclud\w+|exclusive of|ex(?=\.)|lacks?|lacking
        |devoid|barring
        |save for|apart from|aside from|other than|anything but|everything but|all but
        |skip(?:ping)?|omit(?:ting)?|avoid(?:s|ing)?|ignor(?:e|ing)|leav(?:e|ing) out|leave(?= (?:\S+ ){1,5}out\b)
        |rul(?:e|ing) out|filter(?:ing)? out|steer(?:s|ing)? clear|free of|yet to|zero|-free
        |anywhere but|ausschluss|exclusion|exclusao|noch(?=.*\bnoch\b)|rather than|instead of|nobody|no one
        |noone|nothing|used to|formerly|niemand|nadie|personne n\w*|ninguem|nikt
        |none|unless|outside|ohne|kein\w*|nicht|niemals|weder|auss?er\w*|ausgenommen|ausgeschlossen|ausschlie\w+|exkl\w*
        |bis auf|mit ausnahme
        |abgesehen|abzuglich|fehl(?:t|en|end\w*)|verzichte\w+|meiden|vermeiden|weglassen|frei von
        |sans|aucune?|jamais|sauf|excepte|hors|hormis|exclu[rt]\w*|l'exception|l'exclusion|evit\w+|depourvu\w*|denue\w*
        |fait defaut|se passent|en dehors|autres que|laiss\w+ de cote
        |sin|ningun\w*|nunca|tampoco|excepto|carec\w+|carentes?|desprovist\w+|prescind\w+|fuera de|dejando fuera
        |quitando|descart\w+|libres? de|a las que les falta|exceptuando|excluyendo|evitan
        |sem|nao|nenhum\w*|nem|exceto|tirando|desprovid\w+|dispensam|ausencia de|livres de
        |senza|nessun[ao]?|tranne|eccetto|eccezione|esclu[ds]\w+|escl|sprovvist\w+|priv[ei] di|fanno a meno|assenza di
        |lascia\w* fuori|infuori
        |fora|z\.(?! ?b\b)|zonder|geen|niet|nooit|behalve|uitgezonderd|uitgesloten|uitsluit\w+|uitzondering
        |afgezien|afzien|ontbre\w+
        |mijden|vermijd\w+|vrij van|anders dan|laat(?= (?:\S+ ){1,5}weg\b)|sla(?= (?:\S+ ){1,5}over\b)|niets op
        |bez|nie|niema\w*|nieuzywa\w*|nieposiada\w*|niekorzysta\w*|oprocz|procz|wyjatkiem|wylaczeniem|wylaczajac
        |wyklucz\w*|pomijajac|pomin|brak\w*|pozbawion\w+|unikaja|wolne od|inne niz|odpadaja""",
    "en": r"bar|no(?!\. ?\d)|missing|absent|minus|drop(?! ?-?(?:ship\w*|in|off|zones?|down)\b)|hold the|remove",
    "de": r"nichts|noch ohne|exklusive|mangelt",
    "fr": r"ne|pas|ni|rien|non(?! ?-?profit)|mis a part|a part|prive\w* d|manqu\w+",
    "es": r"s/|no|ni|nada|salvo|menos(?! de\b)|aparte|faltan?",
    "pt": r"s/|n|salvo|menos(?! de\b)|falta|a nao ser|nada",
    "it": r"non|ne|salvo|meno(?! di\b)|manca\w*|niente|nulla|fuori d\w+|a parte|no",
    "nl": r"noch|exclusief|buiten|op (?=(?:\S+ ){1,5}na\b)|mist|minus",
    "pl": r"ani|poza|lecz bez|byle nie|nie licząc",
}
# Before such a word, an excluding one leaves nothing out.
_IDLE = re.compile(
    r" (?:only|just|sure|necessarily|urgent|picky|fussy|bothered|matter|worries|problem|rush|hurry|idea"
    r"|preference|limit|nur|seulement|solo|apenas|so|alleen|tylko|a problem|an issue|fussed|important|relevant"
    r"|too|all|more than|less than|care|mind|fewer than|mehr als|weniger als|plus de|moins de|mas de|menos de|mais de"
    r"|piu di|meno di|meer dan|minder dan)\b"
)
# "doesn't lack X": two of them beside each other demand.
_LACK = re.compile(
    r"\b(?:lack\w*|missing|without|w/o|ohne|fehl\w+|sans|manqu\w+|sin|faltan?|sem|senza|manca\w*|zonder|ontbre\w+|bez|brak\w*)\b"
)
_ALTERNATIVES = {
    "": r"or|and/or|oder|bzw|oppure|lub|albo|badz|hetzij|soit",
    "de": r"o\.",
    "fr": "ou",
    "es": "o|u",
    "it": "o",
    "pt": "ou|seja",
    "nl": "of",
    "pl": "czy",
}
# Dutch sentences of few words; their "of" is English, too.
_DUTCH = re.compile(r"\b(?:met|fora|z\.(?! ?b\b)|zonder|geen|niet|een|het)\b")
# Before these, an "or" says how a number is meant.
_OR_MORE = re.compile(
    r" (?:more|less|higher|lower|above|below|over|under|better|worse|fewer|so|up|mehr|weniger|hoher|besser|plus|moins"
    r"|mas|menos|mais|piu|meno|meer|minder|hoger|wiecej|mniej|superior|inferior)\b"
)
_AMOUNT = re.compile(
    r"(?<![\w.,/-])(?P<sign>[$€£]|us\$|r\$)? ?(?P<number>\d+(?:[.,' ]\d{3})*(?:[.,]\d{1,2})?)"
    r"(?P<unit> ?(?:k|m|mio|tsd|tys|grand|mil|thousand|tausend|mille|mila|duizend))?\b\.?"
    r"(?P<mark> ?(?:[$€£%]|usd|eur|gbp|dollars?|euros?|dollar\w*|zl|ms|secs?|seconds?)(?!\w))?\+?"
)
# An amount has its limit so many characters before it.
_NEAR = 30
_LIMIT = re.compile(r"\b(?:min|mind|minimum|max|maximum|maks|minim[oa]|maxim[oa])\b\.?")
_TIMES = {"m": 1_000_000, "mio": 1_000_000}
_ENDS = re.compile(r"(?<=\w\w)[.!?](?=\s|$)|[;\n|]")
# What says which businesses are meant, and what says what they are.
_WHICH = frozenset(
    (
        "technologies", "categories_uses", "lacks", "offers", "city", "state", "country", "region", "language", "score",
        "load_time_ms", "spending",
    )
)  # fmt: skip
_WHAT = frozenset(("service_type", "trades"))
# After a denial they begin a separate clause: "not on Wix".
_CLAUSE = re.compile(
    r"\b(?:on|in|at|from|with|by|to|us\w+|have|has|having|own\w*|run\w*|built|do|does|offer\w*|sell\w*)\b"
)
_LETTERS = str.maketrans({"ł": "l", "ø": "o", "’": "'", "ß": "s"})
# After a word that excludes: some of the leads, by what they are or have.
_THOSE = re.compile(
    r" (?:\w+ )?(?:those|ones|anyone|anybody|solchen?|diejenigen|jene|ceux|celles|las que|los que|aquell[ao]s"
    r"|as que|os que|quell[ei]|degenen?|diegenen?|tych|tymi|te)\b"
)
# What turns from what is excluded to what is wanted.
_CONTRAST = re.compile(
    r"\b(?:but|and|only|instead|aber|und|nur|mais|et|pero|sino|y|mas|ma|maar|ale|without|ohne|sans|sin|sem|senza)\b"
)
# What comes after it is said of some of those that were named.
_OF_SOME = re.compile(
    r"\bthe (?!first |other |right |only |best |good )\w+(?<!ing) ones\b[^.;]*\bthe \w+ ones\b"
    r"|\b(?:the former|the latter|respectively|jeweils|erstere|letztere|respectivement|ces dern\w+|respectivamente"
    r"|est[oa]s ultim[oa]s|rispettivamente|respectievelijk|odpowiednio)\b"
)
# Fields that say that something is not there.
_LACKING = ("lacks", "missing_", "not_", "no_", "dropped")
# A word in the name of such a thing excludes nothing: "nonprofits", "sugar-free sweets", "DACH without Austria".
_NAMED = frozenset(("keywords", "trades", "service_type", "offers", "country", "region", "subregion"))


@dataclass(frozen=True, slots=True)
class Said:
    """A condition, or none if nothing is searched for the words, and where its words are."""

    clause: Clause | None
    spans: tuple[tuple[int, int], ...]
    excludes: bool = False

    @property
    def denies(self) -> bool:
        return self.excludes if self.clause is None else _denies(self.clause)


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Words that may have been misread."""

    start: int
    end: int
    message: str
    confidence: float = _DOUBTED
    excludes: bool = False
    """Whether the opposite may be searched."""


def look_again(query: str, language: str, read: Sequence[Said]) -> list[Suspicion]:
    """What may be wrong with the reading of a sentence, in the order of its words."""
    text = _plain(query)
    ends = [0, *(match.start() for match in _ENDS.finditer(text)), len(text)]
    found = [
        *_exclusions(text, language, read, ends),
        *_denials(query, text, language, read, ends),
        *_nouns(text, language, read),
        *_alternatives(text, language, read),
        *_amounts(query, text, read),
        *_bound(text, read),
        *_bundles(text, language, read, ends),
    ]
    return sorted(found, key=lambda one: one.start)


def _plain(text: str) -> str:
    """In small letters and without accents, every character where it was."""
    if text.isascii():
        return text.lower()
    return "".join([unicodedata.normalize("NFKD", char)[0] for char in text.lower().translate(_LETTERS)])[: len(text)]


@cache
def _words(table: str, language: str) -> re.Pattern[str]:
    """The words of a table in a language, and those that are the same in every language."""
    known = _EXCLUDING if table == "excluding" else _ALTERNATIVES
    some = "|".join(re.sub(r"\s*\n\s*", "", known[name]) for name in ("", language) if name in known)
    signs = r"(?<=\w)-free\b" if table == "excluding" else r"(?<=\w)(?:/| \| )(?=\w)"
    return re.compile(rf"(?<![\w'@/-])(?:{some})(?![\w'@])|{signs}")


def _denies(clause: Clause) -> bool:
    if isinstance(clause, AnyOf):
        return clause.negated or any(_denies(one) for one in chain.from_iterable(clause.branches))
    return clause.negated != clause.field.startswith(_LACKING)


def _flat(clause: Clause | None) -> Sequence[Condition]:
    if isinstance(clause, AnyOf):
        return list(chain.from_iterable(clause.branches))
    return [] if clause is None else [clause]


def _is_numeric(clause: Clause | None) -> bool:
    return isinstance(clause, Condition) and any(isinstance(value, Range | int) for value in clause.values)


def _exclusions(text: str, language: str, read: Sequence[Said], ends: Sequence[int]) -> Iterator[Suspicion]:
    """A word that excludes, and beside it something that is demanded, but nothing that is excluded."""
    for match in _words("excluding", language).finditer(text):
        start, end = match.span()
        if _IDLE.match(text, end) or _is_double(text, start, end) or any(_settles(one, start, end) for one in read):
            continue
        low = max(stop for stop in ends if stop <= start)
        high = min(stop for stop in ends if stop > start)
        near = [(gap, one) for one in read if (gap := _gap(text, one, start, end, low, high)) is not None]
        gap, nearest = min(near, key=lambda one: one[0], default=(_REACH + 1, None))
        if nearest is None or gap > _REACH or _is_numeric(nearest.clause):
            continue
        said = text[slice(*nearest.spans[0])]
        if not nearest.denies:
            message = f"this may exclude {said!r}, which the search demands"
        elif gap <= _NEXT and start < nearest.spans[0][0] and _holds_denial(text, language, nearest):
            message = f"this may take back {said!r}, which the search excludes"
        else:
            continue
        yield Suspicion(start, end, message, _OPPOSITE, excludes=True)


def _holds_denial(text: str, language: str, one: Said) -> bool:
    """Whether the words of a condition say themselves that it excludes: another denial before them turns it round."""
    words = _words("excluding", language)
    return one.clause is not None and any(words.search(text, first, last) for first, last in one.spans)


def _is_double(text: str, start: int, end: int) -> bool:
    beside = f"{' '.join(text[:start].split()[-2:])} | {' '.join(text[end:].split()[:2])}"
    before, _, after = beside.partition("|")
    lacks = _LACK.fullmatch(text[start:end]) is not None
    other = _words("excluding", "").search(before) if lacks else None
    return other is not None or _LACK.search(after) is not None


def _settles(one: Said, start: int, end: int) -> bool:
    """Whether a condition or a note has accounted for a word that excludes."""
    covering = [(low, high) for low, high in one.spans if low < end and start < high]
    if not covering:
        return False
    longer = any(low <= start and end <= high and high - low > end - start for low, high in covering)
    named = longer and isinstance(one.clause, Condition) and one.clause.field in _NAMED
    return one.denies or named or _is_numeric(one.clause)


def _gap(text: str, one: Said, start: int, end: int, low: int, high: int) -> int | None:
    """How many words are between a word and the nearest of a condition; those before it are further away."""
    gaps = []
    if one.clause is None:
        return None
    for first, last in one.spans:
        if end <= first < high:
            gaps.append(len(text[end:first].split()))
        elif low <= last <= start:
            gaps.append(len(text[last:start].split()) + 2)
    return min(gaps, default=None)


def _denials(query: str, text: str, language: str, read: Sequence[Said], ends: Sequence[int]) -> Iterator[Suspicion]:
    """A condition that excludes, and no word beside it that does."""
    for one in read:
        if not isinstance(one.clause, Condition) or not one.denies or not one.spans or _is_numeric(one.clause):
            continue
        if one.clause.field.startswith(_LACKING) and not one.clause.field.startswith("lacks"):
            continue
        first, last = one.spans[0][0], one.spans[-1][1]
        low = max(stop for stop in ends if stop <= first)
        high = min((stop for stop in ends if stop >= last), default=len(text))
        near = text[low:high]
        if not _words("excluding", language).search(near) and not re.search(r"(?:^|[\s(,;])[-!–]\s?\w|[❌✗]", near):
            yield Suspicion(first, one.spans[0][1], "this is excluded, though no word near it says so")


def _nouns(text: str, language: str, read: Sequence[Said]) -> Iterator[Suspicion]:
    """ "Excluding Austin agencies": only what says which ones is excluded, and agencies are demanded."""
    if language != "en":
        return
    begins = {start for one in read if _field(one.clause) in _WHAT and not one.denies for start, _ in one.spans}
    for one in read:
        if not one.denies or _field(one.clause) not in _WHICH:
            continue
        first, last = one.spans[0][0], one.spans[-1][1]
        denial = _words("excluding", language).match(text, first)
        if denial is None or denial[0].startswith("non") or text[denial.end() : denial.end() + 1] == "-":
            continue  # "non-Shopify agencies" are agencies
        if last + 1 in begins and text[last] == " " and not _CLAUSE.search(text, denial.end(), last):
            message = "this may exclude the businesses that are named right after it, which the search demands"
            yield Suspicion(first, last, message, _OPPOSITE, excludes=True)


def _alternatives(text: str, language: str, read: Sequence[Said]) -> Iterator[Suspicion]:
    """An "or" between two conditions that must both hold; a slash, if both are about the same."""
    conditions = [one for one in read if one.clause is not None]
    for match in _words("alternatives", "nl" if _DUTCH.search(text) else language).finditer(text):
        start, end = match.span()
        if _OR_MORE.match(text, end) or any(_reaches_over(one, start, end) for one in conditions):
            continue
        left = [(last, one) for one in conditions for _, last in one.spans if last <= start]
        right = [(first, one) for one in conditions for first, _ in one.spans if first >= end]
        if not left or not right:
            continue
        last, before = max(left, key=lambda one: one[0])
        first, after = min(right, key=lambda one: one[0])
        if before is after and match[0] == "/":
            continue  # "$5k/mo."
        apart = _ENDS.search(text, last, start) or len(text[end:first].split()) > _REACH
        same = _field(before.clause) == _field(after.clause)
        if not apart and not (before.denies and after.denies) and (same or match[0].strip() not in "/|"):
            yield Suspicion(
                start, end, "this may offer alternatives, but the search demands what is on both sides of it"
            )


def _field(clause: Clause | None) -> str:
    return clause.field if isinstance(clause, Condition) else ""


def _reaches_over(one: Said, start: int, end: int) -> bool:
    """Whether a condition has words on both sides."""
    return (
        bool(one.spans)
        and one.spans[0][0] < end
        and one.spans[-1][1] > start
        and (isinstance(one.clause, AnyOf) or len(getattr(one.clause, "values", ())) != 1 or len(one.spans) == 1)
    )


def _bundles(text: str, language: str, read: Sequence[Said], ends: Sequence[int]) -> Iterator[Suspicion]:
    """ "Except those in Spain that have a phone": only leads that meet all of it are left out, so none of it is
    demanded."""
    for match in _words("excluding", language).finditer(text):
        start, begin = match.start(), match.end()
        those = _THOSE.match(text, begin)
        if those is None:
            continue
        end = min([stop for stop in ends if stop > start] + [text.find(",", begin) % (len(text) + 1)])
        inside = [one for one in read if one.clause is not None and begin < one.spans[-1][1] <= end]
        demanded = [one for one in inside if not one.denies]
        if any(one.denies for one in inside) and demanded and not _CONTRAST.search(text, begin, end):
            said = text[slice(*demanded[0].spans[-1])]
            yield Suspicion(
                start, end, f"this may exclude {said!r}, which the search demands", _OPPOSITE, excludes=True
            )


def _bound(text: str, read: Sequence[Said]) -> Iterator[Suspicion]:
    """ "The Spanish ones must have YouTube, the Belgian ones Instagram": conditions of some of the places only."""
    for match in _OF_SOME.finditer(text):
        if sum(one.clause is not None for one in read) > 1:
            yield Suspicion(*match.span(), "this may bind conditions to some of the leads, but all must meet them")
            return


def _amounts(query: str, text: str, read: Sequence[Said]) -> Iterator[Suspicion]:
    """An amount that no condition on numbers contains."""
    numeric = [one for one in read if one.clause is not None and any(map(_is_numeric, _flat(one.clause)))]
    bounds = {bound for one in numeric for bound in _bounds(one.clause)}
    for match in _AMOUNT.finditer(text):
        start, end = match.span("number")
        if any(one.clause is None and _overlaps(one, start, end) for one in read):
            continue
        amount = _amount(match)
        limited = _LIMIT.search(text, max(0, start - _NEAR), start)
        if limited and any(_is_exact(one.clause, round(amount)) for one in numeric):
            yield Suspicion(
                limited.start(), match.end(), "this may be a limit, but the search demands exactly this amount"
            )
        likely = {round(amount * factor) for factor in (1, 1_000, 0.8, 1.2, 1 / 12)}
        marked = match["sign"] or match["unit"] or match["mark"]
        contained = not bounds.isdisjoint(likely) and any(_overlaps(one, start, end) for one in numeric)
        if marked and not contained:
            yield Suspicion(match.start(), match.end(), "no condition contains this amount")


def _overlaps(one: Said, start: int, end: int) -> bool:
    return any(low < end and start < high for low, high in one.spans)


def _bounds(clause: Clause | None) -> Iterator[int]:
    for value in chain.from_iterable(one.values for one in _flat(clause)):
        if isinstance(value, Range):
            yield from (bound for bound in value[:2] if bound is not None)
        elif isinstance(value, int):
            yield value


def _is_exact(clause: Clause | None, amount: int) -> bool:
    return any(
        isinstance(value, Range) and value.low == value.high == amount
        for condition in _flat(clause)
        for value in condition.values
    )


def _amount(match: re.Match[str]) -> float:
    digits = re.sub(r"[.,' ](?=\d{3}(?!\d))", "", match["number"]).replace(",", ".")
    unit = (match["unit"] or "").strip()
    return float(digits) * (_TIMES.get(unit, 1_000) if unit else 1)
