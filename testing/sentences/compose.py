"""A search as a sentence. Layout (order, style, with / that / using) and words are drawn apart, and each wish draws its
own: a wish more, or other words, leave the rest of the sentence as it was."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from testing.sentences.searches import Search
from testing.sentences.wishes import Wish
from testing.sentences.words import Language, agreed, filled, is_feminine, language, usable

# Heads that are sites themselves, of which "slow" and its like are said directly.
_SITES = ("site_technology", "shop_technology", "blog_technology")
# Nationalities stand before what cannot be of a nation by its kind ("Italian restaurants" may be in Leeds).
_OF_NATIONS = ("business", "agency", "provider", *_SITES, "agency_technology", "tool_technology")
_FLOW = ("with", "without", "rel", "part", "adj")
_FRAGMENTS = (("frag",), ("without", "with", "part"), ("rel",))


@dataclass(frozen=True)
class Said:
    """A wish with the class and the template that were chosen for it."""

    wish: Wish
    where: str
    text: str


class Composer:
    """Says one search."""

    def __init__(
        self, search: Search, layout_seed: int, words_seed: int, only: Mapping[str, str] | None = None
    ) -> None:
        self.search = search
        self.spoken: Language = language(search.spoken)
        self.layout_seed, self.words_seed = layout_seed, words_seed
        self.only = only or {}

    def layout(self, name: str) -> Random:
        return Random(f"{self.layout_seed} {name}")

    def words(self, name: str) -> Random:
        return Random(f"{self.words_seed} {name}")

    def sentence(self) -> str:
        """The whole sentence, and no gender marked in it."""
        style = self._style()
        said = self._said(style)
        noun = self._noun(said)
        tail = [one for one in said if one.where not in ("adj", "loc")]
        written = {
            "flow": self._flow,
            "fragments": self._fragments,
            "question": self._question,
            "pair": self._pair,
        }[style](noun, tail)
        text = agreed(written, feminine=is_feminine(noun))
        for apart, together in self.spoken.layout.get("contractions", {}).items():
            text = text.replace(apart, together)
        text = re.sub(r",(\s*,)+", ",", re.sub(r" {2,}", " ", text)).strip(" ,")
        return text[:1].upper() + text[1:] if self.layout("capital").random() < 0.3 else text

    # --- choices ----------------------------------------------------------------------------------

    def _style(self) -> str:
        styles = ["flow"] * 6 + ["fragments"] * 2
        if self.search.others and all(self._templates(wish, "rel") for wish in self.search.others):
            styles += ["question"] * 2 * bool(self.spoken.layout["questions"])
            styles += ["pair"] * bool(self.spoken.layout["pairs"])
        return self.layout("style").choice(styles) if not self.only else "flow"

    def _templates(self, wish: Wish, where: str) -> list[str]:
        return self.spoken.ways(wish.say, wish.values, wish.given).get(where, [])

    def _classes(self, wish: Wish, style: str) -> Sequence[str]:
        """Where a wish may stand."""
        if wish.thing in self.only:
            return (self.only[wish.thing],)
        if wish is self.search.place:
            adjective = self._templates(wish, "adj") and self._nationality_fits()
            return ("loc", "loc", "adj") if adjective else ("loc",)
        if style in ("question", "pair"):
            return ("rel",)
        wanted = (_FLOW,) if style == "flow" else _FRAGMENTS
        for classes in wanted:
            found = [where for where in classes if self._templates(wish, where)]
            if "adj" in found and not self._adjective_fits(wish):
                found.remove("adj")
            if found:
                return found
        return tuple(self.spoken.ways(wish.say, wish.values, wish.given))

    def _nationality_fits(self) -> bool:
        say = self.search.head.say
        return say in _OF_NATIONS or (say == "generic" and self.spoken.name == "en")

    def _adjective_fits(self, wish: Wish) -> bool:
        head = self.search.head
        return head.say in _SITES or (wish.thing == "lang" and head.say in ("business", "generic"))

    def _said(self, style: str) -> list[Said]:
        made = []
        for wish in self.search.wishes[1:]:
            layout, words = self.layout(wish.thing), self.words(wish.thing)
            where = layout.choice(self._classes(wish, style))
            template = words.choice(self._templates(wish, where))
            given = {name: words.choice(ways) for name, ways in wish.given.items()} | {"head": "{head}"}
            made.append(Said(wish, where, filled(template, wish.values, wish.joiner, given, self.spoken, words)))
        return sorted(made, key=lambda one: (one.wish.negative, self.layout(f"order {one.wish.thing}").random()))

    # --- parts ------------------------------------------------------------------------------------

    def _noun(self, said: Sequence[Said]) -> str:
        head, words = self.search.head, self.words("head")
        templates = [one for one in self.spoken.tables["heads"][head.say] if usable(one, head.values, {})]
        text = filled(words.choice(templates), head.values, head.joiner, {}, self.spoken, words)
        for one in said:
            if one.where == "adj":
                text = one.text.replace("{head}", text)
        place = "".join(f" {one.text}" for one in said if one.where == "loc")
        return text + place

    def _verbs(self, tail: Sequence[Said]) -> str:
        return self.spoken.joined([one.text for one in tail], "and")

    def _with(self, tail: Sequence[Said]) -> str:
        """One "with" for all; a list with "or" has its own, so that "and" does not reach into it."""
        opening = self.spoken.layout["with"]
        apart = [one.text for one in tail if one.wish.joiner == "or" and len(one.wish.values) > 1]
        plain = [one.text for one in tail if one.text not in apart]
        groups = [*apart, *([self.spoken.joined(plain, "and")] if plain else [])]
        return ", ".join(f"{opening}{text}" for text in groups)

    def _without(self, tail: Sequence[Said]) -> str:
        opening = self.words("without").choice(self.spoken.layout["without"])
        return self.spoken.joined([f"{opening}{one.text}" for one in tail], "and")

    def _requested(self, text: str) -> str:
        layout, words = self.layout("request"), self.words("request")
        requests = self.spoken.layout["asides" if self.is_aside() else "requests"]
        asked: str = words.choice(requests).replace("{s}", text)
        return asked if asked.endswith("?") or layout.random() < 0.8 else f"{asked}."

    def is_aside(self) -> bool:
        """Whether the sentence says something besides that the service cannot do, or that means nothing to it."""
        return self.layout("aside").random() < 0.05

    # --- styles -----------------------------------------------------------------------------------

    def _question(self, noun: str, tail: Sequence[Said]) -> str:
        template: str = self.words("request").choice(self.spoken.layout["questions"])
        return template.replace("{head}", noun).replace("{vps}", self._verbs(tail))

    def _pair(self, noun: str, tail: Sequence[Said]) -> str:
        template: str = self.words("request").choice(self.spoken.layout["pairs"])
        return template.replace("{s}", noun).replace("{vps}", self._verbs(tail))

    def _fragments(self, noun: str, tail: Sequence[Said]) -> str:
        layout = self.spoken.layout
        opening = {"with": layout["with"], "without": layout["without"][0], "rel": layout["rel"]}
        pieces = [noun, *(opening.get(one.where, "") + one.text for one in tail)]
        return str(self.layout("separator").choice(layout["separators"]).join(pieces))

    def _flow(self, noun: str, tail: Sequence[Said]) -> str:
        layout = self.spoken.layout
        order = ["with", "without", "rel"]
        self.layout("groups").shuffle(order)
        text, before = noun, ""
        for where in ("part", *order):
            group = [one for one in tail if one.where == where]
            if not group:
                continue
            if where == "part":
                text += layout["part_open"] + ", ".join(one.text for one in group)
            elif where == "with":
                text += (layout["again"] if before else " ") + self._with(group)
            elif where == "without":
                opening = layout["but"] if before == "with" else layout["again"] if before else " "
                text += opening + self._without(group)
            else:
                text += (layout["rel_again"] if before else layout["rel_open"]) + layout["rel"] + self._verbs(group)
            before = where
        return self._requested(text)


def say(search: Search, layout_seed: int, words_seed: int, only: Mapping[str, str] | None = None) -> str:
    """The search as a sentence; `only` says for a thing in which class it must stand, in a flowing sentence."""
    return Composer(search, layout_seed, words_seed, only).sentence()


def is_aside(search: Search, layout_seed: int) -> bool:
    """Whether that sentence has an aside."""
    return Composer(search, layout_seed, 0).is_aside()
