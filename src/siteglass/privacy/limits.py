"""How often people may ask about their own data."""

from __future__ import annotations

from siteglass.access.limits import Policy

REQUESTS_PER_HOUR = 5
MAILS_PER_HOUR = 3
"""To one address, requested by one caller."""
MAILS_PER_SITE_PER_HOUR = 20
"""Requested from one site of IPv6 (a /48), which has 65,536 networks, and each counts as a caller."""
MAILS_PER_SITE_AND_DOMAIN_PER_HOUR = 10
"""Of these, to the addresses of one domain. Not of all callers: one could use up the mails of a large provider."""
MAILS_IN_ALL_PER_HOUR = 10
"""To one address, whoever requests them: more than one caller may have, so that none can use up those of its owner."""
CONFIRMATIONS_PER_HOUR = 20
ALL_MAILS = Policy(rate_per_s=1 / 6, burst=200)
"""Of the whole service. Mails beyond it are delayed, not refused: otherwise one could use up everybody's."""
