"""The matcher: all rules as one database of patterns that says which could match, and a closer look at those."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import NamedTuple

import hyperscan

from siteglass.corpus.lead import MarkKind
from siteglass.ingest.extract.page import Page
from siteglass.ingest.extract.technologies.excerpts import Found, excerpt_of
from siteglass.ingest.extract.technologies.rules import Rule, long_tail, own_rules, required_text
from siteglass.ingest.extract.technologies.signals import Signals
from siteglass.ingest.facts import TechnologyMark

MAX_TECHNOLOGIES = 200

_FLAGS = hyperscan.HS_FLAG_CASELESS | hyperscan.HS_FLAG_SINGLEMATCH | hyperscan.HS_FLAG_PREFILTER
_LOADED_FROM = re.compile(r"[\"'`](?:(?P<scheme>(?:(?:https?)?:)?\\?/\\?/)|)(?:[\w-]+\.)*\.?\Z", re.ASCII)
# A text that is more often in the source than this says little.
_MAX_TAGS = 50
# As far back from a host in a script as its address can start.
_BEFORE_CHARS = 80

Check = Callable[[Page, Signals], Found | None]


class _Named(NamedTuple):
    """A mark of a technology, as its rule writes it."""

    name: str
    mark: str


class _Pattern(NamedTuple):
    """A mark that is a pattern."""

    named: _Named
    expression: re.Pattern[str]


class _Candidate(NamedTuple):
    """A mark that is looked at closely only where the database has seen `expression`."""

    name: str
    mark: str
    expression: str
    check: Check


def technology_marks(page: Page) -> tuple[TechnologyMark, ...]:
    """What the page shows to be in use, and by what: sorted by name, each once, at most MAX_TECHNOLOGIES."""
    return _matcher().marks(page)


@cache
def _matcher() -> Matcher:
    return Matcher(own_rules(), long_tail())


class Matcher:
    """Rules, compiled. Safe to share between threads."""

    def __init__(self, rules: dict[str, Rule], tail: dict[str, str]) -> None:
        self._rules = rules
        self._hosts: dict[str, list[tuple[str, _Named]]] = {}
        self._sites: dict[str, list[tuple[str, _Named]]] = {}
        self._headers: dict[str, list[_Pattern]] = {}
        self._cookies: list[_Pattern] = []
        self._generators: list[_Pattern] = []
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

    def marks(self, page: Page) -> tuple[TechnologyMark, ...]:
        """The first mark of each technology."""
        signals = Signals(page)
        found: dict[str, TechnologyMark] = {}
        for named, place in self._plain(page, signals):
            if named.name not in found:
                found[named.name] = TechnologyMark(named.name, place.kind, named.mark, excerpt_of(place))
        for number in self.seen(page):
            for name, mark, _, check in self.candidates[number]:
                if name not in found and (at := check(page, signals)):
                    found[name] = TechnologyMark(name, at.kind, mark, excerpt_of(at))
        waiting = list(found)
        while waiting:
            name = waiting.pop()
            rule = self._rules.get(name)
            for implied in rule.implies if rule else ():
                if implied not in found:
                    found[implied] = TechnologyMark(implied, "implied", name, found[name].excerpt)
                    waiting.append(implied)
        return tuple(found[name] for name in sorted(found)[:MAX_TECHNOLOGIES])

    def seen(self, page: Page) -> list[int]:
        """Numbers of expressions that occur anywhere in the source, in ascending order."""
        body = page.capture.body
        # Every encoding but UTF-16 writes ASCII as ASCII, and so are all patterns.
        source = page.html.encode("utf-8", "replace") if b"\0" in body[:1024] else body
        seen: list[int] = []
        with self._lock:
            self._database.scan(source, match_event_handler=lambda number, *_: seen.append(number))
        return sorted(seen)

    def _plain(self, page: Page, signals: Signals) -> Iterator[tuple[_Named, Found]]:
        """Marks that are hosts, headers, cookies and generators, which need no search."""
        for named in _by_host(self._sites, page.host, "/"):
            yield named, Found("host", page.host, 0, len(page.host))
        for (host, path), address in signals.addresses.items():
            for named in _by_host(self._hosts, host, path):
                yield named, address.found(named.mark)
        for header, value in page.capture.headers:
            for named, pattern in self._headers.get(header, ()):
                if at := pattern.search(value):
                    yield named, Found("header", f"{header}: {value}", 0, len(header) + 2 + at.end())
            if header == "set-cookie":
                cookie = value.partition("=")[0].strip()
                for named, pattern in self._cookies:
                    if pattern.fullmatch(cookie):
                        yield named, Found("cookie", cookie, 0, len(cookie))
        for content in signals.generators:
            for named, pattern in self._generators:
                if at := pattern.match(content):
                    yield named, Found("generator", content, 0, at.end())

    def _add_host(self, mark: str, name: str) -> None:
        host, slash, path = mark.partition("/")
        self._hosts.setdefault(host, []).append((slash + path, _Named(name, mark)))

    def _add_plain(self, name: str, rule: Rule) -> None:
        for mark in rule.host + rule.load:
            self._add_host(mark, name)
        for mark in rule.site:
            self._sites.setdefault(mark, []).append(("", _Named(name, mark)))
        for mark in rule.header:
            header, _, pattern = mark.partition(":")
            compiled = _compiled(pattern.strip(), re.IGNORECASE)
            self._headers.setdefault(header.lower(), []).append(_Pattern(_Named(name, mark), compiled))
        for mark in rule.cookie:
            compiled = _compiled(re.escape(mark).replace(r"\*", ".*"))
            self._cookies.append(_Pattern(_Named(name, mark), compiled))
        for mark in rule.generator:
            self._generators.append(_Pattern(_Named(name, mark), _compiled(mark, re.IGNORECASE)))


def _by_host(known: dict[str, list[tuple[str, _Named]]], host: str, path: str) -> list[_Named]:
    """Marks of a host or of one it is a part of. The closest counts alone: a widget kept in a cloud's storage says
    nothing of the site's own cloud."""
    while host:
        if marks := [(start, named) for start, named in known.get(host, ()) if path.startswith(start)]:
            return [named for start, named in marks if start] or [named for _, named in marks]
        host = host.partition(".")[2]
    return []


