"""Prompts for common jobs, which a user picks in the program that runs the agent."""

from __future__ import annotations

from typing import Annotated

from mcp.server import MCPServer
from pydantic import Field

What = Annotated[str, Field(description="The leads wanted, in a sentence")]
Budget = Annotated[str, Field(description="Lead credits that may be spent, such as 50")]


def check_query(query: What) -> str:
    """See what a search means before anything is spent."""
    return (
        f"Check this search for leads, without spending anything: {query}\n\n"
        "1. Call `interpret`. Show me `read_back`, each condition and the words it comes from.\n"
        "2. Tell me what was not understood, assumed or corrected. Look up names that were not found with `values`.\n"
        "3. If something is wrong, propose better words or directives, and compare the numbers with `count`.\n"
        "4. Call `search` without max_lead_credits and tell me the price."
    )


def build_list(query: What, max_lead_credits: Budget) -> str:
    """Build a list of leads within a budget."""
    return (
        f"Build a list of leads: {query}\n\n"
        "1. Call `interpret`, and fix the search until it means what I said.\n"
        "2. Call `search` without max_lead_credits, and tell me the price.\n"
        f"3. You may spend {max_lead_credits} lead credits in all. Call `search` with max_lead_credits, then continue "
        "with `next` as cursor; each time set max_lead_credits to what is left of the budget.\n"
        "4. Give me the list as a table, and say how many leads match, how many you got and what they cost."
    )


def enrich_domains(
    domains: Annotated[str, Field(description="Domains, separated by commas or spaces")], max_lead_credits: Budget
) -> str:
    """Find out what is known about websites."""
    return (
        f"Find out what is known about these websites: {domains}\n\n"
        "1. Call `enrich` without max_lead_credits, up to 100 domains at once, and tell me the price.\n"
        f"2. If it is at most {max_lead_credits} lead credits, call `enrich` with "
        f"max_lead_credits={max_lead_credits}; else ask me.\n"
        "3. While there is `next`, call `enrich` with it as cursor; that is free.\n"
        "4. Give me a table, and name the domains that were not found or failed."
    )


def add_prompts(server: MCPServer) -> None:
    """Makes the prompts known to a server."""
    for title, made in (
        ("Check what a search means", check_query),
        ("Build a list of leads", build_list),
        ("Enrich domains", enrich_domains),
    ):
        server.prompt(title=title, description=made.__doc__)(made)
