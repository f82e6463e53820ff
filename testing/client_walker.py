"""A program that walks a search into a file, to be killed.

python -m testing.client_walker sync|async FORM OUTPUT RESUME LIMIT
"""

from __future__ import annotations

import asyncio
import sys

from siteglass_client import AsyncSiteglass, Page, Siteglass


def say(page: Page) -> None:
    """So that whoever kills knows how far it is."""
    print(page.credits_used, flush=True)


def walk(form: str, output: str, resume: str, limit: int) -> None:
    with Siteglass() as client:
        search = client.search(sort="domain", limit=limit, resume=resume)
        getattr(search, f"to_{form}")(output, on_page=say)


async def walk_async(form: str, output: str, resume: str, limit: int) -> None:
    async with AsyncSiteglass() as client:
        search = client.search(sort="domain", limit=limit, resume=resume)
        await getattr(search, f"to_{form}")(output, on_page=say)


if __name__ == "__main__":
    how, form, output, resume, limit = sys.argv[1:]
    if how == "sync":
        walk(form, output, resume, int(limit))
    else:
        asyncio.run(walk_async(form, output, resume, int(limit)))
