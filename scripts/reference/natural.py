"""The page on sentences: what can be said and what it means, topic by topic.

What a sentence means is written here by hand, as a promise: tests/docs/test_natural_language.py holds every row against
the parser.
"""

from __future__ import annotations

from typing import NamedTuple

from reference.markdown import code, paragraph, plain, table
from reference.messages import schema_of
from siteglass.leads.operations import COUNTING_UNITS, INTERPRET
from siteglass.query.natural import LOW_CONFIDENCE, MAX_QUERY_CHARS
from siteglass.query.natural.accounting import NOT_USED
from siteglass.query.natural.changes import NO_TECHNOLOGY


class Said(NamedTuple):
    """A sentence, the conditions it means, and the notes on its words: (words, message) or (word, correction)."""

    sentence: str
    meaning: str
    """Conditions as an answer lists them, apart by a blank and `;`."""
    told: tuple[tuple[str, str], ...] = ()


_ORDER = "a sentence cannot ask for an order; send `sort`"
_MANY = "no search knows such a number; how many leads are shown is `limit`"

_HIRING = "Siteglass has no data on hiring."

_TOPICS: list[tuple[str, str, list[Said]]] = [
    (
        "Places",
        "A country, state or city, by any of its names. A state or city brings its country along. A nationality before "
        "a noun is a country. Continents and regions are those of the United Nations; DACH, Benelux, the Nordics, the "
        "Baltics, the EU, MENA and LATAM are lists of countries. A name that means several places is the best known; "
        "a neighbour in the sentence can say otherwise.",
        [
            Said("German agencies", "@country(DEU); @service_type(Agency)"),
            Said("hotels in Texas", "@country(USA); @state(TX); @trade(hotel)"),
            Said("agencies in München", "@country(DEU); @city(Munich); @service_type(Agency)"),
            Said("restaurants in Paris, Texas", "@country(USA); @state(TX); @city(Paris); @trade(restaurant)"),
            Said("hotels in Georgia", "@country(USA); @state(GA); @trade(hotel)"),
            Said("hotels in Georgia and Armenia", "@country(ARM, GEO); @trade(hotel)"),
            Said("agencies in the DACH region except Switzerland", "@country(AUT, DEU); @service_type(Agency)"),
            Said("stores in Southeast Asia", "@subregion(South-eastern Asia); @service_type(Ecommerce)"),
            Said("SaaS companies in Africa", "@region(Africa); @service_type(SaaS)"),
            Said("sites outside Texas", "!@state(TX)"),
        ],
    ),
    (
        "Languages of sites",
        "Said of the site, not of the people: in French, French-language.",
        [
            Said("sites in French", "@lang(fr)"),
            Said("German-language blogs", "@lang(de); @service_type(Publisher)"),
            Said("Swiss sites in Italian", "@lang(it); @country(CHE)"),
            Said("sites in Belgium, not in French", "!@lang(fr); @country(BEL)"),
        ],
    ),
    (
        "Technologies",
        "By name. Beside a shop platform, a word for shops adds nothing; beside other tools it says what the business "
        "is. A technology whose name is an ordinary word, such as Square, needs a sign: using, on, built with.",
        [
            Said("Shopify stores", "@technology(Shopify)"),
            Said("stores using Square", "@technology(Square); @service_type(Ecommerce)"),
            Said("SaaS companies on HubSpot", "@technology(HubSpot); @service_type(SaaS)"),
            Said("sites not using Wix", "!@technology(Wix)"),
        ],
    ),
    (
        "Technologies that were added or dropped",
        "Without a time, added means in the last 30 days and dropped in the last 90. A month has 30 days.",
        [
            Said("stores that recently added Klaviyo", "@added(Klaviyo, 30d); @service_type(Ecommerce)"),
            Said("sites that stopped using Magento", "@dropped(Magento, 90d)"),
            Said("sites that switched from Magento to Shopify", "@added(Shopify, 30d); @dropped(Magento, 90d)"),
            Said("sites that added Klaviyo or Mailchimp in the last 2 weeks", "@added(Klaviyo, MailChimp, 14d)"),
            Said("sites that dropped Wix since 2026-10-01", "@dropped(Wix, 2026-10-01)"),
            Said("sites that have not added HubSpot in the last 90 days", "!@added(HubSpot, 90d)"),
        ],
    ),
    (
        "Kinds of software: used, offered, lacking",
        "What a site uses, what the business sells, and what is missing are three different things. The verb shows "
        "them apart.",
        [
            Said("sites using a CRM", "@categories_uses(crm)"),
            Said("companies that sell cybersecurity", "@offers(cybersecurity)"),
            Said("email marketing agencies", "@service_type(Agency); @offers(email_marketing)"),
            Said("sites without analytics", "@lacks(analytics)"),
            Said("sites that don't lack analytics", "!@lacks(analytics)"),
        ],
    ),
    (
        "Kinds of business",
        "What the business is. A more special word, such as dentist, is a trade: see below.",
        [
            Said("SaaS companies", "@service_type(SaaS)"),
            Said("online stores", "@service_type(Ecommerce)"),
            Said("agencies and consultants", "@service_type(Agency, Consultant)"),
            Said("law firms", "@service_type(Firm); @offers(legal_service)"),
            Said("real estate agencies", "@service_type(Realtor)"),
            Said("universities in Poland", "@country(POL); @service_type(Education)"),
        ],
    ),
    (
        "Money",
        "What is spent on ads, in US dollars a month. A yearly amount is divided by twelve. Around is 20 % up or down. "
        "Another currency is not converted: the number stays, and the confidence is low.",
        [
            Said("sites that spend over $5k a month on ads", "@spends(>5000)"),
            Said("5k+ ad spend", "@spends(>=5000)"),
            Said("at most $900 a month on ads", "@spends(<=900)"),
            Said("spending between $1,000 and $5,000 a month", "@spends(1000-5000)"),
            Said("around $1,000 a month on ads", "@spends(800-1200)"),
            Said("spending over $60k a year on ads", "@spends(>5000)"),
            Said("sites that run ads", "@spends(>0)"),
            Said("sites that do not run ads", "!@spends(>0)"),
        ],
    ),
    (
        "SEO scores",
        "From 0 to 100. A score that no directive can say becomes a filter.",
        [
            Said("SEO score above 60", "@score(>60)"),
            Said("score between 30 and 50", "@score(30-50)"),
            Said("SEO score of at least 70", "@score(>=70)"),
            Said("SEO score above 95", "seo_score: >95"),
        ],
    ),
    (
        "Load time",
        "In seconds or milliseconds.",
        [
            Said("load time over 4 seconds", "@load_time(>4000)"),
            Said("sites that load in under 800 ms", "@load_time(<800)"),
        ],
    ),
    (
        "Dates",
        "When the site was last seen. A month has 30 days.",
        [
            Said("crawled in the last 30 days", "@updated_within(30d)"),
            Said("updated in the past 3 months", "@updated_within(90d)"),
            Said("not updated in the last 6 months", "!@updated_within(180d)"),
            Said("updated since 2026-10-01", "@updated_after(2026-10-01T00:00:00Z)"),
        ],
    ),
    (
        "Flaws of a site",
        "The good form of a flaw denies it.",
        [
            Said("sites without https", "@not_secure"),
            Said("not mobile friendly", "@not_responsive"),
            Said("no sitemap", "@missing_sitemap"),
            Said("no structured data", "@missing_schema"),
            Said("no robots.txt", "@missing_robot"),
            Said("no H1", "@missing_heading"),
            Said("no meta description", "@missing_description"),
            Said("mobile-friendly sites with https", "!@not_secure; !@not_responsive"),
        ],
    ),
    (
        "Contacts",
        "Phone, e-mail, and profiles on social networks.",
        [
            Said("with a phone number", "@has_phone"),
            Said("with emails", "@has_email"),
            Said("no info@ addresses", "@no_generic_emails"),
            Said("on LinkedIn and Instagram", "@has_linkedin; @has_instagram"),
            Said("on YouTube, TikTok and Pinterest", "@has_youtube; @has_tiktok; @has_pinterest"),
            Said("on Twitter, without a Facebook page", "!@has_facebook; @has_twitter"),
        ],
    ),
    (
        "Pages",
        "By their name or path.",
        [
            Said("with a pricing page", "@pages(/pricing)"),
            Said("with /blog and /contact", "@pages(/blog); @pages(/contact)"),
            Said("without a careers page", "!@pages(/careers)"),
        ],
    ),
    (
        "Trades",
        "What a company is, in English, German, French, Spanish, Portuguese, Italian, Dutch and Polish. Trades in a "
        "list are alternatives. A word that is already a kind of business, such as school, keeps that meaning. Words "
        "in quotes are searched for as they are.",
        [
            Said("roofing contractors in Florida", "@country(USA); @state(FL); @trade(roofer)"),
            Said("Zahnarztpraxen in Wien", "@country(AUT); @city(Vienna); @trade(dentist)"),
            Said("hotels and restaurants in Rome", "@country(ITA); @city(Rome); @trade(hotel, restaurant)"),
            Said("bakeries in Spain, not cafes", "@country(ESP); @trade(bakery); !@trade(cafe)"),
            Said('stores in Peru with "hotel"', "@country(PER); @keywords(hotel); @service_type(Ecommerce)"),
        ],
    ),
    (
        "Other words",
        "Words that are not known values are searched for in the text of the sites. Words side by side are one phrase. "
        "Requests and words that fit everything, such as companies or sites, say nothing.",
        [
            Said("vegan bakeries", "@keywords(vegan); @trade(bakery)"),
            Said("vegan dog food and cat toys", "@keywords(cat toys); @keywords(vegan dog food)"),
            Said("please find me companies that use HubSpot", "@technology(HubSpot)"),
            Said(
                "I'm looking for a list of dentists in Graz",
                "@country(AUT); @city(Graz); @trade(dentist)",
            ),
        ],
    ),
    (
        "Vague words",
        "Each has one meaning, which the response shows.",
        [
            Said("slow sites", "@load_time(>3000)"),
            Said("very slow sites", "@load_time(>5000)"),
            Said("fast sites", "@load_time(<1500)"),
            Said("poor SEO", "@score(<50)"),
            Said("good SEO", "@score(>70)"),
            Said("excellent SEO", "@score(>80)"),
            Said("heavy spenders", "@spends(>10000)"),
            Said("low budget", "@spends(<1000)"),
            Said("recently updated", "@updated_within(30d)"),
            Said("crawled this week", "@updated_within(7d)"),
        ],
    ),
    (
        "Lists: and, or",
        "Or gives alternatives. So does and, where a site can have only one of the values: countries, kinds of "
        "business, shop platforms before a noun. After a verb, and asks for both.",
        [
            Said("SaaS companies in Spain and Portugal", "@country(ESP, PRT); @service_type(SaaS)"),
            Said("Shopify and WooCommerce stores", "@technology(Shopify, WooCommerce)"),
            Said("sites using HubSpot or Stripe", "@technology(HubSpot, Stripe)"),
            Said("sites using HubSpot and Stripe", "@technology(HubSpot); @technology(Stripe)"),
        ],
    ),
    (
        "Negation",
        "Without, no, not, except, outside. It reaches over a list: without A or B means neither.",
        [
            Said("without Wix or Squarespace", "!@technology(Squarespace, Wix)"),
            Said("sites without a CRM or analytics", "@lacks(analytics); @lacks(crm)"),
            Said("manufacturers that are not in China", "!@country(CHN); @service_type(Manufacturer)"),
            Said("no phone number", "!@has_phone"),
        ],
    ),
    (
        "Alternatives",
        "Or between different things, and between phrases of the same form, becomes `@any`.",
        [
            Said(
                "agencies that use Klaviyo or have no sitemap",
                "@service_type(Agency); @any[ @technology(Klaviyo) | @missing_sitemap ]",
            ),
            Said(
                "Shopify stores in Italy or Magento stores in Spain",
                "@any[ @country(ESP) @technology(Magento) | @country(ITA) @technology(Shopify) ]",
            ),
            Said(
                "sites using Stripe or Adyen but not both",
                "@technology(Adyen, Stripe); !@any[ @technology(Adyen) @technology(Stripe) ]",
            ),
            Said(
                "sites using Cloudflare and either Zendesk or Intercom",
                "@technology(Cloudflare); @technology(Intercom, Zendesk)",
            ),
        ],
    ),
    (
        "Places as people type them",
        "A code or a city in small letters is read by its neighbours.",
        [
            Said("plumbers houston tx", "@country(USA); @state(TX); @city(Houston); @trade(plumber)"),
            Said("dentists in CA", "@country(USA); @state(CA); @trade(dentist)"),
            Said("stores in US and CA", "@country(CAN, USA); @service_type(Ecommerce)"),
        ],
    ),
    (
        "Directives inside a sentence",
        "A [directive](directives.md) among the words is read as it is.",
        [
            Said("dentists @country(DEU) with a phone number", "@country(DEU); @trade(dentist); @has_phone"),
            Said("!@technology(Wix) agencies in Peru", "@country(PER); !@technology(Wix); @service_type(Agency)"),
        ],
    ),
    (
        "Other languages",
        "Sentences may be in English, German, Spanish, French, Portuguese, Italian, Dutch or Polish. Keywords stay in "
        "their language.",
        [
            Said(
                "Onlineshops in Bayern ohne Analytics",
                "@country(DEU); @state(BY); @service_type(Ecommerce); @lacks(analytics)",
            ),
            Said("tiendas en México con WooCommerce", "@country(MEX); @technology(WooCommerce)"),
            Said(
                "agences à Lyon qui utilisent HubSpot",
                "@country(FRA); @city(Lyon); @technology(HubSpot); @service_type(Agency)",
            ),
            Said("lojas no Brasil sem CRM", "@country(BRA); @service_type(Ecommerce); @lacks(crm)"),
            Said(
                "ristoranti a Bologna senza Facebook",
                "@country(ITA); @city(Bologna); @trade(restaurant); !@has_facebook",
            ),
            Said(
                "tandartsen in Eindhoven zonder https", "@country(NLD); @city(Eindhoven); @trade(dentist); @not_secure"
            ),
            Said("sklepy w Polsce bez CRM", "@country(POL); @service_type(Ecommerce); @lacks(crm)"),
        ],
    ),
]
_MISSPELT = [
    Said(
        "shopfy stores in germny", "@country(DEU); @technology(Shopify)", (("shopfy", "shopify"), ("germny", "germany"))
    ),
    Said("agencies in Californa", "@country(USA); @state(CA); @service_type(Agency)", (("Californa", "california"),)),
]
_UNSAID = [
    Said("agencies in Kenya, best ones first", "@country(KEN); @service_type(Agency)", (("best ones first", _ORDER),)),
    Said("top 50 stores in Peru", "@country(PER); @service_type(Ecommerce)", (("top 50", _MANY),)),
    Said("agencies in Peru that are hiring", "@country(PER); @service_type(Agency)", (("that are hiring", _HIRING),)),
    Said(
        "agencies in Peru that dropped their CRM",
        "@country(PER); @service_type(Agency)",
        (("dropped their CRM", NO_TECHNOLOGY),),
    ),
    Said("software in Peru", "@country(PER)", (("software", NOT_USED),)),
    Said("outdated sites in Peru", "@country(PER)", (("outdated", "a lead has no field for this"),)),
    Said(
        "agencies in Peru, not on Amazon",
        "@country(PER); @service_type(Agency)",
        (("not on Amazon", "no known value, so it cannot be excluded"),),
    ),
]


