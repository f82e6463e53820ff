"""The service as tools for agents, at `/mcp`: the tools of `sgl mcp`, whose calls reach the service in this process.

Needs the extra `agents`. Without it, there is nothing at `/mcp`.
"""
