"""Tickets: a request of a person, sealed, so that nothing about it is stored until it is proven. No I/O.

A ticket is base64url(AES-SIV(JSON)) as a cursor is. The emailed code and the DNS token are keyed hashes of the ticket:
each belongs to one ticket, and neither can be derived from it. Every use has its own key.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from siteglass.platform.sealed import read_sealed, spell_sealed

MAX_TICKET_CHARS = 1_024
MIN_SECRET_CHARS = 32
NONCE_BYTES = 12
# 60 bits in 12 characters, and 130 bits in 26.
CODE_CHARS = 12
CODE_GROUP_CHARS = 4
TOKEN_CHARS = 26
TOKEN_START = "siteglass-proof="  # noqa: S105 - it stands before a token in public

FORMAT = b"siteglass-ticket-1"
_CODE = b"siteglass-ticket-code-1"
_TOKEN = b"siteglass-ticket-token-1"
_BUCKET = b"siteglass-ticket-bucket-1"

# Base32 without the letters that look like digits; what is typed for them is taken as them.
_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LOOK_ALIKES = str.maketrans("OIL", "011")


class Purpose(StrEnum):
    """What a person asks for."""

    OPT_OUT = "opt_out"
    ACCESS = "access"


class NotATicket(ValueError):
    """The text is not a ticket of this service, or one that has expired; the message says which."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A request: what is asked for, for which value, and until when it can be proven."""

    purpose: Purpose
    kind: str
    text: str
    expires_s: int


@dataclass(frozen=True, slots=True)
class OpenedTicket:
    """A ticket, and what proves it."""

    ticket: Ticket
    code: str
    """As it is mailed, in groups."""
    token: str
    """As it is published in DNS or on the site."""

    def is_code(self, typed: str) -> bool:
        """Whether that is the code, in capitals or not, with whatever between its groups."""
        letters = re.sub(r"[\s-]", "", typed).upper().translate(_LOOK_ALIKES)
        return hmac.compare_digest(letters.encode(), self.code.replace("-", "").encode())


class TicketSealer:
    """Seals and opens tickets with the newest secret first; an older one still opens."""

    def __init__(self, given: Sequence[str]) -> None:
        if not given or any(len(secret) < MIN_SECRET_CHARS for secret in given):
            raise ValueError(f"at least one secret of {MIN_SECRET_CHARS} characters or more is required")
        self._secrets = [secret.encode() for secret in given]
        self._keys = [AESSIV(_key(FORMAT, secret)) for secret in self._secrets]

    def seal(self, ticket: Ticket) -> str:
        """A new ticket; two of the same request differ."""
        nonce = base64.b64encode(secrets.token_bytes(NONCE_BYTES)).decode()
        payload = orjson.dumps([ticket.purpose, ticket.kind, ticket.text, ticket.expires_s, nonce])
        return spell_sealed(self._keys[0].encrypt(payload, [FORMAT]))

    def open(self, text: str, now_s: int) -> OpenedTicket:
        """The ticket and its proofs; raises NotATicket."""
        sealed = read_sealed(text, MAX_TICKET_CHARS)
        if sealed is None:
            raise NotATicket("is not a ticket of this service")
        for key, secret in zip(self._keys, self._secrets, strict=True):
            try:
                payload = key.decrypt(sealed, [FORMAT])
            except InvalidTag:
                continue
            purpose, kind, value, expires_s, _ = orjson.loads(payload)
            if now_s >= expires_s:
                raise NotATicket("has expired")
            code = _encoded(_key(_CODE, secret), sealed, CODE_CHARS)
            groups = (code[at : at + CODE_GROUP_CHARS] for at in range(0, CODE_CHARS, CODE_GROUP_CHARS))
            token = TOKEN_START + _encoded(_key(_TOKEN, secret), sealed, TOKEN_CHARS)
            return OpenedTicket(Ticket(Purpose(purpose), kind, value, expires_s), "-".join(groups), token)
        raise NotATicket("is not a ticket of this service")

    def bucket(self, text: str) -> str:
        """A name for a value or a ticket in the rate limit, which does not reveal the value."""
        return hmac.new(_key(_BUCKET, self._secrets[0]), text.encode(), hashlib.sha256).hexdigest()[:32]


def _key(use: bytes, secret: bytes) -> bytes:
    return hashlib.sha512(use + secret).digest()


def _encoded(key: bytes, sealed: bytes, chars: int) -> str:
    """Five bits of a keyed hash for each character."""
    number = int.from_bytes(hmac.new(key, sealed, hashlib.sha256).digest())
    return "".join(_DIGITS[number >> 5 * at & 31] for at in range(chars))
