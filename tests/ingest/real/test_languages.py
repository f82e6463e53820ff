"""The language of real pages: Debian's installation guide in all its languages, which its pages do not declare."""

from __future__ import annotations

import re
from pathlib import Path

from siteglass.ingest.capture import Capture
from siteglass.ingest.extract import facts_of
from siteglass.ingest.facts import PageFacts

PAGES_PER_LANGUAGE = 15
MIN_LANGUAGES = 19
MIN_ACCURACY = 0.97
# Translators have not come to every paragraph. A page with more English than this has no one language.
MAX_ENGLISH = 0.25
# Headings and names of chapters are translated on every page, and may outweigh a few English lines.
MIN_ENGLISH_CHARS = 1_000
_CODES = {"nb": "no", "nn": "no"}

_PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
# Names of other chapters are in the guide's language, even in a paragraph that is not.
_LINK_OR_TAG = re.compile(r"<a [^>]*>.*?</a>|<[^>]*>", re.DOTALL)


def _facts(page: Path) -> PageFacts:
    return facts_of(
        Capture(
            url=f"https://guide.example.com/{page.parent.name}/{page.name}",
            captured_at_ms=1_700_000_000_000,
            status=200,
            headers=(("content-type", "text/html"),),
            body=page.read_bytes(),
        )
    )


def _paragraphs(page: Path) -> list[str]:
    found = _PARAGRAPH.findall(page.read_text("utf-8"))
    return [" ".join(_LINK_OR_TAG.sub(" ", paragraph).split()) for paragraph in found]


def _english_share(page: Path, guide: Path) -> float:
    """How much of its paragraphs stands in the English guide word by word."""
    original = guide / "en" / page.name
    english = set(_paragraphs(original)) if original.exists() else set()
    own = _paragraphs(page)
    return sum(len(one) for one in own if one in english) / max(1, sum(map(len, own)))


def _languages(guide: Path) -> dict[str, list[Path]]:
    """Pages by the language that their folder is named for."""
    folders = sorted({page.parent for page in guide.rglob("*.html")})
    codes = (re.split("[_-]", folder.name.lower())[0] for folder in folders)
    return {_CODES.get(code, code): sorted(folder.glob("*.html")) for code, folder in zip(codes, folders, strict=True)}


def _spread(pages: list[Path], count: int) -> list[Path]:
    return [pages[number * len(pages) // count] for number in range(count)] if len(pages) > count else pages


def test_the_language_of_real_pages_is_found(guide: Path) -> None:
    languages = _languages(guide)
    assert len(languages) >= MIN_LANGUAGES
    seen = 0
    confused: list[str] = []
    for language, pages in languages.items():
        translated = [page for page in pages if language == "en" or _english_share(page, guide) <= MAX_ENGLISH]
        for page in _spread(translated, PAGES_PER_LANGUAGE):
            facts = _facts(page)
            seen += 1
            assert (facts.domain, facts.kind) == ("example.com", "page"), page
            assert facts.title, page
            if facts.language != language:
                confused.append(f"{page.parent.name}/{page.name}: {facts.language or 'none'}")
    assert seen >= MIN_LANGUAGES * PAGES_PER_LANGUAGE
    assert 1 - len(confused) / seen >= MIN_ACCURACY, confused


def test_what_nobody_translated_is_english_wherever_it_stands(guide: Path) -> None:
    untranslated = [
        page
        for language, pages in _languages(guide).items()
        for page in pages
        if language != "en" and _english_share(page, guide) == 1
        if sum(map(len, _paragraphs(page))) >= MIN_ENGLISH_CHARS
    ]
    assert untranslated
    assert {page: _facts(page).language for page in untranslated} == dict.fromkeys(untranslated, "en")
