"""The replay of requests: what it compares, and that it asks for every operation and every error code."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import orjson
import pytest

from bench.replay.__main__ import replay
from bench.replay.recording import Entry, Placeholders, differences, read_recording, write_recording
from siteglass.errors import SiteglassError
from siteglass.openapi.operations import OPERATIONS

CURSOR, OTHER_CURSOR = ("/v1/leads/search/" + letter * 80 for letter in "ab")
ID = "0199a0b1-0000-7000-8000-00000000000{}"


def _entry(placeholders: Placeholders, body: object, status: int = 200, **headers: str) -> Entry:
    request = httpx.Request("POST", "http://localhost/v1/leads/search", content=b"{}")
    response = httpx.Response(status, content=orjson.dumps(body), headers=headers, request=request)
    return placeholders.entry("search", "key", request, response)


def _found(before: Entry, after: Entry) -> list[tuple[str, str, str]]:
    return [(one.place, one.before, one.after) for one in differences([before], [after])]


def test_ids_times_and_cursors_are_compared_by_equality_only() -> None:
    first = {"result_id": ID.format(1), "next": CURSOR, "previous": CURSOR, "at": "2026-11-16T10:00:00.123456Z"}
    first["created_at"] = "2026-11-16T10:00:00.123Z"
    second = {"result_id": ID.format(2), "next": OTHER_CURSOR, "previous": OTHER_CURSOR}
    second["at"] = "2026-11-17T11:11:11.000000Z"
    second["created_at"] = "2026-11-17T11:11:11.000Z"
    before, after = _entry(Placeholders(), first), _entry(Placeholders(), second)
    assert orjson.loads(before.body)["next"] == "/v1/leads/search/<cursor-1>"
    assert _found(before, after) == []
    second["previous"] = CURSOR
    assert _found(before, _entry(Placeholders(), second)) == [
        ("body.previous", '"/v1/leads/search/<cursor-1>"', '"/v1/leads/search/<cursor-2>"')
    ]


def test_every_difference_is_reported_with_its_place() -> None:
    before = _entry(Placeholders(), {"a": [{"b": 1, "c": 2}], "d": None}, 200, vary="Accept")
    after = _entry(Placeholders(), {"a": [{"c": 2, "b": 1.0}], "e": None}, 400)
    assert _found(before, after) == [
        ("status", "200", "400"),
        ("headers.content-length", '"30"', '"32"'),
        ("headers.vary", '"Accept"', "(absent)"),
        ("body (order of names)", '["a", "d"]', '["a", "e"]'),
        ("body.a[0] (order of names)", '["b", "c"]', '["c", "b"]'),
        ("body.a[0].b", "1", "1.0"),
        ("body.d", "null", "(absent)"),
        ("body.e", "(absent)", "null"),
    ]


def test_other_requests_are_one_difference() -> None:
    entry = _entry(Placeholders(), {})
    (missing,) = differences([entry, entry], [entry])
    assert (missing.number, missing.place, missing.after) == (2, "request", "(absent)")


def test_a_recording_is_read_as_it_was_written(tmp_path: Path) -> None:
    entries = [_entry(Placeholders(), {"text": "é\n"}), _entry(Placeholders(), {}, 404)]
    write_recording(tmp_path / "recording.jsonl.gz", entries)
    assert read_recording(tmp_path / "recording.jsonl.gz") == entries


def _codes() -> set[str]:
    errors = [SiteglassError]
    for error in errors:
        errors += error.__subclasses__()
    return {error.code for error in errors[1:]}


@pytest.mark.nightly
def test_every_operation_and_every_error_code_is_replayed() -> None:
    entries = replay(share=0.01, parts=("account", "sandbox", "errors", "opt_out"))
    responded = {entry.request.split("?")[0].split(" by ")[0] for entry in entries if entry.status < 300}
    patterns = {one.name: f"{one.method} " + re.sub(r"\{\w+\}", "[^/]+", one.path) for one in OPERATIONS}
    assert [
        name for name, pattern in patterns.items() if not any(re.fullmatch(pattern, path) for path in responded)
    ] == []
    codes = {orjson.loads(entry.body)["error"] for entry in entries if entry.status >= 400 and entry.body}
    assert _codes() - codes == set()
