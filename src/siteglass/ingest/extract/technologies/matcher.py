"""The matcher: all rules as one database of patterns that says which could match, and a closer look at those."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import hyperscan

from siteglass.ingest.extract.page import Page
from siteglass.ingest.extract.technologies.rules import Rule, long_tail, own_rules, required_text
from siteglass.ingest.extract.technologies.signals import Signals

MAX_TECHNOLOGIES = 200

_FLAGS = hyperscan.HS_FLAG_CASELESS | hyperscan.HS_FLAG_SINGLEMATCH | hyperscan.HS_FLAG_PREFILTER
_LOADED_FROM = re.compile(r"[\"'`](?:(?P<scheme>(?:(?:https?)?:)?\\?/\\?/)|)(?:[\w-]+\.)*\.?\Z", re.ASCII)
# As far back from a host in a script as its address can start.
_BEFORE_CHARS = 80

Check = Callable[[Page, Signals], bool]


class _Candidate(NamedTuple):
    """A mark that is looked at closely only where the database has seen `expression`."""

    name: str
    expression: str
    check: Check


def technologies(page: Page) -> tuple[str, ...]:
    """What the page shows to be in use: names sorted, each once, at most MAX_TECHNOLOGIES."""
    return _matcher().technologies(page)


@cache
def _matcher() -> Matcher:
    return Matcher(own_rules(), long_tail())


class Matcher:
    """Rules, compiled. Safe to share between threads."""

    def __init__(self, rules: dict[str, Rule], tail: dict[str, str]) -> None:
        self._rules = rules
        self._hosts: dict[str, list[tuple[str, str]]] = {}
        self._sites: dict[str, list[tuple[str, str]]] = {}
        self._headers: dict[str, list[tuple[re.Pattern[str], str]]] = {}
        self._cookies: list[tuple[re.Pattern[str], str]] = []
        self._generators: list[tuple[re.Pattern[str], str]] = []
        for name, rule in rules.items():
            self._add_plain(name, rule)
        for mark, name in tail.items():
            self._add_host(mark, name)
        by_expression: dict[str, list[_Candidate]] = {}
        for name, rule in rules.items():
            for one in _candidates(name, rule):
                by_expression.setdefault(one.expression, []).append(one)
        self.candidates = list(by_expression.values())
        """By the number of their expression in the database."""
        self._lock = threading.Lock()  # the database's working memory serves one scan at a time
        self._database = hyperscan.Database()
        self._database.compile(
            expressions=[expression.encode() for expression in by_expression],
            ids=list(range(len(by_expression))),
            flags=[_FLAGS] * len(by_expression),
        )

    def technologies(self, page: Page) -> tuple[str, ...]:
        signals = Signals(page)
        found = set(self._plain(page, signals))
        for number in self.seen(page):
            for name, _, check in self.candidates[number]:
                if name not in found and check(page, signals):
                    found.add(name)
        waiting = list(found)
        while waiting:
            rule = self._rules.get(waiting.pop())
            for implied in rule.implies if rule else ():
                if implied not in found:
                    found.add(implied)
                    waiting.append(implied)
        return tuple(sorted(found)[:MAX_TECHNOLOGIES])

    def seen(self, page: Page) -> list[int]:
        """Numbers of expressions that occur anywhere in the source, in ascending order."""
        body = page.capture.body
        # Every encoding but UTF-16 writes ASCII as ASCII, and so are all patterns.
        source = page.html.encode("utf-8", "replace") if b"\0" in body[:1024] else body
        seen: list[int] = []
        with self._lock:
            self._database.scan(source, match_event_handler=lambda number, *_: seen.append(number))
        return sorted(seen)

    def _plain(self, page: Page, signals: Signals) -> Iterator[str]:
        """Technologies by hosts, headers, cookies and generators, which need no search."""
        yield from _by_host(self._sites, page.host, "/")
        for host, path in signals.addresses:
            yield from _by_host(self._hosts, host, path)
        for header, value in page.capture.headers:
            yield from (name for pattern, name in self._headers.get(header, ()) if pattern.search(value))
            if header == "set-cookie":
                cookie = value.partition("=")[0].strip()
                yield from (name for pattern, name in self._cookies if pattern.fullmatch(cookie))
        for content in signals.generators:
            yield from (name for pattern, name in self._generators if pattern.match(content))

    def _add_host(self, mark: str, name: str) -> None:
        host, slash, path = mark.partition("/")
        self._hosts.setdefault(host, []).append((slash + path, name))

    def _add_plain(self, name: str, rule: Rule) -> None:
        for mark in rule.host + rule.load:
            self._add_host(mark, name)
        for mark in rule.site:
            self._sites.setdefault(mark, []).append(("", name))
        for mark in rule.header:
            header, _, pattern = mark.partition(":")
            self._headers.setdefault(header.lower(), []).append((_compiled(pattern.strip(), re.IGNORECASE), name))
        for mark in rule.cookie:
            self._cookies.append((_compiled(re.escape(mark).replace(r"\*", ".*")), name))
        for mark in rule.generator:
            self._generators.append((_compiled(mark, re.IGNORECASE), name))


def _by_host(known: dict[str, list[tuple[str, str]]], host: str, path: str) -> list[str]:
    """Technologies of a host or of one it is a part of. The closest mark counts alone: a widget kept in a cloud's
    storage says nothing of the site's own cloud."""
    while host:
        if marks := [(start, name) for start, name in known.get(host, ()) if path.startswith(start)]:
            return [name for start, name in marks if start] or [name for _, name in marks]
        host = host.partition(".")[2]
    return []


