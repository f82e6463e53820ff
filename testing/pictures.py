"""Pictures of pages in the docs. A picture carries the texts that it shows, so that a test notices when they are gone.

Lines with a digit are not kept: balances, dates and counts differ between two days, or between two sizes of an index.
"""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from urllib.parse import urlsplit

from PIL import Image, PngImagePlugin
from playwright.sync_api import Page

TEXTS = "Siteglass texts"
# In calls that a page shows: the port of a test means nothing to people who look at a picture.
SERVICE = "https://leads.example.com"
_CALL_IT = """([from, to]) => {
    for (const code of document.querySelectorAll(".copy code")) code.textContent = code.textContent.replace(from, to);
}"""
# The texts of elements inside the window, as somebody sees them: each text node by itself.
_SEEN = """() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), seen = [];
    while (walker.nextNode()) {
        const range = document.createRange();
        range.selectNodeContents(walker.currentNode);
        const box = range.getBoundingClientRect(), owner = walker.currentNode.parentElement;
        const inside = box.width > 1 && box.height > 1 && box.top < innerHeight && box.bottom > 0;
        // What a closed menu holds has a size, too.
        const visible = owner.checkVisibility({visibilityProperty: true, opacityProperty: true});
        // Which values a facet lists depends on the size of the index.
        if (inside && visible && !owner.closest("script, .facet-lines")) seen.push(walker.currentNode.textContent);
    }
    return seen;
}"""
_ALL = "() => document.body.textContent"


def draw(page: Page, path: Path, *, whole: bool) -> None:
    """Keep a picture of the window, or of the whole page, with at most 256 colours: a third of the size."""
    page.evaluate("document.fonts.ready")
    path.parent.mkdir(parents=True, exist_ok=True)
    size = page.viewport_size
    assert size is not None
    if whole:  # what is as high as the window is as high as the picture then
        height: int = page.evaluate("document.documentElement.scrollHeight")
        page.set_viewport_size({"width": size["width"], "height": max(height, size["height"])})
    service = "{0.scheme}://{0.netloc}".format(urlsplit(page.url))
    page.evaluate(_CALL_IT, [service, SERVICE])
    drawn = page.screenshot(animations="disabled", caret="hide", scale="css")
    texts = _kept(page.evaluate(_SEEN))
    page.evaluate(_CALL_IT, [SERVICE, service])
    page.set_viewport_size(size)
    about = PngImagePlugin.PngInfo()
    about.add_itxt(TEXTS, json.dumps(texts, ensure_ascii=False), zip=True)
    with Image.open(io.BytesIO(drawn)) as picture:
        few = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
        few.save(path, optimize=True, pnginfo=about)


def texts_of(path: Path) -> list[str]:
    """The texts that a picture shows."""
    with Image.open(path) as picture:
        picture.load()
        texts: list[str] = json.loads(picture.info[TEXTS])
    return texts


def gone_texts(path: Path, page: Page) -> list[str]:
    """The texts of a picture that its page has no more."""
    return missing_texts(texts_of(path), page.evaluate(_ALL))


def missing_texts(texts: list[str], text: str) -> list[str]:
    """Those that are not in a text, whatever the blanks between words."""
    there = _plain(text)
    return [one for one in texts if _plain(one) not in there]


def _kept(texts: list[str]) -> list[str]:
    plain = (_plain(text) for text in texts)
    return list(dict.fromkeys(text for text in plain if re.search(r"\w\w", text) and not re.search(r"\d", text)))


def _plain(text: str) -> str:
    return " ".join(text.split())
