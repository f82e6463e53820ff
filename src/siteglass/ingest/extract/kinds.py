"""What kind of answer a capture is: a page, or one that must not speak for its domain; and whether it may be listed."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from siteglass.corpus.domains import NotAHost, normalise, registrable
from siteglass.ingest.capture import Capture
from siteglass.ingest.extract.homes import other_home
from siteglass.ingest.extract.page import Page, joined
from siteglass.ingest.extract.texts import Texts
from siteglass.ingest.facts import Kind

_GONE = (404, 410)
# Crawlers whose instructions count beside those for all: the best known one, and ours.
_CRAWLERS = ("googlebot", "siteglassbot")
_ROBOTS_NAMES = ("robots", *_CRAWLERS)
_SITEMAP_PATH = re.compile(r"/(?:sitemap[\w.-]*|[\w-]*sitemap)\.xml(?:\.gz)?")
_SITEMAP_BODY = re.compile(rb"<(?:\w+:)?(?:urlset|sitemapindex)[\s>]", re.IGNORECASE)
_HTML_BODY = re.compile(
    rb"<\s*(?:!doctype\s+html|html|head|body|title|meta|div|p|a|h1|table|frameset|center)\b", re.IGNORECASE
)
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_LOOKED_AT_BYTES = 4_096

# A page with more text than this has real content, whatever it also says.
_PARKED_CHARS = 1_500
_NOT_FOUND_CHARS = 1_500
_SOURCE_CHARS = 200_000

# In lower case. Looked for one by one, which is far faster in a long source than one pattern of all.
_PARKING_HOSTS = (
    "sedoparking.com", "sedo.com/search/details", "parkingcrew.net", "bodis.com", "above.com/marketplace",
    "parklogic.com", "//dan.com/buy-domain", "//www.dan.com/buy-domain", "afternic.com/forsale", "afternic.com/listing",
    "hugedomains.com/domain_profile", "undeveloped.com/buy", "uniregistry.com/buy", "wsimg.com/parking-lander",
    "parked-content.godaddy", "godaddy.com/domainsearch", "cashparking", "skenzo.com", "voodoo.com", "domainsponsor",
    "namedrive.com", "rookmedia.net", "smartname.com", "d38psrni17bvxu.cloudfront.net", "dsparking", "domainparking",
    "ztomy.com", "parkingpage.namecheap", "porkbun.com/parked", "atom.com/name/", "squadhelp.com/name/", "efty.com",
    "/_tr?", "window.park=", "window.park =",
)  # fmt: skip
_FOR_SALE = re.compile(
    r"domain(?: name)? (?:[\w.-]+ )?(?:is|may be|might be|could be) (?:now |available )?(?:for sale|parked)"
    r"|buy this domain|(?:domain|web address) (?:[\w.-]+ )?(?:is )?(?:available )?for sale"
    r"|make an offer (?:for|on) (?:this|the) domain|(?:inquire about|acquire|purchase) (?:this|the) domain"
    r"|domain(?:name)? (?:[\w.-]+ )?(?:is |steht |wird )?(?:zum verkauf|verkauft|te koop)"
    r"|nom de domaine (?:[\w.-]+ )?(?:est )?[àa] vendre|domini[oi]? (?:[\w.-]+ )?(?:se vende|disponible)"
    r"|dom[ée]na (?:[\w.-]+ )?(?:je )?na pr(?:edaj|odej)|domain elad[óo]|domeniu (?:[\w.-]+ )?de v[âa]nzare"
    r"|verkkotunnus (?:[\w.-]+ )?(?:on )?myyt[äa]v|domain (?:[\w.-]+ )?πωλείται|домен (?:[\w.-]+ )?продається"
    r"|도메인 (?:판매|매각)|tên miền (?:[\w.-]+ )?(?:đang )?(?:được )?(?:rao )?bán"
    r"|(?:this|the) domain (?:[\w.-]+ )?(?:has (?:just )?been registered|has expired|is parked)|parked (?:free|domain)"
    r"|domain (?:steht|ist) (?:[\w ]{0,20})?zum verkauf|domain (?:ist )?zu verkaufen|diese domain kaufen"
    r"|domain ist geparkt"
    r"|domaine (?:[\w.-]+ )?est (?:à|en) vente|acheter ce domaine|dominio (?:[\w.-]+ )?est[áa] (?:en|a la) venta"
    r"|(?:dominio|sitio|p[áa]gina) (?:[\w.-]+ )?(?:est[áa] |registrado y )?aparcad[oa]|p[áa]gina de aparcamiento"
    r"|comprar este dom[ií]nio|dom[ií]nio (?:[\w.-]+ )?(?:est[áa] )?[àa] venda|dominio (?:[\w.-]+ )?(?:è )?in vendita"
    r"|domein(?:naam)? (?:[\w.-]+ )?is te koop|dit domein kopen|domena (?:[\w.-]+ )?(?:jest )?na sprzedaż|kup tę domenę"
    r"|домен (?:[\w.-]+ )?(?:прода[её]тся|припаркован)|купить домен"
    r"|域名(?:正在)?出售|此域名|このドメインは|ドメイン(?:を)?販売"
    r"|alan adı satılık|domän(?:en)? är till salu|domenet er til salgs|domænet er til salg",
    re.IGNORECASE,
)
# One of these is in all of them; the pattern takes milliseconds.
_DOMAIN_WORDS = (
    "domai", "domän", "domæn", "domen", "domin", "domín", "domein", "doména", "dom\u0117na", "домен", "parked",
    "aparcad", "aparcamiento", "web address", "域名", "ドメイン", "도메인", "tên miền", "verkkotunnus", "alan adı",
)  # fmt: skip
# What a web server shows before somebody builds a site.
_NO_SITE_YET = re.compile(
    r"welcome to nginx|apache2? (?:\w+ )?(?:linux )?(?:default|test) page|^index of /|iis windows(?: server)?|^iis\d"
    r"|default (?:plesk|web site) page|test page for the (?:apache|nginx)|^domain default page|^it works!?$"
    r"|^(?:hosting|account|website) (?:suspended|disabled)|account suspended|^site not published|^default page$",
    re.IGNORECASE,
)
# What is shown until somebody builds a site, by a host or by hand; without an own address it is not a business's page.
_UNDER_CONSTRUCTION = re.compile(
    r"hier entsteht|internetpr[äa]senz|webpr[äa]senz|under construction|site en construction|site en cours de"
    r"|sitio en construcci[óo]n|p[áa]gina en construcci[óo]n|en construcci[óo]n|sito in (?:costruzione|allestimento)"
    r"|site em constru[çc][ãa]o|em constru[çc][ãa]o|in aanbouw|under opbygning|under konstruktion|under oppbygging"
    r"|strona w (?:budowie|przygotowaniu)|str[áa]nk[ay] (?:jsou |je )?ve v[ýy]stavb[ěe]|fejleszt[ée]s alatt"
    r"|[îi]n construc[țt]ie"
    r"|rakenteilla|υπό κατασκευή|сайт (?:находится )?(?:в разработке|на реконструкции)|yap[ıi]m a[şs]amas[ıi]nda"
    r"|準備中|工事中|网站建设中|網站建置中|준비 ?중|đang (?:được )?xây dựng|อยู่ระหว่าง|قيد الإنشاء"
    r"|coming soon|launching soon"
    r"|(?:domain|website) (?:was |is |has been )?successfully (?:registered|set up|configured)",
    re.IGNORECASE,
)
_UNDER_CONSTRUCTION_CHARS = 600
# The first post that WordPress brings along: nobody has written anything else yet.
_UNTOUCHED = (
    "this is your first post", "dies ist dein erster beitrag", "dies ist ihr erster beitrag",
    "ceci est votre premier article", "esta es tu primera entrada", "este es tu primer entrada",
    "este é o seu primeiro", "esse é o seu primeiro", "questo è il tuo primo articolo", "dit is je eerste bericht",
    "to jest twój pierwszy wpis", "det här är ditt första inlägg", "dette er dit første indlæg",
    "dette er ditt første innlegg", "это ваша первая запись", "これは最初の投稿です", "这是您的第一篇文章",
)  # fmt: skip
# Text that templates are filled with until somebody writes their own.
_FILLER = "ipsum"
_MIN_FILLERS = 3
_NOT_FOUND = re.compile(
    r"^(?:error\W*)?404\b(?!\s*\w+\s*\w+\s*\w+\s*\w+)|\berror 404\b|\b404 (?:error|not found|page|fehler|erreur)\b"
    r"|\b(?:page|file|site|url) (?:was |could |can ?)?not (?:be )?found\b|page (?:does not|doesn't) exist|^not found\b"
    r"|^(?:sorry|oops)\b.{0,40}(?:not|can.?t) (?:be )?f(?:ou|i)nd|seite (?:wurde )?nicht gefunden|seite existiert nicht"
    r"|page (?:introuvable|non trouvée|inexistante)|p[áa]gina no (?:encontrada|existe|disponible)"
    r"|p[áa]gina n[ãa]o encontrada"
    r"|pagina non trovata|pagina (?:werd |is )?niet gevonden|nie znaleziono strony"
    r"|strona nie (?:istnieje|została znaleziona)"
    r"|sidan (?:kunde inte hittas|hittades inte|finns inte)|siden (?:blev ikke|ble ikke|findes ikke|finnes ikke)"
    r"|sivua ei löyt|stránka nenalezena|stránka nebyla nalezena|az oldal nem található|pagina nu a fost găsită"
    r"|sayfa bulunamadı|страница не найдена|сторінку не знайдено"
    r"|ページが見つかりません|页面不存在|找不到(?:网页|页面|頁面)"
    r"|페이지를 찾을 수 없습니다|không tìm thấy trang|η σελίδα δεν βρέθηκε",
    re.IGNORECASE,
)
_REFRESH = re.compile(r"\s*(\d{1,3})(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"'\s][^\"']*)", re.IGNORECASE)
_REFRESH_WITHIN_S = 10
_TEST_CHARS = 300


class Answered(NamedTuple):
    """What is known before anything is parsed."""

    kind: Kind | None
    """None: a document that has to be read."""
    redirects_to: str = ""
    alias_of: str = ""
    """The same if the target is a home page."""


def before_reading(capture: Capture) -> Answered:
    """The kind, as far as status, address and first bytes tell it."""
    path = urlsplit(capture.url).path.lower()
    if 300 <= capture.status < 400:
        target = joined(capture.url, capture.header("location")) if capture.header("location") else ""
        return Answered("redirect", elsewhere(capture.url, target), other_home(capture.url, target))
    # That there is none is a fact, too; any other failure says nothing.
    known = capture.status < 300 or capture.status in _GONE
    if known and path == "/robots.txt":
        return Answered("robots")
    if known and _SITEMAP_PATH.fullmatch(path):
        return Answered("sitemap")
    if capture.status >= 400:
        return Answered("failed")
    if _SITEMAP_BODY.search(capture.body[:_LOOKED_AT_BYTES]) and not looks_like_html(capture.body):
        return Answered("sitemap")
    return Answered(None)


def is_html(capture: Capture) -> bool:
    """Whether a body is a page: its looks decide where its header is missing or says something vague."""
    stated = capture.header("content-type").partition(";")[0].strip().lower()
    if stated in _HTML_TYPES:
        binary = b"\x00" in capture.body[:512] and not capture.body.startswith((b"\xff\xfe", b"\xfe\xff"))
        return not binary or looks_like_html(capture.body)
    return stated in ("", "text/plain", "application/octet-stream", "application/xml", "text/xml") and looks_like_html(
        capture.body
    )


def looks_like_html(body: bytes) -> bool:
    return bool(_HTML_BODY.search(body[:_LOOKED_AT_BYTES]))


def after_reading(page: Page, texts: Texts) -> Answered:
    """The kind of a document by what it says."""
    target = _refreshed_to(page)
    if redirects_to := elsewhere(page.capture.url, target):
        return Answered("redirect", redirects_to, other_home(page.capture.url, target))
    length = len(page.text)
    if (length < _PARKED_CHARS and _is_parked(page, texts)) or _is_template(page):
        return Answered("parked")
    said = (texts.title[:_TEST_CHARS], texts.heading)
    if length < _NOT_FOUND_CHARS and any(_NOT_FOUND.search(one) for one in said):
        return Answered("soft_404")
    if not (length or texts.title or texts.description or page.json_ld):
        return Answered("empty")
    return Answered("page")


def noindex(page: Page) -> bool:
    """Whether page or answer ask search engines not to list it: all of them, the best known one, or us."""
    if header_noindex(page.capture):
        return True
    if page.metas.keys().isdisjoint(_ROBOTS_NAMES):
        return False
    for node in page.tree.css("meta[name][content]")[:200]:
        attributes = node.attributes
        if (attributes.get("name") or "").strip().lower() in _ROBOTS_NAMES:
            words = re.split(r"[\s,;]+", (attributes.get("content") or "").lower())
            if "noindex" in words or "none" in words:
                return True
    return False


def header_noindex(capture: Capture) -> bool:
    """Whether the headers of an answer ask for it."""
    return any(name == "x-robots-tag" and _forbids(value.lower()) for name, value in capture.headers)


def elsewhere(url: str, target: str) -> str:
    """The registrable domain of a target, where it is another than that of the address; else ""."""
    try:
        domain = registrable(normalise(target)) if target else ""
        return domain if domain != registrable(normalise(url)) else ""
    except NotAHost:
        return ""


def _forbids(value: str) -> bool:
    """A directive may be meant for one crawler: "otherbot: noindex"."""
    agent, colon, rest = value.partition(":")
    directives = rest if colon and agent.strip() in _CRAWLERS else value
    if colon and agent.strip() not in (*_CRAWLERS, "unavailable_after") and not re.search(r"[,\s]", agent.strip()):
        return False
    return bool({"noindex", "none"} & set(re.split(r"[\s,]+", directives)))


def _refreshed_to(page: Page) -> str:
    """The address that a page sends its reader to at once."""
    match = _REFRESH.match(page.metas.get("refresh", "")[:2_200])
    if not match or int(match[1]) > _REFRESH_WITHIN_S:
        return ""
    return joined(page.base, match[2])


def _is_parked(page: Page, texts: Texts) -> bool:
    if _NO_SITE_YET.search(texts.title[:_TEST_CHARS]) or _NO_SITE_YET.search(texts.heading):
        return True
    text = page.text.lower()
    if _is_unbuilt(page, texts) or any(phrase in text for phrase in _UNTOUCHED):
        return True
    shown = f"{texts.title} {texts.description} {page.text[:_PARKED_CHARS]}"
    lowered = shown.lower()
    names_domain = any(word in lowered for word in _DOMAIN_WORDS)
    if names_domain and _FOR_SALE.search(shown):
        return True
    source = page.html[:_SOURCE_CHARS].lower()
    return any(host in source for host in _PARKING_HOSTS)


def _is_template(page: Page) -> bool:
    """Whether a page is a template as its author left it, and names no address of its domain."""
    is_filled = "Lorem ipsum" in page.html or "Lorem Ipsum" in page.html
    return is_filled and page.text.lower().count(_FILLER) >= _MIN_FILLERS and f"@{page.domain}" not in page.html


def _is_unbuilt(page: Page, texts: Texts) -> bool:
    """Whether a page only says that a site will come, and names no address of its domain."""
    if len(page.text) >= _UNDER_CONSTRUCTION_CHARS or f"@{page.domain}" in page.html:
        return False
    return any(_UNDER_CONSTRUCTION.search(one) for one in (texts.title[:_TEST_CHARS], texts.heading))