def _candidates(name: str, rule: Rule) -> Iterator[_Candidate]:
    for mark in rule.load:
        yield _Candidate(name, re.escape(mark.partition("/")[0]), _loaded_by_script(mark))
    # A relative address is written without its first slash, and gets it in Signals.
    for pattern in rule.path:
        yield _Candidate(name, pattern.removeprefix("/"), _in_paths(_compiled(pattern, re.IGNORECASE)))
    for pattern in rule.own:
        yield _Candidate(name, pattern.removeprefix("/"), _in_own_paths(_compiled(pattern, re.IGNORECASE)))
    for pattern in rule.inline:
        yield _Candidate(name, pattern, _in_inline(_compiled(pattern)))
    for pattern in rule.comment:
        yield _Candidate(name, pattern, _in_comments(_compiled(rf"^(?:{pattern})", re.MULTILINE)))
    for selector in rule.html:
        yield _Candidate(name, re.escape(required_text(selector)), _selects(selector))


def _compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(pattern, flags | re.ASCII)


def _in_paths(pattern: re.Pattern[str]) -> Check:
    return lambda _, signals: pattern.search(signals.paths) is not None


def _in_own_paths(pattern: re.Pattern[str]) -> Check:
    return lambda _, signals: pattern.search(signals.own_paths) is not None


def _in_inline(pattern: re.Pattern[str]) -> Check:
    return lambda _, signals: pattern.search(signals.inline) is not None


def _in_comments(pattern: re.Pattern[str]) -> Check:
    return lambda _, signals: pattern.search(signals.comments) is not None


def _selects(selector: str) -> Check:
    return lambda page, _: page.tree.css_first(selector) is not None


def _loaded_by_script(mark: str) -> Check:
    """Whether an inline script has a string that starts as an address of that host, slashes escaped or not."""
    host, slash, path = mark.partition("/")
    rest = _compiled(re.escape(slash + path).replace("/", r"\\?/") if slash else r"(?=[/\\\"'`?:]|\Z)")

    def check(_: Page, signals: Signals) -> bool:
        text = signals.inline
        at = text.find(host)
        while at >= 0:
            before = _LOADED_FROM.search(text, max(0, at - _BEFORE_CHARS), at)
            end = at + len(host)
            if before and rest.match(text, end) and (before["scheme"] or text.startswith(("/", "\\/"), end)):
                return True
            at = text.find(host, end)
        return False

    return check
