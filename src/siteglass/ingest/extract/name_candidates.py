"""What may be the name of a site's owner, as one page says it in several places, each under the kind of its source."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from siteglass.ingest.extract.domain_names import forms_in
from siteglass.ingest.extract.gazetteer import cities_named
from siteglass.ingest.extract.name_words import (
    FORM_AFTER,
    LEGAL_FORM,
    RIGHTS,
    has_form,
    may_have_form,
    names_a_page,
    without_greeting,
)
from siteglass.ingest.extract.page import Page
from siteglass.ingest.extract.schema_types import SERVICE_TYPE_OF, organisations, types_of
from siteglass.ingest.extract.texts import Texts, folded
from siteglass.ingest.facts import NameSighting
from siteglass.suppression.redaction import without_contacts

MAX_NAME_CHARS = 120
MAX_PART_CHARS = 60
MAX_PARTS = 20
MAX_LOGOS = 40
MAX_COPYRIGHTS = 3
MAX_COPYRIGHT_CHARS = 200
MAX_LINES = 400
MAX_STATED = 3
MAX_TRIES = 20
MAX_FORM_CHARS = 25
MAX_HEADINGS = 3
MAX_SIGHTINGS = 16
"""Of a page: what its best sources say comes first."""

_SEPARATORS = re.compile(r"\s*[|｜•·【】]\s*|\s+[»«›‹]\s+|(?<=\w)[»›](?=\w)|\s+[-–—:~/]+\s+|:\s+|\s*[–—]\s*|\s?::\s?")
# Titles in scripts without blanks have none around a hyphen.
_TIGHT_HYPHEN = re.compile(r"(?<=[\u3040-\u9fff])[-_]|[-_](?=[\u3040-\u9fff])")
_COPYRIGHT = re.compile(
    r"(?:©|&copy;|\(c\)\s|copyright|авторские права)\s*(?:©|\(c\)|by)?\s*"
    r"(?:\d{4}\s?(?:[-–,]\s?\d{2,4})?)?[\s,.:|–-]*(?:by |bei |par |por |von )?",
    re.IGNORECASE,
)
_NOTICE = re.compile(r"©|&copy;|\([cC]\)|[cC]opyright|COPYRIGHT|вторские")
_COPYRIGHT_ENDS = re.compile(
    rf"\s*(?:[|·•;]|,(?!\s?(?:inc|ll[cp]|ltd|s\.|co\b|p\.?[cal]))|\s[-–—/]\s|(?<=[^\W\d_]{{3}})\.\s|{RIGHTS.pattern})",
    re.IGNORECASE,
)
# Companies by their legal form, in scripts without blanks between words; and what registers call their name.
_COMPANY = re.compile(
    r"(?:株式会社|有限会社|合同会社|医療法人)[^\s\W\d_]{2,20}|[^\s\W\d_]{2,20}(?:株式会社|有限会社|有限公司|有限責任公司|주식회사)"
)
_NAME_LABEL = re.compile(
    r"(?:상호|会社名|商号|屋号|公司名称|公司名稱|企业名称|单位名称)(?:명)?\s?[:：]\s?([^|,，、（(·]{2,40})"
)
_YEARS_AFTER = re.compile(r"\W+\d{4}(?:\s?[-–]\s?\d{2,4})?\W*\Z")
# A name in a script without blanks between words.
_RUN_ON = re.compile(r"[\u3040-\u9fff]{2}")
_SENTENCE = re.compile(r"[!?。！？]|\.\s*\Z|…|\.{3}|@|\d{4,}|https?:|www\.")
_NO_NAMES_OF_COMPANIES = ("heading", "profile", "imprint")
_LOGOS = (
    "img[alt], .site-title, .navbar-brand, .brand, .logo, #logo, .site-name, #site-title, #site-name, a[rel=home], "
    ".custom-logo-link"
)
_HOMES = ("/", "./", "index.html", "index.php", "/index.html", "/index.php", "index.htm", "/index.htm")


def sightings(page: Page, words: Texts, social: dict[str, str], *, is_home: bool) -> tuple[NameSighting, ...]:
    """Candidates of a page with their sources; no two are equal."""
    found: dict[NameSighting, None] = {}
    for source, name in _sources(page, words, social, is_home=is_home):
        if name:
            found.setdefault(NameSighting(name, source))
    several = list(found)[:MAX_SIGHTINGS]
    names = dict.fromkeys([one.name for one in several if one.source not in _NO_NAMES_OF_COMPANIES])
    return (*several, *(NameSighting(full, "imprint") for name in names if (full := _with_form(name, page.text))))


def _sources(page: Page, words: Texts, social: dict[str, str], *, is_home: bool) -> Iterator[tuple[str, str]]:
    metas = page.metas
    for name in _stated(page):
        yield "json_ld", name
    for key in ("og:site_name", "application-name", "apple-mobile-web-app-title", "twitter:app:name:iphone"):
        yield "site_name", clean(metas.get(key))
    for name in _copyright(page):
        yield "copyright", name
    for name in _registered(page):
        yield "imprint", name
    found = parts(words.title)
    for name in found:
        yield "title", name
    if len(found) == 1 and len(_pieces(words.title)) > 1:
        yield "page_title", found[0]
    for name in _logos(page):
        yield "logo", name
    # Elsewhere the heading says what the page is about, and so does the title.
    for text in words.headings[:MAX_HEADINGS] if is_home else ():
        name = _without_place(without_greeting(text))
        yield "heading", clean(name) if _is_brief(name) else ""
    label = page.domain.partition(".")[0]
    for name in forms_in(label, f"{words.title} | {words.heading} | {page.text}"):
        yield "text", name
    for url in social.values():
        yield "profile", _slug(url)


def clean(name: object) -> str:
    """A name as people write it; "" if the text is not a name."""
    if not isinstance(name, str):
        return ""
    text = folded(html.unescape(name[:1_000]), MAX_NAME_CHARS + 1).strip('|-–—:·,®™© "“”„').lstrip(".")
    if len(text) > MAX_NAME_CHARS or "<" in text or "://" in text or text.isdigit() or names_a_page(text):
        return ""
    return text if any(map(str.isalnum, text)) and not _has_contact(text) else ""


def _has_contact(text: str) -> bool:
    """Whether an address or a phone number is in it, which would stay in the name after an opt-out."""
    return "@" in text or without_contacts(text) != text


def _is_brief(text: str) -> bool:
    """Whether a text is not too long for a name, and not a sentence: "Ring us now!"."""
    if not text or len(text) > MAX_PART_CHARS or len(text.split()) > 8:
        return False
    return has_form(text) or not _SENTENCE.search(text)


def parts(title: str) -> list[str]:
    """Parts of a title that may be names, without greetings and without a place at the end."""
    pieces = (_without_place(without_greeting(part)) for part in _pieces(title))
    return [part for part in map(clean, pieces) if part and _is_brief(part)]


def _pieces(title: str) -> list[str]:
    title = title if title.isascii() else _TIGHT_HYPHEN.sub(" - ", title)
    return [piece for piece in _SEPARATORS.split(title)[:MAX_PARTS] if piece]


def _without_place(part: str) -> str:
    """ "Crumb Bakery, Prestwick" is the bakery in Prestwick; so is "Crumb Bakery, bakers in Prestwick"."""
    name, comma, rest = part.partition(",")
    if not comma or LEGAL_FORM.match(f",{rest}"):
        return part
    tail = rest.rpartition(",")[2].strip()
    last = tail.split()[-1:] if len(tail.split()) > 1 else []
    is_place = any(cities_named(word) for word in (tail, *last))
    return name if is_place or (rest.strip()[:1].islower() and len(name.split()) > 1) else part


def _stated(page: Page) -> list[str]:
    """Names of the organisation which is surely the site's, by address; else of the first ones."""
    found = [(name, node) for node in organisations(page.json_ld) if (name := clean(node.get("name")))]
    own = [name for name, node in found if isinstance(node.get("url"), str) and page.domain in node["url"]]
    sites = [clean(node.get("name")) for node in page.json_ld if "WebSite" in types_of(node)]
    return [*(own or [name for name, _ in found])[:MAX_STATED], *sites[:1], *_marked(page)]


