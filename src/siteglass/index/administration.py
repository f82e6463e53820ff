"""Calls of administration, which no caller of the API waits for."""

from __future__ import annotations

from typing import Any

from siteglass.errors import Unavailable
from siteglass.index.index import Index
from siteglass.platform.opensearch import EngineError

# A refresh after a large load takes minutes on a busy machine.
ADMIN_TIMEOUT_MS = 240_000
# The engine's number for a cluster that has not read its indexes yet.
_STATE_NOT_RECOVERED = "1"


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

    async def call() -> Any:
        return await index.opensearch.request(
            method, path, body, timeout_ms=ADMIN_TIMEOUT_MS, params=params, repeatable=repeatable
        )

    try:
        return await call()
    except EngineError as error:
        if method != "GET" or error.status != 404:
            raise
        await _require_recovered_state(index)
        # The first response may be from before that.
        return await call()


async def _require_recovered_state(index: Index) -> None:
    """Raise Unavailable while a cluster that was started again has not read its indexes yet.

    Until then it says that no index exists. Taken at its word, an opt-out would have nothing to remove.
    """
    answer = await index.opensearch.request(
        "GET", "/_cluster/state/blocks", timeout_ms=ADMIN_TIMEOUT_MS, params={"filter_path": "blocks.global"}
    )
    if _STATE_NOT_RECOVERED in answer.get("blocks", {}).get("global", {}):
        raise Unavailable("opensearch was started again and has not read its indexes yet")
