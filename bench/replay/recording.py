"""A recording of responses: what differs in every run becomes a placeholder, everything else is kept to the byte."""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any

import httpx
import msgspec
import orjson

UNRECORDED_HEADERS = frozenset({"date", "server", "ratelimit", "x-request-id"})
_RECORDED_REQUEST_HEADERS = frozenset({"accept", "content-type", "content-encoding", "idempotency-key"})
# The API document and the docs, which change on purpose, and counters: only their status and headers are compared.
UNRECORDED_BODIES = frozenset({"/openapi.json", "/", "/docs", "/docs/api", "/metrics"})
MAX_REQUEST_CHARS = 2_000

# Times with microseconds are those of the database; times of leads and of the stopped clock have fewer digits. The
# credits and keys of the replay that expire do so in 2099, which is the same in every run.
_CHANGING = r"""
  (?P<cursor>(?<=/v1/leads/search/)[\w-]{60,})
| (?P<ticket>(?<="ticket":")[\w-]{60,})
| (?P<token>(?<=siteglass-proof=)[0-9A-Z]{26})
| (?P<code>(?<="code":")[0-9A-Z]{4}-?[0-9A-Z]{4}-?[0-9A-Z]{4}(?="))
| (?P<id>\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)
| (?P<hash>\b[0-9a-f]{64}\b)
| (?P<key>(?<=sg_live_)\w{4}\.\.\.\w{4}|(?<=sg_test_)\w{4}\.\.\.\w{4})
| (?P<time>(?!2099)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z
    |(?<="suppressed_since":")\d[^"]+|(?<="created_at":"|"changed_at":")\d[^"]+)
| (?P<wait>(?<=Too\ many\ requests\.\ Try\ again\ in\ )\d+)
"""
# Two times may or may not be equal by chance, so these have no numbers.
_ALIKE = ("time", "wait", "today")
_VARYING_LENGTH = ("<cursor", "<ticket", "<wait")


class Entry(msgspec.Struct):
    """A request and its response, with placeholders."""

    part: str
    request: str
    status: int
    headers: dict[str, str]
    body: str


class Placeholders:
    """Replaces what differs in every run. The same value gets the same placeholder wherever it occurs."""

    def __init__(self) -> None:
        today = datetime.now(UTC).date().isoformat()  # the day of ledger entries
        self._pattern = re.compile(rf"{_CHANGING} | (?P<today>{today})", re.VERBOSE | re.ASCII)
        self._numbers: defaultdict[str, dict[str, int]] = defaultdict(dict)

    def replace(self, text: str) -> str:
        return self._pattern.sub(self._placeholder, text)

    def _placeholder(self, match: re.Match[str]) -> str:
        kind = str(match.lastgroup)
        if kind in _ALIKE:
            return f"<{kind}>"
        numbers = self._numbers[kind]
        return f"<{kind}-{numbers.setdefault(match[0], len(numbers) + 1)}>"

    def entry(self, part: str, caller: str, sent: httpx.Request, response: httpx.Response) -> Entry:
        """What is recorded of a response; `caller` is the name of the key that was sent."""
        path = sent.url.raw_path.decode()
        details = {name: value for name, value in sent.headers.items() if name in _RECORDED_REQUEST_HEADERS}
        body = sent.content.decode("utf-8", "backslashreplace")
        request = self.replace(f"{sent.method} {path} by {caller} {json.dumps(details)} {body}")
        text = "" if sent.url.path in UNRECORDED_BODIES else self.replace(response.text)
        headers = {
            name: self.replace(value)
            for name, value in sorted(response.headers.items())
            if name not in UNRECORDED_HEADERS
        }
        if sent.url.path in UNRECORDED_BODIES or any(start in text for start in _VARYING_LENGTH):
            headers = {name: value for name, value in headers.items() if name not in ("content-length", "etag")}
        if response.status_code == 429:
            headers["retry-after"] = "<wait>"
        return Entry(part, request[:MAX_REQUEST_CHARS], response.status_code, headers, text)


def write_recording(path: Path, entries: Sequence[Entry]) -> None:
    with gzip.open(path, "wb") as file:
        file.writelines(msgspec.json.encode(entry) + b"\n" for entry in entries)


def read_recording(path: Path) -> list[Entry]:
    with gzip.open(path, "rb") as file:
        return [msgspec.json.decode(line, type=Entry) for line in file]


_ABSENT = object()


class Difference(msgspec.Struct, frozen=True):
    """One value that is not as it was."""

    number: int
    request: str
    place: str
    """Such as `status`, `headers.allow` or `body.results[3].emails[0]`."""
    before: str
    after: str


def differences(before: Sequence[Entry], after: Sequence[Entry]) -> Iterator[Difference]:
    """Every difference, in the order of requests."""
    for number, (old, new) in enumerate(zip_longest(before, after), 1):
        if old is None or new is None or old.request != new.request:
            was, now = (_ABSENT if entry is None else entry.request for entry in (old, new))
            yield Difference(number, "", "request", _shown(was), _shown(now))
            return  # what follows belongs to other requests
        places = [("status", old.status, new.status), *_places("headers", old.headers, new.headers)]
        places += _body_places(old.body, new.body)
        for place, was, now in places:
            if was != now or type(was) is not type(now):
                yield Difference(number, old.request, place, _shown(was), _shown(now))


def _places(place: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for name in dict.fromkeys([*old, *new]):
        yield f"{place}.{name}", old.get(name, _ABSENT), new.get(name, _ABSENT)


def _body_places(old: str, new: str) -> Iterator[tuple[str, Any, Any]]:
    if old == new:
        return
    try:
        found = list(_unequal("body", orjson.loads(old), orjson.loads(new)))
    except orjson.JSONDecodeError:
        found = []
    # Equal as JSON, or not JSON: the bytes differ all the same.
    yield from found or [("body (text)", old, new)]


def _unequal(place: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(old, dict) and isinstance(new, dict):
        if list(old) != list(new):
            yield f"{place} (order of names)", list(old), list(new)
        for inner, was, now in _places(place, old, new):
            yield from _unequal(inner, was, now)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for position, (was, now) in enumerate(zip(old, new, strict=True)):
            yield from _unequal(f"{place}[{position}]", was, now)
    elif old != new or type(old) is not type(new):
        yield place, old, new


def _shown(value: Any) -> str:
    return "(absent)" if value is _ABSENT else json.dumps(value, ensure_ascii=False)[:400]
