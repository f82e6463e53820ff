"""Sentences about technologies that sites added or dropped."""

from __future__ import annotations

from datetime import date

import pytest

from siteglass.query.natural import interpret
from siteglass.query.natural.changes import EITHER, NO_TECHNOLOGY

TODAY = date(2026, 11, 17)


@pytest.mark.parametrize(
    ("query", "directives"),
    [
        ("recently added Klaviyo", "@added(Klaviyo, 30d)"),
        ("sites that added Klaviyo", "@added(Klaviyo, 30d)"),
        ("stores that started using Klaviyo", "@added(Klaviyo, 30d); @service_type(Ecommerce)"),
        ("sites that dropped Magento", "@dropped(Magento, 90d)"),
        ("sites that have stopped using Magento", "@dropped(Magento, 90d)"),
        ("shops that dropped Magento", "@dropped(Magento, 90d); @service_type(Ecommerce)"),
        ("sites that switched from Magento to Shopify", "@added(Shopify, 30d); @dropped(Magento, 90d)"),
        ("sites that switched to Shopify from Magento", "@added(Shopify, 30d); @dropped(Magento, 90d)"),
        ("sites that recently switched to Shopify", "@added(Shopify, 30d)"),
        ("sites moving away from Magento", "@dropped(Magento, 90d)"),
        ("sites that switched from Magento or Drupal to Shopify",
         "@added(Shopify, 30d); @dropped(Drupal, Magento, 90d)"),
        # --- times ---
        ("sites that added Klaviyo in the last 2 weeks", "@added(Klaviyo, 14d)"),
        ("sites that in the past three months added Klaviyo", "@added(Klaviyo, 90d)"),
        ("sites that added Klaviyo last month", "@added(Klaviyo, 30d)"),
        ("sites that dropped Magento last month", "@dropped(Magento, 30d)"),
        ("sites that recently dropped Magento", "@dropped(Magento, 90d)"),
        ("sites that dropped Magento recently", "@dropped(Magento, 90d)"),
        ("sites that added Klaviyo this week", "@added(Klaviyo, 7d)"),
        ("sites that added Klaviyo this year", "@added(Klaviyo, 2026-01-01)"),
        ("sites that added Klaviyo since March", "@added(Klaviyo, 2026-03-01)"),
        ("sites that added Klaviyo since 5 May 2025", "@added(Klaviyo, 2025-05-05)"),
        ("sites that added Klaviyo since yesterday", "@added(Klaviyo, 2026-11-16)"),
        ("sites that stopped using Wix two weeks ago", "@dropped(Wix, 14d)"),
        ("sites that dropped Wix within 45 days", "@dropped(Wix, 45d)"),
        ("sites that dropped Wix in the last 20 years", "@dropped(Wix, 3650d)"),
        ("sites that switched from Wix to Webflow in the last quarter", "@added(Webflow, 90d); @dropped(Wix, 90d)"),
        # --- lists, denials, alternatives ---
        ("sites that added Klaviyo or Mailchimp", "@added(Klaviyo, MailChimp, 30d)"),
        ("sites that added Klaviyo and Mailchimp this week", "@added(Klaviyo, 7d); @added(MailChimp, 7d)"),
        ("recently added Klaviyo, Shopify stores in Texas",
         "@country(USA); @state(TX); @technology(Shopify); @added(Klaviyo, 30d)"),
        ("sites that haven't added Klaviyo in the last 90 days", "!@added(Klaviyo, 90d)"),
        ("sites that haven't added Klaviyo", "!@technology(Klaviyo)"),
        ("sites that added Drift or dropped Intercom this week",
         "@any[ @added(Drift, 30d) | @dropped(Intercom, 7d) ]"),
        ("sites using HubSpot or that dropped Intercom", "@any[ @technology(HubSpot) | @dropped(Intercom, 90d) ]"),
        ("sites that dropped Intercom this week or use HubSpot",
         "@any[ @technology(HubSpot) | @dropped(Intercom, 7d) ]"),
        ("dentists in Texas that have no phone number or recently added Klaviyo",
         "@country(USA); @state(TX); @trade(dentist); @any[ @added(Klaviyo, 30d) | !@has_phone ]"),
        ("sites that don't use HubSpot or dropped Intercom", "@any[ !@technology(HubSpot) | @dropped(Intercom, 90d) ]"),
        ("sites using HubSpot or Drift or that dropped Intercom",
         "@any[ @technology(Drift, HubSpot) | @dropped(Intercom, 90d) ]"),
        ("shops that use Klaviyo or switched from Magento to Shopify",
         "@service_type(Ecommerce); @any[ @technology(Klaviyo) | @added(Shopify, 30d) @dropped(Magento, 90d) ]"),
        ("sites that dropped PayPal and use Stripe", "@technology(Stripe); @dropped(PayPal, 90d)"),
        # --- installed and removed are changes only with a time ---
        ("sites with Klaviyo installed", "@technology(Klaviyo)"),
        ("sites that removed Hotjar", "!@technology(Hotjar)"),
        ("sites that removed Hotjar in the last 10 days", "@dropped(Hotjar, 10d)"),
        # --- other languages ---
        ("Websites, die kürzlich Klaviyo eingeführt haben", "@added(Klaviyo, 30d)"),
        ("Websites, die in den letzten 30 Tagen von Magento zu Shopify gewechselt sind",
         "@added(Shopify, 30d); @dropped(Magento, 30d)"),
        ("sites qui ont récemment ajouté Klaviyo", "@added(Klaviyo, 30d)"),
        ("sites qui sont passés de Magento à Shopify ces 3 derniers mois",
         "@added(Shopify, 90d); @dropped(Magento, 90d)"),
        ("webs que cambiaron de Magento a Shopify", "@added(Shopify, 30d); @dropped(Magento, 90d)"),
        ("sites que adicionaram Klaviyo recentemente", "@added(Klaviyo, 30d)"),
        ("siti che hanno aggiunto Klaviyo negli ultimi 30 giorni", "@added(Klaviyo, 30d)"),
        ("websites die zijn overgestapt van Magento naar Shopify", "@added(Shopify, 30d); @dropped(Magento, 90d)"),
        ("strony, które przeszły z Magento na Shopify", "@added(Shopify, 30d); @dropped(Magento, 90d)"),
    ],
)  # fmt: skip
def test_a_change_is_read(query: str, directives: str) -> None:
    read = interpret(query, TODAY)
    assert "; ".join(read.directives) == directives
    assert read.unsupported == ()


