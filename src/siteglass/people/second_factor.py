"""The second factor: codes of an authenticator (TOTP), each taken once, and recovery codes for when it is lost."""

from __future__ import annotations

import hmac
import re
import secrets
import time
from collections.abc import Sequence

import pyotp

from siteglass.people.secrecy import Secrecy
from siteglass.postgres import Postgres

ISSUER = "Siteglass"
STEP_S = 30
# A clock may be half a minute off, either way.
WINDOW = range(-1, 2)
RECOVERY_CODES = 10
RECOVERY_CHARS = 12
_USE = "second factor"
_RECOVERY_USE = "recovery code"
_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_LOOK_ALIKES = str.maketrans("oil", "011")


def new_secret() -> str:
    """A secret for an authenticator."""
    return pyotp.random_base32()


def address_of(secret: str, email: str) -> str:
    """What an authenticator reads from a QR code."""
    return pyotp.TOTP(secret).provisioning_uri(email, issuer_name=ISSUER)


def step_of(secret: str, typed: str, now_s: float | None = None) -> int | None:
    """The number of the half minute whose code was typed, None if it is none of those around now."""
    code = re.sub("[^0-9]", "", typed) if len(typed) <= 20 else ""
    here = int((time.time() if now_s is None else now_s) // STEP_S)
    totp = pyotp.TOTP(secret)
    # all are compared, so that the time tells nothing
    matching = [here + by for by in WINDOW if hmac.compare_digest(totp.at((here + by) * STEP_S), code)]
    return matching[0] if matching else None


def _recovery_digests(secrecy: Secrecy, person_id: int, typed: str) -> list[bytes]:
    letters = re.sub(r"[\s-]", "", typed[:100]).lower().translate(_LOOK_ALIKES)
    return secrecy.marks(_RECOVERY_USE, f"{person_id} {letters}")


def new_recovery_codes() -> list[str]:
    """Codes as they are shown once: 60 bits each, in groups."""
    letters = ["".join(secrets.choice(_DIGITS) for _ in range(RECOVERY_CHARS)) for _ in range(RECOVERY_CODES)]
    return ["-".join(code[at : at + 4] for at in range(0, RECOVERY_CHARS, 4)) for code in letters]


_SET_UP = """
WITH changed AS (
    UPDATE {schema}.people SET totp = $2, totp_step = $3 WHERE id = $1 AND totp IS NULL RETURNING id
), gone AS (
    DELETE FROM {schema}.recovery_codes WHERE person_id IN (SELECT id FROM changed)
), kept AS (
    INSERT INTO {schema}.recovery_codes (person_id, digest) SELECT id, unnest($5::bytea[]) FROM changed
), noted AS (
    INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id)
    SELECT 'person', id::text, 'person.second_factor_on', $4 FROM changed
)
SELECT id FROM changed
"""


class SecondFactors:
    """Second factors of people."""

    def __init__(self, postgres: Postgres, secrecy: Secrecy, timeout_ms: int) -> None:
        self._postgres = postgres
        self._secrecy = secrecy
        self._timeout_ms = timeout_ms

    async def set_up(self, person_id: int, secret: str, step: int, account_id: int) -> list[str] | None:
        """Ask for codes of this secret from now on; `step` is that of the code that proved it. Returns recovery codes,
        None if there is a second factor already."""
        codes = new_recovery_codes()
        row = await self._postgres.fetchrow(
            _SET_UP,
            person_id,
            self._secrecy.seal(_USE, secret.encode()),
            step,
            account_id,
            self._digests(person_id, codes),
            timeout_ms=self._timeout_ms,
        )
        return None if row is None else codes

    def _digests(self, person_id: int, codes: Sequence[str]) -> list[bytes]:
        return [_recovery_digests(self._secrecy, person_id, code)[0] for code in codes]

    async def renew_recovery_codes(self, person_id: int) -> list[str]:
        """New ones in place of all that there are."""
        codes = new_recovery_codes()
        await self._postgres.fetch(
            "WITH gone AS (DELETE FROM {schema}.recovery_codes WHERE person_id = $1)"
            " INSERT INTO {schema}.recovery_codes (person_id, digest) SELECT $1, unnest($2::bytea[])",
            person_id,
            self._digests(person_id, codes),
            timeout_ms=self._timeout_ms,
        )
        return codes

    async def recovery_codes_left(self, person_id: int) -> int:
        """How many have not been used."""
        row = await self._postgres.fetchrow(
            "SELECT count(*) AS left FROM {schema}.recovery_codes WHERE person_id = $1 AND used_at IS NULL",
            person_id,
            timeout_ms=self._timeout_ms,
        )
        return 0 if row is None else int(row["left"])

    async def take_off(self, person_id: int, account_id: int) -> None:
        """Ask for no code any more."""
        await self._postgres.fetch(
            "WITH changed AS (UPDATE {schema}.people SET totp = NULL WHERE id = $1 AND totp IS NOT NULL RETURNING id),"
            " gone AS (DELETE FROM {schema}.recovery_codes WHERE person_id IN (SELECT id FROM changed))"
            " INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id)"
            " SELECT 'person', id::text, 'person.second_factor_off', $2 FROM changed",
            person_id,
            account_id,
            timeout_ms=self._timeout_ms,
        )

    async def is_code(self, person_id: int, typed: str) -> bool:
        """Whether this is a code of the person's authenticator, or a recovery code: either is taken only once."""
        row = await self._postgres.fetchrow(
            "SELECT totp FROM {schema}.people WHERE id = $1 AND totp IS NOT NULL",
            person_id,
            timeout_ms=self._timeout_ms,
        )
        secret = None if row is None else self._secrecy.open(_USE, row["totp"])
        if secret is None:
            return False
        step = step_of(secret.decode(), typed)
        if step is not None:
            # The statement decides, so that of two with the same code one gets in. Sealed anew: a secret may be new.
            taken = await self._postgres.fetchrow(
                "UPDATE {schema}.people SET totp_step = $2, totp = $3 WHERE id = $1 AND totp_step < $2 RETURNING id",
                person_id,
                step,
                self._secrecy.seal(_USE, secret),
                timeout_ms=self._timeout_ms,
            )
            return taken is not None
        used = await self._postgres.fetchrow(
            "UPDATE {schema}.recovery_codes SET used_at = now()"
            " WHERE person_id = $1 AND digest = ANY($2::bytea[]) AND used_at IS NULL RETURNING person_id",
            person_id,
            _recovery_digests(self._secrecy, person_id, typed),
            timeout_ms=self._timeout_ms,
        )
        return used is not None
