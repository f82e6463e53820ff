"""Runs the server: over stdin and stdout, or over HTTP for programs of this machine."""

from __future__ import annotations

import ipaddress
import logging
import secrets
import socket
import sys
from typing import Any

import anyio
import uvicorn
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl

from siteglass_client.async_client import AsyncSiteglass
from siteglass_client.errors import ConfigurationError
from siteglass_client.mcp.server import local_server

PATH = "/mcp"
MAX_BODY_BYTES = 256 * 1024
MAX_SESSIONS = 100
SHUTDOWN_S = 5


class SharedToken:
    """Lets in who knows the token."""

    def __init__(self, token: str) -> None:
        self._token = token

    async def verify_token(self, token: str) -> AccessToken | None:
        if not secrets.compare_digest(token.encode(), self._token.encode()):
            return None
        return AccessToken(token="", client_id="local", scopes=[])


def serve_stdio(api_key: str, base_url: str, *, max_credits: int | None, deadline_s: float) -> None:
    """Serve the program that started this one, until it closes stdin. Nothing else is written to stdout."""
    _log_to_stderr(api_key)

    async def serve() -> None:
        async with AsyncSiteglass(api_key, base_url, deadline_s=deadline_s) as client:
            await local_server(client, max_credits=max_credits, deadline_s=deadline_s).run_stdio_async()

    anyio.run(serve)


def serve_http(
    api_key: str,
    base_url: str,
    *,
    host: str,
    port: int,
    token: str | None,
    max_credits: int | None,
    deadline_s: float,
) -> None:
    """Serve programs of this machine until it is interrupted.

    Whoever can connect spends the credits of the key: only loopback addresses are taken, requests that a web page makes
    (a foreign Host or Origin) are refused, and with a token all that do not carry it.
    """
    _check_loopback(host)
    _log_to_stderr(api_key)

    async def serve() -> None:
        with _bound(host, port) as listening:
            real_port = listening.getsockname()[1]
            access = {} if token is None else _access(token, real_port)
            async with AsyncSiteglass(api_key, base_url, deadline_s=deadline_s) as client:
                app = local_server(
                    client, max_credits=max_credits, deadline_s=deadline_s, **access
                ).streamable_http_app(
                    streamable_http_path=PATH,
                    host=host,
                    max_request_body_size=MAX_BODY_BYTES,
                    max_sessions=MAX_SESSIONS,
                    transport_security=_only_from_here(real_port),
                )
                config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=SHUTDOWN_S)
                shown = f"[{host}]" if ":" in host else host
                print(f"sgl: Serving at http://{shown}:{real_port}{PATH}", file=sys.stderr, flush=True)
                await uvicorn.Server(config).serve(sockets=[listening])

    anyio.run(serve)


class WithoutKey(logging.Formatter):
    """Plain lines without the key, whatever a traceback shows."""

    def __init__(self, api_key: str) -> None:
        super().__init__("sgl: %(levelname)s %(name)s: %(message)s")
        self._api_key = api_key

    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).replace(self._api_key, "<API key>")


def _log_to_stderr(api_key: str) -> None:
    """Set before the package sets its own."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(WithoutKey(api_key))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


def _check_loopback(host: str) -> None:
    try:
        here = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        here = False
    if not here:
        raise ConfigurationError(
            f"--host must be a loopback address, such as 127.0.0.1, but is {host!r}: anyone who can connect can spend "
            "your credits."
        )


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise ConfigurationError(f"Cannot use --port {port} on {host}: {error.strerror}. Choose another.") from None
    return listening


def _only_from_here(port: int) -> TransportSecuritySettings:
    hosts = [f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")]
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[f"http://{each}" for each in hosts])


def _access(token: str, port: int) -> dict[str, Any]:
    settings = AuthSettings(issuer_url=AnyHttpUrl(f"http://127.0.0.1:{port}"), resource_server_url=None)
    return {"auth": settings, "token_verifier": SharedToken(token)}
