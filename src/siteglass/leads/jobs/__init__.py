"""Bulk jobs over HTTP: enrichments of many domains and searches of many leads, worked off by `leads.downloads`."""
