"""Key pages of made-up sites, by kind of business and language."""

from __future__ import annotations

from random import Random

# Path -> share in percent.
_USUAL = (
    "/about:64 /contact:72 /services:34 /blog:34 /privacy-policy:48 /terms:26 /faq:16 /team:16 /news:12 /careers:9 "
    "/testimonials:9 /gallery:9 /jobs:4 /sitemap:5 /login:5 /search:3 /events:4 /locations:4 /press:3 /reviews:5"
)
_KINDS = {
    "SaaS": "/pricing:84 /features:62 /docs:36 /integrations:38 /demo:34 /login:66 /signup:46 /blog:76 "
    "/careers:40 /customers:26 /security:22 /status:10 /api:14 /about:80 /privacy-policy:76 /terms:72 /services:3",
    "Ecommerce": "/shop:52 /collections:38 /cart:58 /checkout:26 /shipping:44 /returns:42 /account:38 /wishlist:12 "
    "/gift-cards:14 /products:34 /sale:22 /faq:40 /store-locator:8 /wholesale:9 /services:4",
    "Agency": "/services:80 /portfolio:40 /work:32 /case-studies:42 /blog:66 /team:38 /careers:28 /pricing:15",
    "Local Business": "/services:60 /gallery:24 /testimonials:22 /booking:12 /pricing:12 /free-estimate:10 /blog:18",
    "Hospitality": "/menu:44 /rooms:32 /reservations:40 /booking:30 /gallery:42 /events:18 /gift-cards:12 /blog:9",
    "Healthcare": "/services:58 /appointments:40 /booking:18 /team:42 /new-patients:24 /insurance:16 /testimonials:20",
    "Firm": "/practice-areas:26 /team:56 /attorneys:18 /services:48 /publications:12 /careers:16 /blog:32",
    "Realtor": "/listings:66 /buy:34 /sell:36 /rent:26 /agents:40 /neighborhoods:26 /home-valuation:24",
    "Government": "/services:56 /departments:48 /news:60 /meetings:36 /permits:34 /tenders:24 /jobs:38 "
    "/accessibility:36 /emergency:16 /blog:2 /elections:14",
    "Education": "/courses:56 /admissions:42 /programs:38 /calendar:26 /login:26 /faculty:22 /news:34 /scholarships:14",
    "Non-Profit": "/donate:80 /volunteer:50 /programs:42 /impact:28 /events:36 /annual-report:24 /news:32",
    "Enterprise": "/careers:76 /investors:56 /sustainability:60 /news:58 /products:46 /locations:34 /leadership:42 "
    "/suppliers:18 /press:36",
    "Manufacturer": "/products:76 /quality:34 /catalog:32 /downloads:30 /distributors:24 /industries:28 /careers:22 "
    "/certificates:18 /request-a-quote:24",
    "Publisher": "/subscribe:44 /archive:34 /authors:26 /advertise:40 /podcast:20 /newsletter:36 /category/news:30",
    "Gaming": "/games:60 /press-kit:34 /patch-notes:22 /forum:20 /community:30 /support:34 /store:26 /careers:24",
    "Mobile App": "/download:66 /features:44 /support:44 /pricing:38 /privacy-policy:82 /press-kit:16 /blog:36",
    "Marketplace": "/sell:50 /categories:48 /login:66 /signup:50 /help:44 /fees:24 /how-it-works:36 /cart:22",
    "Financial Services": "/get-a-quote:34 /insurance:20 /calculators:20 /team:40 /login:36 /disclosures:34",
    "Consultant": "/services:70 /about:78 /case-studies:30 /insights:26 /book-a-call:28 /workshops:16 /speaking:14",
    "Entertainment": "/events:64 /tickets:50 /gallery:38 /venue:22 /lineup:18 /booking:22 /news:22",
}
# The same page under its name in the site's language.
_WORDS: dict[str, dict[str, str]] = {
    "de": {
        "/about": "/ueber-uns",
        "/contact": "/kontakt",
        "/services": "/leistungen",
        "/privacy-policy": "/datenschutz",
        "/terms": "/impressum",
        "/news": "/aktuelles",
        "/careers": "/karriere",
        "/gallery": "/galerie",
        "/products": "/produkte",
    },
    "fr": {
        "/about": "/a-propos",
        "/services": "/prestations",
        "/privacy-policy": "/mentions-legales",
        "/terms": "/cgv",
        "/news": "/actualites",
        "/gallery": "/galerie",
        "/products": "/produits",
    },
    "es": {
        "/about": "/nosotros",
        "/contact": "/contacto",
        "/services": "/servicios",
        "/privacy-policy": "/politica-de-privacidad",
        "/terms": "/aviso-legal",
        "/products": "/productos",
        "/shop": "/tienda",
    },
    "pt": {"/about": "/sobre", "/contact": "/contato", "/services": "/servicos", "/products": "/produtos"},
    "it": {"/about": "/chi-siamo", "/contact": "/contatti", "/services": "/servizi", "/products": "/prodotti"},
    "nl": {"/about": "/over-ons", "/contact": "/contact", "/services": "/diensten", "/careers": "/vacatures"},
    "ja": {"/about": "/company", "/careers": "/recruit", "/news": "/topics", "/contact": "/inquiry"},
    "pl": {"/about": "/o-nas", "/contact": "/kontakt", "/services": "/oferta", "/news": "/aktualnosci"},
    "sv": {"/about": "/om-oss", "/contact": "/kontakt", "/services": "/tjanster"},
}


def _read(text: str) -> dict[str, float]:
    return {path: float(share) / 100 for path, share in (part.rsplit(":", 1) for part in text.split())}


_shares = {kind: list((_read(_USUAL) | _read(text)).items()) for kind, text in _KINDS.items()}


def draw(rng: Random, kind: str, language: str) -> tuple[str, ...]:
    """Paths of the key pages of a site; a few sites are a single page."""
    random = rng.random
    if random() < 0.06:
        return ()
    # Some crawls went deeper than others.
    depth = 0.55 + 0.55 * random()
    found = [path for path, share in _shares[kind] if random() < share * depth]
    if (words := _WORDS.get(language)) and random() < 0.8:
        found = [words.get(path, path) for path in found]
    return tuple(dict.fromkeys(found))
