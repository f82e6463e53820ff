"""The steps that a search is traced by: a benchmark makes them, and a test compares them with a real search."""

from __future__ import annotations

STEPS = ("guard.key", "guard.limits", "query")
TIMED_STEPS = ("engine", "charge")
"""Their time is in the log line, too."""
