"""OpenID Connect with one provider: discovery, authorization code with PKCE, tokens, keys, and claims of ID tokens.

Whatever a provider sends is bounded and untrusted. Connections pass the guard of outgoing connections, and follow no
redirects.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import aiohttp
import orjson
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from siteglass.errors import Unavailable
from siteglass.people.providers import Provider
from siteglass.platform.outgoing import Guard

TIMEOUT_S = 5.0
MAX_BYTES = 200_000
READ_AGAIN_S = 600.0
KEYS_AGAIN_S = 10.0
"""A token with an unknown key has the keys read again, but not more often than this."""
LEEWAY_S = 60
# Signatures with a public key: never none, and no HMAC, whose key would be one that others know.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class OpenIdError(Exception):
    """The provider refuses somebody, or what it says cannot be trusted; the message says why."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """What the provider says of a person now, and what it is asked with the next time."""

    claims: dict[str, Any]
    refresh_token: str


@dataclass(slots=True)
class _Known:
    """What was read of an issuer, and when."""

    endpoints: dict[str, Any]
    read_at: float
    keys: KeySet | None = None
    keys_read_at: float = field(default=float("-inf"))
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Of those who need the keys at once, one reads them, and the others use what it read."""


def nonce_of(verifier: str) -> str:
    """The nonce of a sign-in: only who has the verifier knows it."""
    return hashlib.sha256(b"nonce " + verifier.encode()).hexdigest()


