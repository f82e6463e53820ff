"""The buckets that all workers share: one Lua script in Redis, one round trip a request.

All times come from Redis's clock, so workers need not agree on theirs. Keys: `<prefix>:limit:account:<id>`,
`<prefix>:limit:key:<id>` (the next free moment in microseconds) and `<prefix>:workers` (when each was last heard of).
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple, Self

from siteglass.access.limits.connection import RedisConnection, RedisRefused, Word
from siteglass.access.limits.gcra import Policy, Terms, Verdict, level, terms

WORKER_SEEN_US = 5_000_000

# %.0f, because Lua writes a large number with 14 digits only. A bucket is kept a minute longer than needed. That costs
# little, and tests with a different clock than the server's do not lose it.
SCRIPT = """
-- KEYS: workers, then each bucket. ARGV: now or '', worker or '', how long a worker counts,
-- then of each bucket: interval, burst, cost, time ahead that Redis may not know of.
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
local workers = 0
if ARGV[2] ~= '' then
  redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[2])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - ARGV[3]))
  redis.call('PEXPIRE', KEYS[1], math.ceil(ARGV[3] / 1000))
  workers = redis.call('ZCARD', KEYS[1])
end
local allowed = 1
local known, aheads, waits = {}, {}, {}
for i = 1, #KEYS - 1 do
  local interval, burst, cost, carried = unpack(ARGV, 4 * i, 4 * i + 3)
  known[i] = (tonumber(redis.call('GET', KEYS[i + 1])) or now) - now
  -- Never more than the capacity: a clock set back or a smaller plan must not lock anyone out.
  aheads[i] = math.min(math.max(known[i], tonumber(carried), 0), interval * burst)
  waits[i] = aheads[i] + (cost - burst) * interval
  if waits[i] > 0 then allowed = 0 end
end
local answer = {allowed, workers}
for i = 1, #aheads do
  if allowed == 1 then aheads[i] = aheads[i] + ARGV[4 * i + 2] * ARGV[4 * i] end
  if aheads[i] > 0 and aheads[i] ~= known[i] then
    redis.call('SET', KEYS[i + 1], string.format('%.0f', now + aheads[i]), 'PX', math.ceil(aheads[i] / 1000) + 60000)
  end
  answer[#answer + 1] = aheads[i]
  answer[#answer + 1] = waits[i]
end
return answer
"""
SCRIPT_SHA = hashlib.sha1(SCRIPT.encode(), usedforsecurity=False).hexdigest()


class SharedDecision(NamedTuple):
    """What Redis decided, and how far ahead both buckets are after it."""

    verdict: Verdict
    aheads_us: tuple[int, int]


class SharedBuckets:
    """The script, its keys and its connection."""

    def __init__(self, redis: RedisConnection, prefix: str, worker: str) -> None:
        self._redis = redis
        self._prefix = prefix
        self._worker = worker

    @classmethod
    def open(cls, url: str, prefix: str, worker: str, timeout_s: float) -> Self:
        """Over a separate connection."""
        return cls(RedisConnection(url, timeout_s), prefix, worker)

    async def close(self) -> None:
        """End the connection."""
        await self._redis.close()

    async def _run(self, keys: list[str], arguments: list[Word]) -> list[int]:
        words = (len(keys) + 1, f"{self._prefix}:workers", *keys, *arguments)
        try:
            answer: list[int] = await self._redis.call("EVALSHA", SCRIPT_SHA, *words)
        except RedisRefused as error:
            if not str(error).startswith("NOSCRIPT"):
                raise
            answer = await self._redis.call("EVAL", SCRIPT, *words)
        return answer

    async def beat(self, now_us: int | None = None) -> int:
        """Say that this worker lives; the number of workers heard of in the last seconds, this one included."""
        answer = await self._run([], ["" if now_us is None else now_us, self._worker, WORKER_SEEN_US])
        return answer[1]

    async def take(
        self,
        names: tuple[str, str],
        policies: tuple[Policy, Policy],
        cost: int,
        carried_us: tuple[int, int] = (0, 0),
        now_us: int | None = None,
    ) -> SharedDecision:
        """Take from both buckets or from neither; `now_us` for tests, else the time of Redis."""
        buckets: list[Terms] = [terms(policy, cost) for policy in policies]
        arguments: list[Word] = ["" if now_us is None else now_us, "", WORKER_SEEN_US]
        for bucket, carried in zip(buckets, carried_us, strict=True):
            arguments += (*bucket, carried)
        keys = [f"{self._prefix}:limit:{name}" for name in names]
        allowed, _, account_ahead, account_wait, key_ahead, key_wait = await self._run(keys, arguments)
        account = level(policies[0], buckets[0], account_ahead, account_wait)
        key = level(policies[1], buckets[1], key_ahead, key_wait)
        return SharedDecision(Verdict(allowed == 1, account, key, local=False), (account_ahead, key_ahead))
