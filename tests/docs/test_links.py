"""Links of the pages point at something: a file that is there, a heading that is in it, and nothing outside."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.blocks import CLIENT, ROOT

PAGES = sorted([*ROOT.glob("*.md"), CLIENT / "README.md", *(ROOT / "docs").rglob("*.md")])
# Addresses outside that a page may link to, each with its reason.
OUTSIDE = {
    "https://www.geonames.org/": "attribution that the licence asks for",
    "https://creativecommons.org/licenses/by/4.0/": "attribution that the licence asks for",
    "https://cldr.unicode.org/": "attribution that the licence asks for",
    "https://github.com/scalar/scalar": "where a file of the page at /docs/api comes from",
    "https://github.com/leeoniya/uPlot": "where files of the dashboard come from",
    "https://github.com/bigskysoftware/htmx": "where files of the dashboard come from",
}

_FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"\]\((?P<target>[^()\s]+)\)")
_ADDRESS = re.compile(r"\b[a-z]+://[^\s)>\"'`]+")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def _prose(page: Path) -> str:
    """A page without its code; a link's text may be code, so only the backquotes go inside brackets."""
    text = _FENCED.sub("", page.read_text())
    return _CODE.sub("", re.sub(r"\[`([^`\]]+)`\]", r"[\1]", text))


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as forges make them."""
    found: list[str] = []
    for heading in _HEADING.findall(_FENCED.sub("", page.read_text())):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        anchor = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        found.append(f"{anchor}-{found.count(anchor)}" if anchor in found else anchor)
    return set(found)


def _broken(page: Path, root: Path = ROOT) -> list[str]:
    wrong = []
    for link in _LINK.finditer(_prose(page)):
        target, _, anchor = link["target"].partition("#")
        if "://" in target:
            continue
        path = (page.parent / target).resolve() if target else page
        inside = path.is_relative_to(root)
        if not inside or not path.exists() or (anchor and anchor not in _anchors(path)):
            wrong.append(link["target"])
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert _broken(page) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_needs_the_world_outside(page: Path) -> None:
    assert {address for address in _ADDRESS.findall(_prose(page)) if address not in OUTSIDE} == set()


def test_pictures_need_nothing_from_outside() -> None:
    for picture in (ROOT / "docs").rglob("*.svg"):
        # Names of vocabularies look like addresses, and are never asked for.
        text = re.sub(r'xmlns(:xlink)?="[^"]*"', "", picture.read_text())
        assert "://" not in text
        assert "@import" not in text
        assert "<title" in text


def test_the_checks_see_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# One `two`, three\n## Four\n")
    page = tmp_path / "page.md"
    page.write_text("[a](other.md) [b](other.md#one-two-three) [`c`](#here) `[d](code.md)`\n## Here\n")
    assert _broken(page, tmp_path) == []
    page.write_text("[a](gone.md) [b](other.md#five) [`c`](#there) [d](/etc/hosts)\n")
    assert _broken(page, tmp_path) == ["gone.md", "other.md#five", "#there", "/etc/hosts"]
