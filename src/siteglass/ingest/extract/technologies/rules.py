"""Rules: by which marks a technology is known on a page as it is served. Read from the files in `rules/`."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files

import msgspec
import orjson

_LISTS_AND_PSEUDO = re.compile(r"[:,]")
_QUOTED = re.compile(r"\"([^\"]*)\"")
_PIECES = re.compile(r"[\w./:-]+")
_NAMES = re.compile(r"[\w-]+")
# On nearly every page.
_COMMON = {"alternate", "application-name", "body", "class", "content", "form", "generator", "href", "html", "iframe"}
_COMMON |= {"input", "keywords", "link", "meta", "name", "property", "rel", "script", "src", "style", "stylesheet"}
_COMMON |= {"type", "video"}


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A technology is in use if any one of its marks is found."""

    host: tuple[str, ...] = ()
    """Where an element loads from: a host, its subdomains too, and how the path starts if that matters."""
    load: tuple[str, ...] = ()
    """As `host`, and also where a quoted address in an inline script starts so."""
    path: tuple[str, ...] = ()
    """Pattern in the path and query of what an element loads, from whatever host."""
    own: tuple[str, ...] = ()
    """As `path`, but only of what is loaded from the page's own domain."""
    inline: tuple[str, ...] = ()
    """Pattern in an inline script; JSON does not count as one."""
    comment: tuple[str, ...] = ()
    """Pattern at the start of a comment of the source."""
    html: tuple[str, ...] = ()
    """A selector of CSS without lists and pseudo-classes."""
    generator: tuple[str, ...] = ()
    """How the content of a generator meta tag starts."""
    header: tuple[str, ...] = ()
    """A header's name, or `name: pattern`."""
    cookie: tuple[str, ...] = ()
    """A cookie's name; a final `*` stands for any rest."""
    site: tuple[str, ...] = ()
    """A host whose subdomains are sites made with it."""
    implies: tuple[str, ...] = ()
    """Technologies that come with it."""


def own_rules() -> dict[str, Rule]:
    """Technology -> its rule, from our own files; ValueError if one is not well-formed."""
    rules: dict[str, Rule] = {}
    folder = files(__package__).joinpath("rules")
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        for name, row in tomllib.loads(file.read_text(encoding="utf-8")).items():
            if name in rules:
                raise ValueError(f"{file.name}: {name} has a rule already")
            rules[name] = checked(f"{file.name}: {name}", row)
    return rules


def long_tail() -> dict[str, str]:
    """Host, with how a path starts if that matters -> technology, from `scripts/build_technology_hosts.py`."""
    found: dict[str, str] = orjson.loads(files(__package__).joinpath("hosts.json").read_bytes())["hosts"]
    return found


def required_text(selector: str) -> str:
    """A text that an element's tag must show for a selector to match it: the longest that is not common."""
    values = [piece for value in _QUOTED.findall(selector) for piece in _PIECES.findall(value)]
    texts = values + _NAMES.findall(_QUOTED.sub("", selector))
    return str(max(texts, key=lambda text: (text not in _COMMON, len(text))))


def checked(where: str, row: object) -> Rule:
    """A row as a rule; ValueError if its patterns could not be searched in many addresses at once."""
    try:
        rule = msgspec.convert(row, Rule)
    except msgspec.ValidationError as error:
        raise ValueError(f"{where}: {error}") from None
    for pattern in rule.path + rule.own + rule.inline + rule.comment:
        if pattern.startswith("^") or pattern.endswith("$"):
            raise ValueError(f"{where}: {pattern} is anchored; name the text around it instead")
    for pattern in rule.path + rule.own:
        if "[^" in pattern or "\\s" in pattern or "&" in pattern:
            raise ValueError(f"{where}: {pattern} may run into the next address; name the characters instead")
    for selector in rule.html:
        if _LISTS_AND_PSEUDO.search(_QUOTED.sub('""', selector)) or len(required_text(selector)) < 3:
            raise ValueError(f"{where}: {selector} needs a name or value of 3 characters, no lists, no pseudo-classes")
    for mark in rule.host + rule.load + rule.site:
        if mark != mark.strip() or "//" in mark or "." not in mark.partition("/")[0] or mark.startswith("."):
            raise ValueError(f"{where}: {mark} is not a host, with or without a path")
    return rule