def _candidates(name: str, rule: Rule) -> Iterator[_Candidate]:
    for mark in rule.load:
        yield _Candidate(name, mark, re.escape(mark.partition("/")[0]), _loaded_by_script(mark))
    # A relative address is written without its first slash, and gets it in Signals.
    for pattern in rule.path:
        yield _Candidate(name, pattern, pattern.removeprefix("/"), _in_paths(_compiled(pattern, re.IGNORECASE)))
    for pattern in rule.own:
        yield _Candidate(name, pattern, pattern.removeprefix("/"), _in_own_paths(_compiled(pattern, re.IGNORECASE)))
    for pattern in rule.inline:
        yield _Candidate(name, pattern, pattern, _in_inline(_compiled(pattern)))
    for pattern in rule.comment:
        yield _Candidate(name, pattern, pattern, _in_comments(_compiled(rf"^(?:{pattern})", re.MULTILINE)))
    for selector in rule.html:
        yield _Candidate(name, selector, re.escape(required_text(selector)), _selects(selector))


def _compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(pattern, flags | re.ASCII)


def _in_paths(pattern: re.Pattern[str]) -> Check:
    return lambda _, signals: signals.paths.search(pattern)


def _in_own_paths(pattern: re.Pattern[str]) -> Check:
    return lambda _, signals: signals.own_paths.search(pattern)


def _in_inline(pattern: re.Pattern[str]) -> Check:
    return lambda _, signals: _found("inline_script", signals.inline, pattern)


def _in_comments(pattern: re.Pattern[str]) -> Check:
    return lambda _, signals: _found("comment", signals.comments, pattern)


def _found(kind: MarkKind, text: str, pattern: re.Pattern[str]) -> Found | None:
    at = pattern.search(text)
    return Found(kind, text, *at.span()) if at else None


def _selects(selector: str) -> Check:
    required = _compiled(re.escape(required_text(selector)), re.IGNORECASE)

    def check(page: Page, _: Signals) -> Found | None:
        node = page.tree.css_first(selector)
        return None if node is None else _tag_with(page.html, node.tag or "", required)

    return check


def _tag_with(html: str, tag: str, text: re.Pattern[str]) -> Found:
    """The first such tag of the source that has this text; if there is none, the text itself."""
    first = None
    for at in islice(text.finditer(html), _MAX_TAGS):
        start = html.rfind("<", 0, at.start())
        if html[start + 1 : start + 1 + len(tag)].lower() == tag and html.find(">", start, at.start()) < 0:
            return Found("element", html, start, at.end())
        first = first or at
    return Found("element", html, *first.span()) if first else Found("element", "", 0, 0)


def _loaded_by_script(mark: str) -> Check:
    """Whether an inline script has a string that starts as an address of that host, slashes escaped or not."""
    host, slash, path = mark.partition("/")
    rest = _compiled(re.escape(slash + path).replace("/", r"\\?/") if slash else r"(?=[/\\\"'`?:]|\Z)")

    def check(_: Page, signals: Signals) -> Found | None:
        text = signals.inline
        at = text.find(host)
        while at >= 0:
            before = _LOADED_FROM.search(text, max(0, at - _BEFORE_CHARS), at)
            end = at + len(host)
            if before and rest.match(text, end) and (before["scheme"] or text.startswith(("/", "\\/"), end)):
                return Found("inline_script", text, before.start() + 1, end)
            at = text.find(host, end)
        return None

    return check
