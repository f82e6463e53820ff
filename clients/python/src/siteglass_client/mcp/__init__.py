"""The server of `sgl mcp`, which lets agents use the service; the only part that needs the extra `mcp`."""
