"""Every rule finds its technology on a page as such a site serves it, and nothing else on any page."""

from __future__ import annotations

import random
import re
import tomllib
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from siteglass.corpus.lead import MAX_EXCERPT_BYTES, MarkKind
from siteglass.ingest.capture import Capture
from siteglass.ingest.extract.mail_hosts import mail_hosts
from siteglass.ingest.extract.page import Page
from siteglass.ingest.extract.technologies import technology_marks
from siteglass.ingest.extract.technologies.matcher import MAX_TECHNOLOGIES, Matcher
from siteglass.ingest.extract.technologies.rules import checked, long_tail, own_rules
from siteglass.ingest.extract.technologies.signals import Signals
from siteglass.query.detected import detected_technologies
from siteglass.query.vocabulary import vocabulary
from tests.ingest.technologies.snippets import FOLDER, TRAPS, all_snippets, parsed, snippets

pages = cache(all_snippets)
rules = cache(own_rules)
GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "computed-fields.md"
WITHOUT_CATEGORY = Path(__file__).parent / "without_category.txt"


def page_of(body: bytes, content_type: str = "text/html") -> Page:
    headers = (("content-type", content_type),)
    return Page(Capture(url="https://www.example.com/", captured_at_ms=0, status=200, headers=headers, body=body))


def technologies(page: Page) -> tuple[str, ...]:
    return tuple(mark.technology for mark in technology_marks(page))


def test_exactly_the_expected_technologies_are_found_on_every_page() -> None:
    wrong = {}
    for one in pages():
        found, expected = set(technologies(one.page)), set(one.expected)
        if found != expected:
            wrong[one.where] = f"missing {sorted(expected - found)}, too many {sorted(found - expected)}"
    assert wrong == {}


def test_every_technology_has_a_mark_and_the_page_has_its_bytes() -> None:
    """Of 500 drawn at random; those that come with another have its mark."""
    marks = [(one, mark) for one in pages() for mark in technology_marks(one.page)]
    for one, mark in random.Random(51).sample(marks, 500):
        capture = one.page.capture
        headers = "\n".join(f"{name}: {value}" for name, value in capture.headers)
        excerpt = mark.excerpt.encode("ascii")
        assert mark.rule, one.where
        assert 0 < len(excerpt) <= MAX_EXCERPT_BYTES, (one.where, mark)
        assert any(excerpt in said for said in (capture.body, headers.encode(), capture.url.encode())), (
            one.where,
            mark,
        )
    assert {mark.kind for _, mark in marks} == {*get_args(MarkKind)} - {"dns", "media"}


@pytest.mark.parametrize(
    ("page", "excerpt"),
    [
        ("<script src='https://static.klaviyo.com/onsite/js/klaviyo.js?company_id=AbC'>", "https://static.klaviyo.com/onsite/js/klaviyo.js?company_id=AbC"),
        ("<script src='//static.klaviyo.com/a?e=jo.doe@acme.com'>", "//static.klaviyo.com/a?e="),
        ("<script src='//static.klaviyo.com/a?e=jo.doe%40acme.com'>", "//static.klaviyo.com/a?e="),
        ("<script src='//static.klaviyo.com/a?tel=+49-30-1234567&b'>", "//static.klaviyo.com/a?tel="),
        ("<script src='//static.klaviyo.com/a?a=1&amp;b=2'>", "//static.klaviyo.com/a?a=1"),
        (r"<script>'//static.klaviyo.com/x.js', 'jane\u0040acme.de'</script>", "//static.klaviyo.com/x.js', '"),
        (r"<script>'//static.klaviyo.com/x.js', 'j\x61ne\x40acme.de'</script>", "//static.klaviyo.com/x.js', 'j"),
        ("<script>'//static.klaviyo.com/x.js', '<a href=mailto:jane&#64;acme.de>'</script>",
         "//static.klaviyo.com/x.js', '<a href=mailto:"),
        ("<script>'//static.klaviyo.com/x.js', '<a href=/cdn-cgi/l/email-protection#7a1b'</script>",
         "//static.klaviyo.com/x.js', '<a href=/cdn-cgi/l/"),
        ("<script>'//static.klaviyo.com/x.js', '<i data-cfemail=7a1b>'</script>", "//static.klaviyo.com/x.js', '<i"),
        ("<script>'//static.klaviyo.com/x.js', 'info [at] acme [dot] com'</script>", "//static.klaviyo.com/x.js', '"),
    ],
)  # fmt: skip
def test_an_excerpt_ends_before_a_contact(page: str, excerpt: str) -> None:
    (mark,) = [one for one in technology_marks(page_of(page.encode())) if one.technology == "Klaviyo"]
    assert (mark.rule, mark.excerpt) == ("static.klaviyo.com", excerpt)


def test_every_rule_has_a_page_that_is_about_it() -> None:
    shown = {one.expected[0] for file in FOLDER.glob("*.txt") if file.name != TRAPS for one in snippets(file)}
    assert shown == set(rules())
    assert len(shown) >= 420


def test_every_name_is_one_of_the_vocabulary_with_a_category_or_without_on_purpose() -> None:
    known = vocabulary().technologies()
    implied = {name for rule in rules().values() for name in rule.implies}
    assert {*rules(), *implied, *long_tail().values()} - set(known) == set()
    without = {name for name in {*rules(), *implied} if not known[name]}
    assert without == set(WITHOUT_CATEGORY.read_text(encoding="utf-8").splitlines())


def test_hosts_of_the_long_tail_do_not_contradict_a_rule() -> None:
    own = {mark.partition("/")[0] for rule in rules().values() for mark in rule.host + rule.load}
    assert set(long_tail().values()) & set(rules()) == set()
    assert {mark.partition("/")[0] for mark in long_tail()} & own == set()


