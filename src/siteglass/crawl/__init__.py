"""Web sites to archives: which domains are due, when a request may be sent, one visit to each, and what it brought.

    domains --frontier--> visits --gate--> requests --archive--> WARC files, which `ingest` makes leads of

The frontier (PostgreSQL) and the gate (Redis) are shared by all fetchers; aiohttp fetches.
"""
