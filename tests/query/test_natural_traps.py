"""Denials and other traps: sentences that are easily read with the wrong sign, or as what they are not."""

from __future__ import annotations

import re
from datetime import date

import pytest

from siteglass.query.body import read_meaning
from siteglass.query.doubt import find_doubts
from siteglass.query.natural import interpret

_WORD = re.compile(r"\w+")
TODAY = date(2026, 11, 15)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        (
            "agencies that don't have a phone or HubSpot",
            {"!@has_phone", "!@technology(HubSpot)", "@service_type(Agency)"},
        ),
        ("agencies without a phone or a CRM", {"!@has_phone", "@lacks(crm)", "@service_type(Agency)"}),
        (
            "shops with no phone, CRM or sitemap",
            {"!@has_phone", "@lacks(crm)", "@missing_sitemap", "@service_type(Ecommerce)"},
        ),
        (
            "shops without a CRM, Klaviyo or phone",
            {"!@has_phone", "!@technology(Klaviyo)", "@lacks(crm)", "@service_type(Ecommerce)"},
        ),
        ("Firmen ohne Telefon oder HubSpot", {"!@has_phone", "!@technology(HubSpot)"}),
        (
            "Shopify AND NOT (Klaviyo OR Mailchimp) AND Stripe",
            {"!@technology(Klaviyo, MailChimp)", "@technology(Shopify)", "@technology(Stripe)"},
        ),
        (
            "agencies using HubSpot not (Salesforce or Pipedrive)",
            {"!@technology(Pipedrive, Salesforce)", "@service_type(Agency)", "@technology(HubSpot)"},
        ),
        (
            "doctors but not dermatologists or plastic surgeons",
            {"!@trade(dermatologist, plastic_surgeon)", "@trade(doctor)"},
        ),
        ("lawyers except notaries and accountants", {"!@trade(accountant, notary)", "@trade(law_firm)"}),
        ("no dentists, orthodontists or chiropractors", {"!@trade(chiropractor, dentist, orthodontist)"}),
        ("no plumbers, electricians only", {"!@trade(plumber)", "@trade(electrician)"}),
        ("hotel senza calendario di prenotazione", {"@lacks(booking_calendar)", "@trade(hotel)"}),
        ("Klaviyo: no, Stripe: yes", {"!@technology(Klaviyo)", "@technology(Stripe)"}),
        ("phone: no, email: yes", {"!@has_phone", "@has_email"}),
        ("CRM: none, analytics: yes", {"@categories_uses(analytics)", "@lacks(crm)"}),
        ("Facebook: yes, Instagram: no, LinkedIn: yes", {"!@has_instagram", "@has_facebook", "@has_linkedin"}),
        ("no agencies, SaaS companies only", {"!@service_type(Agency)", "@service_type(SaaS)"}),
        (
            "no agencies, just SaaS vendors from Germany",
            {"!@service_type(Agency)", "@country(DEU)", "@service_type(SaaS)"},
        ),
        ("keine Agenturen, nur SaaS-Anbieter", {"!@service_type(Agency)", "@service_type(SaaS)"}),
        ("no WordPress, only Webflow", {"!@technology(WordPress)", "@technology(Webflow)"}),
        ("no Klaviyo, Mailchimp is fine", {"!@technology(Klaviyo)", "@technology(MailChimp)"}),
        ("no phone, email required", {"!@has_phone", "@has_email"}),
        ("without sitemap, https required", {"!@not_secure", "@missing_sitemap"}),
        ("not in Germany, in Austria", {"!@country(DEU)", "@country(AUT)"}),
        ("outside of London, in the UK", {"!@city(London)", "@country(GBR)"}),
        ("stores with or without Shopify", {"@service_type(Ecommerce)"}),
        ("Firmen mit oder ohne CRM", set()),
        ("Shops nicht nur in Deutschland", {"@service_type(Ecommerce)"}),
        ("no personal emails", set()),
        ("crawled before March 2026", {"!@updated_after(2026-03-01T00:00:00Z)"}),
        ("updated before 2026-01-01", {"!@updated_after(2026-01-01T00:00:00Z)"}),
        ("crawled more than 90 days ago", {"!@updated_within(90d)"}),
        ("no ad budget above 10k", {"@spends(<=10000)"}),
        ("do not exclude agencies", set()),
        ("must not be missing a sitemap", {"!@missing_sitemap"}),
        ("nothing outside Germany", {"@country(DEU)"}),
        ("except for Germany, all of DACH", {"@country(AUT, CHE)"}),
        ("not using Shopify or based in Texas", {"@any[ @country(USA) @state(TX) | !@technology(Shopify) ]"}),
        ("not slow or insecure", {"!@load_time(>3000)", "!@not_secure"}),
        ("sites in any language other than English", {"!@lang(en)"}),
        ("Shopify -Klaviyo", {"!@technology(Klaviyo)", "@technology(Shopify)"}),
        ("!Shopify stores", {"!@technology(Shopify)"}),
        ("entreprises n'utilisant plus Magento", {"!@technology(Magento)"}),
        ("not in Portland, Oregon", {"!@city(Portland)"}),
        (
            "agencies offering SEO but not PPC",
            {"!@offers(advertising)", "@offers(seo_structured_data)", "@service_type(Agency)"},
        ),
        ("it is a SaaS company", {"@service_type(SaaS)"}),
        ("empresas sem CRM e com analytics", {"@categories_uses(analytics)", "@lacks(crm)"}),
        ("Klaviyo and/or Mailchimp", {"@technology(Klaviyo, MailChimp)"}),
        ("divorce lawyers in boston", {"@city(Boston)", "@country(USA)", "@trade(divorce_lawyer)"}),
        ("3d printing in Peru", {"@country(PER)", "@trade(three_d_printing)"}),
        ("loads in over 1 minute", {"@load_time(>60000)"}),
        ("score between 85 and 95", set()),
        ("skip agencies, include SaaS", {"!@service_type(Agency)", "@service_type(SaaS)"}),
        ("without Klaviyo and on Shopify", {"!@technology(Klaviyo)", "@technology(Shopify)"}),
        ("stores that don't spend more than $5k on ads", {"@service_type(Ecommerce)", "@spends(<=5000)"}),
        ("sites not scoring above 70", {"@score(<=70)"}),
        ("stores that lack neither analytics nor a CRM", {"!@lacks(analytics, crm)", "@service_type(Ecommerce)"}),
        ("sites that don't have analytics but do have a CRM", {"@categories_uses(crm)", "@lacks(analytics)"}),
        ("with analytics, CRM absent", {"@categories_uses(analytics)", "@lacks(crm)"}),
        ("Firmen, die Intercom nicht verwenden", {"!@technology(Intercom)"}),
        ("tiendas sin sitemap ni https", {"@missing_sitemap", "@not_secure", "@service_type(Ecommerce)"}),
        ("sites em português que não ficam no Brasil", {"!@country(BRA)", "@lang(pt)"}),
        ("boutiques shopify, pas en anglais", {"!@lang(en)", "@technology(Shopify)"}),
        ("exclude sites lacking a phone number", {"@has_phone"}),
        ("facebook = no, wix or squarespace", {"!@has_facebook", "@technology(Squarespace, Wix)"}),
        ("must not have: TikTok", {"!@has_tiktok"}),
        ("reading glasses", {"@keywords(reading glasses)"}),
        ("antique dealers", {"@trade(antique_shop)"}),
        ("turkey farms in ohio", {"@country(USA)", "@keywords(turkey)", "@trade(farm)", "@state(OH)"}),
        ("glaziers in leeds", {"@city(Leeds)", "@country(GBR)", "@trade(glazier)"}),
        ('shops with "same day delivery"', {"@keywords(same day delivery)", "@service_type(Ecommerce)"}),
        ("agencies founded in 2019", {"@service_type(Agency)"}),
        ("companies with revenue over $1m", set()),
    ],
)
def test_traps(text: str, meaning: set[str]) -> None:
    assert set(interpret(text, TODAY).directives) == meaning


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        (
            "hotels without a booking calendar or restaurants with no sitemap",
            {"@any[ @trade(hotel) @lacks(booking_calendar) | @trade(restaurant) @missing_sitemap ]"},
        ),
        (
            "plumbers in Ohio that use Wix, or roofers in Utah with no CRM",
            {
                "@any[ @country(USA) @state(OH) @technology(Wix) @trade(plumber)"
                " | @country(USA) @state(UT) @trade(roofer) @lacks(crm) ]"
            },
        ),
        (
            "spend above 15k and no CRM, or spend below 1k and a very slow site",
            {"@any[ @spends(<1000) @load_time(>5000) | @spends(>15000) @lacks(crm) ]"},
        ),
        # Kinds of business in a list share what is said behind it.
        (
            "plumbers, electricians or roofers in Ohio",
            {"@country(USA)", "@state(OH)", "@trade(electrician, plumber, roofer)"},
        ),
    ],
)
def test_each_side_of_an_or_keeps_its_own_conditions(text: str, meaning: set[str]) -> None:
    assert set(interpret(text, TODAY).directives) == meaning


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        (
            "Last time you gave us florists in Paris. Now we want bookstores in Lyon.",
            {"@country(FRA)", "@city(Lyon)", "@trade(bookstore)"},
        ),
        ("We're a dev shop (React, Next.js). We want hotels in Peru.", {"@country(PER)", "@trade(hotel)"}),
        (
            "I sell payroll software to manufacturers in Ohio. Only the ones with a phone please",
            {"@country(USA)", "@state(OH)", "@service_type(Manufacturer)", "@has_phone"},
        ),
    ],
)
def test_what_people_say_about_themselves_is_no_condition(text: str, meaning: set[str]) -> None:
    reading = interpret(text, TODAY)
    assert set(reading.directives) == meaning
    assert reading.unsupported or "payroll" in text


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Hi Sarah, dentists in Ohio please. Best, Mike | Peachtree Media | Atlanta, GA | 404-555-0182",
         {"Hi", "Sarah", "Best", "Mike", "Peachtree", "Media", "Atlanta", "GA", "404", "555", "0182"}),
        ("dentists in Ohio\n\nRegards\nJim Olsen\nSales Manager\nDenver, CO 80202",
         {"Regards", "Jim", "Olsen", "Sales", "Manager", "Denver", "CO", "80202"}),
        ("Liebe Petra, Zahnärzte in Ohio. Viele Grüße, Petra Lang, München",
         {"Liebe", "Petra", "Viele", "Grüße", "Lang", "München"}),
    ],
)  # fmt: skip
def test_who_is_greeted_and_who_signs_is_no_condition_and_no_doubt(text: str, letter: set[str]) -> None:
    meaning = read_meaning({"query": text}, 0)
    sentence = meaning.sentence
    assert sentence is not None
    assert set(sentence.directives) == {"@country(USA)", "@state(OH)", "@trade(dentist)"}
    assert letter == {word for note in sentence.unsupported for span in note.words for word in _WORD.findall(span.text)}
    assert find_doubts(meaning) == []


