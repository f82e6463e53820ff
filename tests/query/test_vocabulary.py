"""What the vocabulary promises of every kind, and of products, categories and types; places have their own file."""

import subprocess
import sys
import time
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siteglass.query.folding import compact, fold, loose
from siteglass.query.vocabulary import Kind, vocabulary
from testing.outcomes import judge_times

KINDS: tuple[Kind, ...] = get_args(Kind)
VOCABULARY = vocabulary()


@given(st.text())
def test_fold_is_idempotent(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert loose(loose(text)) == loose(text)
    assert compact(compact(text)) == compact(text)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("  Köln\t am \n Rhein ", "koln am rhein"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("Łódź", "lodz"),
        ("İzmir", "izmir"),
        ("Tromsø", "tromso"),
        ("e-mail", "e-mail"),
        ("ガス", "ガス"),
        ("서울", "서울"),
        ("", ""),
    ],
)
def test_fold(text: str, folded: str) -> None:
    assert fold(text) == folded


@pytest.mark.parametrize("kind", KINDS)
def test_every_value_resolves_to_itself(kind: Kind) -> None:
    values = VOCABULARY.values(kind)
    assert values == tuple(sorted(set(values)))
    assert [value for value in values if VOCABULARY.resolve(kind, value) != (value,)] == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["", " ", "qwxzvkjh", "'; --", "x" * 10_000, "\x00"])
def test_the_unknown_resolves_to_nothing(kind: Kind, text: str) -> None:
    assert VOCABULARY.resolve(kind, text) == ()
    assert VOCABULARY.nearest(kind, text) is None


# The values in the labelled examples of natural-language queries.
LABELLED: dict[Kind, str] = {
    "technology": "Adyen,Apple Pay,BigCommerce,Drupal,Facebook Pixel,Ghost,Google AdSense,Google Analytics,"
    "Google Tag Manager,Hotjar,HubSpot,Intercom,Joomla,Klaviyo,Magento,MailChimp,Marketo,Next.js,Omnisend,PayPal,"
    "PrestaShop,React,Salesforce,Segment,Shopify,Square,Squarespace,Stripe,Webflow,Wix,WooCommerce,WordPress",
    "country": "ARE,ARM,AUS,AUT,BEL,BRA,CAN,CHE,COL,CZE,DEU,DNK,ESP,FIN,FRA,GBR,GEO,IND,IRL,ISL,ISR,ITA,JOR,JPN,"
    "LUX,MEX,NLD,NOR,NZL,POL,PRT,ROU,SGP,SWE,TUR,USA",
    "state": "AL,BC,BY,CA,FL,GA,MA,MI,MN,MO,NY,OH,ON,OR,QC,SCT,TX,WA",
    "city": "Austin,Barcelona,Berlin,Birmingham,Cambridge,Chicago,Denver,Dubai,Kansas City,Leeds,Lisbon,London,Lyon,"
    "Manchester,Mobile,Naples,New York City,Paris,Phoenix,Portland,Reading,San Francisco,Tbilisi,Victoria",
    "category": "advertising,analytics,booking_calendar,crm,customer_support,cybersecurity,email_marketing,"
    "legal_service,marketing,seo_structured_data",
    "service_type": "Agency,Consultant,Ecommerce,Education,Financial Services,Firm,Gaming,Government,Healthcare,"
    "Manufacturer,Marketplace,Mobile App,Non-Profit,Publisher,Realtor,SaaS",
    "language": "de,en,ja",
    "region": "Europe",
    "subregion": "Latin America and the Caribbean,South-eastern Asia",
    "trade": "dentist,hotel,law_firm,roofer,yoga_studio",
}


@pytest.mark.parametrize("kind", KINDS)
def test_labelled_values_resolve_to_themselves(kind: Kind) -> None:
    values = LABELLED[kind].split(",")
    assert [VOCABULARY.resolve(kind, value) for value in values] == [(value,) for value in values]


