"""Technologies, categories and business types to conditions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from siteglass.query.criteria import AnyOf, Condition
from siteglass.query.directives import make_condition
from siteglass.query.natural.kinds import ENTITIES, Role
from siteglass.query.natural.segments import Segment
from siteglass.query.natural.sentence import Sentence
from siteglass.query.vocabulary import vocabulary

_OFFERING_ENDINGS = ("provider", "providers", "vendors", "vendor")
_TOOLS = frozenset((Role.TECHNOLOGY, Role.CATEGORY))
SITES = (Role.SHOP_WORD, Role.GENERIC, Role.SERVICE_TYPE)
# One site has only one of these.
_PLATFORMS = frozenset(("ecommerce", "cms", "website_builder"))


def read_tools(sentence: Sentence) -> None:
    """Write what a site uses, lacks and offers."""
    at = 0
    while at < len(sentence.parts):
        part = sentence.parts[at]
        if part.used or part.kind not in _TOOLS:
            at += 1
            continue
        places, joints = list_from(sentence, at)
        if _is_purpose(sentence, at):
            for i in places:
                sentence.join(sentence.parts[i], sentence.parts[at - 2].readings)
        elif part.kind == Role.TECHNOLOGY:
            _technologies(sentence, places, joints)
        else:
            _categories(sentence, places, joints)
        at = places[-1] + 1


def list_from(sentence: Sentence, at: int) -> tuple[list[int], list[Role]]:
    """The list that begins at a tool: where its members are, and how they are joined."""
    part, places, joints = sentence.parts[at], [at], list[Role]()
    for i in range(at + 1, len(sentence.parts)):
        other = sentence.parts[i]
        if other.used or other.kind != part.kind:
            if other.kind in ENTITIES or other.kind in (Role.NUMBER, Role.CONTACT):
                break
            continue
        joint = sentence.joint(places[-1], i)
        if joint is None or other.negated != part.negated:
            break
        places.append(i)
        joints.append(joint)
    if _opens_alternatives(sentence, at):
        joints = [Role.OR] * len(joints)
    return places, joints


def _opens_alternatives(sentence: Sentence, at: int) -> bool:
    """ "one of A and B", "any of: A, B", "soit A, soit B"."""
    before = [part for part in sentence.parts[max(0, at - 2) : at] if part.key != ":"]
    return bool(before) and before[-1].key in sentence.sets.one_of


def _is_purpose(sentence: Sentence, at: int) -> bool:
    """ "Adyen for payments": what a technology is for adds nothing."""
    before, tool = sentence.parts[at - 1] if at else None, sentence.parts[at - 2] if at > 1 else None
    return (
        sentence.parts[at].kind == Role.CATEGORY
        and before is not None
        and before.key in sentence.sets.purposes
        and tool is not None
        and tool.kind == Role.TECHNOLOGY
    )


def _technologies(sentence: Sentence, places: list[int], joints: list[Role]) -> None:
    parts = [sentence.parts[i] for i in places]
    values = [part.values[0] for part in parts]
    negated = parts[0].negated
    if len(parts) > 1 and negated and Role.OR not in joints:
        together = _together(sentence, places[-1])
        if together or _both_before(sentence, places[0]):
            _say_not_both(sentence, [*parts, *together])
            return
    if negated or (len(values) > 1 and _platforms_of_noun(sentence, values, places)):
        joints = [Role.OR] * len(joints)
    _say_groups(sentence, "technology", parts, joints, negated=negated, rule="technology")
    after = sentence.after(places[-1])
    if after is not None and after.has(Role.COMMA):
        after = sentence.after(places[-1] + 1)
    if after is not None and after.has(Role.NOT_BOTH) and not negated:
        _say_not_both(sentence, [*parts, after])


def _both_before(sentence: Sentence, at: int) -> bool:
    """ "don't use both A and B"."""
    return any("both" in part.key.split() for part in sentence.parts[max(0, at - 2) : at])


def _together(sentence: Sentence, at: int) -> list[Segment]:
    """The words right after a list that say that all of it is meant: "A and B together"."""
    return [part for part in sentence.parts[at + 1 : at + 2] if part.key in sentence.sets.together]


def _say_not_both(sentence: Sentence, parts: list[Segment]) -> None:
    """One of them may be used, all together may not."""
    used = [make_condition("technology", part.values) for part in parts if part.kind == Role.TECHNOLOGY]
    sentence.say_any([used], parts, "not both", negated=True)


def alternatives_in(joints: list[Role]) -> list[list[int]]:
    """Which members of a list are alternatives: "A and B or C" is A, and B or C. A comma is what follows it is."""
    meant: list[Role] = []
    following = Role.AND
    for joint in reversed(joints):
        following = following if joint == Role.COMMA else joint
        meant.insert(0, following)
    groups = [[0]]
    for number, joint in enumerate(meant, start=1):
        if joint == Role.OR:
            groups[-1].append(number)
        else:
            groups.append([number])
    return groups


def _say_groups(
    sentence: Sentence, directive: str, parts: list[Segment], joints: list[Role], *, negated: bool, rule: str
) -> None:
    """One line for each group of alternatives."""
    for group in alternatives_in(joints):
        some = [parts[number] for number in group]
        sentence.say(directive, [part.values[0] for part in some], some, rule, negated=negated)


def _categories(sentence: Sentence, places: list[int], joints: list[Role]) -> None:
    parts = [sentence.parts[i] for i in places]
    first = parts[0]
    relation = _relation(sentence, places)
    if first.doubled:
        _say_each(sentence, parts, negated=True, rule="category denied twice")
    elif first.negated and relation != Role.OFFERING and not _sells(sentence, parts, places):
        _say_each(sentence, parts, negated=False, rule="category denied")
    elif relation == Role.OFFERING or _headed(sentence, parts, places):
        joints = [Role.OR] * len(joints) if first.negated else joints
        _say_groups(sentence, "offers", parts, joints, negated=first.negated, rule="offer")
    else:
        _say_groups(sentence, "categories_uses", parts, joints, negated=False, rule="category used")


def _say_each(sentence: Sentence, parts: list[Segment], *, negated: bool, rule: str) -> None:
    """A line for each category that is lacking."""
    for part in parts:
        sentence.say("lacks", part.values[:1], [part], rule, negated=negated)


def _relation(sentence: Sentence, places: list[int]) -> Role | None:
    """The verb that a category hangs on; in German and Dutch it may come after it."""
    after = sentence.after(places[-1])
    if sentence.grammar.verb_last and after and any(sentence.words.role(t.key, Role.OFFERING) for t in after.tokens):
        return Role.OFFERING
    for at in range(places[0] - 1, -1, -1):
        part = sentence.parts[at]
        if part.has(Role.OFFERING):
            return Role.OFFERING
        if part.has(Role.NEGATION, Role.EXCEPTION):
            if part.key not in sentence.sets.nor and part.key not in sentence.sets.bare_denials:
                return None
            continue
        if part.kind == Role.NUMBER and part.readings:
            return None  # another condition is between
        if part.has(Role.USING):
            return Role.USING
        if part.has(Role.BUT) and sentence.parts[at + 1].key in sentence.sets.bare_denials:
            continue
        if part.has(Role.BREAK, Role.BUT, Role.PLACE_PREPOSITION) or part.kind in (Role.SERVICE_TYPE, Role.GENERIC):
            return None
    return None


def _headed(sentence: Sentence, parts: list[Segment], places: list[int]) -> bool:
    """Whether a list of categories is beside a word for businesses that offer them."""
    after = sentence.after(places[-1])
    if after is not None and (_is_agency(after) or after.has(Role.OFFERING_AFTER, Role.OFFERING_HEAD)):
        return True
    if parts[-1].key.endswith(_OFFERING_ENDINGS):
        return True
    before = next((part for part in reversed(sentence.parts[: places[0]]) if part.key not in sentence.sets.of), None)
    return before is not None and (_is_agency(before) or before.has(Role.OFFERING_AFTER))


def _sells(sentence: Sentence, parts: list[Segment], places: list[int]) -> bool:
    """ "excluding hosting companies" leaves out who offers it; "without a CRM provider" says what is lacking."""
    denial = parts[0].denied_by
    return denial is not None and not denial.has(Role.NEGATION) and _headed(sentence, parts, places)


def _is_agency(part: Segment) -> bool:
    return part.kind == Role.SERVICE_TYPE and part.values == ("Agency",)


def _platforms_of_noun(sentence: Sentence, values: Iterable[str], places: list[int]) -> bool:
    """ "Shopify and WooCommerce stores": alternatives, as one site has only one."""
    known = vocabulary()
    platforms = all(_PLATFORMS & set(known.categories_of(value)) for value in values)
    before, after = (sentence.parts[places[0] - 1] if places[0] else None), sentence.after(places[-1])
    return platforms and any(beside is not None and beside.has(*SITES) for beside in (before, after))


def read_types(sentence: Sentence) -> None:
    """Write what the business is. What a technology beside it says already adds nothing."""
    known = vocabulary()
    tools = [part for part in sentence.parts if part.kind == Role.TECHNOLOGY and _is_used(part)]
    shop_platform = next((tool for tool in tools if "ecommerce" in known.categories_of(tool.values[0])), None)
    shop_platform = shop_platform or next(filter(_on_either_platform, sentence.parts), None)
    wanted: list[Segment] = []
    unwanted: list[Segment] = []
    said_by: list[tuple[Segment, Segment]] = []
    for at, part in enumerate(sentence.parts):
        if part.used or part.kind != Role.SERVICE_TYPE:
            continue
        part.used = True
        value = part.values[0]
        before = sentence.parts[at - 1] if at else None
        after = sentence.after(at)
        if part.negated:
            if value == "Firm" and before is not None and before in unwanted:
                said_by.append((part, before))  # "consulting firms"
            else:
                unwanted.append(part)
        elif after is not None and _is_agency(after) and known.resolve("category", part.key):
            offer = known.resolve("category", part.key)
            sentence.say("offers", offer, [part], "offer")  # "ecommerce agencies"
        elif value == "Ecommerce" and shop_platform and _has_shop_word(sentence, part):
            said_by.append((part, shop_platform))
        elif value == "Publisher" and part.key in ("blog", "blogs") and (beside := _platform_beside(before, after)):
            said_by.append((part, beside))
        elif value == "Firm" and wanted:
            said_by.append((part, wanted[0]))
        else:
            wanted.append(part)
    for some, negated in ((wanted, False), (unwanted, True)):
        if some:
            values = [part.values[0] for part in some]
            sentence.say("service_type", values, some, "business type", negated=negated)
    for part, other in said_by:
        sentence.join(part, other.readings)


def _on_either_platform(part: Segment) -> bool:
    """ "on Magento with PayPal or on Shopify with Mailchimp": each of the alternatives has a shop platform."""
    return any(
        isinstance(clause, AnyOf) and not clause.negated and all(map(_has_shop_platform, clause.branches))
        for reading in part.readings
        for clause in reading.clauses
    )


def _has_shop_platform(branch: Sequence[Condition]) -> bool:
    used = [one for one in branch if one.field == "technologies" and not one.negated]
    return any("ecommerce" in vocabulary().categories_of(str(value)) for one in used for value in one.values)


def _is_used(part: Segment) -> bool:
    """Whether the sentence says that all sites use it: not that they do not, or since when, or may do so."""
    return not part.negated and any(reading.directive not in ("", "added", "dropped") for reading in part.readings)


def _platform_beside(*parts: Segment | None) -> Segment | None:
    return next((part for part in parts if part is not None and part.kind == Role.TECHNOLOGY), None)


def _has_shop_word(sentence: Sentence, part: Segment) -> bool:
    return any(sentence.words.role(token.key, Role.SHOP_WORD) for token in part.tokens)
