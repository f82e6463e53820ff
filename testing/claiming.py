"""A request that runs elsewhere: its claim on an Idempotency-Key, as another worker would hold it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from siteglass.access.limits import open_limits
from testing.customers import Customer


@contextlib.contextmanager
def claimed(customer: Customer, key: str) -> Iterator[None]:
    """While this holds, the customer's requests with the key are twins."""
    limiter, claims = open_limits(customer.bank.settings)
    held = claims.held(customer.account_id, key, "another worker")
    assert customer.bank.do(_enter(held))
    try:
        yield
    finally:
        customer.bank.do(_leave(held))
        customer.bank.do(claims.close())
        customer.bank.do(limiter.close())


async def _enter(held: contextlib.AbstractAsyncContextManager[bool]) -> bool:
    return await held.__aenter__()


async def _leave(held: contextlib.AbstractAsyncContextManager[bool]) -> None:
    await held.__aexit__(None, None, None)
