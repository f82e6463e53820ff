"""Random searches: what is asked for, before it is said. What the guideline gives no single meaning is never drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from siteglass.query.vocabulary import vocabulary
from testing.sentences import amounts, heads, places
from testing.sentences.wishes import Wish, denied, fixed, line, listed
from testing.sentences.words import Forms, Language, forms, language, tools

# Denied types of business that have one name and one line.
_DENIED_TYPES = ("Agency", "Consultant", "Marketplace", "SaaS", "Manufacturer")


@dataclass(frozen=True)
class Search:
    """A head, perhaps a place, and other wishes, in one language."""

    spoken: str
    head: Wish
    place: Wish | None
    others: tuple[Wish, ...]

    @property
    def wishes(self) -> tuple[Wish, ...]:
        return (self.head, *([self.place] if self.place else []), *self.others)

    @property
    def gold(self) -> tuple[str, ...]:
        """Each line once."""
        return tuple(dict.fromkeys(line for wish in self.wishes for line in wish.gold))

    @property
    def conditions(self) -> int:
        return len(self.gold)


class Draft:
    """A search being drawn: what is in it decides what may come into it."""

    def __init__(self, draw: Random, spoken: Language) -> None:
        self.draw = draw
        self.spoken = spoken
        self.head = heads.head(draw, spoken)
        self.place: Wish | None = None
        self.others: list[Wish] = []

    def add(self, make: Callable[[Draft], Wish | None]) -> None:
        """Add a wish, unless there is one about the same thing."""
        wish = make(self)
        if wish is None or wish.thing in self.things():
            return
        if not self.spoken.ways(wish.say, wish.values, wish.given):  # a longer list than the language has words for
            return
        if wish.thing == "place" and wish.say != "not_place":
            self.place = wish
        else:
            self.others.append(wish)

    def things(self) -> set[str]:
        return {wish.thing for wish in self.all()}

    def all(self) -> list[Wish]:
        return [self.head, *([self.place] if self.place else []), *self.others]

    def technologies(self) -> set[str]:
        return {name for wish in self.all() if wish.say.endswith("technology") for name in wish.names}

    def is_shop(self) -> bool:
        return heads.SHOP in self.head.gold

    def is_plain(self) -> bool:
        """Whether the head says nothing about what the site is built with or is."""
        return self.head.say in ("generic", "keyword", "business") and not self.is_shop() and not self.is_publisher()

    def is_publisher(self) -> bool:
        return "@service_type(Publisher)" in self.head.gold


def _free_technologies(draft: Draft, *kinds: str) -> dict[str, Forms]:
    """Those of these kinds that no wish names yet."""
    known = {name: forms(said) for kind in kinds for name, said in tools()[kind].items()}
    return {name: said for name, said in known.items() if name not in draft.technologies()}


def _technology(draft: Draft) -> Wish | None:
    if "uses" in draft.things():
        return None
    draw = draft.draw
    kind = draw.choice(("tool", "tool", "shop", "site", "plain"))
    if draft.is_shop() and kind == "shop":
        # "shops on Shopify": the platform says that it is a shop.
        draft.head = replace(draft.head, gold=tuple(line for line in draft.head.gold if line != heads.SHOP))
    elif not draft.is_plain() and kind in ("shop", "site"):
        kind = "tool"
    known = _free_technologies(draft, kind)
    if kind == "plain":
        wish = listed(draw, "technology", "technology", known, joiners=("or",), most=1, say="plain_technology")
        return replace(wish, hard=True)
    several = kind == "tool"
    joiners = ("and", "or") if several else ("or",)
    return listed(draw, "technology", "technology", known, joiners=joiners, most=3 if several else 2)


def _not_technology(draft: Draft) -> Wish | None:
    known = _free_technologies(draft, "tool", *(["site"] if draft.is_plain() else []))
    return denied(draft.draw, "not_technology", "not_technology", "!@technology({})", known)


def _free_categories(draft: Draft) -> dict[str, Forms]:
    """Those that no other wish names, nor any technology of the search belongs to."""
    named = {name for wish in draft.others if wish.thing in ("uses", "lacks", "not_lacks") for name in wish.names}
    named |= {name for tool in draft.technologies() for name in vocabulary().categories_of(tool)}
    return {name: said for name, said in draft.spoken.values("categories").items() if name not in named}


def _uses(draft: Draft) -> Wish | None:
    if "technology" in draft.things() or draft.head.say == "tool_technology":
        return None  # "Adyen for payments": beside a technology, a category may be its purpose
    return listed(draft.draw, "uses", "categories_uses", _free_categories(draft), joiners=("and", "or"))


def _lacks(draft: Draft) -> Wish | None:
    return denied(draft.draw, "lacks", "lacks", "@lacks({})", _free_categories(draft))


def _not_lacks(draft: Draft) -> Wish | None:
    if "not_lacks" not in draft.spoken.tables["say"]:
        return None
    wish = denied(draft.draw, "not_lacks", "not_lacks", "!@lacks({})", _free_categories(draft), most=1)
    return replace(wish, hard=True)


def _offers(draft: Draft) -> Wish | None:
    if draft.head.say not in ("generic", "business") or not draft.is_plain():
        return None
    if draft.draw.random() < 0.3:
        return denied(draft.draw, "offers", "not_offers", "!@offers({})", draft.spoken.values("offers"))
    return listed(draft.draw, "offers", "offers", draft.spoken.values("offers"), joiners=("or",))


def _not_business(draft: Draft) -> Wish | None:
    if draft.head.say not in ("generic", "keyword"):
        return None
    known = {name: said for name, said in draft.spoken.values("business").items() if name in _DENIED_TYPES}
    return denied(draft.draw, "not_business", "not_business", "!@service_type({})", known)


def _sell(draft: Draft) -> Wish | None:
    head = draft.head
    if "offers" in draft.things() or not (head.say in ("generic", "shop_technology") or head.gold == (heads.SHOP,)):
        return None
    name, said = draft.draw.choice(list(draft.spoken.values("goods").items()))
    return Wish("offers", "sell", (line("keywords", [name]),), (said,), tags=("keywords",))


def _free_networks(draft: Draft) -> dict[str, Forms]:
    named = {name for wish in draft.others if wish.thing in ("network", "not_network") for name in wish.names}
    return {name: said for name, said in draft.spoken.values("networks").items() if name not in named}


def _network(draft: Draft) -> Wish | None:
    wish = listed(draft.draw, "network", "", _free_networks(draft), joiners=("and",), most=3)
    return replace(wish, gold=tuple(f"@has_{name}" for name in wish.names))


def _not_network(draft: Draft) -> Wish | None:
    return denied(draft.draw, "not_network", "not_network", "!@has_{}", _free_networks(draft))


def _pages(draft: Draft) -> Wish | None:
    known = draft.spoken.values("pages")
    if draft.draw.random() < 0.3:
        return denied(draft.draw, "pages", "not_pages", "!@pages({})", known, most=1)
    return listed(draft.draw, "pages", "pages", known, joiners=("and", "or"))


def _place(draft: Draft) -> Wish | None:
    kinds = (places.country, places.state, places.city, places.city_in_full, places.area, places.all_but)
    if draft.draw.random() < 0.1:
        return places.not_there(draft.draw, draft.spoken)
    return draft.draw.choices(kinds, (8, 4, 4, 2, 4, 2))[0](draft.draw, draft.spoken)


def _age(draft: Draft) -> Wish | None:
    draw, spoken = draft.draw, draft.spoken
    kind = draw.randrange(4)
    if kind == 0:
        return amounts.since(draw, spoken)
    return amounts.age(draw, spoken, negated=True) if kind == 1 else amounts.age(draw, spoken, negated=False)


def _fixed(*begins: str) -> Callable[[Draft], Wish | None]:
    return lambda draft: fixed(draft.draw, draft.spoken, begins)


_MAKERS: dict[Callable[[Draft], Wish | None], int] = {
    _place: 40,
    _technology: 18,
    _not_technology: 10,
    _uses: 8,
    _lacks: 12,
    _not_lacks: 2,
    _offers: 8,
    _not_business: 3,
    _sell: 4,
    _network: 8,
    _not_network: 6,
    _pages: 8,
    lambda draft: places.language(draft.draw, draft.spoken): 8,
    lambda draft: amounts.score(draft.draw, draft.spoken): 10,
    lambda draft: amounts.spends(draft.draw, draft.spoken): 14,
    lambda draft: amounts.load_time(draft.draw, draft.spoken): 8,
    _age: 8,
    _fixed("missing", "not_"): 22,
    _fixed("has_phone", "has_email", "no_generic"): 14,
    _fixed("load_time", "score", "spends", "updated"): 14,
}


def draw_search(draw: Random, spoken: str) -> Search:
    """A search with a condition at least."""
    while True:
        draft = Draft(draw, language(spoken))
        for make in draw.choices(list(_MAKERS), list(_MAKERS.values()), k=draw.choice((0, 1, 1, 2, 2, 3, 3, 4, 5))):
            draft.add(make)
        made = Search(spoken, draft.head, draft.place, tuple(draft.others))
        if made.gold:
            return made
