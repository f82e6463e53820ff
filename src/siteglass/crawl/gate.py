"""The gate: may a request be sent now? One call of Redis answers for the registrable domain and for the address that
the connection leads to, for all fetchers on all machines.

Each key holds when the last request was allowed, and the delay that was due then. So a visit that follows a robots.txt
to another site keeps the delay of that site. A permission is good for MARGIN_MS counted from the question, and delays
are stretched by as much. So requests never follow each other sooner than the delay, however busy a fetcher is. A
fetcher asks again, with the same token, for a permission that came too late.

If Redis lost its data, nothing is sent for the longest delay in use: the key `birth` says since when it remembers. A
Redis that restarts from an older snapshot, and a standby that takes over, have keys, but they lack the last ones. They
also lack the script, which is in no snapshot: so who has to send the script sets `birth` again.
"""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import itertools
import math
import secrets
import time
from typing import Any
from weakref import WeakValueDictionary

from siteglass.access.limits.connection import RedisConnection, RedisFailed, RedisRefused, Word

MARGIN_MS = 50
MAX_DELAY_MS = 60_000
# A connection is not kept waiting for longer: servers close those that say nothing.
MAX_HELD_MS = 3_000
# When Redis is asked again that does not answer: after twice as long each time.
RETRY_MS, MAX_RETRY_MS = 1_000, 30_000
TIMEOUT_S = 1.0

SCRIPT = """
-- KEYS: birth, domain, address. ARGV: token, margin, how long a key is kept, longest delay in use, delay of the domain,
-- delay of the address, 1 if Redis did not have this script; all times in ms. Returns how long to wait for each of the
-- two; 0 and 0: go.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local birth = tonumber(redis.call('GET', KEYS[1]))
if not birth or ARGV[7] == '1' then
  birth = now
  redis.call('SET', KEYS[1], string.format('%.0f', now))
end
local waits = {}
for i = 1, 2 do
  waits[i] = math.max(0, birth + ARGV[4] - now)
  local value = redis.call('GET', KEYS[i + 1])
  if value then
    local last, due, token = string.match(value, '^(%d+):(%d+):(.*)$')
    local delay = math.max(tonumber(due), tonumber(ARGV[i + 4]))
    -- 1 more, since `now` is rounded down.
    if token ~= ARGV[1] then waits[i] = math.max(waits[i], last + delay + ARGV[2] + 1 - now) end
  end
end
if waits[1] == 0 and waits[2] == 0 then
  for i = 1, 2 do
    redis.call('SET', KEYS[i + 1], string.format('%.0f:%d:%s', now, ARGV[i + 4], ARGV[1]), 'PX', ARGV[3])
  end
end
return waits
"""


class NotYet(Exception):
    """The request has to wait for longer than a connection is kept open."""

    def __init__(self, wait_ms: int) -> None:
        super().__init__(f"to be sent in {wait_ms} ms")
        self.wait_ms = wait_ms


class Gate:
    """One per fetcher."""

    def __init__(self, redis: RedisConnection, prefix: str, domain_delay_ms: int, address_delay_ms: int) -> None:
        self._redis = redis
        self._prefix = f"{prefix}:crawl"
        # A script of each installation's own: whether Redis lost it is noticed for each.
        self._script = f"-- {self._prefix}\n{SCRIPT}"
        self._script_sha = hashlib.sha1(self._script.encode(), usedforsecurity=False).hexdigest()
        self._address_delay_ms = address_delay_ms
        self._longest_ms = max(domain_delay_ms, address_delay_ms)
        self._fetcher = secrets.token_hex(6)
        self._numbers = itertools.count()
        # One question at a time about an address: hundreds of sites on one would flood Redis.
        self._asking: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._away_ms, self._retry_at = 0, 0.0

    async def ready(self) -> None:
        """Raise NotYet while Redis does not answer. Asked before a site is connected to, which could only wait."""
        if self._away_ms:
            if time.monotonic() < self._retry_at:
                raise NotYet(self._put_off())
            # Written, since a Redis that only reads allows no request.
            await self._call("SET", f"{self._prefix}:ready", 1, "PX", RETRY_MS)

    async def wait(self, domain: str, address: str, delay_ms: int) -> None:
        """Return when a request may be sent; it must be sent before anything else is awaited.

        Raises NotYet if that is later than a connection is kept open, or if Redis does not answer.
        """
        self._longest_ms = max(self._longest_ms, delay_ms)
        token, give_up = f"{self._fetcher}.{next(self._numbers)}", time.monotonic() + MAX_HELD_MS / 1000
        network = address_key(address)
        asking = self._asking.setdefault(network, asyncio.Lock())
        while True:
            async with asking:
                asked = time.monotonic()
                for_domain, for_address = await self._ask(token, domain, network, delay_ms)
                wait_ms = max(for_domain, for_address)
                if wait_ms == 0 and (time.monotonic() - asked) * 1000 < MARGIN_MS:
                    return
                if time.monotonic() + wait_ms / 1000 > give_up:
                    raise NotYet(wait_ms)
                if for_domain <= for_address:
                    await asyncio.sleep(for_address / 1000)
                    continue
            await asyncio.sleep(for_domain / 1000)

    async def _ask(self, token: str, domain: str, network: str, delay_ms: int) -> list[int]:
        keys = (f"{self._prefix}:birth", f"{self._prefix}:domain:{domain}", f"{self._prefix}:address:{network}")
        kept_ms = MAX_DELAY_MS + MARGIN_MS + 1
        words: tuple[Word, ...] = (
            *(len(keys), *keys, token, MARGIN_MS, kept_ms),
            *(self._longest_ms, delay_ms, self._address_delay_ms),
        )
        answer: list[int] | None = await self._call("EVALSHA", self._script_sha, *words, 0)
        if answer is None:
            answer = await self._call("EVAL", self._script, *words, 1)
            assert answer is not None  # noqa: S101 - it brings the script
        self._away_ms = 0
        return answer

    async def _call(self, *words: Word) -> Any:
        """What Redis answers; None if it lacks the script. Raises NotYet if it does not answer."""
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await self._redis.call(*words)
        except RedisRefused as error:
            if str(error).startswith("NOSCRIPT"):
                return None
            raise NotYet(self._put_off()) from None
        except (RedisFailed, TimeoutError):
            raise NotYet(self._put_off()) from None

    def _put_off(self) -> int:
        """In how many ms Redis is asked again. Many visits notice the same failure; it counts once."""
        now = time.monotonic()
        if now >= self._retry_at:
            self._away_ms = min(max(RETRY_MS, 2 * self._away_ms), MAX_RETRY_MS)
            self._retry_at = now + self._away_ms / 1000
        return math.ceil((self._retry_at - now) * 1000)


def address_key(address: str) -> str:
    """What is one machine to us: an address, or of IPv6 a network of 64 bits."""
    if ":" not in address:
        return address
    return str(ipaddress.ip_network((address.partition("%")[0], 64), strict=False))
