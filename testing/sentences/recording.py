"""Record how sentences are read, and compare: for changes that must not change readings.

    nice python -m testing.sentences.recording record FILE
    nice python -m testing.sentences.recording compare FILE [--show 40]

A recording has every sentence kept for tests, the generated families, and 50,000 drawn from the words of the lexicon,
with directives, spans, confidence and notes. `compare` reads the recorded sentences anew."""

from __future__ import annotations

import argparse
import ast
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from siteglass.errors import QueryError
from siteglass.query.natural import interpret
from siteglass.query.natural.kinds import Role
from siteglass.query.natural.lexicon import lexicon
from siteglass.query.trades import trades
from siteglass.query.vocabulary import vocabulary
from testing.sentences.families import exclusions, others
from testing.sentences.generate import generate
from testing.sentences.probes import FAMILIES
from testing.sentences.score import SETS, TODAY

TESTS = Path(__file__).parents[2] / "tests"
DRAWN, GENERATED, SEED = 50_000, 5_000, 49
# Language -> how its sentences go. A name in braces is drawn from the phrases of that role.
FRAMES = {
    "en": ("{head} in {place} without {what}", "find {head} using {tool} with {what}",
           "{place} {head} that {any} {what}", "{head} near {place} spending over 5k, not {what} but {any}"),
    "de": ("{head} in {place} ohne {what}", "{head} aus {place}, die {tool} nutzen und kein {what} haben",
           "suche {place} {head} mit {what} {any}", "{head} mit mehr als 500 € Werbebudget {any} {what}"),
    "es": ("{head} en {place} sin {what}", "busco {head} de {place} que usan {tool} y {what}",
           "{head} {place} con {what} {any}"),
    "fr": ("{head} en {place} sans {what}", "je cherche {head} à {place} qui utilisent {tool} et {what}",
           "{head} {place} avec {what} {any}"),
    "pt": ("{head} em {place} sem {what}", "procuro {head} de {place} que usam {tool} e {what}",
           "{head} {place} com {what} {any}"),
    "it": ("{head} in {place} senza {what}", "cerco {head} a {place} che usano {tool} e {what}",
           "{head} {place} con {what} {any}"),
    "nl": ("{head} in {place} zonder {what}", "zoek {head} uit {place} die {tool} gebruiken en {what}",
           "{head} {place} met {what} {any}"),
    "pl": ("{head} w {place} bez {what}", "szukam {head} z {place} które używają {tool} i {what}",
           "{head} {place} z {what} {any}"),
}  # fmt: skip
_PLACES = (Role.COUNTRY, Role.STATE, Role.CITY, Role.REGION, Role.SUBREGION, Role.GROUP, Role.NATIONALITY)
_HEADS = (Role.GENERIC, Role.SERVICE_TYPE, Role.SHOP_WORD, Role.SITE_WORD, Role.OFFERING_HEAD, Role.NATIONALITY)


def kept() -> Iterator[str]:
    """Every sentence in files of tests, and every string of several words in their modules."""
    for path in sorted([*SETS.glob("*.jsonl"), *(TESTS / "query" / "sentences").glob("*.jsonl")]):
        yield from (json.loads(row)["query"] for row in path.read_text("utf-8").splitlines())
    for folder in ("query", "api/interpret", "search", "language_model", "docs"):
        for path in sorted((TESTS / folder).glob("test_*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
                    yield node.value
    for row in (SETS / "other_languages.txt").read_text("utf-8").splitlines():
        yield row.split("\t")[1]


def families() -> Iterator[str]:
    """The generated ones."""
    yield from (member.query for member in exclusions())
    for name in ("amounts", "alternatives"):
        yield from (member.query for member in others(name))
    for family in FAMILIES.values():
        yield from (probe.query for probe in family())
    yield from (row.query for row in generate(GENERATED, SEED))


def drawn() -> Iterator[str]:
    """Sentences of eight languages, from phrases, places, technologies, trades and everyday words."""
    draw, words, known, languages = Random(SEED), lexicon(), vocabulary(), list(FRAMES)
    phrases = {
        role: sorted(key for key, senses in words._phrases.items() if any(one.kind in roles for one in senses))
        for role, roles in (("place", _PLACES), ("head", _HEADS), ("any", tuple(Role)))
    }
    names, tools = sorted(map(str, known.spoken_names())), sorted(known.joined_names("technology"))
    everyday = sorted(words.common)
    kinds = {language: sorted(trades().forms(language)) for language in FRAMES}
    for number in range(DRAWN):
        language = languages[number % len(languages)]
        slots = {
            "head": draw.choice(draw.choice((phrases["head"], kinds[language]))),
            "place": draw.choice(draw.choice((phrases["place"], names))),
            "tool": draw.choice(draw.choice((tools, phrases["any"]))),
            "what": draw.choice(draw.choice((phrases["any"], phrases["any"], tools, everyday))),
            "any": draw.choice(draw.choice((phrases["any"], everyday))),
        }
        yield draw.choice(FRAMES[language]).format(**slots)


def reading(query: str) -> dict[str, Any]:
    """All that a caller can see of a reading."""
    try:
        read = interpret(query, TODAY.date())
    except QueryError as error:
        return {"error": str(error)}

    def notes(some: Any) -> list[Any]:
        return [[[[w.start, w.end] for w in note.words], note.message, note.excludes] for note in some]

    return {
        "directives": list(read.directives),
        "filters": read.filters,
        "spans": [
            [one.directive, [[w.start, w.end] for w in one.words], one.rule, one.confidence] for one in read.conditions
        ],
        "confidence": read.confidence,
        "unsupported": notes(read.unsupported),
        "doubted": notes(read.doubted),
        "corrections": [[one.word.start, one.word.end, one.to] for one in read.corrections],
    }


def record(path: Path) -> None:
    """Read every sentence once and keep the readings."""
    sentences = dict.fromkeys([*kept(), *families(), *drawn()])
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=3) as file:
        for query in sentences:
            file.write(json.dumps([query, reading(query)], ensure_ascii=False) + "\n")
    print(f"{len(sentences):,} sentences")


def compare(path: Path, show: int) -> None:
    """Print the recorded sentences that are read differently now."""
    count = differing = 0
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in file:
            query, before = json.loads(row)
            now = json.loads(json.dumps(reading(query)))
            count += 1
            if now != before:
                differing += 1
                if differing <= show:
                    print(repr(query))
                    for name in before.keys() | now.keys():
                        if before.get(name) != now.get(name):
                            print(f"    {name}: {before.get(name)}\n    {' ' * len(name)}  {now.get(name)}")
    print(f"{differing:,} of {count:,} sentences are read differently")


def main() -> None:
    parser = argparse.ArgumentParser(description="Record how sentences are read, or compare with a recording.")
    parser.add_argument("command", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--show", type=int, default=40, help="so many differences are printed")
    options = parser.parse_args()
    if options.command == "record":
        record(options.file)
    else:
        compare(options.file, options.show)


if __name__ == "__main__":
    main()
