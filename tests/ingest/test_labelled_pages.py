"""Extraction against pages that were labelled by hand, by people who had not seen it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from siteglass.ingest.capture import Capture
from siteglass.ingest.extract import facts_of
from siteglass.ingest.facts import PageFacts
from siteglass.ingest.tasks import FACTS_OF, warm
from siteglass.query.vocabulary import vocabulary
from tests.ingest.scoring import Found, Right, same_profile

FOLDER = Path(__file__).parent / "labelled"
LABELS: list[dict[str, Any]] = json.loads((FOLDER / "labels.json").read_text())
KINDS = {"normal": "page", "noindex": "page"}


@cache
def every() -> list[tuple[dict[str, Any], PageFacts]]:
    """Each label with what was found on its page."""
    warm(FACTS_OF)
    return [(label, facts_of(_capture(label))) for label in LABELS]


def pages() -> list[tuple[dict[str, Any], PageFacts]]:
    """Those that speak for their domain: nothing is taken from a parked one, or from an error page that answers 200."""
    return [(label, facts) for label, facts in every() if label["kind"] in KINDS]


def _capture(label: dict[str, Any]) -> Capture:
    return Capture(
        url=label["url"],
        captured_at_ms=1_790_000_000_000,
        status=200,
        headers=tuple((name.lower(), value) for name, value in label["headers"].items()),
        body=(FOLDER / label["file"]).read_bytes(),
        archive="labelled",
    )


def test_addresses() -> None:
    score = Found()
    for label, facts in pages():
        score.add(label["file"], [one.value for one in facts.emails], label["emails"])
    assert score.precision >= 0.99, str(score)
    assert score.recall >= 0.98, str(score)


def test_phones() -> None:
    score = Found()
    for label, facts in pages():
        # Fax numbers and those of no known country are kept for the merge alone.
        numbers = [one.value for one in facts.phones if one.label != "fax" and one.value.startswith("+")]
        score.add(label["file"], numbers, label["phones"])
    assert score.precision >= 0.97, str(score)
    assert score.recall >= 0.97, str(score)


@pytest.mark.parametrize(("fact", "least"), [("language", 0.97), ("country", 0.95)])
def test_language_and_country(fact: str, least: float) -> None:
    score = Right()
    for label, facts in pages():
        score.add(label["file"], getattr(facts, fact), label[fact])
    assert score.share >= least, str(score)


def test_places_below_the_country() -> None:
    """What is told must mostly be right; what is not told is unknown, and may be so."""
    words, score = vocabulary(), Found()
    for label, facts in pages():
        named = {word for city in [label["city"]] if city for word in (city, *words.resolve("city", city))}
        score.add(label["file"], [facts.city] if facts.city else [], [facts.city] if facts.city in named else named)
    assert score.precision >= 0.9, str(score)


def test_names() -> None:
    """Of one page alone: more pages of a site agree more often."""
    score = Right()
    for label, facts in pages():
        if label["business_name"]:
            score.add(label["file"], facts.business_name, label["business_name"])
    assert score.share >= 0.97, str(score)


def test_social_profiles() -> None:
    score = Found()
    for label, facts in pages():
        found = [f"{network} {same_profile(url)}" for network, url in facts.social_links.items()]
        score.add(label["file"], found, [f"{network} {same_profile(url)}" for network, url in label["social"].items()])
    assert (score.precision, score.recall) == (1, 1), str(score)


@pytest.mark.parametrize("flag", ["responsive", "has_schema", "has_heading", "has_description", "noindex"])
def test_flags(flag: str) -> None:
    score = Right()
    for label, facts in pages():
        score.add(label["file"], getattr(facts, flag), label["flags"][flag])
    assert score.share == 1, str(score)


def test_kinds() -> None:
    score = Right()
    for label, facts in every():
        score.add(label["file"], facts.kind, KINDS.get(label["kind"], label["kind"]))
    assert score.share == 1, str(score)


def test_texts() -> None:
    """Where a page has no description of its own, what it tells social networks may stand for it."""
    score = Right()
    for label, facts in pages():
        score.add(label["file"], facts.title, " ".join(label["title"].split()))
        if label["flags"]["has_description"]:
            score.add(label["file"], facts.description, " ".join(label["description"].split()))
    assert score.share == 1, str(score)


def test_technologies() -> None:
    words, score = vocabulary(), Found()
    for label, facts in pages():
        true = {name for told in label["technologies"] for name in words.resolve("technology", told)}
        allowed = {name for told in label["technologies_also"] for name in words.resolve("technology", told)}
        score.add(label["file"], facts.technologies, true, allowed)
    assert score.precision >= 0.97, str(score)
    assert score.recall >= 0.95, str(score)
