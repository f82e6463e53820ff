"""Siteglass: B2B lead search over websites."""

__version__ = "0.3.0.dev0"
