"""Agents for the tests: the MCP package's own client, connected to `sgl mcp`, with every answer judged."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio.from_thread
import jsonschema  # type: ignore[import-untyped]
from anyio.from_thread import BlockingPortal
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult, TextContent

from siteglass_client import AsyncSiteglass
from siteglass_client.mcp.server import local_server
from siteglass_client.mcp.sizes import tokens
from tests.client.commanding import SG, Desk

DEFAULT_TOKENS = 2_000
TIMEOUT_S = 60


@dataclass
class Agent:
    """Calls tools, and looks at each answer before a test does."""

    portal: BlockingPortal
    client: Client
    key: str

    def __post_init__(self) -> None:
        self.tools = {tool.name: tool for tool in self.portal.call(self.client.list_tools).tools}

    def result(self, name: str, /, **arguments: Any) -> CallToolResult:
        """Whatever a call is answered."""
        result: CallToolResult = self.portal.call(self._call, name, arguments)
        return result

    async def _call(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        return await self.client.call_tool(name, arguments, read_timeout_seconds=TIMEOUT_S)

    def call(self, name: str, /, **arguments: Any) -> Any:
        """The content of an answer, which is as its schema says, the same as text, and within its tokens."""
        return self.judged(self.result(name, **arguments), name, arguments)

    def together(self, name: str, *calls: dict[str, Any]) -> list[Any]:
        """The contents of answers to calls at the same time."""

        async def all_of_them() -> list[CallToolResult]:
            results: dict[int, CallToolResult] = {}

            async def one(place: int, arguments: dict[str, Any]) -> None:
                results[place] = await self._call(name, arguments)

            async with anyio.create_task_group() as group:
                for place, arguments in enumerate(calls):
                    group.start_soon(one, place, arguments)
            return [results[place] for place in range(len(calls))]

        results = self.portal.call(all_of_them)
        return [self.judged(result, name, given) for result, given in zip(results, calls, strict=True)]

    def judged(self, result: CallToolResult, name: str, arguments: dict[str, Any]) -> Any:
        text = said(result)
        assert not result.is_error, text
        assert json.loads(text) == result.structured_content
        schema = self.tools[name].output_schema
        assert schema is not None
        jsonschema.validate(result.structured_content, schema)
        assert tokens(text) <= arguments.get("max_tokens", DEFAULT_TOKENS), text
        assert self.key not in text
        return result.structured_content

    def refused(self, name: str, /, **arguments: Any) -> str:
        """The error message of a call that fails, in one line."""
        result = self.result(name, **arguments)
        text = said(result)
        assert result.is_error, text
        assert result.structured_content is None
        assert "Traceback" not in text
        assert "\n" not in text
        assert self.key not in text
        assert tokens(text) <= 600
        return text


def said(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


@contextlib.contextmanager
def connected(key: str, connecting: Callable[[], contextlib.AbstractAsyncContextManager[Client]]) -> Iterator[Agent]:
    """An agent whose connection lives in a separate thread."""
    with (
        anyio.from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(connecting()) as client,
    ):
        yield Agent(portal, client, key)


@contextlib.contextmanager
def over_stdio(desk: Desk, log: Path, *words: str) -> Iterator[Agent]:
    """An agent that runs `sgl mcp`; what the server writes to stderr goes to the log."""
    assert desk.key is not None
    command = StdioServerParameters(command=SG[0], args=[*SG[1:], "mcp", *words], env=desk.environment)
    with log.open("w") as file, connected(desk.key, lambda: Client(stdio_client(command, errlog=file))) as agent:
        yield agent


@contextlib.contextmanager
def in_process(
    key: str, url: str, max_credits: int | None = None, deadline_s: float = 30, **more: Any
) -> Iterator[Agent]:
    """An agent of a server in this process, for what would need many servers."""

    @contextlib.asynccontextmanager
    async def connecting() -> AsyncIterator[Client]:
        async with (
            AsyncSiteglass(key, url, deadline_s=deadline_s, **more) as client,
            Client(local_server(client, max_credits=max_credits, deadline_s=deadline_s)) as connection,
        ):
            yield connection

    with connected(key, connecting) as agent:
        yield agent


@contextlib.contextmanager
def http_server(desk: Desk, *words: str) -> Iterator[str]:
    """The address of `sgl mcp --http` on a free port."""
    server = desk.start("mcp", "--http", "--port", "0", *words)
    try:
        assert server.stderr is not None
        line = server.stderr.readline()
        assert line.startswith("sgl: Serving at http://127.0.0.1:"), line
        yield line.split()[-1]
    finally:
        server.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.communicate(timeout=10)
        server.kill()