@pytest.mark.parametrize(
    ("text", "technology"),
    [
        *[(text, "Google Analytics") for text in ("google analytics", "Google-Analytics", "GA4", "GA")],
        *[(text, "Next.js") for text in ("Next.js", "nextjs", "Next JS")],
        ("Mailchimp", "MailChimp"),
        ("GTM", "Google Tag Manager"),
        ("Meta Pixel", "Facebook Pixel"),
        ("AWS", "Amazon Web Services"),
        ("Vue", "Vue.js"),
        ("Klarna", "Klarna Checkout"),
        ("Matomo", "Matomo Analytics"),
        ("Crisp", "Crisp Live Chat"),
        ("Yotpo", "Yotpo Reviews"),
        ("Adobe Commerce", "Magento"),
        ("Bing Ads", "Microsoft Advertising"),
        ("ASP.NET", "Microsoft ASP.NET"),
        ("Framer", "Framer Sites"),
        ("Lightspeed", "Lightspeed eCom"),
        ("Shopify Plus", "Shopify Plus"),
        ("open ai", "OpenAI"),
        ("Brevo", "Sendinblue"),
    ],
)
def test_technology(text: str, technology: str) -> None:
    assert VOCABULARY.resolve("technology", text) == (technology,)


@pytest.mark.parametrize(
    ("technology", "categories"),
    [
        ("MailChimp", ("email_marketing", "marketing")),
        ("Klaviyo", ("email_marketing", "marketing")),
        ("WooCommerce", ("ecommerce",)),
        ("Stripe", ("payments",)),
        ("Google Workspace", ()),
        ("OpenAI", ("artificial_intelligence",)),
        ("no such thing", ()),
    ],
)
def test_categories_of_a_technology(technology: str, categories: tuple[str, ...]) -> None:
    assert VOCABULARY.categories_of(technology) == categories


def test_every_category_has_technologies() -> None:
    used = {category for some in VOCABULARY.technologies().values() for category in some}
    assert used == set(VOCABULARY.values("category"))


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        *[("category", text, "email_marketing") for text in ("email marketing", "Email-Marketing", "e-mail marketing")],
        ("category", "E-commerce", "ecommerce"),
        ("category", "CRM", "crm"),
        ("category", "SEO", "seo_structured_data"),
        ("category", "AI", "artificial_intelligence"),
        ("category", "hosting", "hosting_server_environment"),
        ("category", "live chat", "customer_support"),
        ("category", "legal service", "legal_service"),
        *[("service_type", text, "Non-Profit") for text in ("nonprofit", "non profit", "NON-PROFIT", "NGO")],
        ("service_type", "e-commerce", "Ecommerce"),
        ("service_type", "real estate agency", "Realtor"),
        ("service_type", "local_business", "Local Business"),
    ],
)
def test_category_and_service_type(kind: Kind, text: str, value: str) -> None:
    assert VOCABULARY.resolve(kind, text) == (value,)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("country", "Germny", "DEU"),
        ("country", "Untied States", "USA"),
        ("technology", "Shopfy", "Shopify"),
        ("technology", "hubpsot", "HubSpot"),
        ("technology", "lawyers", None),
        ("category", "ecomerce", "ecommerce"),
        ("category", "emial marketing", "email_marketing"),
        ("city", "Lodnon", "London"),
        ("city", "San Fransisco", "San Francisco"),
        ("state", "Californa", "US-CA"),
        ("language", "Germn", "de"),
        ("service_type", "Agancy", "Agency"),
        ("subregion", "Westen Europe", "Western Europe"),
    ],
)
def test_nearest(kind: Kind, text: str, value: str | None) -> None:
    assert VOCABULARY.nearest(kind, text) == value


@given(st.sampled_from(KINDS), st.text())
def test_any_text_is_answered(kind: Kind, text: str) -> None:
    values = set(VOCABULARY.values(kind)) | {""}
    assert (VOCABULARY.nearest(kind, text) or "") in values
    if kind != "state":
        assert set(VOCABULARY.resolve(kind, text)) <= values


@pytest.mark.timing
def test_it_loads_and_suggests_quickly() -> None:
    """Generous bounds, several times what was measured (0.2 s, 1 ms): they catch a change of kind only."""
    measure = "import time; from siteglass.query.vocabulary import vocabulary; s = time.process_time(); vocabulary()"
    command = [sys.executable, "-c", f"{measure}; print(time.process_time() - s)"]
    loading_s = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    VOCABULARY.nearest("city", "warm up")
    started = time.process_time()
    for _ in range(10):
        VOCABULARY.nearest("city", "San Fransisco de los Angelos")
    suggesting_s = (time.process_time() - started) / 10
    judge_times(loading_s < 2 and suggesting_s < 0.1, (loading_s, suggesting_s))
