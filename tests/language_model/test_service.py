"""A search that uses the language model; and that without the setting, nothing of it is there."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from siteglass.app import create_app
from siteglass.leads import sandbox
from siteglass.platform.logs import JsonFormatter
from siteglass.settings import Settings, SettingsError
from testing.api_calls import answered, search
from testing.metrics import scrape
from testing.service import run, serving
from tests.api.handmade import NEVER
from tests.language_model.endpoint import KEY, Endpoint, condition
from tests.language_model.reading import interpret

QUERY = "sites that never got a certificate"
UNSAFE = condition("not_secure", said="never got a certificate")


def test_a_search_asks_no_model(service: httpx.Client, endpoint: Endpoint) -> None:
    """What is searched and charged depends on the sentence alone."""
    endpoint.says(UNSAFE)
    page = search(service, {"query": f"Shopify {QUERY}", "explain": True})
    assert page["filters"] == {"technologies": ["Shopify"]}
    assert (page["interpretation"]["backend"], page["interpretation"]["model"]) == ("rules", None)
    for path in ("/v1/leads/facets", "/v1/leads/diagnose"):
        answered(service.post(path, json={"query": f"Shopify {QUERY}"}))
    assert service.post("/v1/leads/search", json={"query": QUERY}).json()["error"] == "INVALID_QUERY"
    assert endpoint.asked == []


def test_a_chosen_reading_is_a_search(service: httpx.Client, endpoint: Endpoint) -> None:
    endpoint.says(UNSAFE)
    (offered,) = interpret(service, QUERY)["alternatives"]
    page = search(service, {"wrapped_query": "\n".join(offered["directives"])})
    assert [record["domain"] for record in page["results"]] == [NEVER.domain]


@pytest.mark.promise("query.model_off")
def test_without_the_setting_nobody_is_asked(without_model: Settings, endpoint: Endpoint) -> None:
    endpoint.says(UNSAFE)
    with serving(without_model) as client:
        reading = interpret(client, QUERY)
    assert reading["directives"] == []
    assert (reading["backend"], reading["model"]) == ("rules", None)
    assert endpoint.asked == []


def test_people_without_an_account_ask_no_model(service: httpx.Client, settings: Settings, endpoint: Endpoint) -> None:
    run(settings, sandbox.build)
    page = service.get("/", params={"q": f"dentists in Austin, {QUERY}"})
    assert "of the sandbox match" in page.text
    assert endpoint.asked == []


def test_without_a_key_none_is_sent(settings: Settings, endpoint: Endpoint) -> None:
    with serving(replace(settings, language_model_key="")) as client:
        interpret(client, QUERY)
    assert "Authorization" not in endpoint.seen_headers[0]


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"language_model_url": "models.example.com"}, "SITEGLASS_LANGUAGE_MODEL_URL"),
        ({"language_model_name": ""}, "SITEGLASS_LANGUAGE_MODEL_NAME"),
    ],
)
def test_half_a_setting_is_told_before_the_service_starts(
    settings: Settings, changes: dict[str, str], named: str
) -> None:
    with pytest.raises(SettingsError, match=named):
        create_app(replace(settings, **changes))  # type: ignore[arg-type]


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """What is logged during a test, by the service and by its client of the endpoint."""
    kept: list[str] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            kept.append(self.format(record))

    handler, root = Keeping(logging.DEBUG), logging.getLogger()
    handler.setFormatter(JsonFormatter())
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield kept
    root.setLevel(level)
    root.removeHandler(handler)


def test_neither_key_nor_words_are_logged_or_counted(
    service: httpx.Client, endpoint: Endpoint, settings: Settings, lines: list[str]
) -> None:
    endpoint.sends(b"secretofthemodel", 500)
    for number in range(6):
        interpret(service, f"sites that never got a verysecretword{'!' * number}")
    # The test's own client logs the headers of responses, which name unused words.
    shown = "\n".join(line for line in lines if json.loads(line)["logger"].startswith("siteglass")) + scrape()
    assert "pausing requests to the language model" in shown
    for secret in (KEY, "verysecretword", "secretofthemodel", endpoint.url):
        assert secret not in shown
    assert KEY not in repr(settings)
    warned = [json.loads(line) for line in lines if "pausing requests" in line]
    assert [(line["reason"], line["ms"]) for line in warned] == [("status", 30_000)]
