"""Operation: people sign in with their company's account. Their groups there decide what they may do here.

A session that began so enters this one account and nothing else of the person: neither other accounts nor the console.
The provider is asked again while it is used, so that who lost a group there loses access here within a minute.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg

from siteglass.errors import Unavailable
from siteglass.people import attempts as tries
from siteglass.people import people, providers
from siteglass.people.openid import OpenId, OpenIdError
from siteglass.people.passwords import Passwords
from siteglass.people.problems import PeopleError
from siteglass.people.providers import CALLBACK, Provider
from siteglass.people.secrecy import Secrecy, bucket, digest, new_token
from siteglass.people.sessions import MAX_AGENT_CHARS, MAX_OF_PERSON, Browser, Session, company_digest
from siteglass.platform.mailer import is_address
from siteglass.platform.postgres import Postgres
from siteglass.web.address import household

STATE_LIFE_S = 600
MAX_STARTS = 300
# Of an hour, from one address.
_HOUR = timedelta(hours=1)
CHECK_AFTER = timedelta(seconds=30)
CHECKED_WITHIN = timedelta(seconds=55)
"""Without an answer of the provider in this time, nobody is let in."""
TURN = timedelta(seconds=15)
"""Longer than a provider is waited for."""
WAIT_S = 0.2
_STATE_USE = "sign-in at a provider"
_REFRESH_USE = "refresh token"
NOT_YOURS = "This sign-in was started elsewhere, or took too long. Start again."

_START = """
WITH person AS (
    SELECT person_id FROM {schema}.provider_people WHERE account_id = $2 AND person_id = $3
), gone AS (
    DELETE FROM {schema}.sessions WHERE id IN (
        SELECT id FROM {schema}.sessions WHERE person_id = $3 AND account_id = $2 AND checked_at IS NOT NULL
        ORDER BY id DESC OFFSET $9
    )
), noted AS (
    INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, details)
    SELECT 'person', person_id::text, 'person.sign_in', $2, jsonb_build_object('person', person_id) FROM person
)
INSERT INTO {schema}.sessions (digest, person_id, account_id, made_at, seen_at, proven_at, agent, address, checked_at,
    refresh_token)
SELECT $1, person_id, $2, now(), now(), $4, $5, $6, $7, $8 FROM person
"""
_TAKE_TURN = """
UPDATE {schema}.sessions SET checking_until = now() + $2::interval
WHERE id = $1 AND checking_until < now() AND checked_at < now() - $3::interval RETURNING refresh_token
"""
_LINK = """
INSERT INTO {schema}.provider_people (account_id, issuer, subject, person_id) VALUES ($1, $2, $3, $4)
"""
_JOIN = """
WITH joined AS (
    INSERT INTO {schema}.members (account_id, person_id, role) VALUES ($1, $2, $3::text::{schema}.role)
    ON CONFLICT DO NOTHING RETURNING person_id
)
INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, details)
SELECT 'person', person_id::text, 'person.join', $1, jsonb_build_object('role', $3::text) FROM joined
"""


@dataclass(frozen=True, slots=True)
class Entered:
    """Somebody who came back from the provider."""

    token: str
    """What the session's cookie holds."""
    next_path: str


