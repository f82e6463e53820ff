"""A provider of sign-ins for tests: its own keys, people with groups, and ID tokens that tests may spoil."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, quote, urlsplit

import orjson
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

CLIENT_ID, CLIENT_SECRET = "siteglass", "a secret of the client: with=signs"
Spoil = Callable[[dict[str, Any]], None]


def new_key() -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": secrets.token_hex(4), "use": "sig"})


@dataclass
class Provider:
    """What the provider knows, and what is wrong with it."""

    issuer: str = ""
    key: RSAKey = field(default_factory=new_key)
    published: RSAKey | None = None
    """The key that it publishes, if it signs with another one."""
    keys_status: int = 200
    keys_after_s: float = 0
    """How long it takes to answer what its keys are."""
    people: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Claims by subject."""
    is_away: bool = False
    spoil: Spoil | None = None
    """Changes the claims of ID tokens."""
    algorithm: str = "RS256"
    auth_age_s: int = 0
    names_itself: bool = True
    """Whether it says who it is when it sends somebody back."""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    refresh_tokens: dict[str, str] = field(default_factory=dict)
    refreshed: int = 0

    def enter(self, address: str, subject: str) -> str:
        """What the browser comes back with after somebody signed in at this address: path and query."""
        asked = dict(parse_qsl(urlsplit(address).query))
        assert asked["client_id"] == CLIENT_ID
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(16)
        self.codes[code] = {**asked, "sub": subject}
        back = urlsplit(asked["redirect_uri"])
        names = f"&iss={quote(self.issuer, safe='')}" if self.names_itself else ""
        return f"{back.path}?state={asked['state']}&code={code}{names}"

    def tokens(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """The answer of the token endpoint."""
        nonce = None
        if form["grant_type"] == "authorization_code":
            asked = self.codes.pop(form["code"], None)
            challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=")
            if asked is None or asked["code_challenge"].encode() != challenge:
                return 400, {"error": "invalid_grant"}
            subject, nonce = asked["sub"], asked["nonce"]
        else:
            self.refreshed += 1
            known = self.refresh_tokens.pop(form["refresh_token"], None)  # each works once
            if known is None or known not in self.people:
                return 400, {"error": "invalid_grant"}
            subject = known
        refresh_token = secrets.token_urlsafe(16)
        self.refresh_tokens[refresh_token] = subject
        access = secrets.token_urlsafe(8)
        return 200, {
            "access_token": access, "token_type": "Bearer", "refresh_token": refresh_token,
            "id_token": self.id_token(subject, nonce),
        }  # fmt: skip

    def id_token(self, subject: str, nonce: str | None) -> str:
        now = int(time.time())
        claims: dict[str, Any] = {
            "iss": self.issuer, "aud": CLIENT_ID, "sub": subject, "iat": now, "exp": now + 300,
            "auth_time": now - self.auth_age_s, **self.people[subject],
        }  # fmt: skip
        if nonce:
            claims["nonce"] = nonce
        if self.spoil is not None:
            self.spoil(claims)
        header = {"alg": self.algorithm, "kid": self.key.kid}
        if self.algorithm == "none":
            parts = (orjson.dumps(part) for part in ({"alg": "none"}, claims))
            return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts) + "."
        if self.algorithm == "HS256":  # signed with what everybody knows
            signed = b".".join(base64.urlsafe_b64encode(orjson.dumps(part)).rstrip(b"=") for part in (header, claims))
            mac = hmac.new(self.key.as_pem(private=False), signed, hashlib.sha256).digest()
            return b".".join((signed, base64.urlsafe_b64encode(mac).rstrip(b"="))).decode()
        return jwt.encode(header, claims, self.key)

    def configuration(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer, "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token", "jwks_uri": f"{self.issuer}/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            "authorization_response_iss_parameter_supported": True,
        }  # fmt: skip


@contextlib.contextmanager
def openid_provider() -> Iterator[Provider]:
    """The provider, served on this machine."""
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/.well-known/openid-configuration":
                self._answer(200, provider.configuration())
            else:
                assert self.path == "/keys"
                time.sleep(provider.keys_after_s)
                self._answer(provider.keys_status, KeySet([provider.published or provider.key]).as_dict(private=False))

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            form = {name: values[0] for name, values in parse_qs(self.rfile.read(length).decode()).items()}
            pair = base64.b64decode(self.headers["Authorization"].removeprefix("Basic ")).decode()
            assert pair == f"{CLIENT_ID}:a%20secret%20of%20the%20client%3A%20with%3Dsigns"
            self._answer(*((503, {}) if provider.is_away else provider.tokens(form)))

        def _answer(self, status: int, body: Any) -> None:
            content = orjson.dumps(body)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider.issuer = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()
