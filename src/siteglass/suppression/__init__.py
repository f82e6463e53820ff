"""Opt-outs: the list in PostgreSQL, a worker's copy of it, and how values are removed from records."""
