"""Where a page leads: paths of the same host with the key pages first, absolute addresses, and its icon.

`priority` says what a path is worth: the merge takes the best pages of a domain by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from siteglass.ingest.extract.page import Page, joined

MAX_PAGES = 50
MAX_LINKS = 50
MAX_PATH_CHARS = 200
MAX_LINK_CHARS = 512
_MAX_LOOKED_AT = 500

OTHER = 1_000
"""The priority of a path that is not a key page; deeper paths have more."""

# Best first. Names are last segments of a path.
KEY_PAGES: tuple[tuple[str, str], ...] = (
    (
        "contact",
        """contact contacts contact-us contactus contacto contactanos contatti contattaci contato contact-me
        kontakt kontakte kontakty kontakti contactez-nous nous-contacter nous-joindre neem-contact-op
        contacteer-ons ota-yhteytta yhteystiedot kapcsolat iletisim epikoinonia kontaktai lien-he inquiry
        enquiry otoiawase toiawase lianxi lianxiwomen get-in-touch reach-us fale-conosco contactenos
        contactar お問い合わせ 联系我们 聯絡我們 контакты контакт επικοινωνια צור-קשר اتصل-بنا 문의 문의하기""",
    ),
    (
        "imprint",
        """impressum imprint mentions-legales note-legali aviso-legal colofon impresszum impressum-datenschutz
        tokusho tokushoho tokutei 特定商取引法 legal-notice site-notice""",
    ),
    (
        "about",
        """about about-us aboutus ueber-uns uber-uns über-uns ueberuns unternehmen a-propos apropos
        qui-sommes-nous notre-histoire nosotros quienes-somos sobre sobre-nosotros sobre-nos sobre-mi
        chi-siamo azienda quem-somos over-ons om-oss om-os om-meg om-mig o-nas o-firmie o-nama despre
        despre-noi meista tietoa rolunk hakkimizda kurumsal company corporate who-we-are our-story gaiyo
        kaisha companyinfo gioi-thieu 会社概要 关于我们 關於我們 о-нас о-компании about-me""",
    ),
    (
        "team",
        """team our-team the-team equipe equipo squadra people staff leadership management our-people
        ansprechpartner""",
    ),
    (
        "pricing",
        """pricing prices price plans plans-and-pricing preise tarifs tarif precios tarifas prezzi listino
        precos tarieven prijzen priser cennik ceny cenik hinnat arak fiyatlar fiyat-listesi ryokin
        price-list цены 料金 价格""",
    ),
    (
        "services",
        """services service leistungen dienstleistungen prestations servicios servizi servicos diensten
        tjanster ydelser tjenester uslugi oferta usluge sluzby palvelut szolgaltatasok hizmetler
        hizmetlerimiz what-we-do solutions solution loesungen lösungen soluciones soluzioni solucoes услуги
        サービス 服务""",
    ),
    (
        "shop",
        """shop store boutique tienda loja negozio winkel webshop butik sklep obchod kauppa magaza products
        product produkte produkt produits productos prodotti produtos producten produkter produkty catalog
        catalogue katalog catalogo collections товары каталог магазин 商品 产品""",
    ),
    (
        "careers",
        """careers career jobs job vacancies karriere stellenangebote emploi emplois carriere carrieres
        recrutement empleo trabaja-con-nosotros lavora-con-noi carreiras trabalhe-conosco vacatures
        werken-bij kariera praca jobb lediga-jobb recruit recruitment saiyo join-us work-with-us kariyer
        вакансии 採用情報 招聘""",
    ),
    (
        "locations",
        """locations location standorte filialen stores store-locator find-us anfahrt sedi ubicacion agences
        sucursales""",
    ),
    (
        "support",
        """support help faq faqs hilfe aide ayuda assistenza ajuda helpcenter help-center customer-service
        kundenservice""",
    ),
    (
        "blog",
        """blog news aktuelles neuigkeiten actualites noticias notizie novidades nieuws nyheter nyheder
        aktualnosci uutiset hirek haberler articles magazine magazin insights press presse prensa stampa
        imprensa media newsroom topics новости 新闻 ニュース""",
    ),
    (
        "portfolio",
        """portfolio projects projekte projets proyectos progetti projetos case-studies work our-work
        references referenzen customers clients gallery galerie galeria""",
    ),
    (
        "partners",
        """partners partner partenaires socios affiliates resellers investors investor-relations""",
    ),
    (
        "booking",
        """booking book book-now reservations reservation reservierung termin rendez-vous reserva prenota
        appointments menu""",
    ),
    (
        "donate",
        """donate donation donations spenden faire-un-don dons donar doar doneren volunteer""",
    ),
    (
        "account",
        """login signin sign-in signup sign-up register account my-account cart checkout basket warenkorb
        panier carrito""",
    ),
    (
        "legal",
        """legal privacy privacy-policy datenschutz datenschutzerklaerung confidentialite privacidad terms
        terms-of-service terms-and-conditions tos agb cgv cgu cookies cookie-policy condiciones
        politica-de-privacidad shipping returns""",
    ),
)
_PRIORITY = {
    name: 10 * (place + 1) for place, (_, names) in reversed(list(enumerate(KEY_PAGES))) for name in names.split()
}
# These count as one word of a name, too: "contact-form", "jobs-and-careers".
_TELLING = frozenset(
    [
        "contact",
        "contacts",
        "contacto",
        "kontakt",
        "contatti",
        "impressum",
        "imprint",
        "about",
        "team",
        "pricing",
        "careers",
        "karriere",
        "jobs",
    ]
)

_LANGUAGE_ROOT = re.compile(r"[a-z]{2}(?:[-_][a-z]{2,4})?")
_EXTENSION = re.compile(r"\.(?:x?html?|php\d?|aspx?|jsp|cfm|do|shtml)$")
_INDEX = re.compile(r"(?:index|default|home)(?:\.(?:x?html?|php\d?|aspx?|jsp|cfm|shtml))?")
_FILE = re.compile(
    r"\.(?:jpe?g|png|gif|webp|svg|ico|pdf|zip|gz|rar|exe|dmg|apk|mp[34]|webm|avi|mov|css|js|json|xml|rss|docx?|xlsx?|pptx?"
    r"|ics|vcf|txt|woff2?)$"
)
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_PLAIN_ADDRESS = re.compile(r"https?://((?:[a-z0-9-]+\.)+[a-z][a-z0-9-]+)(?::\d+)?(?=[/?]|$)", re.IGNORECASE)


def path_of(raw: str) -> str:
    """A path as leads keep it: lower case, escapes of letters read, no query, no trailing slash but that of "/"."""
    path = raw.partition("?")[0].partition("#")[0].partition(";")[0]
    if "%" in path:
        read = unquote(path, errors="replace")
        path = path if "\ufffd" in read or not read.isprintable() else read
    return "/" + path.strip("/ ").lower()


def is_home(path: str) -> bool:
    """Whether a path is that of the first page: "/", an index file, or a bare language as "/en"."""
    segments = [segment for segment in path.split("/") if segment]
    if segments and _INDEX.fullmatch(segments[-1]):
        segments.pop()
    return not segments or (len(segments) == 1 and bool(_LANGUAGE_ROOT.fullmatch(segments[0])))


@lru_cache(maxsize=16_384)
def priority(path: str) -> int:
    """What a path of `path_of` is worth, less being better: 0 the first page, below OTHER a key page."""
    segments = path.split("/")[1:]
    depth = len(segments)
    if depth > 4:
        return OTHER + min(depth, 20)
    if depth <= 2 and is_home(path):
        return 0
    if depth > 1 and _LANGUAGE_ROOT.fullmatch(segments[0]):
        segments = segments[1:]
    if len(segments) > 1 and _INDEX.fullmatch(segments[-1]):
        segments.pop()
    found = _key_place(_EXTENSION.sub("", segments[-1]).replace("_", "-")) if len(segments) <= 3 else None
    return OTHER + depth if found is None else found + len(segments) - 1


def _key_place(name: str) -> int | None:
    if (found := _PRIORITY.get(name)) is not None:
        return found
    words = name.split("-")
    places = [_PRIORITY[word] for word in words if word in _TELLING] if len(words) <= 3 else []
    return min(places) + 4 if places else None  # "contact-form" after "contact"


class Leads(NamedTuple):
    """Where the anchors of a page lead."""

    pages: tuple[str, ...]
    """Paths of the same host, with and without www., the key pages first, then in order."""
    links: tuple[str, ...]
    """Absolute addresses: key pages of the site first, then other hosts, then the rest, each in order."""


def leads(page: Page) -> Leads:
    """What the anchors of a page lead to, each once."""
    own = page.host.removeprefix("www.")
    paths: dict[str, int] = {}
    urls: dict[str, int] = {}
    for url, host, path in _addresses(page):
        worth = OTHER
        if host.removeprefix("www.") == own:
            worth = priority(path)
            if path != "/" and len(path) <= MAX_PATH_CHARS and not _FILE.search(path):
                paths.setdefault(path, worth)
        if len(url) <= MAX_LINK_CHARS:
            urls.setdefault(url, min(worth, OTHER + 1))
    return Leads(
        tuple(sorted(paths, key=paths.__getitem__)[:MAX_PAGES]), tuple(sorted(urls, key=urls.__getitem__)[:MAX_LINKS])
    )


def favicon(page: Page) -> str:
    """The address of the icon that the page names; "" if it names none."""
    head = page.tree.head
    second = ""
    for node in head.css("link[rel]")[:200] if head else ():
        attributes = node.attributes
        rel = (attributes.get("rel") or "").lower().split()
        href = attributes.get("href") or ""
        if not href or href[:5].lower() == "data:" or not any("icon" in word for word in rel):
            continue
        found = joined(page.base, href)
        if len(found) > MAX_LINK_CHARS:
            continue
        if found and "icon" in rel:
            return found
        second = second or (found if "mask-icon" not in rel else "")
    return second


def _addresses(page: Page) -> Iterator[tuple[str, str, str]]:
    """Address, host and path of the anchors, each address as written once."""
    base = page.base
    origin = _PLAIN_ADDRESS.match(base)
    seen = dict.fromkeys([link.url.partition("#")[0] for link in page.links])
    for href in list(seen)[:_MAX_LOOKED_AT]:
        url = _absolute(base, origin[0] if origin else "", href)
        if url and (address := _PLAIN_ADDRESS.match(url)):
            yield url, address[1].lower(), path_of(url[address.end() :])


def _absolute(base: str, origin: str, href: str) -> str:
    """As `joined`, without its price for what is simple, as nearly all is."""
    if not href:
        return ""
    if href[0] == "/" and href[1:2] != "/" and origin and "/." not in href:
        return origin + href
    if href[:4].lower() == "http" and _PLAIN_ADDRESS.match(href):
        return href
    if _SCHEME.match(href) and href[:4].lower() != "http":
        return ""
    return joined(base, href)
