"""The checks of the SEO score that one page can answer. A check that does not apply to the page is absent.

After the SEO audits of Lighthouse, whose names they bear, read from the source instead of a drawn page.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from selectolax.lexbor import LexborNode

from siteglass.ingest.extract.page import Page, joined
from siteglass.ingest.extract.paths import is_home, path_of
from siteglass.ingest.score import MAX_LOAD_TIME_MS

_MAX_HEAD_LINKS = 300

# Texts of links that say nothing about where they lead.
_EMPTY_WORDS = frozenset(
    [
        "click here",
        "click this",
        "go",
        "here",
        "information",
        "learn more",
        "more",
        "more info",
        "more information",
        "right here",
        "read more",
        "see more",
        "start",
        "this",
        "continue",
        "continue reading",
        "details",
        "view more",
        "link",
        "hier",
        "hier klicken",
        "klicken sie hier",
        "mehr",
        "mehr erfahren",
        "mehr lesen",
        "mehr infos",
        "weiterlesen",
        "weiter",
        "mehr dazu",
        "ici",
        "cliquez ici",
        "en savoir plus",
        "lire la suite",
        "plus",
        "voir plus",
        "suite",
        "aquí",
        "clic aquí",
        "haga clic aquí",
        "leer más",
        "más información",
        "más",
        "ver más",
        "saber más",
        "aqui",
        "clique aqui",
        "leia mais",
        "saiba mais",
        "mais",
        "ver mais",
        "qui",
        "clicca qui",
        "leggi tutto",
        "leggi di più",
        "scopri di più",
        "continua",
        "hier klikken",
        "klik hier",
        "lees meer",
        "meer",
        "meer informatie",
        "meer lezen",
        "tutaj",
        "kliknij tutaj",
        "więcej",
        "czytaj więcej",
        "czytaj dalej",
        "här",
        "klicka här",
        "läs mer",
        "mer",
        "klik her",
        "læs mere",
        "les mer",
        "tıklayın",
        "devamı",
        "daha fazla",
        "здесь",
        "подробнее",
        "читать далее",
        "ещё",
        "далее",
        "こちら",
        "詳細",
        "もっと見る",
        "続きを読む",
        "详情",
        "更多",
        "查看更多",
        "阅读更多",
        "더보기",
        "자세히 보기",
        "xem thêm",
    ]
)
_NO_CRAWL = 'a[href^="javascript:"], a:not([href]):not([name]):not([id]):not([role])'
_NO_ALT = "img:not([alt]):not([role]):not([aria-hidden]):not([aria-label]):not([aria-labelledby]):not([title])"
_LANGUAGE_TAG = re.compile(r"[a-z]{2,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?|x-default", re.IGNORECASE)


def audits(
    page: Page, *, title: str, noindex: bool, responsive: bool, has_heading: bool, has_schema: bool
) -> dict[str, bool]:
    """Check: whether the page passes it. `robots-txt` and `sitemap` are known from other captures."""
    tree, capture = page.tree, page.capture
    found = {
        "is-crawlable": not noindex,
        "document-title": bool(title),
        "meta-description": bool(page.metas.get("description")),
        "http-status-code": capture.status < 400,
        "https": page.address.scheme == "https",
        "viewport": responsive,
        "heading": has_heading,
        "structured-data": has_schema,
    }
    if page.links:
        found["link-text"] = not any(_says_nothing(link.url, link.text) for link in page.links)
        found["crawlable-anchors"] = tree.css_first(_NO_CRAWL) is None
    if tree.css_first("img") is not None:
        found["image-alt"] = tree.css_first(_NO_ALT) is None
    if capture.load_time_ms is not None:
        found["load-time"] = capture.load_time_ms <= MAX_LOAD_TIME_MS
    head_links = tree.head.css("link[rel][href]")[:_MAX_HEAD_LINKS] if tree.head else []
    return found | _of_head_links(page, head_links)


def _says_nothing(url: str, text: str) -> bool:
    if len(text) > 30 or url.startswith(("#", "javascript:", "mailto:", "tel:")):
        return False
    return text.strip(" .…»›>→!").lower() in _EMPTY_WORDS


def _of_head_links(page: Page, nodes: list[LexborNode]) -> dict[str, bool]:
    languages: list[bool] = []
    canonicals: list[str] = []
    for node in nodes:
        attributes = node.attributes
        rel = (attributes.get("rel") or "").lower().split()
        href = (attributes.get("href") or "").strip()
        if "alternate" in rel and "hreflang" in attributes:
            tag = (attributes.get("hreflang") or "").strip()
            languages.append(bool(_LANGUAGE_TAG.fullmatch(tag)) and href.startswith(("http://", "https://")))
        if "canonical" in rel:
            canonicals.append(href)
    found = {"hreflang": all(languages)} if languages else {}
    if canonicals:
        found["canonical"] = _is_sound(page, canonicals)
    return found


def _is_sound(page: Page, canonicals: list[str]) -> bool:
    """One address, whole, and not the first page for one that is another."""
    target = joined(page.base, canonicals[0])
    if len(set(canonicals)) > 1 or not canonicals[0].startswith(("http://", "https://")) or not target:
        return False
    return not is_home(path_of(urlsplit(target).path)) or is_home(path_of(page.address.path))
