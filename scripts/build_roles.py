"""Writes src/siteglass/corpus/roles.txt: the part before the @ of addresses that belong to no one person.

    python scripts/build_roles.py [--cache FOLDER]

The words come from a pinned npm package, fetched into the cache folder, temporary by default. The words that we add are
in src/siteglass/corpus/role.py."""

import argparse
import re
import tempfile
from pathlib import Path

from vocabulary.sources import npm_package, read_json

NAME, RELEASE = "role-based-email-addresses", "3.1.0"
TARGET = Path(__file__).parents[1] / "src" / "siteglass" / "corpus" / "roles.txt"
# Names of people among the words.
NO_ROLES = {"alexa", "gardner"}


def words(cache: Path) -> list[str]:
    package = npm_package(cache, NAME, RELEASE)
    if read_json(package / "package.json")["license"] != "MIT":
        raise SystemExit(f"{NAME}: this release is not under MIT")
    source = (package / "src" / "index.js").read_text(encoding="utf-8")
    return sorted(set(re.findall(r"^  '([a-z0-9._-]+)',$", source, re.MULTILINE)) - NO_ROLES)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the list of role addresses the pipeline ships.")
    parser.add_argument("--cache", type=Path, help="keep fetched packages here instead of a temporary folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        found = words(options.cache or Path(temporary))
    TARGET.write_text("\n".join(found) + "\n", encoding="utf-8")
    print(f"{TARGET.name}: {len(found):,} words")


if __name__ == "__main__":
    main()
