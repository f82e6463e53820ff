"""Labelled sentences made from random searches in five languages; the label is what they were made from.

    python -m testing.sentences.generate --count 10000 --seed 1 [--language de] [--out FILE]

The words stand in `words/`, written from the guideline, not from the parser's tables. Every sentence is one that the
guideline gives exactly one meaning. "This year" is that of `score.TODAY`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

from testing.sentences.compose import is_aside, say
from testing.sentences.score import Labelled
from testing.sentences.searches import Search, draw_search
from testing.sentences.words import LANGUAGES

# As many sentences in English as in two others.
_WEIGHTS = (2, 1, 1, 1, 1)


def draw_seeded(draw: Random, languages: tuple[str, ...] = LANGUAGES) -> tuple[Search, int]:
    """A search, and the seed of its wording."""
    weights = [_WEIGHTS[LANGUAGES.index(name)] for name in languages]
    return draw_search(draw, draw.choices(languages, weights)[0]), draw.getrandbits(32)


def labelled(search: Search, seed: int) -> Labelled:
    """The sentence with its label."""
    return Labelled(say(search, seed, seed), search.gold, _tags(search, aside=is_aside(search, seed)))


def generate(count: int, seed: int, languages: tuple[str, ...] = LANGUAGES) -> Iterator[Labelled]:
    """So many labelled sentences; the same for the same seed."""
    draw = Random(seed)
    for _ in range(count):
        yield labelled(*draw_seeded(draw, languages))


def _tags(search: Search, *, aside: bool) -> tuple[str, ...]:
    said = dict.fromkeys([*(wish.thing for wish in search.wishes), *(tag for w in search.wishes for tag in w.tags)])
    tags = [tag for tag in said if tag not in ("head",)]
    return (_level(search, aside=aside), search.spoken, f"head_{search.head.say}", *tags, *(["aside"] if aside else []))


def _level(search: Search, *, aside: bool) -> str:
    tags = {tag for wish in search.wishes for tag in wish.tags}
    if search.spoken != "en" or aside or not tags.isdisjoint(("distance", "currency")):
        return "L4"
    if any(wish.hard for wish in search.wishes):
        return "L3"
    listed = any(len(wish.values) > 1 for wish in search.wishes)
    return "L2" if search.conditions > 2 or listed or "range" in tags else "L1"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--language", choices=LANGUAGES)
    parser.add_argument("--out", type=Path, help="where the sentences go; else to the terminal")
    asked = parser.parse_args()
    made = generate(asked.count, asked.seed, (asked.language,) if asked.language else LANGUAGES)
    lines = (
        json.dumps({"query": one.query, "gold": list(one.gold), "tags": list(one.tags)}, ensure_ascii=False)
        for one in made
    )
    if asked.out:
        asked.out.write_text("".join(f"{line}\n" for line in lines))
    else:
        sys.stdout.writelines(f"{line}\n" for line in lines)


if __name__ == "__main__":
    main()
