"""Encrypts and hashes sign-in data. Every use has a separate key. No I/O."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from typing import Any

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from siteglass.platform.sealed import read_sealed, spell_sealed
from siteglass.settings import SettingsError, variable

MIN_SECRET_CHARS = 32
MAX_SECRETS = 2
MAX_TOKEN_CHARS = 1_024
TOKEN_BYTES = 32


def new_token() -> str:
    """A text of 256 random bits that lets somebody in: a session, a mailed link."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def digest(token: str) -> bytes:
    """What is stored of such a text. It is random enough that no secret need be mixed in."""
    return hashlib.sha256(token.encode()).digest()


def bucket(use: str, text: str) -> bytes:
    """What something is counted under: of one length, whatever it stands for."""
    return digest(f"{use}\n{text}")


class Secrecy:
    """The secrets of the settings at work, newest first: the newest seals, any opens."""

    def __init__(self, given: Sequence[str]) -> None:
        if not 1 <= len(given) <= MAX_SECRETS or any(len(secret) < MIN_SECRET_CHARS for secret in given):
            raise SettingsError(
                f"{variable('dashboard_secrets')} must be one or two secrets of at least {MIN_SECRET_CHARS} characters "
                "each, comma-separated, newest first."
            )
        self._secrets = [secret.encode() for secret in given]

    def seal(self, use: str, content: bytes) -> bytes:
        """The bytes, for one use only."""
        nonce = secrets.token_bytes(12)
        return AESSIV(self._key(use, self._secrets[0])).encrypt(nonce + content, [use.encode()])

    def open(self, use: str, sealed: bytes) -> bytes | None:
        """The bytes that were sealed for this use, None if these were not."""
        for secret in self._secrets:
            try:
                return AESSIV(self._key(use, secret)).decrypt(sealed, [use.encode()])[12:]
            except InvalidTag:
                continue
        return None

    def seal_token(self, use: str, values: list[Any], expires_s: int) -> str:
        """Values that a form carries and nobody reads or changes, until they expire."""
        return spell_sealed(self.seal(use, orjson.dumps([expires_s, *values])))

    def open_token(self, use: str, token: str, now_s: int) -> list[Any] | None:
        """The values; None if it was not issued by this service or has expired."""
        sealed = read_sealed(token, MAX_TOKEN_CHARS)
        content = None if sealed is None else self.open(use, sealed)
        if content is None:
            return None
        expires_s, *values = orjson.loads(content)
        return values if now_s < expires_s else None

    def form_token(self, cookie: str) -> str:
        """What a form must carry beside this cookie: who cannot read our pages cannot know it."""
        return self._form_tokens(cookie)[0]

    def is_form_token(self, cookie: str, token: str) -> bool:
        """Whether the form came from a page that we made for the bearer of this cookie."""
        return any(hmac.compare_digest(made.encode(), token.encode()) for made in self._form_tokens(cookie))

    def is_outdated(self, use: str, sealed: bytes) -> bool:
        """Whether an older secret sealed it."""
        try:
            AESSIV(self._key(use, self._secrets[0])).decrypt(sealed, [use.encode()])
        except InvalidTag:
            return True
        return False

    def _form_tokens(self, cookie: str) -> list[str]:
        made = (hmac.new(self._key("form", secret), cookie.encode(), hashlib.sha256) for secret in self._secrets)
        return [base64.urlsafe_b64encode(one.digest()).rstrip(b"=").decode() for one in made]

    @staticmethod
    def _key(use: str, secret: bytes) -> bytes:
        return hashlib.sha512(b"siteglass-dashboard-1 " + use.encode() + b"\0" + secret).digest()
