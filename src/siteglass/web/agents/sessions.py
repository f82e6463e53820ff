"""What a session of agents has spent and where its responses ended: in Redis, because any worker gets the next call.

The protocol no longer has sessions, so a session is what one key does at `/mcp` until it pauses. Its ceiling is kept
before anything is sent: a call counts at its maximum until its outcome is known. If Redis is unavailable, there are no
sessions, and so no calls. Redis may lose a session: the ceiling then starts from scratch, but caps of keys and balances
are in PostgreSQL.

Leads are not stored. A place names the call that was paid for, which is repeated free of charge. So an opt-out also
applies to leads that an agent has not seen yet.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import orjson

from siteglass.access.keys import Caller
from siteglass.access.limits.connection import RedisConnection, Word
from siteglass.errors import Unavailable
from siteglass_client.answers import Answer
from siteglass_client.async_search import AsyncSender
from siteglass_client.calls import Call
from siteglass_client.errors import SiteglassError
from siteglass_client.mcp.sessions import Place, Row, Sum, ceiling_reached, unknown_cursor

log = logging.getLogger("siteglass.web.agents")

TIMEOUT_S = 0.5
IDLE_S = 30 * 60
LIFE_S = 12 * 3600
"""Less than the day for which responses are kept, so places can always be found again free of charge."""
MAX_FIELDS = 600
MAX_PLACES = 8
MAX_PLACE_BYTES = 32 * 1024

OPEN = """
-- KEYS: the session. ARGV: when it ends if unused, when it ends at last.
local now = tonumber(redis.call('TIME')[1])
local began = tonumber(redis.call('HGET', KEYS[1], 'began'))
if not began or now - began > tonumber(ARGV[2]) then
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'began', now)
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
return redis.call('HGETALL', KEYS[1])
"""
# Each of the others begins with this: a session that ended meanwhile must not come back without its start.
SAME = "if redis.call('HGET', KEYS[1], 'began') ~= ARGV[1] then return {-1} end\n"
# ARGV: name of the call, its maximum of both kinds, the ceiling. Returns what was spent without it, and what the same
# call was counted as before.
HOLD = (
    SAME
    + """
local lead = tonumber(redis.call('HGET', KEYS[1], 'lead') or 0)
local api = tonumber(redis.call('HGET', KEYS[1], 'api') or 0)
local before = redis.call('HGET', KEYS[1], 'lost:' .. ARGV[2])
if before then
  local lost_lead, lost_api = string.match(before, '(%d+) (%d+)')
  lead, api = lead - lost_lead, api - lost_api
end
if lead + ARGV[3] > tonumber(ARGV[5]) or api + ARGV[4] > tonumber(ARGV[5]) then return {0, lead, api} end
redis.call('HSET', KEYS[1], 'lead', lead + ARGV[3], 'api', api + ARGV[4])
redis.call('HDEL', KEYS[1], 'lost:' .. ARGV[2])
return {1, lead, api, before}
"""
)
# ARGV: name of the call, the correction of both kinds, what it was lost as.
RELEASE = (
    SAME
    + f"""
local lead = redis.call('HINCRBY', KEYS[1], 'lead', ARGV[3])
local api = redis.call('HINCRBY', KEYS[1], 'api', ARGV[4])
if ARGV[5] ~= '' and redis.call('HLEN', KEYS[1]) < {MAX_FIELDS} then
  redis.call('HSET', KEYS[1], 'lost:' .. ARGV[2], ARGV[5])
end
return {{1, lead, api}}
"""
)
# ARGV: a field, its value.
NOTE = SAME + f"if redis.call('HLEN', KEYS[1]) < {MAX_FIELDS} then redis.call('HSET', KEYS[1], ARGV[2], ARGV[3]) end"
# ARGV: the ceiling. Other fields are limited in number; without this one, each call would write to the audit log.
AUDITED = SAME + "redis.call('HSET', KEYS[1], 'audited', ARGV[2])"
# KEYS: also the places. ARGV: the place, when it ends.
KEEP = (
    SAME
    + f"""
