"""The providers by which people of accounts sign in with their company's account: statements on `sign_in_providers`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import asyncpg
import orjson

from siteglass.people.people import ROLES
from siteglass.people.problems import PeopleError
from siteglass.people.secrecy import Secrecy
from siteglass.platform.postgres import Postgres

CALLBACK = "/dashboard/sign-in/company/back"
"""Where providers send people back to; the number of the account follows. So what the provider of another account sends
comes back elsewhere, and cannot pass for this one's."""
_SECRET_USE = "client secret of a provider"  # noqa: S105 - a name


@dataclass(frozen=True, slots=True)
class Provider:
    """How people of one account sign in with their company's account."""

    account_id: int
    email_domain: str
    issuer: str
    client_id: str
    client_secret: str
    scopes: str
    groups_claim: str
    roles: Mapping[str, str]
    """Role by group."""
    required: bool

    def role_of(self, groups: object) -> str | None:
        """The highest role that the groups of a person give; None: they may not enter."""
        names = groups if isinstance(groups, list) else [groups]
        given = [self.roles[name] for name in names if isinstance(name, str) and name in self.roles]
        return max(given, key=[*map(str, ROLES)].index, default=None)


_COLUMNS = "account_id, email_domain, issuer, client_id, client_secret, scopes, groups_claim, roles, required"


async def for_address(postgres: Postgres, secrecy: Secrecy, email: str) -> Provider | None:
    """The provider of people with such an address."""
    row = await postgres.fetchrow(
        f"SELECT {_COLUMNS} FROM {{schema}}.sign_in_providers JOIN {{schema}}.accounts a ON a.id = account_id"  # noqa: S608 - our own words
        " WHERE email_domain = $1 AND a.state IN ('active', 'suspended')",
        email.rpartition("@")[2],
    )
    return None if row is None else _provider(secrecy, row)


async def of_account(postgres: Postgres, secrecy: Secrecy, account_id: int) -> Provider | None:
    """The provider of an account."""
    row = await postgres.fetchrow(
        f"SELECT {_COLUMNS} FROM {{schema}}.sign_in_providers WHERE account_id = $1",  # noqa: S608 - our own words
        account_id,
    )
    return None if row is None else _provider(secrecy, row)


async def is_any(postgres: Postgres) -> bool:
    """Whether some account has a provider."""
    return bool(await postgres.fetch("SELECT FROM {schema}.sign_in_providers LIMIT 1"))


def _provider(secrecy: Secrecy, row: asyncpg.Record) -> Provider:
    secret = secrecy.open(_SECRET_USE, row["client_secret"])
    if secret is None:
        raise PeopleError(
            "The secret of this account's provider was encrypted with other dashboard_secrets. Ask the operator of "
            "this service to set it again: siteglass sso set"
        )
    values = {**row, "client_secret": secret.decode(), "roles": orjson.loads(row["roles"])}
    return Provider(**values)


_SET = """
WITH made AS (
    INSERT INTO {schema}.sign_in_providers AS s (account_id, email_domain, issuer, client_id, client_secret, scopes,
        groups_claim, roles, required)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8::text::jsonb, $9)
    ON CONFLICT (account_id) DO UPDATE SET email_domain = excluded.email_domain, issuer = excluded.issuer,
        client_id = excluded.client_id, client_secret = excluded.client_secret, scopes = excluded.scopes,
        groups_claim = excluded.groups_claim, roles = excluded.roles, required = excluded.required
    RETURNING *
), strangers AS (
    -- Another provider, or the same to another client, may know the same people by other subjects.
    DELETE FROM {schema}.provider_people w USING {schema}.sign_in_providers before
    WHERE w.account_id = $1 AND before.account_id = $1 AND (before.issuer, before.client_id) <> ($3::text, $4::text)
), ended AS (
    DELETE FROM {schema}.sessions WHERE account_id = $1 AND checked_at IS NOT NULL
)
INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, details)
SELECT 'operator', $10, 'provider.set', account_id, to_jsonb(made) - 'client_secret' FROM made
"""


async def set_provider(postgres: Postgres, secrecy: Secrecy, provider: Provider, *, actor: str) -> None:
    """Let people of an account sign in with their company's account, or in another way; ends such sessions."""
    try:
        await postgres.fetch(
            _SET,
            provider.account_id,
            provider.email_domain,
            provider.issuer,
            provider.client_id,
            secrecy.seal(_SECRET_USE, provider.client_secret.encode()),
            provider.scopes,
            provider.groups_claim,
            orjson.dumps(dict(provider.roles)).decode(),
            provider.required,
            actor,
        )
    except asyncpg.ForeignKeyViolationError:
        raise PeopleError(
            f"There is no account {provider.account_id}. `siteglass account list` lists the accounts."
        ) from None
    except asyncpg.UniqueViolationError:
        raise PeopleError(
            f"Another account has the domain {provider.email_domain}. `siteglass sso remove` frees it."
        ) from None


_REMOVE = """
WITH gone AS (
    DELETE FROM {schema}.sign_in_providers WHERE account_id = $1 RETURNING account_id
), people AS (
    DELETE FROM {schema}.provider_people WHERE account_id = $1
), ended AS (
    DELETE FROM {schema}.sessions WHERE account_id = $1 AND checked_at IS NOT NULL
)
INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id)
SELECT 'operator', $2, 'provider.remove', account_id FROM gone RETURNING id
"""


async def remove_provider(postgres: Postgres, account_id: int, *, actor: str) -> None:
    """Let people of an account sign in with a password only."""
    if await postgres.fetchrow(_REMOVE, account_id, actor) is None:
        raise PeopleError(f"Account {account_id} has no provider.")


_FORGET = """
WITH gone AS (
    DELETE FROM {schema}.provider_people w USING {schema}.people p
    WHERE w.account_id = $1 AND w.person_id = p.id AND p.email = $2 RETURNING w.person_id
), ended AS (
    DELETE FROM {schema}.sessions s USING gone
    WHERE s.account_id = $1 AND s.person_id = gone.person_id AND s.checked_at IS NOT NULL
)
INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, details)
SELECT 'operator', $3, 'person.provider_forget', $1, jsonb_build_object('person', person_id) FROM gone RETURNING id
"""


async def forget_person(postgres: Postgres, account_id: int, email: str, *, actor: str) -> None:
    """Let somebody whom the provider knows by another identifier now sign in there as the same person."""
    if await postgres.fetchrow(_FORGET, account_id, email, actor) is None:
        raise PeopleError(f"Nobody with this address signs in to account {account_id} with a company's account.")
