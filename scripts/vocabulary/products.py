"""Technologies, the categories they belong to, and the business types."""

from pathlib import Path
from typing import Any

from vocabulary.sources import table, wappalyzer


def products(cache: Path) -> dict[str, Any]:
    categories = table("categories")
    own = table("technologies")
    known = set(categories["aliases"])
    technologies: dict[str, set[str]] = {}
    for name, numbers in wappalyzer(cache).items():
        mapped = (categories["wappalyzer"].get(str(number), []) for number in numbers)
        technologies[name] = {category for some in mapped for category in some}
    for name, given in own["added"].items():
        if name in technologies:
            raise SystemExit(f"technologies.toml: Wappalyzer has {name} already")
        technologies[name] = set(given)
    for section in ("also", "never"):
        for category, names in categories[section].items():
            for name in names:
                if name not in technologies:
                    print(f"categories.toml [{section}] {category}: no technology {name}")
                elif section == "also":
                    technologies[name].add(category)
                else:
                    technologies[name].discard(category)
    if wrong := {category for given in technologies.values() for category in given} - known:
        raise SystemExit(f"unknown categories: {sorted(wrong)}")
    if unknown := [name for name in own["aliases"] if name not in technologies]:
        raise SystemExit(f"technologies.toml: alias for unknown technology {unknown}")
    return {
        "technologies": {name: sorted(given) for name, given in technologies.items()},
        "technology_aliases": own["aliases"],
        "category_aliases": categories["aliases"],
        "service_type_aliases": table("service_types")["aliases"],
    }