def test_the_database_loses_nothing_that_a_look_at_every_mark_finds() -> None:
    matcher = Matcher(rules(), {})
    for one in pages():
        signals = Signals(one.page)
        quickly = {
            mark.name
            for number in matcher.seen(one.page)
            for mark in matcher.candidates[number]
            if mark.check(one.page, signals)
        }
        assert quickly == found_closely(one.page, signals), one.where


def found_closely(page: Page, signals: Signals) -> set[str]:
    """Patterns, one address after the other; scripts and selectors without the database."""
    paths, own, inline, comments, loads, selectors = compiled()
    found = {name for _, path in signals.addresses for name, pattern in paths if pattern.search(path)}
    for host, path in signals.addresses:
        if f".{host}".endswith(f".{page.domain}"):
            found |= {name for name, pattern in own if pattern.search(path)}
    if signals.inline:
        found |= {name for name, pattern in inline if pattern.search(signals.inline)}
        found |= {name for name, host, pattern in loads if host in signals.inline and pattern.search(signals.inline)}
    starts = [text.strip() for text in re.findall(r"<!--([^\n]*)", page.html)]
    found |= {name for name, pattern in comments if any(pattern.match(text) for text in starts)}
    return found | {name for name, selector in selectors if page.tree.css_first(selector)}


Named = list[tuple[str, re.Pattern[str]]]


@cache
def compiled() -> tuple[Named, Named, Named, Named, list[tuple[str, str, re.Pattern[str]]], list[tuple[str, str]]]:
    every = rules().items()
    flags = re.IGNORECASE | re.ASCII
    return (
        [(name, re.compile(pattern, flags)) for name, rule in every for pattern in rule.path],
        [(name, re.compile(pattern, flags)) for name, rule in every for pattern in rule.own],
        [(name, re.compile(pattern, re.ASCII)) for name, rule in every for pattern in rule.inline],
        [(name, re.compile(pattern, re.ASCII)) for name, rule in every for pattern in rule.comment],
        [(name, mark.partition("/")[0], as_script_loads(mark)) for name, rule in every for mark in rule.load],
        [(name, selector) for name, rule in every for selector in rule.html],
    )


def as_script_loads(mark: str) -> re.Pattern[str]:
    host, slash, path = mark.partition("/")
    rest = re.escape(slash + path).replace("/", r"\\?/")
    with_scheme = rf"(?:(?:https?)?:)?\\?/\\?/(?:[\w-]+\.)*\.?{re.escape(host)}" + (rest or r"(?![\w.-])")
    without = rf"(?:[\w-]+\.)*\.?{re.escape(host)}" + (rest or r"\\?/")
    return re.compile(rf"[\"'`](?:{with_scheme}|{without})", re.ASCII)


def test_names_are_sorted_and_bounded_on_a_page_that_shows_all() -> None:
    everything = b"\n".join(one.page.capture.body for one in pages() if "<!--" not in one.page.html)
    found_here = technologies(page_of(everything))
    assert list(found_here) == sorted(set(found_here))
    assert len(found_here) == MAX_TECHNOLOGIES


def test_the_row_and_the_page_of_the_guide_work() -> None:
    row, block = re.findall(r"```\w+\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    shown = {name: checked("guide", marks) for name, marks in tomllib.loads(row).items()}
    (one,) = parsed("guide", block)
    assert one.expected == tuple(shown) == tuple(mark.technology for mark in Matcher(shown, {}).marks(one.page))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1", "shift_jis"])
def test_the_encoding_of_a_page_does_not_matter(encoding: str) -> None:
    html = "<title>Shop</title><script>_hjSettings={hjid:1};</script><div data-elementor-type='wp-page'></div>"
    found_here = technologies(page_of(html.encode(encoding), f"text/html; charset={encoding}"))
    assert found_here == ("Elementor", "Hotjar", "MySQL", "PHP", "WordPress")


@pytest.mark.parametrize(
    "body", [b"", b"\0" * 2000, b"<script src='//[::1'></script><img src='http://'>", b"<div " * 20_000, b"\xff" * 500]
)
def test_a_broken_page_shows_nothing(body: bytes) -> None:
    assert technologies(page_of(body)) == ()


def test_threads_may_share_the_matcher() -> None:
    """Long pages, so that one scan is not over before the next begins."""
    body = b"<p>" + b"Long text. " * 100_000 + b"<script>_hjSettings={hjid:1};</script>"
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: technologies(page_of(body)), range(24)))
    assert answers == [("Hotjar",)] * 24


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"path": ["^/x.js"]}, "is anchored"),
        ({"inline": ["x=1$"]}, "is anchored"),
        ({"own": ["/a[^b]c"]}, "next address"),
        ({"path": ["/a&b"]}, "next address"),
        ({"html": ["a, b"]}, "no lists"),
        ({"html": ["div:first-child"]}, "no pseudo-classes"),
        ({"html": ["p"]}, "3 characters"),
        ({"host": ["https://cdn.example.com"]}, "is not a host"),
        ({"load": ["localhost"]}, "is not a host"),
        ({"hosts": ["cdn.example.com"]}, "unknown field"),
    ],
)
def test_a_rule_that_is_not_well_formed_is_refused_by_name(row: dict[str, list[str]], problem: str) -> None:
    with pytest.raises(ValueError, match=problem) as refused:
        checked("shops.toml: Acme", row)
    assert str(refused.value).startswith("shops.toml: Acme: ")


def test_the_service_knows_which_technologies_are_detected() -> None:
    """It reads the files alone: the libraries of the matcher are not installed there."""
    rules = own_rules()
    implied = {name for rule in rules.values() for name in rule.implies}
    assert detected_technologies() == {*rules, *implied, *long_tail().values(), *mail_hosts().values()}