local slot = redis.call('HINCRBY', KEYS[1], 'places', 1) % {MAX_PLACES}
redis.call('HSET', KEYS[2], slot, ARGV[2])
redis.call('EXPIRE', KEYS[2], ARGV[3])
return {{slot}}
"""
)


class AgentSession:
    """The session of a key, as one request sees it. The tools read and change it."""

    kind = "session"
    raised_by = "header X-Session-Max-Credits"

    def __init__(
        self, redis: RedisConnection, send: AsyncSender, name: str, fields: dict[str, str], ceiling: int
    ) -> None:
        self.ceiling: int | None = ceiling
        self._redis = redis
        self._send = send
        self._name = name
        self._fields = fields
        self._spent = Sum(int(fields.get("lead", 0)), int(fields.get("api", 0)))

    @property
    def spent(self) -> Sum:
        return self._spent

    @property
    def lost(self) -> Collection[str]:
        return {field.removeprefix("lost:") for field in self._fields if field.startswith("lost:")}

    async def hold(self, name: str, most: Sum) -> Sum | None:
        ok, lead, api, *before = await self._run(HOLD, name, most.lead, most.api, self.ceiling or 0)
        if not ok:
            self._spent = Sum(lead, api)
            raise ceiling_reached(self, self._spent, most)
        self._spent = Sum(lead, api) + most
        self._fields.pop(f"lost:{name}", None)
        return None if not before or before[0] is None else Sum(*map(int, before[0].split()))

    async def release(self, name: str, change: Sum, lost: Sum | None) -> None:
        written = "" if lost is None else f"{lost.lead} {lost.api}"
        try:
            _, lead, api = await self._run(RELEASE, name, change.lead, change.api, written)
        except SiteglassError:
            log.warning("a call stays counted at its maximum", extra={"session": self._name})
            return
        self._spent = Sum(lead, api)
        if lost is not None:
            self._fields[f"lost:{name}"] = written

    @property
    def needs_audit(self) -> bool:
        """Whether the audit log has no entry of the session yet, or only of a lower ceiling."""
        return (self.ceiling or 0) > int(self._fields.get("audited", -1))

    async def note_audited(self) -> None:
        """The audit log has this ceiling. If that is lost, the next call writes another entry."""
        with contextlib.suppress(SiteglassError):
            await self._run(AUDITED, self.ceiling or 0)

    def turn(self, digest: str) -> int:
        return int(self._fields.get(f"turn:{digest}", 0))

    async def next_turn(self, digest: str) -> None:
        await self._note(f"turn:{digest}", str(self.turn(digest) + 1))

    def knows_price(self, asked: str) -> bool:
        return self._fields.get(_price_field(asked)) == asked

    async def note_price(self, asked: str) -> None:
        await self._note(_price_field(asked), asked)

    def require_room(self, asked: Mapping[str, Any]) -> None:
        # A place has the request twice: in the call that was paid for, too.
        if 2 * len(orjson.dumps(asked)) > MAX_PLACE_BYTES:
            raise SiteglassError(
                "The response to such a large request could not be continued. Call again with fewer or shorter "
                "arguments. Nothing was sent."
            )

    async def keep(self, place: Place) -> str:
        token = secrets.token_hex(4)
        written = orjson.dumps({**asdict(place), "waiting": [row["domain"] for row in place.waiting]})
        if len(written) > MAX_PLACE_BYTES:
            raise SiteglassError("The place has too many bytes to be kept.")
        (slot,) = await self._run(KEEP, f"{token} {written.decode()}", IDLE_S, places=True)
        return f"{slot}{token}"

    async def find(self, name: str, tool: str, read: Callable[[Answer], Sequence[Row]]) -> Place:
        stored = await self._call("HGET", f"{self._name}:places", name[:1])
        token, _, written = (stored or b"").decode().partition(" ")
        fields: dict[str, Any] = orjson.loads(written) if token and token == name[1:] else {}
        if fields.get("tool") != tool:
            raise unknown_cursor(name, tool, f"a session remembers its last {MAX_PLACES} cursors")
        source = fields.pop("source")
        place = Place(**fields, source=None if source is None else Call(**source))
        if place.source is None or not place.waiting:
            return place
        rows = {row["domain"]: row for row in read(await self._send(place.source))}
        return replace(place, waiting=[rows[domain] for domain in fields["waiting"] if domain in rows])

    async def _note(self, field: str, value: str) -> None:
        await self._run(NOTE, field, value)
        self._fields[field] = value

    async def _run(self, script: str, *arguments: Word, places: bool = False) -> list[Any]:
        keys = (self._name, f"{self._name}:places") if places else (self._name,)
        answer = await self._call("EVAL", script, len(keys), *keys, self._fields["began"], *arguments)
        found = [each.decode() if isinstance(each, bytes) else each for each in answer or ()]
        if found == [-1]:
            raise SiteglassError("The session ended. Nothing was sent. Call the tool again: that starts a new one.")
        return found

    async def _call(self, *words: Word) -> Any:
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await self._redis.call(*words)
        except Exception as error:
            raise SiteglassError(
                "The session could not be read, so nothing was sent. Call the tool again with the same arguments."
            ) from error


def _price_field(asked: str) -> str:
    """One of 256 fields: a price that gave way to another is returned again."""
    return f"price:{asked[:2]}"


class AgentSessions:
    """The sessions of all keys, over a separate connection of the worker."""

    def __init__(self, redis_url: str, prefix: str) -> None:
        self._redis = RedisConnection(redis_url, TIMEOUT_S)
        self._prefix = prefix

    async def open(self, caller: Caller, ceiling: int, send: AsyncSender) -> AgentSession:
        """The session of a key. Keys that replace each other share one. `send` is how a paid call is repeated."""
        name = f"{self._prefix}:agent:{caller.family_id}"
        try:
            async with asyncio.timeout(TIMEOUT_S):
                found = await self._redis.call("EVAL", OPEN, 1, name, IDLE_S, LIFE_S)
        except Exception as error:
            raise Unavailable(f"agent session: {type(error).__name__}", has_price=False) from error
        texts = [each.decode() for each in found]
        fields = dict(zip(texts[::2], texts[1::2], strict=True))
        return AgentSession(self._redis, send, name, fields, ceiling)

    async def close(self) -> None:
        """End the connection."""
        await self._redis.close()
