"""Which known technologies a rule detects on web pages. Of the others, only leads that were imported can have one."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

import orjson

# The files themselves, not the module that matches by them: it needs libraries that the service does not have.
_RULES = files("siteglass").joinpath("ingest", "extract", "technologies")


@cache
def detected_technologies() -> frozenset[str]:
    """Every technology that has a rule, a host, receives mail, or comes with another one."""
    found: set[str] = set(orjson.loads(_RULES.joinpath("hosts.json").read_bytes())["hosts"].values())
    found.update(tomllib.loads(_RULES.joinpath("mail.toml").read_text("utf-8")))
    for file in _RULES.joinpath("rules").iterdir():
        for name, rule in tomllib.loads(file.read_text("utf-8")).items():
            found.update((name, *rule.get("implies", ())))
    return frozenset(found)
