"""The catalogue: one row per field. What can be asked of it, how it is indexed, and where it is shown.

Parser, filter reader, echo, mapping, compiler, `select`, OpenAPI and reference docs read these rows. A new field is
one row.
"""

from __future__ import annotations

from siteglass.query.field import Ask, Field, Filter, Form, Kind, SearchableField, Show
from siteglass.query.rows import change, details, flag, place, technology_details

FIELDS: tuple[Field, ...] = (
    Field("domain", "Website domain", "example.com", show=Show("string", "default", enrich="default", cursor_id=0)),
    Field("business_name", "Name of the business", "Example Bakery", show=Show("string", "default", cursor_id=1)),
    Field(
        "title",
        "Page title",
        "Example Bakery: bread since 1999",
        show=Show("string", "default", enrich="default", cursor_id=2),
    ),
    Field(
        "url",
        "URL of the home page",
        "https://example.com/",
        show=Show("string", "select", enrich="default", cursor_id=17),
    ),
    Field(
        "description", "Page description", "Fresh bread.", show=Show("string", "default", enrich="default", cursor_id=3)
    ),
    Field(
        "emails",
        "Addresses found",
        ["jane@example.com"],
        show=Show("strings", "default", enrich="default", cursor_id=4),
    ),
    Field(
        "phones", "Phone numbers found", ["+1 555 0100"], show=Show("strings", "default", enrich="default", cursor_id=5)
    ),
    details("emails", "Each address of `emails` with its owner, the page that showed it last, and its status", 34),
    details("phones", "Each number of `phones` with its owner and the page that showed it last", 35),
    Field(
        "language",
        "Website language, two-letter code",
        "en",
        Ask(
            "lang",
            Kind.TERM,
            "language",
            (Filter("language", Form.ONE, "Website language, ISO 639-1 code or name.", "de"),),
            vocabulary="language",
            says="have a website in {}",
            closed=True,
            faceted=True,
        ),
        Show("string", "default", enrich="default", cursor_id=6),
    ),
    Field(
        "spending",
        "Estimated online advertising spending in USD per month; a range in searches, a number in enrichments",
        "1000-4999",
        Ask(
            "spends",
            Kind.NUMBER,
            "e.spending",
            (
                Filter("min_spending", Form.MIN, "Minimum estimated ad spending, USD per month.", 500),
                Filter("max_spending", Form.MAX, "Maximum estimated ad spending, USD per month.", 20000),
                Filter("spending", Form.SPAN, "Estimated ad spending: '<min>-<max>' or '<min>+'.", "1000-5000"),
            ),
            says="spend {} a month on ads",
            amount="${:,}",
            faceted=True,
            bands=(0, 100, 500, 1_000, 5_000, 10_000, 50_000, 100_000),
        ),
        Show("string", "default", enrich="default", enrich_type="integer", cursor_id=7),
    ),
    Field(
        "country",
        "Country, ISO 3166 alpha-3 code",
        "USA",
        place("country", Filter("country", Form.ONE, "Country: alpha-3 or alpha-2 code, or name.", "USA")),
        Show("string", "default", enrich="default", cursor_id=8),
    ),
    Field(
        "state",
        "State, province or region: ISO 3166-2 code without the country",
        "TX",
        place("state", Filter("state", Form.ONE, "State or province: code (TX, US-TX) or name.", "TX")),
        Show("string", "default", enrich="default", cursor_id=9),
    ),
    Field(
        "city",
        "City",
        "Austin",
        place("city", Filter("city", Form.ONE, "City; alternate names also work.", "Munich"), closed=False),
        Show("string", "default", enrich="default", cursor_id=10),
    ),
    Field("region", "Continent, as the UN M49 names it", "Europe", place("region")),
    Field("subregion", "Part of a continent, as the UN M49 names it", "Western Europe", place("subregion")),
    Field(
        "technologies",
        "Technologies found on the site",
        ["Shopify", "Klaviyo"],
        Ask(
            "technology",
            Kind.TERM,
            "technologies",
            (Filter("technologies", Form.MANY, "Technology names; any of them.", ["Shopify", "Wix"]),),
            vocabulary="technology",
            says="use {}",
            faceted=True,
        ),
        Show("strings", "default", enrich="default", cursor_id=11),
    ),
    technology_details("What shows each of `technologies`: the mark, its page, first and last seen", 36),
    change("added", "Technologies that the site began to use", "Klaviyo"),
    change("dropped", "Technologies that the site stopped using", "Magento"),
    Field(
        "links",
        "Page links found, absolute",
        ["https://example.com/about"],
        show=Show("strings", "default", cursor_id=12),
    ),
    Field(
        "keywords",
        "Terms that describe the site",
        ["sourdough", "bakery"],
        Ask(
            "keywords",
            Kind.TEXT,
            "content",
            (
                Filter(
                    "keywords",
                    Form.MANY,
                    "Words in the site's content; several words are searched for as a phrase. A single word also finds "
                    "parts of compounds on German, Dutch, Swedish, Danish and Norwegian sites.",
                    ["vegan food"],
                ),
            ),
            says="mention {} on their website",
        ),
        Show("strings", "select", enrich="default", cursor_id=18),
    ),
    Field(
        "pages",
        "Paths of the key pages",
        ["/pricing", "/contact"],
        Ask(
            "pages",
            Kind.PATH,
            "pages",
            (Filter("pages", Form.MANY, "Page paths; any of them.", ["/pricing"]),),
            says="have a page at {}",
        ),
        Show("strings", "select", enrich="default", cursor_id=19),
    ),
    Field(
        "score",
        "SEO score, 0 to 100",
        72,
        Ask(
            "score",
            Kind.NUMBER,
            "score",
            (
                Filter("min_score", Form.MIN, "Minimum SEO score, 0 to 100.", 40),
                Filter("max_score", Form.MAX, "Maximum SEO score, 0 to 100.", 60),
                Filter("seo_score", Form.COMPARISON, "SEO score with an operator, 0 to 100.", ">=50"),
            ),
            says="have an SEO score of {}",
            bounds=(0, 100),
            directive_bounds=(1, 90),
            bare_number=True,
            faceted=True,
            bands=(0, 10, 20, 30, 40, 50, 60, 70, 80, 90),
        ),
        Show("integer", "default", enrich="default", cursor_id=13),
    ),
    Field(
        "social_links",
        "Social media profiles by network",
        {"linkedin": "https://linkedin.com/company/example"},
        show=Show("profiles", "default", cursor_id=14),
    ),
    Field(
        "social_accounts",
        "Social profiles, each with its network's label or as a bare address",
        ["linkedin:https://linkedin.com/company/example"],
        show=Show("strings", enrich="default"),
    ),
    Field(
        "service_type",
        "Kind of business",
        "SaaS",
        Ask(
            "service_type",
            Kind.TERM,
            "service_type",
            (Filter("service_type", Form.ONE, "Kind of business.", "Agency"),),
            vocabulary="service_type",
            says="are {}",
            closed=True,
            faceted=True,
        ),
        Show("string", "select", cursor_id=20),
    ),
    Field(
        "trades",
        "What the business is: ids of trades, the most certain first",
        ["dentist"],
        Ask(
            "trade",
            Kind.TERM,
            "trade_tree",
            (
                Filter(
                    "trades",
                    Form.MANY,
                    "Trades by id or by name in eight languages; any of them. A wider trade includes those under it.",
                    ["dentist", "roofer"],
                ),
            ),
            vocabulary="trade",
            says="are {}",
            closed=True,
            hint="to search for the word on websites, use keywords",
            faceted=True,
        ),
        Show("strings", "select", cursor_id=32),
    ),
    Field(
        "trade_sources",
        "Where each trade was read on the site",
        {"dentist": "title"},
        show=Show("texts_by_name", "select", cursor_id=33),
    ),
    Field(
        "categories_uses",
        "Software categories that the site uses",
        ["ecommerce", "payments"],
        Ask(
            "categories_uses",
            Kind.TERM,
            "categories_uses",
            (Filter("categories_uses", Form.MANY, "Software categories in use; any of them.", ["crm"]),),
            vocabulary="category",
            says="use {} software",
            faceted=True,
        ),
        Show("strings", "select", cursor_id=21),
    ),
    Field(
        "offers",
        "Services that the business offers",
        ["marketing"],
        Ask(
            "offers",
            Kind.TERM,
            "offers",
            (Filter("offers", Form.ONE, "Service offered.", "marketing"),),
            vocabulary="category",
            says="offer {}",
        ),
        Show("strings", "select", cursor_id=22),
    ),
    Field(
        "lacks",
        "Software category that the site does not use, where its technologies are known",
        ["email_marketing"],
        Ask(
            "lacks",
            Kind.LACKS,
            "categories_uses",
            (Filter("lacks", Form.MANY, "Software categories missing; any of them.", ["email_marketing"]),),
            vocabulary="category",
            says="lack {} software",
        ),
    ),
    Field(
        "load_time_ms",
        "Load time of the home page in milliseconds",
        1800,
        Ask(
            "load_time",
            Kind.NUMBER,
            "load_time_ms",
            (Filter("load_time_ms", Form.COMPARISON, "Load time in ms with an operator.", "<=3000"),),
            says="take {} to load",
            amount="{:,} ms",
        ),
        Show("integer", "select", cursor_id=23),
    ),
    flag("not_secure", "lack HTTPS", "https:no", cursor_id=24),
    flag("not_responsive", "lack a mobile-responsive layout", "responsive:no", cursor_id=25),
    flag("missing_sitemap", "lack a sitemap", "sitemap:no", cursor_id=26),
    flag("missing_schema", "lack structured data", "schema:no", cursor_id=27),
    flag("missing_robot", "lack a robots.txt", "robots:no", cursor_id=28),
    flag("missing_heading", "lack a main heading", "heading:no", cursor_id=29),
    flag("missing_description", "lack a meta description", "description:no", cursor_id=30),
    flag("has_email", "have an email address", "email:yes"),
    Field(
        "email_confidence",
        "Confidence that the first of `emails` is the business's own, in percent",
        85,
        Ask(
            "email_confidence",
            Kind.NUMBER,
            "email_owner_confidence",
            (Filter("email_confidence", Form.COMPARISON, "Confidence: percent or share, with an operator.", ">0.8"),),
            says="have an email address that is their own with a confidence of {}",
            amount="{}%",
            bounds=(0, 100),
            percent=True,
        ),
    ),
    flag("has_phone", "have a phone number", "phone:yes"),
    flag("has_facebook", "have a Facebook page", "facebook:yes"),
    flag("has_linkedin", "have a LinkedIn page", "linkedin:yes"),
    flag("has_twitter", "have a Twitter (X) profile", "twitter:yes", alias="has_x"),
    flag("has_instagram", "have an Instagram profile", "instagram:yes"),
    flag("has_youtube", "have a YouTube channel", "youtube:yes"),
    flag("has_tiktok", "have a TikTok profile", "tiktok:yes"),
    flag("has_pinterest", "have a Pinterest profile", "pinterest:yes"),
    Field(
        "no_generic_emails",
        "Sites with an email address that is not generic (role or shared); generic ones are left out of `emails`",
        True,
        Ask(
            "no_generic_emails",
            Kind.FLAG,
            "email_personal:yes",
            (Filter("exclude_generic_emails", Form.SWITCH, "Leave generic (role or shared) addresses out.", True),),
            says="have a non-generic email address",
        ),
    ),
    Field(
        "updated_at",
        "When the record last changed",
        "2026-10-15T08:30:00Z",
        show=Show("time", "select", enrich="default", cursor_id=31),
    ),
    Field(
        "crawled_at",
        "When the site was last crawled; null if it never was",
        "2026-10-15T08:30:00Z",
        Ask(
            "updated_after",
            Kind.TIME,
            "crawled_at",
            (Filter("updated_after", Form.MOMENT, "Only sites crawled after this time.", "2026-10-01T00:00:00Z"),),
            thing="age",
            says="were crawled after {}",
            faceted=True,
        ),
        Show("time", "default", enrich="default", cursor_id=15),
    ),
    Field(
        "updated_within",
        "Crawled within this many days before the search",
        "30d",
        Ask("updated_within", Kind.AGE, "crawled_at", thing="age", says="were crawled within the last {}"),
    ),
    Field(
        "favicon",
        "URL of the site's icon",
        "https://example.com/favicon.ico",
        show=Show("string", "default", cursor_id=16),
    ),
)