def _rows(said: list[Said]) -> list[list[str]]:
    return [[plain(one.sentence), " ".join(code(each) for each in one.meaning.split("; "))] for one in said]


def _told(said: list[Said], between: str) -> list[list[str]]:
    told = ["; ".join(f"{plain(words)}{between}{plain(message)}" for words, message in one.told) for one in said]
    return [[*row, text] for row, text in zip(_rows(said), told, strict=True)]


def _parts() -> list[list[str]]:
    properties = schema_of("InterpretResponse")["properties"]
    return [[code(name), plain(part["description"])] for name, part in properties.items()]


def natural_language_page() -> str:
    """What can be said, with a table for each topic."""
    topics = "".join(
        f"## {title}\n\n{paragraph(text)}{table(['sentence', 'means'], _rows(said))}\n" for title, text, said in _TOPICS
    )
    return (
        "# Sentences of `query`\n\n"
        + paragraph(
            "Describe what you look for; the service translates it into [directives](directives.md) and searches for "
            "them. Fixed rules interpret a sentence: the same sentence always means the same. It may have "
            f"{MAX_QUERY_CHARS:,} characters. A sentence with [nothing to search for](#nothing-to-search-for) is "
            "refused; any other one only in [strict mode](#strict-mode). A [filter](filters.md) in the same request "
            "replaces what the sentence says about the same field."
        )
        + paragraph("A test checks every row of these tables.")
        + topics
        + "## Misspelt words\n\n"
        + paragraph(
            "An unknown word is replaced by the nearest known value, if there is one. The response lists corrections."
        )
        + table(["sentence", "means", "corrected"], _told(_MISSPELT, " → "))
        + "\n## What cannot be said\n\n"
        + paragraph(
            "Order, number, distance, alternatives between different things, facts that no lead has, and any other "
            "word with a meaning that did not become a condition. The response lists these words under `unsupported`, "
            "which lowers `confidence` below 0.95. The rest of the sentence is searched."
        )
        + table(["sentence", "means", "not searched"], _told(_UNSAID, ": "))
        + "\n## Nothing to search for\n\n"
        + paragraph(
            "A sentence without any condition, sent without a filter, would match all leads. Such a search is refused "
            "with [INVALID_QUERY](../errors.md#invalid_query), and nothing is charged. `POST "
            f"{INTERPRET.path}` returns no conditions, `confidence` 0 and `total_results` 0. To search all leads, "
            "leave out `query`; a blank `query` counts as not given."
        ).rstrip("\n")
        + "\n"
        + "\n## How an interpretation is explained\n\n"
        + paragraph(
            f"`POST {INTERPRET.path}` takes the body of a search and explains what it means. It returns no leads, "
            f"costs no credits and takes {COUNTING_UNITS} units of the rate limit. A search with "
            '`"explain": true` returns the same under `interpretation`. Filters and `wrapped_query` are explained as '
            "well, which checks and formats directives. Every word of the sentence is in `conditions`, `ignored` or "
            "`unsupported`. The [guide](../guides/sentences.md) has examples."
        )
        + table(["part", "what it shows"], _parts())
        + "\n"
        + paragraph(
            "Positions in the sentence count characters (Unicode code points) from 0; `end` is after the last one. The "
            "[header](headers.md) `X-Query-Notes` counts what to check before you rely on an interpretation: words "
            "that were corrected, not understood or replaced, and a low confidence."
        )
        + "## Strict mode\n\n"
        + paragraph(
            'With `"strict": true` a search runs only if it was fully understood. It is refused if a word was not '
            f"used, corrected or replaced by a filter, or if the confidence is below {LOW_CONFIDENCE:g}. The error "
            "[INVALID_QUERY](../errors.md#invalid_query) names the words with line and column, and nothing is charged."
        )
    ).rstrip("\n") + "\n"
