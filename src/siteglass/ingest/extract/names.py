"""The name of the business: JSON-LD of its organisation, og:site_name, the part of the title that is its domain's
name, else that name itself."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Literal

import idna

from siteglass.ingest.extract.gazetteer import cities_named
from siteglass.ingest.extract.page import Page
from siteglass.ingest.extract.schema_types import organisations
from siteglass.ingest.extract.texts import Texts, folded
from siteglass.query.folding import compact

MAX_NAME_CHARS = 120

NameBasis = Literal["", "json_ld", "og_site_name", "title", "repeated", "domain"]

_SEPARATORS = re.compile(r"\s*[|｜•·【】]\s*|\s+[»«›‹]\s+|(?<=\w)[»›](?=\w)|\s+[-–—:~/]+\s+|:\s+|\s*[–—]\s*")
# What titles put before the name.
_GREETINGS = re.compile(
    r"(?:welcome to|contact(?: us)?(?: at)?|about(?: us)?|home of|the home of|willkommen (?:bei|auf)|kontakt|"
    r"bienvenue (?:chez|[àa]|au)|bienvenid[oa]s? (?:a|en)|benvenut[io] (?:a|da|in|su)|bem[- ]vindo (?:a|ao|à)|"
    r"welkom bij|"
    r"velkommen til|v[äa]lkommen till|vitajte|v[ií]tejte|witamy w)\s+",
    re.IGNORECASE,
)
_COPYRIGHT = re.compile(
    r"(?:©|&copy;|\(c\)|copyright)\s*(?:©|\(c\)|by)?\s*(?:\d{4}\s?(?:[-–]\s?\d{2,4})?)?[\s,.]*", re.IGNORECASE
)
_COPYRIGHT_ENDS = re.compile(
    r"\s*(?:[|·•,;]|\s[-–—/]\s|\.\s|\.$|\d{4}|all rights|alle rechte|tous droits|todos los|tutti i|todos os"
    r"|made |powered)",
    re.IGNORECASE,
)
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "å": "aa", "ø": "oe", "&": "and"})
_LEGAL_FORM = re.compile(
    r",?\s(?:inc|llc|ltd|limited|gmbh|ag|corp|co|plc|llp|pc|s\.?a|s\.?r\.?l|b\.?v)\.?\Z", re.IGNORECASE
)
# Companies by their legal form, in scripts without blanks between words; and what registers call their name.
_COMPANY = re.compile(
    r"(?:株式会社|有限会社|合同会社|医療法人)[^\s\W\d_]{2,20}|[^\s\W\d_]{2,20}(?:株式会社|有限会社|有限公司|有限責任公司|주식회사)"
)
_NAME_LABEL = re.compile(
    r"(?:상호|会社名|商号|屋号|公司名称|公司名稱|企业名称|单位名称)(?:명)?\s?[:：]\s?([^|,，、（(·]{2,40})"
)
MAX_PART_CHARS = 60
MAX_TITLES = 20
MAX_NAME_AND_MORE_CHARS = 40
# "General FAQs by Darling Homes"
_BY = re.compile(r"\s(?:by|from|for|at|with|von|bei|de|chez|par|da|di|van|bij|fra|från)\s", re.IGNORECASE)
MIN_SAME_CHARS = 6
MAX_ARTICLE = 3
MAX_COPYRIGHTS = 3
_NO_NAMES = frozenset(
    compact(name)
    for name in [
        "home",
        " homepage",
        " website",
        " my website",
        " my site",
        " site",
        " wordpress",
        " my wordpress",
        " just another wordpress site",
        " untitled",
        " company name",
        " your company",
        " your business name",
        " organization",
        " business name",
        " index",
        " welcome",
        " startseite",
        " accueil",
        " inicio",
        " blog",
        " default",
        " example",
        " site name",
        " my blog",
        " online store",
        " shop",
        " n/a",
        " null",
        " undefined",
        " none",
        "home page",
        "main",
        "main page",
        "hauptseite",
        "willkommen",
        "page d'accueil",
        "bienvenue",
        "pagina principal",
        "página principal",
        "principal",
        "inizio",
        "pagina iniziale",
        "benvenuti",
        "página inicial",
        "início",
        "strona główna",
        "úvod",
        "úvodní stránka",
        "domov",
        "domů",
        "kezdőlap",
        "főoldal",
        "acasă",
        "hem",
        "startsida",
        "forside",
        "hjem",
        "etusivu",
        "αρχική",
        "αρχική σελίδα",
        "главная",
        "главная страница",
        "головна",
        "начало",
        "anasayfa",
        "ana sayfa",
        "ホーム",
        "トップページ",
        "首页",
        "首頁",
        "主页",
        "홈",
        "메인",
        "trang chủ",
        "หน้าแรก",
        "beranda",
        "الرئيسية",
        "الصفحة الرئيسية",
        "דף הבית",
        "naslovnica",
        "početna",
        "kontakt",
        "contact",
        "contact us",
        "us",
        "about us",
        "über uns",
        "impressum",
        "datenschutz",
        "privacy policy",
        "contatti",
        "contacto",
        "contato",
    ]
)


def business_name(page: Page, words: Texts, *, is_home: bool) -> tuple[str, NameBasis]:
    """The best name and where it comes from. Never empty: the last resort is the domain."""
    label = page.domain.partition(".")[0]
    if name := _stated(page, label):
        return name, "json_ld"
    if name := _clean(page.metas.get("og:site_name")):
        return name, "og_site_name"
    if name := _of_title(words.title, label):
        return name, "title"
    if name := _registered(page, words, is_home=is_home):
        return name, "repeated"
    if is_home and (name := _repeated(page, words)):
        return name, "repeated"
    return _of_label(label), "domain"


def _registered(page: Page, words: Texts, *, is_home: bool) -> str:
    """The name with its legal form that the title of a home page or a copyright line gives, or that a label is for."""
    if not (page.text.isascii() and words.title.isascii()):
        label = next((match for line in page.lines if (match := _NAME_LABEL.search(line))), None)
        if label and (name := _clean(label[1])):
            return name
        for text in (words.title, *_of_copyright(page)) if is_home else ():
            if company := _COMPANY.search(text):
                return company[0]
    return next((part for part in _parts(words.title) if _LEGAL_FORM.search(part)), "") if is_home else ""


def _repeated(page: Page, words: Texts) -> str:
    """The name that a home page repeats: title, heading, copyright line and text agree on it, in whatever script."""
    parts = _parts(words.title)
    headings = [name for one in words.headings[:3] if (name := _clean(one)) and len(name) <= MAX_PART_CHARS]
    notices = list(_of_copyright(page))
    text = compact(page.text)
    title = compact(words.title)
    best, most = "", 1
    for name in (*notices, *headings, *parts):
        key = compact(name)
        if len(key) < 2 or (name in headings and key not in title and key not in map(compact, notices)):
            continue
        sources = (
            (key in title)
            + any(key in compact(one) for one in headings)
            + any(key in compact(one) or compact(one) in key for one in notices)
            + (text.count(key) > 1)
        )
        if sources > most:
            best, most = name, sources
    return best


def _of_copyright(page: Page) -> Iterator[str]:
    """Names in copyright lines."""
    lines = [line for line in page.lines[-60:] if _COPYRIGHT.search(line)]
    for line in lines[-MAX_COPYRIGHTS:]:
        match = _COPYRIGHT.search(line)
        rest = line[match.end() : match.end() + 200] if match else ""
        end = _COPYRIGHT_ENDS.search(rest)
        name = _clean(rest[: end.start()] if end else rest)
        if name and len(name) <= MAX_PART_CHARS and not name[0].isdigit():
            yield name


def _stated(page: Page, label: str) -> str:
    """That of the organisation which is surely the site's: by address or by name; else the first one."""
    found = [(name, node) for node in organisations(page.json_ld) if (name := _clean(node.get("name")))]
    for name, node in found:
        if isinstance(node.get("url"), str) and page.domain in node["url"]:
            return name
    for name, _ in found:
        if _likeness(name, label):
            return name
    return found[0][0] if found else ""


