"""The checks of a page, the SEO score over them, and the page of the docs that tells it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from siteglass.ingest.extract.audits import audits
from siteglass.ingest.extract.page import Page
from siteglass.ingest.score import MAX_LOAD_TIME_MS, SCORE_VERSION, WEIGHTS, score
from tests.ingest.content.pages import capture, page

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "computed-fields.md"
GUIDE = PAGE.read_text().partition("## The SEO score\n")[2].partition("\n## ")[0]


def _audits(read: Page) -> dict[str, bool]:
    return audits(read, title="Acme", noindex=False, responsive=True, has_heading=True, has_schema=True)


def test_what_does_not_apply_is_absent() -> None:
    assert _audits(page("<p>Hello")) == {
        "is-crawlable": True,
        "document-title": True,
        "meta-description": False,
        "http-status-code": True,
        "https": True,
        "viewport": True,
        "heading": True,
        "structured-data": True,
    }


@pytest.mark.parametrize(
    ("html", "check", "expected"),
    [
        ('<meta name="description" content="Tools">', "meta-description", True),
        ('<a href="/x">Our saws</a>', "link-text", True),
        ('<a href="/x"> Read more » </a>', "link-text", False),
        ('<a href="/x">Mehr erfahren</a>', "link-text", False),
        ('<a href="#x">here</a>', "link-text", True),
        ('<a href="/x">x</a>', "crawlable-anchors", True),
        ('<a href="/x">x</a><a href="javascript:go()">y</a>', "crawlable-anchors", False),
        ('<a href="/x">x</a><a onclick="go()">y</a>', "crawlable-anchors", False),
        ('<a href="/x">x</a><a name="top"></a>', "crawlable-anchors", True),
        ('<img src="a.png" alt="">', "image-alt", True),
        ('<img src="a.png" alt="x"><img src="b.png">', "image-alt", False),
        ('<img src="a.png" role="presentation">', "image-alt", True),
        ('<link rel="alternate" hreflang="de-AT" href="https://x.at/">', "hreflang", True),
        ('<link rel="alternate" hreflang="x-default" href="https://x.at/">', "hreflang", True),
        ('<link rel="alternate" hreflang="german" href="https://x.at/">', "hreflang", False),
        ('<link rel="alternate" hreflang="de" href="/de">', "hreflang", False),
        ('<link rel="canonical" href="https://www.acme-tools.com/">', "canonical", True),
        ('<link rel="canonical" href="/">', "canonical", False),
        (
            '<link rel="canonical" href="https://a.com/x"><link rel="canonical" href="https://a.com/y">',
            "canonical",
            False,
        ),
    ],
)
def test_checks(html: str, check: str, expected: bool) -> None:
    assert _audits(page(html))[check] is expected


def test_a_canonical_of_the_first_page_is_wrong_elsewhere() -> None:
    html = '<link rel="canonical" href="https://www.acme-tools.com/">'
    assert _audits(page(html, "https://www.acme-tools.com/saws"))["canonical"] is False
    assert _audits(page(html, "https://www.acme-tools.com/index.html"))["canonical"] is True


def test_scheme_and_load_time() -> None:
    slow = _audits(Page(capture("", "http://acme-tools.com/", load_time_ms=MAX_LOAD_TIME_MS + 1)))
    assert (slow["https"], slow["load-time"]) == (False, False)
    assert _audits(Page(capture("", load_time_ms=MAX_LOAD_TIME_MS)))["load-time"] is True


def test_a_score_is_the_weighted_share() -> None:
    assert score({}) is None
    assert score(dict.fromkeys(WEIGHTS, True)) == 100
    assert score(dict.fromkeys(WEIGHTS, False)) == 0
    assert score({"https": True, "viewport": False}) == 50
    assert score({"https": True, "heading": False}) == 67
    # 1 of 8 is 12.5: halves are rounded up.
    assert score({"heading": True, "https": False, "viewport": False, "load-time": False, "sitemap": False}) == 13


def test_a_site_that_must_not_be_listed_stays_below_70() -> None:
    assert score(dict.fromkeys(WEIGHTS, True) | {"is-crawlable": False}) == 69


def test_unknown_checks_are_an_error() -> None:
    with pytest.raises(KeyError):
        score({"speed": True})


def test_the_guide_tells_the_table() -> None:
    rows = [line.split("|")[1:3] for line in GUIDE.splitlines() if line.startswith("| `")]
    assert {name.strip(" `"): int(weight) for name, weight in rows} == dict(WEIGHTS)
    assert SCORE_VERSION in GUIDE


# By version. A change of the weights or checks fails here: raise SCORE_VERSION and add the new digest.
DIGESTS = {"2026.11.1": "e11405bbfa1ddb90"}


def test_the_table_is_that_of_its_version() -> None:
    table = repr((sorted(WEIGHTS.items()), MAX_LOAD_TIME_MS))
    assert hashlib.sha256(table.encode()).hexdigest()[:16] == DIGESTS[SCORE_VERSION]