def _marked(page: Page) -> Iterator[str]:
    """Names of organisations in microdata and business cards."""
    if "itemtype" in page.html:
        for node in page.tree.css("[itemtype]")[:MAX_LOGOS]:
            kind = (node.attributes.get("itemtype") or "").rstrip("/").rpartition("/")[2]
            if kind in SERVICE_TYPE_OF and (name := node.css_first("[itemprop=name]")):
                yield clean(name.attributes.get("content") or name.text(separator=" "))
                return
    if "vcard" in page.html and (card := page.tree.css_first(".vcard .org, .vcard.org, .vcard .fn.org")):
        yield clean(card.text(separator=" "))


def _copyright(page: Page) -> Iterator[str]:
    """Names in copyright lines, of which the last are the site's."""
    noted = [line for line in page.lines[-60:] if _NOTICE.search(line)]
    lines = [(line, match) for line in noted if (match := _COPYRIGHT.search(line))]
    for line, match in lines[-MAX_COPYRIGHTS:]:
        after = line[match.end() : match.end() + MAX_COPYRIGHT_CHARS]
        # "Acme Ltd © 2020": the name comes first.
        before = line[: min(match.start(), MAX_COPYRIGHT_CHARS)]
        text = after if any(map(str.isalpha, after[:20])) and not RIGHTS.match(after) else before
        end = _COPYRIGHT_ENDS.search(text)
        name = clean(_YEARS_AFTER.sub("", text[: end.start()] if end else text))
        if _RUN_ON.match(name):
            name = name.partition(" ")[0]
        if name and _is_brief(name) and not name[0].isdigit():
            yield name


