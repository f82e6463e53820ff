"""Denials and other traps: sentences that are easily read with the wrong sign, or as what they are not."""

from __future__ import annotations

from datetime import date

import pytest

from siteglass.query.natural import interpret

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
