"""How the tests ask, and what the service counts meanwhile."""

from __future__ import annotations

import re
from typing import Any

import httpx

from testing.api_calls import answered
from testing.metrics import scrape

INTERPRET = "/v1/leads/interpret"


def interpret(client: httpx.Client, query: str, **more: Any) -> dict[str, Any]:
    """What a sentence means."""
    return answered(client.post(INTERPRET, json={"query": query, **more}))


def of_model(reading: dict[str, Any]) -> dict[str, list[str]]:
    """The conditions that a model said, with their words."""
    return {
        one["directive"]: [span["text"] for span in one["words"]]
        for one in reading["conditions"]
        if "model" in one["rule"]
    }


def counted(name: str, label: str) -> float:
    """A counter of the language model, by the value of its label."""
    text = scrape()
    found = re.search(rf'^siteglass_language_model_{name}_total{{\w+="{label}"}} (\S+)$', text, re.MULTILINE)
    return float(found[1]) if found else 0.0