def test_a_time_that_is_not_said_is_an_assumption() -> None:
    (note,) = interpret("sites that dropped Magento", TODAY).assumptions
    assert note.message == "without a time, dropped is taken as in the last 90 days"
    assert interpret("sites that dropped Magento this week", TODAY).assumptions == ()


@pytest.mark.parametrize(
    ("query", "directives", "reported", "why"),
    [
        ("agencies that dropped their CRM", "@service_type(Agency)", "dropped their CRM", NO_TECHNOLOGY),
        ("agencies that began using Frobnicator", "@service_type(Agency)", "began using Frobnicator", NO_TECHNOLOGY),
        ("dentists that recently moved to Berlin", "@trade(dentist)", "recently moved to Berlin", NO_TECHNOLOGY),
        ("sites that added Drift or dropped Intercom or use HubSpot", "@technology(HubSpot)",
         "added Drift or dropped Intercom", EITHER),
    ],
)  # fmt: skip
def test_a_change_that_no_search_can_say_is_reported(query: str, directives: str, reported: str, why: str) -> None:
    read = interpret(query, TODAY)
    assert "; ".join(read.directives) == directives
    assert [(" ".join(span.text for span in note.words), note.message) for note in read.unsupported] == [
        (reported, why)
    ]


def test_what_was_added_is_not_always_a_change() -> None:
    for query in ("shops with added sugar snacks", "agencies with a newly added blog"):
        assert not any("@added" in line for line in interpret(query, TODAY).directives)
