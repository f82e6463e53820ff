"""Searches to begin with. Each shows another ability, and finds at least 30 leads of the demo.

Explore shows those that find something in its index.
"""

from __future__ import annotations

EXAMPLES = (
    "dentists in Austin without online booking",
    "Shopify stores in the US without email marketing",
    "plumbers in Texas or roofers in Florida, with a phone number",
    "sites that added Microsoft Clarity since May 2026",
    "Hotels in Italien ohne Buchungssystem",
    "need: agencys in london, wordpres + linkedin, no hubspot pls!!",
)
