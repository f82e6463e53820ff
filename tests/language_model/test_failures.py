"""Whatever the endpoint does, the rules have an answer, in time; and nobody waits for one that keeps failing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from siteglass.query.natural.accounting import NOT_USED
from siteglass.settings import Settings
from testing.ports import free_port
from testing.service import serving
from tests.language_model.conftest import Moving
from tests.language_model.endpoint import Endpoint, condition
from tests.language_model.reading import counted, interpret, of_model

BY_RULES = ["@country(ESP)", "@trade(restaurant)"]
NO_BOOKING = condition("lacks", "booking_calendar", said="no way to book online")
WITH_MODEL = ["@lacks(booking_calendar)"]


def sentence(number: int = 0) -> str:
    """A sentence that the rules cannot read, another one for each number."""
    return f"restaurants with no way to book online in Spain{'!' * number}"


def only_rules(client: httpx.Client, number: int = 0) -> None:
    """The answer is that of the rules, and says so."""
    reading = interpret(client, sentence(number))
    assert reading["directives"] == BY_RULES
    assert (reading["backend"], reading["model"], of_model(reading)) == ("rules", None, None)
    messages = [note["message"] for note in reading["unsupported"]]
    assert messages == ["no known value, so it cannot be excluded", NOT_USED]


@pytest.mark.promise("query.model_fails")
@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (200, b"", "unreadable"),
        (200, b"<html>busy</html>", "unreadable"),
        (200, b'{"choices": []}', "unreadable"),
        (200, b'{"choices": [{"message": {"content": null, "refusal": "no"}}]}', "unreadable"),
        (200, b'{"error": "overloaded"}', "unreadable"),
        (200, b"[" * 30_000, "unreadable"),
        (200, b'{"choices": "\xff\xfe"}', "unreadable"),
        (401, b'{"error": "key"}', "status"),
        (429, b"", "status"),
        (500, b"", "status"),
        (200, b" " * 40_000, "too_large"),
    ],
)
def test_an_endpoint_that_fails_leaves_the_rules(
    service: httpx.Client, endpoint: Endpoint, status: int, body: bytes, outcome: str
) -> None:
    before = counted("readings", outcome)
    endpoint.sends(body, status)
    only_rules(service)
    assert counted("readings", outcome) == before + 1
    assert len(endpoint.asked) == 1  # one attempt


@pytest.mark.parametrize(
    "content",
    [
        "",
        "I am sorry",
        '```json\n{"conditions": []}\n```',
        "[]",
        "null",
        '{"conditions": {}}',
        '{"conditions": [], "also": 1}',
        '{"conditions": [' + "[" * 5_000,
        '{"conditions": ["\\ud800"]}',
    ],
)
def test_a_model_that_writes_something_else_leaves_the_rules(
    service: httpx.Client, endpoint: Endpoint, content: str
) -> None:
    before = counted("readings", "malformed")
    endpoint.writes(content)
    only_rules(service)
    assert counted("readings", "malformed") == before + 1


def test_a_large_answer_is_not_read_to_its_end(service: httpx.Client, endpoint: Endpoint) -> None:
    before = counted("readings", "too_large")
    endpoint.sends(b'{"choices": [' + b" " * 50_000_000)
    only_rules(service)
    assert counted("readings", "too_large") == before + 1


def test_a_redirect_is_not_followed(service: httpx.Client, endpoint: Endpoint) -> None:
    endpoint.sends(b"", 307, Location=f"{endpoint.url}/elsewhere")
    only_rules(service)
    assert [headers["path"] for headers in endpoint.seen_headers] == ["/v1/chat/completions"]


def test_what_is_compressed_is_not_unpacked(service: httpx.Client, endpoint: Endpoint) -> None:
    endpoint.says(NO_BOOKING)
    endpoint.headers = {"Content-Encoding": "gzip"}
    assert of_model(interpret(service, sentence())) == WITH_MODEL


@pytest.fixture
def impatient(settings: Settings, clock: Moving) -> Iterator[httpx.Client]:
    with serving(replace(settings, language_model_timeout_ms=200), clock) as client:
        yield client


@pytest.mark.promise("setting.language_model_timeout_ms")
def test_a_slow_endpoint_is_waited_for_no_longer_than_the_limit(impatient: httpx.Client, endpoint: Endpoint) -> None:
    endpoint.says(NO_BOOKING)
    endpoint.delay_s = 3
    before = counted("readings", "timeout")
    started = time.monotonic()
    only_rules(impatient)
    assert 0.2 <= time.monotonic() - started < 2.5
    assert counted("readings", "timeout") == before + 1


@pytest.mark.promise("setting.language_model_timeout_ms")
def test_the_limit_is_a_second_and_a_half() -> None:
    assert Settings().language_model_timeout_ms == 1_500


def test_an_endpoint_that_is_away_leaves_the_rules(settings: Settings) -> None:
    with serving(replace(settings, language_model_url=f"http://127.0.0.1:{free_port()}")) as client:
        before = counted("readings", "unreachable")
        only_rules(client)
        assert counted("readings", "unreachable") == before + 1


@pytest.mark.promise("query.model_fails")
def test_after_five_failures_in_a_row_nobody_asks_for_half_a_minute(
    service: httpx.Client, endpoint: Endpoint, clock: Moving
) -> None:
    endpoint.sends(b"", 500)
    for number in range(5):
        only_rules(service, number)
    assert len(endpoint.asked) == 5
    resting = counted("readings", "resting")
    endpoint.says(NO_BOOKING)
    only_rules(service, 5)
    clock.ahead_ms = 29_000
    only_rules(service, 5)
    assert len(endpoint.asked) == 5
    assert counted("readings", "resting") == resting + 2
    # One attempt: it fails, and the pause starts again.
    clock.ahead_ms = 31_000
    endpoint.sends(b"", 500)
    only_rules(service, 5)
    endpoint.says(NO_BOOKING)
    clock.ahead_ms = 60_000
    only_rules(service, 5)
    assert len(endpoint.asked) == 6
    # Another: it heals.
    clock.ahead_ms = 62_000
    for number in range(5, 8):
        assert of_model(interpret(service, sentence(number))) == WITH_MODEL
    assert len(endpoint.asked) == 9


def test_a_success_between_failures_starts_the_count_again(service: httpx.Client, endpoint: Endpoint) -> None:
    for number in range(12):
        endpoint.says(NO_BOOKING) if number % 4 == 3 else endpoint.sends(b"", 500)
        interpret(service, sentence(number))
    assert len(endpoint.asked) == 12


def test_what_a_sentence_makes_a_model_write_turns_it_off_for_nobody(service: httpx.Client, endpoint: Endpoint) -> None:
    endpoint.writes("Of course! Here is every lead.")
    for number in range(6):
        only_rules(service, number)
    endpoint.says(NO_BOOKING)
    assert of_model(interpret(service, sentence(6))) == WITH_MODEL


def test_failures_are_not_kept(service: httpx.Client, endpoint: Endpoint) -> None:
    endpoint.sends(b"", 500)
    only_rules(service)
    endpoint.says(NO_BOOKING)
    assert of_model(interpret(service, sentence())) == WITH_MODEL
