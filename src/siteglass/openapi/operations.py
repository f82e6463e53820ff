"""Every operation of the API, in the order of the document."""

from __future__ import annotations

from siteglass.billing import operations as billing
from siteglass.leads import operations as leads
from siteglass.leads.jobs import operations as jobs
from siteglass.leads.lists import operations as lists
from siteglass.leads.searches import operations as searches
from siteglass.leads.watches import operations as watches
from siteglass.privacy import operations as privacy
from siteglass.web import operations as web

OPERATIONS = (
    *leads.OPERATIONS,
    *lists.OPERATIONS,
    *searches.OPERATIONS,
    *watches.OPERATIONS,
    *jobs.OPERATIONS,
    *billing.OPERATIONS,
    *privacy.OPERATIONS,
    *web.OPERATIONS,
)