def _clean(name: object) -> str:
    """A name as people write it; "" if the text is not a name."""
    if not isinstance(name, str):
        return ""
    text = folded(html.unescape(name[:1_000]), MAX_NAME_CHARS + 1).strip("|-–—:·, ")
    if len(text) > MAX_NAME_CHARS or "<" in text or "://" in text or compact(text) in _NO_NAMES:
        return ""
    return text if any(map(str.isalnum, text)) else ""


def _parts(title: str) -> list[str]:
    """Parts of a title that may be names, without greetings and without a place at the end."""
    parts = (_without_place(_GREETINGS.sub("", part.strip(), count=1)) for part in _SEPARATORS.split(title)[:20])
    return [part for part in map(_clean, parts) if part and len(part) <= MAX_PART_CHARS]


def _without_place(part: str) -> str:
    """ "Crumb Bakery, Prestwick" is the bakery in Prestwick."""
    name, comma, place = part.rpartition(",")
    return name if comma and cities_named(place.strip()) else part


def common_name(titles: Sequence[str]) -> str:
    """The part that titles of several pages of a site have in common, where they differ otherwise; "" if none."""
    different = list(dict.fromkeys(titles))[:MAX_TITLES]
    counts = Counter(part for title in different for part in dict.fromkeys(_parts(title)))
    best, count = max(counts.items(), key=lambda item: item[1], default=("", 0))
    return best if count >= max(2, len(different) // 2) else ""


def _of_title(title: str, label: str) -> str:
    parts = _parts(title)
    parts += [part.partition(",")[0] for part in parts if "," in part]
    parts += [rest for part in parts if (rest := _BY.split(part, maxsplit=1)[-1]) != part]
    best = max(parts, key=lambda part: (_likeness(part, label), _closeness(part, label)), default="")
    return best if best and _likeness(best, label) else ""


def _closeness(name: str, label: str) -> float:
    """How much of the longer one of name and label the shorter one has."""
    lengths = sorted((len(compact(name)), len(compact(label))))
    return lengths[0] / max(1, lengths[1])


def _likeness(name: str, label: str) -> int:
    """5: the same letters; 4: the name holds the label; 3: the label holds the name; 2: both start with the same
    letters, or each word of the label begins one of the name; 1: the label is the initials; 0: none of these."""
    own = _decoded(label)
    wanted = compact(own)
    keys = {compact(name), compact(name.lower().translate(_UMLAUTS))}
    if wanted in keys:
        return 5
    for key in keys:
        shorter, longer = sorted((key, wanted), key=len)
        if len(shorter) >= 4 and shorter in longer and len(longer) <= 2.5 * len(shorter):
            return 4 if shorter == wanted else 3
        if len(wanted) >= MIN_SAME_CHARS and key.startswith(wanted) and len(name) <= MAX_NAME_AND_MORE_CHARS:
            return 4
    for key in keys:
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(key, wanted, strict=False)))
        if same >= MIN_SAME_CHARS and 5 * same >= 3 * max(len(key), len(wanted)):
            return 2
    words = re.findall(r"\w+", _LEGAL_FORM.sub("", name).lower())
    # "Alfarería La Cantarera" of alfareriacantarera.es
    if (
        len(wanted) >= MIN_SAME_CHARS
        and compact("".join([word for word in words if len(word) > MAX_ARTICLE])) == wanted
    ):
        return 3
    pieces = own.lower().split("-")
    if len(pieces) > 1 and len(pieces) == len(words) and all(map(str.startswith, words, pieces)):
        return 2
    initials = "".join([word[0] for word in words]).casefold()
    return 1 if len(words) >= 3 and initials == wanted else 0


def _of_label(label: str) -> str:
    return " ".join([word[:1].upper() + word[1:] for word in re.split(r"[-_]+", _decoded(label)) if word]) or label


def _decoded(label: str) -> str:
    try:
        return idna.decode(label) if label.startswith("xn--") else label
    except idna.IDNAError:
        return label
