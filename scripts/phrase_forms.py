"""The forms that an entry of scripts/language stands for.

    (que|) gasta~ar mucho     alternatives, of which the last may be none
    online_shop               joined or apart: "onlineshop", "online shop"; a hyphen always means either sign or space
    gasta~ar                  the forms of a paradigm of scripts/language/paradigms.toml
    Betrieb~DE                a noun and its plurals, by the rules that the tables of trades use

Words with the same paradigm agree. Two spellings need no entry: "fuer" for "für", and "dont" for "don't"."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

from trades.inflection import plurals, without_umlauts

PARADIGMS = Path(__file__).parent / "language" / "paradigms.toml"
_GROUP = re.compile(r"\(([^()]*)\)")
_MARKED = re.compile(r"([^\s~]+)~([A-Za-z0-9]+)")
_NO_ENDING = "-"
# In Spanish a "ü" is no umlaut: "pingüino".
_DIAERESIS = re.compile(r"gü[eéií]")


def forms(entry: str) -> Iterator[str]:
    """Every form, and other spellings of it, without repetitions."""
    found: dict[str, None] = {}
    for phrase in _alternatives(entry):
        for form in _agreeing(phrase):
            found.update(dict.fromkeys((form, *_spellings(form))))
    yield from found


@cache
def paradigms() -> dict[str, list[str]]:
    """Name -> endings, that of the lemma first."""
    named: dict[str, list[str]] = {}
    for language, rows in tomllib.loads(PARADIGMS.read_text(encoding="utf-8")).items():
        for name, row in rows.items():
            if name in named:
                raise SystemExit(f"{PARADIGMS.name}: {name} of {language} is also a paradigm of another language")
            named[name] = [ending.removeprefix(_NO_ENDING) for ending in row.split()]
    return named


def inflect(lemma: str, paradigm: str) -> list[str]:
    """All forms of a word, the lemma first."""
    if paradigm.isupper():
        return [lemma, *plurals(paradigm.lower(), lemma)]
    if paradigm not in paradigms():
        raise SystemExit(f"{lemma}~{paradigm}: {PARADIGMS.name} has no such row")
    ending, *others = paradigms()[paradigm]
    if not lemma.endswith(ending):
        raise SystemExit(f"{lemma}~{paradigm}: the lemma must end with {ending!r}")
    stem = lemma.removesuffix(ending)
    return [lemma, *(stem + other for other in others)]


def _alternatives(entry: str) -> Iterator[str]:
    group = _GROUP.search(entry)
    if group:
        for alternative in group[1].split("|"):
            yield from _alternatives(entry[: group.start()] + alternative + entry[group.end() :])
        return
    parts = entry.split("_")
    for signs in product(("", " "), repeat=len(parts) - 1):
        yield " ".join("".join(map("".join, zip(parts, (*signs, ""), strict=True))).split())


def _agreeing(phrase: str) -> Iterator[str]:
    """The phrase in all forms of its marked words."""
    marked = {(lemma, name): inflect(lemma, name) for lemma, name in _MARKED.findall(phrase)}
    if not marked:
        yield phrase
        return
    lengths: dict[str, int] = {}
    for (_, name), some in marked.items():
        lengths[name] = min(len(some), lengths.get(name, len(some)))
    for chosen in product(*(range(length) for length in lengths.values())):
        number = dict(zip(lengths, chosen, strict=True))
        yield _MARKED.sub(lambda match: marked[match[1], match[2]][number[match[2]]], phrase)  # noqa: B023 - used at once


def _spellings(form: str) -> Iterator[str]:
    if not _DIAERESIS.search(form) and (plain := without_umlauts(form)) != form:
        yield plain
    if "n't" in form:
        yield form.replace("n't", "nt")