def test_a_closing_word_before_a_request_hides_nothing() -> None:
    assert "@city(Denver)" in interpret("Plumbers in Texas, thanks. Also with a phone, in Denver", TODAY).directives


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("roofers & plumbers in Ohio", {"@country(USA)", "@state(OH)", "@trade(plumber, roofer)"}),
        ("gyms in LA, 20k/month on ads",
         {"@country(USA)", "@city(Los Angeles)", "@trade(gym)", "@spends(>=20000)"}),
        ("gyms in TX, LA and MS", {"@country(USA)", "@state(LA, MS, TX)", "@trade(gym)"}),
        ("gyms in New Orleans, LA", {"@country(USA)", "@state(LA)", "@city(New Orleans)", "@trade(gym)"}),
    ],
)  # fmt: skip
def test_short_forms(text: str, meaning: set[str]) -> None:
    assert set(interpret(text, TODAY).directives) == meaning


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("dentists in Texas or Ohio, no wait, Utah", {"@country(USA)", "@state(TX, UT)", "@trade(dentist)"}),
        ("Zahnärzte in Köln, nein warte, Bonn", {"@country(DEU)", "@city(Bonn)", "@trade(dentist)"}),
        ("stores on Magento, I mean Shopify, in Ohio", {"@country(USA)", "@state(OH)", "@technology(Shopify)"}),
        ("sorry, need dentists in Ohio", {"@country(USA)", "@state(OH)", "@trade(dentist)"}),
    ],
)
def test_what_is_corrected_within_a_sentence_is_not_searched(text: str, meaning: set[str]) -> None:
    assert set(interpret(text, TODAY).directives) == meaning


@pytest.mark.parametrize(
    "text",
    [
        "Settore: dentisti\nCittà: Torino\nContatti: telefono",
        "Branża: dentysta; Miasto: Turyn; Kontakt: telefon",
        "Sector: dentistas | Ciudad: Turín | Contacto: teléfono",
    ],
)
def test_labels_of_notes(text: str) -> None:
    meaning = read_meaning({"query": text}, 0)
    assert meaning.sentence is not None
    assert set(meaning.sentence.directives) == {"@country(ITA)", "@city(Turin)", "@trade(dentist)", "@has_phone"}
    assert find_doubts(meaning) == []
