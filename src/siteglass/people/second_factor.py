"""The second factor: codes of an authenticator (TOTP), each taken once, and recovery codes for when it is lost."""

from __future__ import annotations

import hmac
import re
import secrets

import pyotp

from siteglass.people.audit_notes import noted
from siteglass.people.secrecy import Secrecy, digest
from siteglass.platform.postgres import Postgres

ISSUER = "Siteglass"
STEP_S = 30
# A clock may be half a minute off, either way.
WINDOW = range(-1, 2)
RECOVERY_CODES = 10
RESEAL_AT_ONCE = 1_000
RESEAL_TIMEOUT_MS = 5_000
RESEAL_EVERY_S = 3_600.0
RECOVERY_CHARS = 16
_USE = "second factor"
_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_LOOK_ALIKES = str.maketrans("oil", "011")


def new_secret() -> str:
    """A secret for an authenticator."""
    return pyotp.random_base32()


def address_of(secret: str, email: str) -> str:
    """What an authenticator reads from a QR code."""
    return pyotp.TOTP(secret).provisioning_uri(email, issuer_name=ISSUER)


def step_of(secret: str, typed: str, now_s: float) -> int | None:
    """The number of the half minute whose code was typed, None if it is none of those around now."""
    code = re.sub("[^0-9]", "", typed) if len(typed) <= 20 else ""
    here = int(now_s // STEP_S)
    totp = pyotp.TOTP(secret)
    # all are compared, so that the time reveals nothing
    matching = [here + by for by in WINDOW if hmac.compare_digest(totp.at((here + by) * STEP_S), code)]
    return matching[0] if matching else None


def _recovery_digest(person_id: int, typed: str) -> bytes:
    """Random enough that no secret need be mixed in; so a code outlives every change of secrets."""
    letters = re.sub(r"[\s-]", "", typed[:100]).lower().translate(_LOOK_ALIKES)
    return digest(f"recovery code of {person_id}\n{letters}")


def new_recovery_codes() -> list[str]:
    """Codes as they are shown once: 80 bits each, in groups."""
    letters = ["".join(secrets.choice(_DIGITS) for _ in range(RECOVERY_CHARS)) for _ in range(RECOVERY_CODES)]
    return ["-".join(code[at : at + 4] for at in range(0, RECOVERY_CHARS, 4)) for code in letters]


# Other sessions were opened with a password alone: they end.
_SET_UP = """
WITH changed AS (
    UPDATE {schema}.people SET totp = $2, totp_step = $3 WHERE id = $1 AND totp IS NULL RETURNING id
), gone AS (
    DELETE FROM {schema}.recovery_codes WHERE person_id IN (SELECT id FROM changed)
), ended AS (
    DELETE FROM {schema}.sessions WHERE person_id IN (SELECT id FROM changed) AND id IS DISTINCT FROM $5
), kept AS (
    INSERT INTO {schema}.recovery_codes (person_id, digest) SELECT id, unnest($4::bytea[]) FROM changed
), noted AS (
    {noted} AND EXISTS (SELECT 1 FROM changed)
)
SELECT id FROM changed
""".replace("{noted}", noted("'person.second_factor_on'"))


_RENEW_CODES = """
WITH gone AS (
    DELETE FROM {schema}.recovery_codes WHERE person_id = $1
), noted AS (
    {noted}
)
INSERT INTO {schema}.recovery_codes (person_id, digest) SELECT $1, unnest($2::bytea[])
""".replace("{noted}", noted("'person.recovery_codes'"))

# An operator loses the role and all tokens. Else somebody who knows the password could set up a second factor, and run
# the service.
_TAKE_OFF = """
WITH changed AS (
    UPDATE {schema}.people SET totp = NULL WHERE id = $1 AND totp IS NOT NULL RETURNING id
), gone AS (
    DELETE FROM {schema}.recovery_codes WHERE person_id IN (SELECT id FROM changed)
), desk AS (
    DELETE FROM {schema}.operators WHERE person_id IN (SELECT id FROM changed) RETURNING person_id
), left_desk AS (
    INSERT INTO {schema}.audit (actor_kind, actor_id, action, details)
    SELECT $2::text::{schema}.actor_kind, $3, 'operator.remove', jsonb_build_object('person', person_id) FROM desk
), noted AS (
    {noted} AND EXISTS (SELECT 1 FROM changed)
)
SELECT id FROM changed
""".replace("{noted}", noted("$4::text", by="$2::text::{schema}.actor_kind, $3"))


class SecondFactors:
    """Second factors of people."""

    def __init__(self, postgres: Postgres, secrecy: Secrecy) -> None:
        self._postgres = postgres
        self._secrecy = secrecy

    async def set_up(self, person_id: int, session: int, secret: str, step: int) -> list[str] | None:
        """Ask for codes of this secret from now on; `step` is that of the code that proved it. All sessions but this
        one end. Returns recovery codes, None if there is a second factor already."""
        codes = new_recovery_codes()
        row = await self._postgres.fetchrow(
            _SET_UP,
            person_id,
            self._secrecy.seal(_USE, secret.encode()),
            step,
            [_recovery_digest(person_id, code) for code in codes],
            session,
        )
        return None if row is None else codes

    async def renew_recovery_codes(self, person_id: int) -> list[str]:
        """New ones in place of all that there are."""
        codes = new_recovery_codes()
        kept = [_recovery_digest(person_id, code) for code in codes]
        await self._postgres.fetch(_RENEW_CODES, person_id, kept)
        return codes

    async def recovery_codes_left(self, person_id: int) -> int:
        """How many have not been used."""
        row = await self._postgres.fetchrow(
            "SELECT count(*) AS left FROM {schema}.recovery_codes WHERE person_id = $1 AND used_at IS NULL",
            person_id,
        )
        return 0 if row is None else int(row["left"])

    async def take_off(self, person_id: int, operator: str | None = None) -> bool:
        """Ask for no code any more; by an operator for somebody who lost everything. Whether there was one."""
        action = "person.second_factor_off" if operator is None else "person.second_factor_reset"
        by = ("person", str(person_id)) if operator is None else ("operator", operator)
        row = await self._postgres.fetchrow(_TAKE_OFF, person_id, *by, action)
        return row is not None

    async def reseal(self) -> None:
        """Seal with the newest secret what an older one sealed, so that the older one can be left out."""
        last = 0
        while True:
            rows = await self._postgres.fetch(
                "SELECT id, totp FROM {schema}.people WHERE id > $1 AND totp IS NOT NULL ORDER BY id LIMIT $2",
                last,
                RESEAL_AT_ONCE,
                timeout_ms=RESEAL_TIMEOUT_MS,
            )
            for row in rows:
                last = row["id"]
                secret = self._secrecy.open(_USE, row["totp"])
                if secret is not None and self._secrecy.is_outdated(_USE, row["totp"]):
                    await self._postgres.fetch(
                        "UPDATE {schema}.people SET totp = $2 WHERE id = $1 AND totp = $3",
                        row["id"],
                        self._secrecy.seal(_USE, secret),
                        row["totp"],
                        timeout_ms=RESEAL_TIMEOUT_MS,
                    )
            if len(rows) < RESEAL_AT_ONCE:
                return

    async def is_code(self, person_id: int, typed: str, now_s: float) -> bool:
        """Whether this is a code of the person's authenticator, or a recovery code: either is taken only once."""
        row = await self._postgres.fetchrow(
            "SELECT totp FROM {schema}.people WHERE id = $1 AND totp IS NOT NULL",
            person_id,
        )
        secret = None if row is None else self._secrecy.open(_USE, row["totp"])
        if secret is None:
            return False
        step = step_of(secret.decode(), typed, now_s)
        if step is not None:
            # The statement decides, so that of two with the same code one gets in.
            taken = await self._postgres.fetchrow(
                "UPDATE {schema}.people SET totp_step = $2 WHERE id = $1 AND totp_step < $2 RETURNING id",
                person_id,
                step,
            )
            return taken is not None
        used = await self._postgres.fetchrow(
            "UPDATE {schema}.recovery_codes SET used_at = now()"
            " WHERE person_id = $1 AND digest = $2 AND used_at IS NULL RETURNING person_id",
            person_id,
            _recovery_digest(person_id, typed),
        )
        return used is not None
