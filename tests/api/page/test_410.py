"""A cursor lives 72 hours, or as long as is set."""

from __future__ import annotations

from dataclasses import replace

import pytest

from siteglass.platform.backends import Clock
from siteglass.settings import Settings
from testing.api_calls import SEARCH, answered, refused, search
from testing.service import serving

HOUR_MS = 3_600_000


class Later(Clock):
    """A clock that can be put forward."""

    ahead_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.ahead_ms


@pytest.mark.promise("error.CURSOR_EXPIRED", "setting.cursor_life_s", "cursor.expired")
def test_expired(own_settings: Settings) -> None:
    clock = Later()
    with serving(own_settings, clock) as client:
        first = search(client, {"limit": 10})
        clock.ahead_ms = 71 * HOUR_MS
        second = answered(client.post(first["next"], json={}))
        clock.ahead_ms = 72 * HOUR_MS + 60_000
        response = client.post(first["next"], json={})
        refused(response, 410, "CURSOR_EXPIRED")
        assert list(response.json()) == ["error", "message"]
        refused(client.post(first["next"], content=b""), 410, "CURSOR_EXPIRED")
        # A page is a separate answer: its cursors live from when it was given.
        answered(client.post(second["next"], json={}))
        # A changed cursor is invalid, old or not.
        refused(client.post(first["next"][:-2], json={}), 400, "INVALID_CURSOR")
        refused(client.post(f"{SEARCH}/old", json={}), 400, "INVALID_CURSOR")


@pytest.mark.promise("setting.cursor_life_s")
def test_the_life_can_be_set(own_settings: Settings) -> None:
    clock = Later()
    with serving(replace(own_settings, cursor_life_s=60), clock) as client:
        path = search(client, {"limit": 10})["next"]
        clock.ahead_ms = 50_000
        answered(client.post(path, json={}))
        clock.ahead_ms = 70_000
        refused(client.post(path, json={}), 410, "CURSOR_EXPIRED")
