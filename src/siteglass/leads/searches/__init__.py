"""Saved searches: a name for a search, run and counted again at any time."""
