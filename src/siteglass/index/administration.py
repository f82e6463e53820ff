"""Calls of administration, which no caller of the API waits for."""

from __future__ import annotations

from typing import Any

from siteglass.index.index import Index

# A refresh after a large load takes minutes on a busy machine.
ADMIN_TIMEOUT_MS = 240_000


async def admin(
    index: Index,
    method: str,
    path: str,
    body: Any = None,
    params: dict[str, str] | None = None,
    *,
    repeatable: bool = True,
) -> Any:
    """A call of administration, with its long deadline."""
    return await index.opensearch.request(
        method, path, body, timeout_ms=ADMIN_TIMEOUT_MS, params=params, repeatable=repeatable
    )