class OpenId:
    """Talks to the providers of all accounts; one per worker."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._known: dict[str, _Known] = {}

    async def start(self, provider: Provider, redirect_uri: str, state: str, verifier: str, *, again: bool) -> str:
        """Where somebody signs in. `again`: also if they are signed in there."""
        known = await self._discover(provider)
        asked = {
            "response_type": "code",
            "client_id": provider.client_id,
            "redirect_uri": redirect_uri,
            "scope": provider.scopes,
            "state": state,
            "nonce": nonce_of(verifier),
            "code_challenge": create_s256_code_challenge(verifier),
            "code_challenge_method": "S256",
            **({"prompt": "login", "max_age": "0"} if again else {}),
        }
        address = self._endpoint(known, "authorization_endpoint")
        return f"{address}{'&' if '?' in address else '?'}{urlencode(asked)}"

    async def names_itself(self, provider: Provider) -> bool:
        """Whether the provider says who it is whenever it sends somebody back (RFC 9207)."""
        known = await self._discover(provider)
        return known.endpoints.get("authorization_response_iss_parameter_supported") is True

    async def finish(self, provider: Provider, redirect_uri: str, code: str, verifier: str) -> Tokens:
        """What the provider says of somebody who came back with this code."""
        given = await self._ask_token(
            provider,
            {
                "grant_type": "authorization_code",
                "code": code,
                "redirect_uri": redirect_uri,
                "code_verifier": verifier,
            },
        )
        if not isinstance(given.get("refresh_token"), str):
            raise OpenIdError("it sends no refresh token; the scope offline_access may be missing")
        return Tokens(await self._claims(provider, given, nonce_of(verifier)), given["refresh_token"])

    async def refresh(
        self, provider: Provider, refresh_token: str, subject: str, keep: Callable[[str], Awaitable[None]]
    ) -> dict[str, Any]:
        """What the provider says now of a person who signed in before. `keep` stores what it is asked with the next
        time: at many providers each refresh token works once, also if the ID token cannot be checked now."""
        given = await self._ask_token(provider, {"grant_type": "refresh_token", "refresh_token": refresh_token})
        if isinstance(given.get("refresh_token"), str):
            await keep(given["refresh_token"])
        claims = await self._claims(provider, given, None)
        if claims["sub"] != subject:
            raise OpenIdError("its token is another person's")
        return claims

    # --- tokens -----------------------------------------------------------------------------------

    async def _ask_token(self, provider: Provider, form: dict[str, str]) -> dict[str, Any]:
        known = await self._discover(provider)
        methods = known.endpoints.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        headers = {}
        if isinstance(methods, list) and "client_secret_basic" not in methods:
            form |= {"client_id": provider.client_id, "client_secret": provider.client_secret}
        else:
            pair = f"{quote(provider.client_id, safe='')}:{quote(provider.client_secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        status, given = await self._send("POST", self._endpoint(known, "token_endpoint"), form, headers)
        if status in (400, 401, 403):
            raise OpenIdError(f"it answers {str(given.get('error', status))[:40]!r}")
        if status != 200:
            raise Unavailable(f"the sign-in provider of account {provider.account_id} answers {status}")
        return given

    async def _claims(self, provider: Provider, given: dict[str, Any], nonce: str | None) -> dict[str, Any]:
        """The claims of an ID token: issued by the provider, for us, now, to this sign-in."""
        encoded = given.get("id_token")
        if not isinstance(encoded, str):
            raise OpenIdError("it sends no ID token")
        token = await self._decode(provider, encoded)
        claims = CodeIDToken(
            token.claims,
            token.header,
            {"iss": {"essential": True, "value": provider.issuer}, "aud": {"value": provider.client_id}},
            {"client_id": provider.client_id, "nonce": nonce, "access_token": given.get("access_token")},
        )
        try:
            claims.validate(int(time.time()), LEEWAY_S)
        except (JoseError, TypeError, ValueError) as error:
            raise OpenIdError(f"its ID token is not valid ({_words(error)})") from None
        if not isinstance(claims["sub"], str) or not claims["sub"]:
            raise OpenIdError("its ID token has no subject")
        return dict(token.claims)

    async def _decode(self, provider: Provider, encoded: str) -> jwt.Token:
        """The token, if the provider signed it. Raises Unavailable while its keys may be others than those we know."""
        known, began = await self._discover(provider), time.monotonic()
        async with known.reading:
            if known.keys is None:
                await self._read_keys(provider, known)
            try:
                return _decoded(encoded, known)
            except OpenIdError:
                if known.keys_read_at >= began:
                    raise
            await self._read_keys(provider, known)
            return _decoded(encoded, known)

    # --- documents --------------------------------------------------------------------------------

    async def _discover(self, provider: Provider) -> _Known:
        known = self._known.get(provider.issuer)
        if known is None or time.monotonic() - known.read_at > READ_AGAIN_S:
            check_address(provider.issuer)
            status, given = await self._send("GET", f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration")
            if status != 200 or "issuer" not in given:  # such as a page about maintenance
                raise Unavailable(f"the sign-in provider of account {provider.account_id} answers {status}")
            if given.get("issuer") != provider.issuer:
                raise OpenIdError("its configuration is that of another issuer")
            known = self._known[provider.issuer] = _Known(given, time.monotonic())
        return known

    async def _read_keys(self, provider: Provider, known: _Known) -> None:
        of_account = f"of the sign-in provider of account {provider.account_id}"
        if time.monotonic() - known.keys_read_at <= KEYS_AGAIN_S:
            raise Unavailable(f"the keys {of_account} were read just now")
        known.keys_read_at = time.monotonic()
        status, given = await self._send("GET", self._endpoint(known, "jwks_uri"))
        try:
            if status == 200:
                known.keys = KeySet.import_key_set(given)  # type: ignore[arg-type]  # it checks what it is given
                return
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise Unavailable(f"the keys {of_account} cannot be read ({_words(error)})") from None
        raise Unavailable(f"the keys {of_account} cannot be read ({status})")

    def _endpoint(self, known: _Known, name: str) -> str:
        address = known.endpoints.get(name)
        if not isinstance(address, str):
            raise OpenIdError(f"its configuration has no {name}")
        check_address(address)
        return address

    async def _send(
        self, method: str, address: str, form: dict[str, str] | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, Any]]:
        connector = aiohttp.TCPConnector(socket_factory=self._guard.socket_factory())
        timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
        sent = {"Accept": "application/json", **(headers or {})}
        try:
            async with (
                aiohttp.ClientSession(connector=connector, trust_env=False, timeout=timeout) as session,
                session.request(method, address, data=form, headers=sent, allow_redirects=False) as answer,
            ):
                body = await answer.content.read(MAX_BYTES + 1)
                while len(body) <= MAX_BYTES and (more := await answer.content.read(MAX_BYTES)):
                    body += more
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise Unavailable(f"a sign-in provider cannot be reached ({type(error).__name__})") from None
        try:
            given = orjson.loads(body) if len(body) <= MAX_BYTES else None
        except orjson.JSONDecodeError:
            given = None
        return answer.status, given if isinstance(given, dict) else {}


def check_address(address: str) -> None:
    """Raise OpenIdError unless it is encrypted, or of this machine."""
    parts = urlsplit(address)
    if not parts.hostname or not (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)):
        raise OpenIdError(f"its address must begin with https: {address[:200]}")


def _decoded(encoded: str, known: _Known) -> jwt.Token:
    assert known.keys is not None  # noqa: S101 - they were read
    try:
        return jwt.decode(encoded, known.keys, algorithms=ALGORITHMS)
    except (JoseError, ValueError, TypeError) as error:
        raise OpenIdError(f"its ID token is not valid ({_words(error)})") from None


def _words(error: Exception) -> str:
    """What is wrong with a token, without what is in it."""
    return f"{type(error).__name__} {getattr(error, 'claim', '') or ''}".strip()
