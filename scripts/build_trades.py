"""Compiles src/siteglass/query/trades.json.gz from our tables in scripts/trades/.

    python scripts/build_trades.py [--check] [--osm [--cache FOLDER]]

The same tables give the same bytes. `--check` writes nothing and fails if the packaged file is not what the tables
say. `--osm` first updates scripts/trades/osm.tsv with the names of the presets of a pinned npm package."""

import argparse
import gzip
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from siteglass.query.folding import compact
from siteglass.query.natural.lexicon import lexicon
from trades.inflection import display, expand, variants
from vocabulary.sources import npm_package, read_json

# Raise it with every change of the tables: it is part of what an interpretation of a query depends on.
VERSION = "2026.11.2"
LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "nl", "pl")
TABLES = Path(__file__).parent / "trades"
TARGET = Path(__file__).parents[1] / "src" / "siteglass" / "query" / "trades.json.gz"
OSM_NAME, OSM_RELEASE = "@openstreetmap/id-tagging-schema", "6.19.2"
_OSM_FILES = {language: (language,) for language in LANGUAGES} | {"pt": ("pt", "pt-BR"), "en": ("en", "en-GB")}


class Claim(NamedTuple):
    """The source that says a form names a trade. The lowest rank wins; two claims of one rank must agree."""

    rank: int
    trade: str


NAMED, LISTED, DERIVED, PRESET = range(4)
_SHORT = 3


def read_table(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (TABLES / name).read_text(encoding="utf-8").splitlines()[1:]]


def entries(row: list[str]) -> list[str]:
    return [form.strip() for form in row[1].split(";") if form.strip()]


def claims(language: str) -> Iterator[tuple[str, Claim]]:
    """Every form of a language with the trade it is said to name."""
    for row in read_table(f"{language}.tsv"):
        for position, written in enumerate(entries(row)):
            own, derived = expand(language, written)
            for form in own:
                yield form, Claim(LISTED if position else NAMED, row[0])
            for form in (*own, *derived):
                for other in variants(language, form):
                    yield other, Claim(DERIVED, row[0])
            # A short word that a rule made is more often another word: the genitive of "moda" is "mod".
            yield from ((form, Claim(DERIVED, row[0])) for form in derived if len(form) > _SHORT)
    for trade, of_language, form in read_table("osm.tsv"):
        if of_language == language:
            yield form, Claim(PRESET, trade)


def forms(language: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Key -> the trade it names, and the keys that two trades claim equally, which name neither."""
    best: dict[str, set[Claim]] = {}
    for form, claim in claims(language):
        if key := compact(form):
            best.setdefault(key, set()).add(claim)
    ordinary = {compact(row[1]) for row in read_table("ordinary.tsv") if row[0] in (language, "*")}
    named: dict[str, str] = {}
    disputed: dict[str, list[str]] = {}
    for key, said in best.items():
        rank = min(said).rank
        trades = sorted({claim.trade for claim in said if claim.rank == rank})
        if key in ordinary:  # Even if it is a name: a word may be right to show and too plain to search by.
            continue
        if len(trades) == 1:
            named[key] = trades[0]
        elif rank <= LISTED:
            disputed[key] = trades
    return named, disputed


def services(order: dict[str, int]) -> dict[str, list[str]]:
    """Language -> for each trade the keys of what such businesses say they do or sell, without everyday words."""
    common = lexicon().common
    packed = {language: [""] * len(order) for language in LANGUAGES}
    for trade, language, words in read_table("services.tsv"):
        packed[language][order[trade]] = " ".join(sorted({compact(word) for word in words.split(";")} - common))
    return packed


def build() -> dict[str, Any]:
    trades = read_table("trades.tsv")
    order = {row[0]: number for number, row in enumerate(trades)}
    names = {
        language: {row[0]: display(language, entries(row)[0]) for row in read_table(f"{language}.tsv")}
        for language in LANGUAGES
    }
    packed: dict[str, list[str]] = {}
    for language in LANGUAGES:
        named, disputed = forms(language)
        if disputed:
            lines = [f"  {key}: {', '.join(claimed)}" for key, claimed in sorted(disputed.items())]
            raise SystemExit(f"{language}.tsv: a form may name one trade only.\n" + "\n".join(lines))
        keys: list[list[str]] = [[] for _ in trades]
        for key, trade in named.items():
            keys[order[trade]].append(key)
        packed[language] = [" ".join(sorted(some)) for some in keys]
    return {
        "version": VERSION,
        "languages": LANGUAGES,
        "trades": [[row[0], row[1], row[3], [names[language][row[0]] for language in LANGUAGES]] for row in trades],
        "forms": packed,
        "services": services(order),
    }


def pack(content: dict[str, Any]) -> bytes:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return gzip.compress(text.encode(), compresslevel=9, mtime=0)


def write_osm(cache: Path) -> None:
    """Names and aliases of the presets that are one of our trades; their `terms` are too loose and stay out."""
    package = npm_package(cache, OSM_NAME, OSM_RELEASE)
    if read_json(package / "package.json")["license"] != "ISC":
        raise SystemExit(f"{OSM_NAME}: this release is not under ISC")
    lines = ["id\tlanguage\tform"]
    presets = {row[4]: row[0] for row in read_table("trades.tsv") if row[4]}
    for language in LANGUAGES:
        for file in _OSM_FILES[language]:
            (content,) = read_json(package / "dist" / "translations" / f"{file}.json").values()
            for preset, trade in presets.items():
                said = content.get("presets", {}).get("presets", {}).get(preset, {})
                written = [said.get("name") or "", *(said.get("aliases") or "").splitlines()]
                for form in [" ".join(re.sub(r"\(.*?\)", "", text).split()) for text in written]:
                    line = f"{trade}\t{language}\t{form}"
                    # "Bag / Luggage Store" names neither a bag nor a store of luggage.
                    if len(form) > _SHORT and "/" not in form and line not in lines:
                        lines.append(line)
    (TABLES / "osm.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"osm.tsv: {len(lines) - 1:,} forms")


def main() -> None:
    parser = argparse.ArgumentParser(description="Compile the trades the service ships.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the packaged file is not current")
    parser.add_argument("--osm", action="store_true", help="fetch the names of OpenStreetMap's presets anew")
    parser.add_argument("--cache", type=Path, help="keep fetched packages here instead of a temporary folder")
    options = parser.parse_args()
    if options.osm:
        with tempfile.TemporaryDirectory() as temporary:
            write_osm(options.cache or Path(temporary))
    content = build()
    if options.check:
        if json.loads(gzip.decompress(TARGET.read_bytes())) != json.loads(json.dumps(content)):
            raise SystemExit(f"{TARGET.name} is not what scripts/trades says: run python scripts/build_trades.py")
        return
    TARGET.write_bytes(pack(content))
    print(f"{TARGET.name}: {TARGET.stat().st_size:,} bytes, version {VERSION}, {len(content['trades']):,} trades")
    for language, keys in content["forms"].items():
        print(f"  {language}: {sum(len(some.split()) for some in keys):,} forms")


if __name__ == "__main__":
    main()
