"""The parts of a page that every layout sets in its own frame: menu, sections, contacts, profiles, traps, styles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from html import escape
from random import Random
from urllib.parse import quote

from siteglass_demo.sites import flaws
from siteglass_demo.sites.contacts import SENTRY_KEY
from siteglass_demo.sites.hide import contact_lines
from siteglass_demo.sites.label import Site
from siteglass_demo.sites.words import WORDS, path

PAGES = ("about", "products", "blog", "contact", "imprint")
_STYLE_BYTES = 26_000
_PRICES = ("$ 24.90", "19,90 €", "£35", "129.00", "1.299,00 €", "¥4,800", "49 zł")
_SPAM = "cheap pills online; casino bonus no deposit; replica watches; payday loan fast"


@dataclass(slots=True)
class Parts:
    """One page before its layout."""

    site: Site
    page: str
    url: str
    title: str
    head: str
    heading: str
    """With its tag: sites without an h1 use another."""
    menu: list[tuple[str, str]]
    sections: list[tuple[str, list[str]]]
    contacts: list[str]
    profiles: list[str]
    cards: list[str]
    scripts: str
    style: str

    @property
    def lang(self) -> str:
        """The attribute of the html tag, with a blank before it."""
        language = self.site.declared_language
        return f' lang="{language}"' + (' dir="rtl"' if language == "ar" else "") if language else ""


def build(rng: Random, site: Site, page: str, url: str, title: str, head: str, scripts: str) -> Parts:
    """The parts of a page of a site."""
    words = WORDS[site.language]
    shown = words.get(page, site.business_name) if page != "home" else site.title
    tag = "h1" if site.has_heading else "h2"
    menu = [("/", words["home"]), *((path(site.language, name), words[name]) for name in PAGES)]
    return Parts(
        site,
        page,
        url,
        title,
        head,
        f"<{tag}>{escape(shown, quote=False)}</{tag}>{flaws.picture(site)}",
        [*menu, ("/privacy", words["privacy"]), *flaws.extra_links(site)],
        _sections(rng, site, page),
        contact_lines(rng, site, page),
        _profiles(rng, site, url, page),
        _cards(rng, site, page),
        f"{scripts}\n{_traps(rng, site)}",
        styles(site.layout)[: int(2_500 + rng.random() ** 2 * _STYLE_BYTES)].rpartition("}")[0] + "}",
    )


def _sections(rng: Random, site: Site, page: str) -> list[tuple[str, list[str]]]:
    words = WORDS[site.language]
    texts = [escape(text, quote=False) for text in site.sentences]
    if page == "home":
        headings = [words["about"], words["products"], *(escape(word) for word in site.keywords[:3])]
    else:
        # Another page says some of it again, in another order.
        texts = rng.sample(texts, max(3, len(texts) * 2 // 3) if len(texts) > 3 else len(texts))
        headings = [words.get(page, site.business_name), words["more"]]
    if page == "blog":
        dates = (
            f"20{15 + int(rng.random() * 11)}-0{1 + int(rng.random() * 9)}-1{int(rng.random() * 10)}" for _ in texts
        )
        texts = [f'<time datetime="{date}">{date}</time> {text}' for date, text in zip(dates, texts, strict=True)]
    size = max(1, -(-len(texts) // len(headings)))
    return [(heading, texts[at * size : (at + 1) * size]) for at, heading in enumerate(headings)]


def _cards(rng: Random, site: Site, page: str) -> list[str]:
    """Products or topics: a picture, a name, a price, a long number."""
    count = 12 if page == "products" else int(rng.random() * 5)
    names = site.keywords or (site.business_name,)
    cards = []
    for number in range(count):
        name = escape(names[number % len(names)])
        picture = f"/images/{quote(site.service_type.lower().replace(' ', '-') or 'item')}-{number}"
        cards.append(
            f'<img src="{picture}.jpg" srcset="{picture}.jpg 1x, {picture}@2x.jpg 2x" alt="{name}" width="320">'
            f"<b>{name}</b> <span>{_PRICES[int(rng.random() * len(_PRICES))]}</span> "
            f"<small>SKU {int(rng.random() * 10**8):08d}-{number}</small>"
        )
    return cards


def _profiles(rng: Random, site: Site, url: str, page: str) -> list[str]:
    links = [
        f'<a href="{link}" target="_blank" rel="noopener" aria-label="{network}"><svg width="24" height="24">'
        f'<path d="M12 2C6.48 2 2 6.48 2 12s4.48 10 10 10"/></svg></a>'
        for network, link in site.social_links.items()
    ]
    if page == "blog" or rng.random() < 0.3:
        # Buttons to share the page are not profiles of the site.
        at = quote(url, safe="")
        links += [
            f'<a href="https://www.facebook.com/sharer/sharer.php?u={at}">Facebook</a>',
            f'<a href="https://twitter.com/intent/tweet?url={at}">Tweet</a>',
            f'<a href="https://www.linkedin.com/shareArticle?mini=true&amp;url={at}">LinkedIn</a>',
            f'<a href="https://pinterest.com/pin/create/button/?url={at}">Pin it</a>',
        ]
    return links


def _traps(rng: Random, site: Site) -> str:
    """What looks like a contact: placeholders of forms, file names, keys of services, numbers of books."""
    if site.layout == "react_shell":
        return f'<script>window.SENTRY_DSN="https://{SENTRY_KEY}/4505";</script>'
    traps = [
        '<form method="post"><input type="email" name="email" placeholder="you@example.com" required>'
        '<input type="text" name="company" value="" placeholder="name@domain.com"><button>OK</button></form>',
        '<img src="/img/logo@2x.png" alt="logo">',
        f'<script>window.SENTRY_DSN="https://{SENTRY_KEY}/4505";</script>',
        "<!-- theme by jane.doe@example.org, 2019-05-12 -->",
        f"<small>ISBN 978-3-16-148410-0 &middot; &copy; {2004 + int(rng.random() * 12)}-2026</small>",
    ]
    if "spam" in site.hard:
        hidden = "".join(
            f'<a href="http://{int(rng.random() * 999)}.example/">{text}</a>' for text in _SPAM.split("; ")
        )
        traps.append(f'<div style="position:absolute;left:-9999px">{hidden}</div>')
    return "\n".join(traps)


@cache
def styles(layout: str) -> str:
    """Rules of style, more than any page takes; each layout has its own names."""
    rng, rules = Random(layout), []
    prefix = {"wordpress": "wp-block", "shopify": "shopify-section", "squarespace": "sqs-block", "webflow": "w"}
    stem, size = prefix.get(layout, "c"), 0
    names = ("header", "menu", "hero", "grid", "card", "button", "footer", "image", "columns", "cover", "quote", "form")
    values = ("margin:0 auto", "padding:1.5rem", "display:flex", "color:#1e2430", "font-weight:600", "gap:12px")
    while size < _STYLE_BYTES + 2_600:
        rule = f".{stem}-{rng.choice(names)}-{rng.randrange(99)}{{{';'.join(rng.sample(values, 3))}}}\n"
        if rng.random() < 0.1:
            rule = f"@media (max-width:{rng.randrange(400, 1200)}px){{{rule.strip()}}}\n"
        rules.append(rule)
        size += len(rule)
    return "".join(rules)
