"""What a page says in words: title, description, headings, and the text that a search by keyword looks through.

The main text is the body without navigation, footer and asides, which the walk that finds all text separates. A content
extractor (resiliparse, main content) returns much the same, but takes 3.1 ms for a page of 95 kB. That is a third of
the time of all facts.
"""

from __future__ import annotations

from typing import NamedTuple

from selectolax.lexbor import LexborNode

from siteglass.ingest.extract.page import Page

MAX_TITLE_CHARS = 512
MAX_DESCRIPTION_CHARS = 2_000
MAX_HEADINGS = 30
MAX_HEADING_CHARS = 200
MAX_MAIN_CHARS = 20_000

_SHORT_MAIN_CHARS = 200


class Texts(NamedTuple):
    """All folded: white space counts once."""

    title: str
    description: str
    """Of the meta tag, else the one for social networks."""
    heading: str
    """The first h1 that is shown and says something."""
    headings: tuple[str, ...]
    """h1 to h3 in order."""
    main: str


def texts(page: Page) -> Texts:
    """The words of a page, each bounded."""
    metas = page.metas
    heading, headings = _headings(page)
    described = metas.get("description") or metas.get("og:description") or metas.get("twitter:description") or ""
    return Texts(
        title=_title(page)[:MAX_TITLE_CHARS],
        description=folded(described, MAX_DESCRIPTION_CHARS),
        heading=heading,
        headings=headings,
        main=_main(page),
    )


_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), " ")


def folded(text: str, max_chars: int) -> str:
    """White space counts once, and so do marks that steer a terminal; what is cut ends without a blank."""
    text = text[: max_chars * 4]
    if not text.isprintable():
        text = text.translate(_CONTROLS)
    return " ".join(text.split())[:max_chars].rstrip()


def _title(page: Page) -> str:
    head = page.tree.head
    node = head.css_first("title") if head else None
    if node is None:  # broken heads end early, their title is then in the body, as those of drawings are
        node = next((one for one in page.tree.css("title")[:20] if not _inside_drawing(one)), None)
    own = folded(node.text(), MAX_TITLE_CHARS) if node else ""
    return own or folded(page.metas.get("og:title") or page.metas.get("twitter:title") or "", MAX_TITLE_CHARS)


def _inside_drawing(node: LexborNode) -> bool:
    above = node.parent
    for _ in range(20):
        if above is None:
            return False
        if above.tag == "svg":
            return True
        above = above.parent
    return False


def _headings(page: Page) -> tuple[str, tuple[str, ...]]:
    first = ""
    found: list[str] = []
    for node in page.tree.css("h1, h2, h3")[:MAX_HEADINGS]:
        text = folded(node.text(separator=" "), MAX_HEADING_CHARS)
        if not text:
            text = _picture_text(node)
        if not text:
            continue
        found.append(text)
        if not first and node.tag == "h1" and not _is_hidden(node) and not _is_without_scripts(node):
            first = text
    return first, tuple(found)


def _picture_text(node: LexborNode) -> str:
    """A logo as heading says what its alternative text says."""
    picture = node.css_first("img[alt]")
    return folded(picture.attributes.get("alt") or "", MAX_HEADING_CHARS) if picture else ""


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    style = (attributes.get("style") or "").replace(" ", "").lower()
    return "hidden" in attributes or "display:none" in style or attributes.get("aria-hidden") == "true"


def _is_without_scripts(node: LexborNode) -> bool:
    """Whether it is shown only to those whose browser runs no scripts."""
    above = node.parent
    while above is not None:
        if above.tag == "noscript":
            return True
        above = above.parent
    return False


def _main(page: Page) -> str:
    main = folded(page.main_text, MAX_MAIN_CHARS)
    return main if len(main) >= _SHORT_MAIN_CHARS else folded(page.text, MAX_MAIN_CHARS) or main