BY_NAME = {field.name: field for field in FIELDS}
POSITION = {field.name: position for position, field in enumerate(FIELDS)}

# The contract's order of the search record (spec 2.1) and of the enrichment record (2.3).
SEARCH_DEFAULT = (
    "domain", "business_name", "title", "description", "emails", "phones", "language", "spending", "country", "state",
    "city", "technologies", "links", "score", "social_links", "crawled_at", "favicon",
)  # fmt: skip
ENRICH_FIELDS = (
    "domain", "title", "url", "description", "emails", "phones", "language", "spending", "country", "state", "city",
    "technologies", "keywords", "pages", "score", "social_accounts", "updated_at", "crawled_at",
)  # fmt: skip
ENRICH_SELECTABLE = ENRICH_FIELDS + tuple(f.name for f in FIELDS if f.show and f.show.enrich == "select")
SEARCH_SELECTABLE = SEARCH_DEFAULT + tuple(f.name for f in FIELDS if f.show and f.show.search == "select")
# Each order of results with the number by which cursors name it: as with `Show.cursor_id`, never changed or reused.
OLD_SCORE_SORT = "score, unknown first"
SORT_IDS = {"-score": 0, OLD_SCORE_SORT: 1, "score": 5, "-spending": 2, "-crawled_at": 3, "domain": 4}
SORTS = tuple(name for name in SORT_IDS if name != OLD_SCORE_SORT)

DIRECTIVES = {name: SearchableField(field, field.ask) for field in FIELDS if field.ask for name in field.ask.names}
ASKED = {asked.name: asked for asked in DIRECTIVES.values()}
FACETS = tuple(name for name, asked in ASKED.items() if asked.ask.faceted)
FILTERS = {
    name: (asked, filter_) for asked in ASKED.values() for filter_ in asked.ask.filters for name in filter_.names
}
