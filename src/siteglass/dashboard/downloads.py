"""Tables and texts as files: the first piece is read before the answer begins; what fails until then is a page."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator

from starlette.responses import Response, StreamingResponse

from siteglass.dashboard.rendering import HEADERS


async def file_answer(pieces: AsyncIterable[bytes], name: str, media_type: str = "text/csv; charset=utf-8") -> Response:
    """The pieces as a file of this name."""
    rest = aiter(pieces)
    first = await anext(rest, b"")

    async def whole() -> AsyncIterator[bytes]:
        yield first
        async for piece in rest:
            yield piece

    headers = {
        **HEADERS,
        "Content-Disposition": f'attachment; filename="{name}"',
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    }
    return StreamingResponse(whole(), 200, headers, media_type)
