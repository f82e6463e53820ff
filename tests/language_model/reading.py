"""How the tests ask, and what the service counts meanwhile."""

from __future__ import annotations

import re
from typing import Any

import httpx

from testing.api_calls import answered
from testing.metrics import scrape
from tests.language_model.endpoint import NAME

INTERPRET = "/v1/leads/interpret"


def interpret(client: httpx.Client, query: str, **more: Any) -> dict[str, Any]:
    """What a sentence means."""
    return answered(client.post(INTERPRET, json={"query": query, **more}))


def of_model(reading: dict[str, Any]) -> list[str] | None:
    """The reading that a model offers, as directives; None if it offers none."""
    offered = [one for one in reading["alternatives"] if one["reading"].endswith(f", as {NAME} reads it")]
    assert len(offered) <= 1
    return offered[0]["directives"] if offered else None


def counted(name: str, label: str) -> float:
    """A counter of the language model, by the value of its label."""
    text = scrape()
    found = re.search(rf'^siteglass_language_model_{name}_total{{\w+="{label}"}} (\S+)$', text, re.MULTILINE)
    return float(found[1]) if found else 0.0