def _registered(page: Page) -> Iterator[str]:
    """Lines that are the name of a company with its legal form, or that a label is for: those of an imprint, of a
    postal address."""
    named: Counter[str] = Counter()
    for line in page.lines[:MAX_LINES]:
        if not line.isascii() and (label := _NAME_LABEL.search(line)):
            named[label[1].strip()] += 1
        elif not line.isascii() and (company := _COMPANY.search(line)):
            named[company[0]] += 1
        elif 5 <= len(line) <= MAX_PART_CHARS and may_have_form(line) and has_form(line):
            named[line] += 1
    for name, _ in named.most_common(MAX_STATED):
        text = clean(without_greeting(name.partition(": ")[2] or name))
        if text and not _COPYRIGHT.match(text) and _is_brief(text):
            yield text


def _with_form(name: str, text: str) -> str:
    """A name with the legal form that the text gives it somewhere: "Acme" of "Acme Ltd, company no. 123"."""
    start = text.find(name) if not has_form(name) else -1
    for _ in range(MAX_TRIES):
        if start < 0:
            break
        end = start + len(name)
        form = FORM_AFTER.match(text, end, end + MAX_FORM_CHARS)
        if form and has_form(name + form[0]) and _is_written_form(form[0]):
            ends_sentence = text[form.end() : form.end() + 2].strip().istitle()
            return clean(name + (form[0].rstrip(".") if ends_sentence else form[0]))
        start = text.find(name, end)
    return ""


def _is_written_form(form: str) -> bool:
    """Whether it is a legal form and not a word of the same letters: "AS" and "s.n.c.", not "as"."""
    return not form.islower() or "." in form.strip(" .")


def _logos(page: Page) -> Iterator[str]:
    """What logos, names of sites in headers and links to the home page say."""
    for link in page.links[:MAX_LOGOS]:
        if link.url in _HOMES or link.url.rstrip("/") == f"{page.address.scheme}://{page.address.netloc}":
            name = clean(without_greeting(link.text))
            yield name if _is_brief(name) else ""
    for node in page.tree.css(_LOGOS)[:MAX_LOGOS]:
        text = ""
        if node.tag != "img":
            text = node.text(separator=" ")[:200]
        elif _is_logo(node):
            text = node.attributes.get("alt") or ""
        text = " ".join(text.split())
        for part in (text, *parts(text)) if text else ():
            name = clean(without_greeting(part))
            if name and _is_brief(name) and not re.search(r"\.(?:png|jpe?g|gif|svg)\Z", name):
                yield name


def _is_logo(node: Any) -> bool:
    attributes = node.attributes
    said = " ".join(attributes.get(key) or "" for key in ("alt", "src", "class", "id")).lower()
    if "logo" in said:
        return True
    above = node.parent
    return above is not None and above.tag == "a" and (above.attributes.get("href") or "") in _HOMES


def _slug(url: str) -> str:
    """The name in the address of a profile: "acme-tools" of facebook.com/acme-tools."""
    slug = url.rstrip("/").rpartition("/")[2].lstrip("@")
    return "" if "?" in slug or slug.isdigit() or len(slug) > MAX_PART_CHARS else slug.rstrip("0123456789")
