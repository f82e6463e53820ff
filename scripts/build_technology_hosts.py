"""Compiles src/siteglass/ingest/extract/technologies/hosts.json: hosts of technologies that no own rule knows.

    python scripts/build_technology_hosts.py [--cache FOLDER]

An entity of npm third-party-web is taken if its name is in the vocabulary. A pattern of npm wappalyzer is taken if it
is a host, with or without the start of a path. The same inputs give the same bytes. Run it again after a change of the
rules or of the vocabulary."""

import argparse
import json
import re
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

from publicsuffixlist import PublicSuffixList

from siteglass.ingest.extract.technologies.rules import own_rules
from siteglass.query.vocabulary import vocabulary
from vocabulary.sources import WAPPALYZER_VERSION, npm_package, read_json

THIRD_PARTY_WEB_VERSION = "0.30.0"
ROOT = Path(__file__).parents[1]
TARGET = ROOT / "src" / "siteglass" / "ingest" / "extract" / "technologies" / "hosts.json"
TABLE = Path(__file__).with_suffix(".toml")

_ADDRESS = re.compile(r"(?:https?:)?(?://)?((?:[a-z0-9-]+\.)+[a-z]{2,})(?:(/[\w./-]*)|$)", re.ASCII)
_SUFFIXES = PublicSuffixList(accept_unknown=False)
_SOURCES = [("third-party-web", THIRD_PARTY_WEB_VERSION), ("wappalyzer", WAPPALYZER_VERSION)]


def hosts(cache: Path) -> dict[str, str]:
    """Host, with how a path starts if that matters -> technology; subdomains are meant, too."""
    rules = own_rules()
    unwanted = set(tomllib.loads(TABLE.read_text(encoding="utf-8"))["not_meant"]) | set(rules)
    known = {mark.partition("/")[0] for rule in rules.values() for mark in rule.host + rule.load}
    found: dict[str, str] = {}
    for mark, name in [*_entities(cache), *_patterns(cache)]:
        if name not in unwanted and not _covered(mark.partition("/")[0], known):
            found.setdefault(mark, name)
    return dict(sorted(found.items()))


def _entities(cache: Path) -> Iterator[tuple[str, str]]:
    """Hosts of third-party-web."""
    for entity in read_json(_package(cache, *_SOURCES[0]) / "dist" / "entities-nostats.json"):
        names = vocabulary().resolve("technology", entity["name"])
        if len(names) == 1:
            for domain in entity["domains"]:
                yield domain.removeprefix("*.").lower(), names[0]


def _patterns(cache: Path) -> Iterator[tuple[str, str]]:
    """Patterns of Wappalyzer for addresses of scripts that are a host and the start of a path; the rest is left."""
    technologies = vocabulary().technologies()
    for path in sorted((_package(cache, *_SOURCES[1]) / "technologies").glob("*.json")):
        for name, entry in read_json(path).items():
            patterns = entry.get("scriptSrc", [])
            for pattern in [patterns] if isinstance(patterns, str) else patterns:
                if name in technologies and (mark := _mark(pattern.partition("\\;")[0])):
                    yield mark, name


def _mark(pattern: str) -> str:
    """The host and path that a pattern asks for, as far as it has no wildcards; "" if the host has some."""
    plain = re.sub(r"\\([./-])", "\\1", pattern.removeprefix("^")).lower()
    address = _ADDRESS.match(plain)
    # Of a path, only whole steps: what follows a wildcard may belong to a longer word.
    path = (address[2] or "") if address else ""
    end = address.end() if address else 0
    if not address or (end < len(plain) and not path):
        return ""
    if re.search(r"[A-Z]", pattern):
        path = ""  # case matters in paths, and ours is lost
    elif end < len(plain):
        path = path[: path.rindex("/")]
    # A file's name looks like a host, too; and below a public suffix there are many owners.
    return address[1] + path.rstrip("/") if _SUFFIXES.privatesuffix(address[1]) else ""


def _package(cache: Path, name: str, version: str) -> Path:
    package = npm_package(cache, name, version)
    if read_json(package / "package.json")["license"] != "MIT":
        raise SystemExit(f"{name}: this release is not under MIT")
    return package


def _covered(host: str, known: set[str]) -> bool:
    """Whether one of our rules covers the host, or a domain that it is a part of."""
    labels = host.split(".")
    return any(".".join(labels[start:]) in known for start in range(len(labels)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Compile the hosts of technologies without a rule of their own.")
    parser.add_argument("--cache", type=Path, help="keep fetched packages here instead of a temporary folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        found = hosts(options.cache or Path(temporary))
    sources = [{"name": f"npm {name}", "version": version, "licence": "MIT"} for name, version in _SOURCES]
    TARGET.write_text(json.dumps({"sources": sources, "hosts": found}, ensure_ascii=False, indent=1) + "\n", "utf-8")
    print(f"{TARGET.name}: {len(found):,} hosts of {len(set(found.values())):,} technologies")


if __name__ == "__main__":
    main()
