"""Failed sign-ins: how many an account had in an hour, from which networks. The audit log gets one row an hour.

They are counted in memory and written now and then. So a failure takes as long for an unknown address, which is not
counted, and nobody fills the audit log by guessing.
"""

from __future__ import annotations

import ipaddress
import time
from collections import Counter
from collections.abc import Callable

from siteglass.platform.addresses import read_address
from siteglass.platform.postgres import Postgres

WRITE_EVERY_S = 5.0
NOTE_EVERY_S = 300.0
MAX_REMEMBERED = 10_000
"""Counts of people and networks, more than a worker has between two writes."""
HOUR_S = 3_600
NETWORK_BITS = {4: 24, 6: 48}

# In the order of the primary key: workers that write at the same time wait for each other, in no circle.
_WRITE = """
INSERT INTO {schema}.failed_sign_ins AS f (account_id, hour, network, attempts)
SELECT m.account_id, to_timestamp(n.hour * 3600), n.network, sum(n.attempts)
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[]) AS n (person_id, hour, network, attempts)
    JOIN {schema}.members m ON m.person_id = n.person_id
GROUP BY m.account_id, n.hour, n.network ORDER BY m.account_id, n.hour, n.network COLLATE "C"
ON CONFLICT (account_id, hour, network) DO UPDATE SET attempts = f.attempts + excluded.attempts
"""
# A minute later than the hour ends: workers have written what they counted.
_NOTE = """
WITH past AS (
    DELETE FROM {schema}.failed_sign_ins WHERE hour < now() - interval '61 minutes'
    RETURNING account_id, hour, network, attempts
)
INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, details)
SELECT 'operator', 'sign-in', 'account.sign_ins_failed', account_id, jsonb_build_object(
    'hour', hour, 'attempts', sum(attempts),
    'networks', to_jsonb((array_agg(network ORDER BY attempts DESC, network))[1:5]), 'all_networks', count(*))
FROM past GROUP BY account_id, hour
"""


class FailedSignIns:
    """Counts of one worker until they are written."""

    def __init__(self, postgres: Postgres, now_s: Callable[[], float] = time.time) -> None:
        self._postgres = postgres
        self._now_s = now_s
        # By person, hour since 1970, and network.
        self._counted: Counter[tuple[int, int, str]] = Counter()

    def count(self, person_id: int, address: str) -> None:
        """Somebody failed to sign in as this person just now."""
        what = (person_id, int(self._now_s()) // HOUR_S, network_of(address))
        if what in self._counted or len(self._counted) < MAX_REMEMBERED:
            self._counted[what] += 1

    async def write(self) -> None:
        """Write all counts; what could not be written is counted again the next time. Raises Unavailable."""
        if not self._counted:
            return
        written, self._counted = self._counted, Counter()
        columns = [list(column) for column in zip(*written, strict=True)]
        try:
            await self._postgres.fetch(_WRITE, *columns, list(written.values()))
        except BaseException:  # also when the worker stops: it writes once more then
            self._counted.update(written)
            raise


async def note_past_hours(postgres: Postgres) -> None:
    """Move hours that are over to the audit log, one row for each hour of an account."""
    await postgres.fetch(_NOTE)


def network_of(address: str) -> str:
    """The network of a caller, as an owner would block it: 192.0.2.0/24, 2001:db8:1::/48."""
    if (read := read_address(address)) is None:
        return "unknown"
    return str(ipaddress.ip_network((read, NETWORK_BITS[read.version]), strict=False))
