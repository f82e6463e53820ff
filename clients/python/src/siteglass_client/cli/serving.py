"""`sgl mcp`: the service as tools for agents."""

from __future__ import annotations

import os

import click

from siteglass_client.cli.credentials import chosen
from siteglass_client.errors import MissingExtra

TOKEN = "SITEGLASS_MCP_TOKEN"  # noqa: S105 - the name of a variable


@click.command()
@click.option("--url", metavar="URL", help="Service URL; defaults to SITEGLASS_URL, then to that of `sgl login`.")
@click.option("--key", metavar="KEY", help="API key; defaults to SITEGLASS_API_KEY, then to that of `sgl login`.")
@click.option("--max-credits", type=click.IntRange(0), metavar="N", help="All calls together spend at most N credits.")
@click.option("--http", is_flag=True, help="Serve HTTP instead of stdin and stdout.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: a loopback address.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8765, show_default=True, help="With --http; 0: any.")
@click.option(
    "--deadline",
    "deadline_s",
    type=click.FloatRange(1, 600),
    default=60.0,
    show_default=True,
    help="Maximum seconds for a tool call.",
)
def mcp(
    url: str | None, key: str | None, max_credits: int | None, http: bool, host: str, port: int, deadline_s: float
) -> None:
    """Serve agents over the Model Context Protocol.

    Tools to interpret, count, search and enrich, which spend nothing without a cap. With --http, requests must carry
    SITEGLASS_MCP_TOKEN as bearer token if that is set. --max-credits counts lead credits and API credits each.
    """
    used = chosen(url, key)
    try:
        from siteglass_client.mcp.serving import serve_http, serve_stdio
    except ImportError as error:
        if (error.name or "").startswith("siteglass_client"):
            raise
        raise MissingExtra("mcp", "mcp") from None
    if http:
        token = os.environ.get(TOKEN) or None
        serve_http(
            used.key, used.url, host=host, port=port, token=token, max_credits=max_credits, deadline_s=deadline_s
        )
    else:
        serve_stdio(used.key, used.url, max_credits=max_credits, deadline_s=deadline_s)