class CompanySignIn:
    """Sign-in by providers, of one worker."""

    def __init__(
        self, postgres: Postgres, secrecy: Secrecy, passwords: Passwords, openid: OpenId, public_url: str
    ) -> None:
        self._postgres = postgres
        self._secrecy = secrecy
        self._passwords = passwords
        self._openid = openid
        self._public_url = public_url

    async def start(self, email: str, next_path: str, verifier: str, address: str) -> str:
        """Where somebody with this address signs in; raises PeopleError. The browser keeps the verifier."""
        await self._take("sign-ins at providers from an address", address)
        provider = await providers.for_address(self._postgres, self._secrecy, people.clean_email(email))
        if provider is None:
            raise PeopleError("No company's account is set up for this address. Sign in with your password.", "email")
        return await self._start(provider, next_path, verifier, again=False)

    async def start_again(self, session: Session, next_path: str, verifier: str, address: str) -> str:
        """Where somebody who is signed in proves once more who they are; raises PeopleError."""
        await self._take("sign-ins at providers from an address", address)
        return await self._start(await self._provider(session.account_id), next_path, verifier, again=True)

    async def _take(self, use: str, address: str) -> tries.Attempt:
        return await tries.take(self._postgres, bucket(use, household(address)), most=MAX_STARTS, window=_HOUR)

    async def _start(self, provider: Provider, next_path: str, verifier: str, *, again: bool) -> str:
        expires_s = int(datetime.now(UTC).timestamp()) + STATE_LIFE_S
        values = [provider.account_id, digest(verifier).hex(), next_path[:500]]
        state = self._secrecy.seal_token(_STATE_USE, values, expires_s)
        try:
            return await self._openid.start(provider, self._redirect_uri(provider), state, verifier, again=again)
        except OpenIdError as error:
            raise _refused(error) from None

    def _redirect_uri(self, provider: Provider) -> str:
        return f"{self._public_url}{CALLBACK}/{provider.account_id}"

    async def finish(
        self, account_id: int, state: str, code: str, issuer: str, verifier: str, browser: Browser
    ) -> Entered:
        """Let somebody in who came back; raises PeopleError. A person is made at the first sign-in.

        `account_id`: to whose address they came back; `issuer`: who says that it sent them; empty: it does not say.
        """
        taken = await self._take("ways back from providers to an address", browser.address)
        opened = self._secrecy.open_token(_STATE_USE, state, int(datetime.now(UTC).timestamp()))
        if opened is None or not code or opened[:2] != [account_id, digest(verifier).hex()]:
            raise PeopleError(NOT_YOURS)
        next_path = opened[2]
        provider = await self._provider(account_id)
        try:
            if issuer != provider.issuer and (issuer or await self._openid.names_itself(provider)):
                raise PeopleError(NOT_YOURS)
            tokens = await self._openid.finish(provider, self._redirect_uri(provider), code, verifier)
        except OpenIdError as error:
            raise _refused(error) from None
        role = provider.role_of(tokens.claims.get(provider.groups_claim))
        if role is None:
            known = await self._known(provider, tokens.claims)
            if known is not None:
                await self._leave(provider, known, tokens.claims)
            raise PeopleError("You are in no group that may enter. Ask whoever manages your company's accounts.")
        person_id = await self._person(provider, tokens.claims)
        await self._join(provider, person_id, role)
        token = new_token()
        await self._postgres.fetch(
            _START,
            company_digest(token),
            account_id,
            person_id,
            _proven_at(tokens.claims),
            browser.agent[:MAX_AGENT_CHARS],
            browser.address,
            taken.at,
            self._sealed(tokens.refresh_token),
            MAX_OF_PERSON - 1,
        )
        return Entered(token, next_path)

    async def _provider(self, account_id: int) -> Provider:
        found = await providers.of_account(self._postgres, self._secrecy, account_id)
        if found is None:
            raise PeopleError("This account has no sign-in with a company's account any more.")
        return found

    def _sealed(self, refresh_token: str) -> bytes:
        return self._secrecy.seal(_REFRESH_USE, refresh_token.encode())

    async def _known(self, provider: Provider, claims: dict[str, Any]) -> int | None:
        """The person of a subject."""
        row = await self._postgres.fetchrow(
            "SELECT person_id FROM {schema}.provider_people WHERE account_id = $1 AND issuer = $2 AND subject = $3",
            provider.account_id,
            provider.issuer,
            claims["sub"],
        )
        return None if row is None else int(row["person_id"])

    async def _person(self, provider: Provider, claims: dict[str, Any]) -> int:
        """The person of a subject; at the first sign-in, the one of the address, who may be new."""
        known_id = await self._known(provider, claims)
        if known_id is not None:
            return known_id
        email = people.clean_email(str(claims.get("email", "")))
        if (
            not is_address(email)
            or email.rpartition("@")[2] != provider.email_domain
            or claims.get("email_verified", True) is not True
        ):
            raise PeopleError(
                f"Your company's account sends no verified address at {provider.email_domain}, so nobody knows who you "
                "are. Ask whoever manages it."
            )
        known = await people.find(self._postgres, email)
        person_id = await self._new(email, claims) if known is None else known.id
        try:
            await self._postgres.fetch(_LINK, provider.account_id, provider.issuer, claims["sub"], person_id)
        except asyncpg.UniqueViolationError:
            raise PeopleError(
                "Your company's account is not the one that you had here. Ask the operator of this service:"
                " siteglass sso forget"
            ) from None
        return person_id

    async def _new(self, email: str, claims: dict[str, Any]) -> int:
        """A person whose password nobody knows."""
        try:
            name = people.clean_name(str(claims.get("name", "")))
        except PeopleError:
            name = email.partition("@")[0][: people.MAX_NAME_CHARS]
        row = await self._postgres.fetchrow(
            "INSERT INTO {schema}.people (email, name, password) VALUES ($1, $2, $3)"
            " ON CONFLICT (email) DO UPDATE SET email = excluded.email RETURNING id",
            email,
            name,
            await self._passwords.hash(new_token()),
        )
        assert row is not None  # noqa: S101 - RETURNING gives a row
        return int(row["id"])

    async def _join(self, provider: Provider, person_id: int, role: str) -> None:
        """Belong to the account with the role that the groups give."""
        await self._postgres.fetch(_JOIN, provider.account_id, person_id, role)
        row = await self._postgres.fetchrow(
            "SELECT role::text AS role FROM {schema}.members WHERE account_id = $1 AND person_id = $2",
            provider.account_id,
            person_id,
        )
        if row is not None and row["role"] != role:
            with contextlib.suppress(PeopleError):  # the last owner stays one
                await people.set_role(self._postgres, provider.account_id, person_id, role, people.BY_PROVIDER)

    async def _leave(self, provider: Provider, person_id: int, claims: dict[str, Any]) -> None:
        """Take a person out of the account whose groups give no role. A token that names no groups shows nothing."""
        if provider.groups_claim in claims:
            with contextlib.suppress(PeopleError):  # the last owner stays one, and cannot enter
                await people.remove(self._postgres, provider.account_id, person_id, people.BY_PROVIDER)

    # --- while the session is used ----------------------------------------------------------------

    async def is_unchanged(self, session: Session) -> bool:
        """Whether the provider lets somebody in as before; else the session has ended, or has another role.

        The provider is asked every half a minute. Raises Unavailable if it does not answer within a minute.
        """
        if session.checked_at is None or session.now - session.checked_at < CHECK_AFTER:
            return True
        row = await self._postgres.fetchrow(_TAKE_TURN, session.id, TURN, CHECK_AFTER)
        if row is None:
            return await self._wait(session)
        try:
            return await self._check(session, row["refresh_token"])
        except (Unavailable, PeopleError):
            await self._set(session, "checking_until = '-infinity'")
            if session.now - session.checked_at < CHECKED_WITHIN:
                return True
            raise

    async def _wait(self, session: Session) -> bool:
        """Another request of the session asks."""
        assert session.checked_at is not None  # noqa: S101 - it began at a provider
        if session.now - session.checked_at < CHECKED_WITHIN:
            return True
        for _ in range(int(TURN.total_seconds() / WAIT_S)):
            await asyncio.sleep(WAIT_S)
            row = await self._postgres.fetchrow(
                "SELECT checked_at > now() - $2::interval AS is_checked FROM {schema}.sessions WHERE id = $1",
                session.id,
                CHECKED_WITHIN,
            )
            if row is None or row["is_checked"]:
                return row is not None
        raise Unavailable("the sign-in provider does not answer", has_price=False)

    async def _check(self, session: Session, sealed: bytes) -> bool:
        provider = await providers.of_account(self._postgres, self._secrecy, session.account_id)
        refresh_token = self._secrecy.open(_REFRESH_USE, sealed)
        subject = await self._postgres.fetchrow(
            "SELECT subject FROM {schema}.provider_people WHERE account_id = $1 AND person_id = $2",
            session.account_id,
            session.person_id,
        )
        if provider is None or refresh_token is None or subject is None:
            return await self._end(session)

        async def keep(newer: str) -> None:
            await self._set(session, "refresh_token = $2", self._sealed(newer))

        try:
            claims = await self._openid.refresh(provider, refresh_token.decode(), subject["subject"], keep)
        except OpenIdError:
            return await self._end(session)
        role = provider.role_of(claims.get(provider.groups_claim))
        if role is None:
            await self._leave(provider, session.person_id, claims)
            return await self._end(session)
        await self._join(provider, session.person_id, role)
        await self._set(session, "checked_at = $2, checking_until = '-infinity'", session.now)
        return role == session.role

    async def _end(self, session: Session) -> bool:
        await self._postgres.fetch("DELETE FROM {schema}.sessions WHERE id = $1", session.id)
        return False

    async def _set(self, session: Session, what: str, *values: object) -> None:
        await self._postgres.fetch(f"UPDATE {{schema}}.sessions SET {what} WHERE id = $1", session.id, *values)  # noqa: S608 - our own words


def _proven_at(claims: dict[str, Any]) -> datetime:
    """When somebody last gave their password there; a provider that does not say so proves nothing fresh."""
    said = claims.get("auth_time")
    seconds = said if isinstance(said, (int, float)) and not isinstance(said, bool) else 0
    return min(datetime.now(UTC), datetime.fromtimestamp(max(0, min(seconds, 2**33)), UTC))


def _refused(error: OpenIdError) -> PeopleError:
    return PeopleError(f"Your company's account did not let you in: {error}.")
