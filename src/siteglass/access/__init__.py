"""Who calls: accounts, API keys, networks, the audit log and rate limits."""
