"""Values that can be suppressed, in their one form, and the keyed hashes that stand for addresses and phones. Pure.

A hash is HMAC(secret, kind, SHA-256(value)). The inner SHA-256 allows imports of lists that contain such hashes instead
of addresses, as registries of deletion requests do. The outer key keeps our hashes from being reversed by guessing
addresses.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import idna

from siteglass.corpus.domains import NotAHost, normalise
from siteglass.settings import Settings, SettingsError, variable

MIN_SECRET_CHARS = 32
MAX_ADDRESS_CHARS = 320
MIN_PHONE_DIGITS, MAX_PHONE_DIGITS = 6, 15
# The index contains this much of a hash: enough to find a lead; the whole hash decides.
KEY_BYTES = 12

_SHA256 = re.compile(r"(?:(?P<kind>email|phone):)?sha256:(?P<hex>[0-9a-fA-F]{64})")
_ADDRESS = re.compile(r"[^@\s,;<>\"()\[\]:\\]{1,64}@(?:[\w-]{1,63}\.)+[\w-]{2,63}")
_PHONE = re.compile(r"\+?[0-9][0-9\s()./-]{4,30}")
# An extension is not part of the number; nor is the 0 that is omitted after a country code.
_EXTENSION = re.compile(r"(?:ext|x|#|durchwahl|poste|ramal)\.?\s*[0-9]{1,6}\s*$", re.IGNORECASE)
# Mailboxes that ignore dots in their names, and their one name.
_DOTLESS = {"gmail.com": "gmail.com", "googlemail.com": "gmail.com"}


class Kind(StrEnum):
    """What a value is."""

    DOMAIN = "domain"
    EMAIL = "email"
    PHONE = "phone"


class NotAValue(ValueError):
    """The text is not a domain, address or phone; the message says what is expected."""


@dataclass(frozen=True, slots=True)
class Value:
    """A domain, address or phone in its one form, or the SHA-256 of an address or phone."""

    kind: Kind
    text: str
    sha256: bytes | None = None
    spelled: str = ""
    """An address as it was given, which a list of hashes may hold instead of its mailbox."""


def read_value(text: str, kind: Kind | None = None) -> Value:
    """What a text names; raises NotAValue."""
    text = text.strip()
    hashed = _SHA256.fullmatch(text)
    if hashed is not None:
        given = Kind(hashed["kind"]) if hashed["kind"] else kind
        if given is None or given is Kind.DOMAIN or kind not in (None, given):
            raise NotAValue("expected a hash such as email:sha256:<64 hex digits> or phone:sha256:<64 hex digits>")
        return Value(given, "", bytes.fromhex(hashed["hex"]))
    if kind is None:
        kind = Kind.EMAIL if "@" in text else Kind.PHONE if _PHONE.fullmatch(text) else Kind.DOMAIN
    match kind:
        case Kind.EMAIL:
            spelled = spelled_address(text)
            return Value(kind, mailbox(spelled), spelled=spelled)
        case Kind.PHONE:
            return Value(kind, phone_digits(text))
        case Kind.DOMAIN:
            return Value(kind, _domain(text))


def _domain(text: str) -> str:
    try:
        host = normalise(text)
    except NotAHost as error:
        raise NotAValue(f"expected a domain, an address or a phone number: {text[:64]!r} {error}") from None
    bare = host.removeprefix("www.")
    return bare if "." in bare else host


def spelled_address(text: str) -> str:
    """An address in lower case, its host in ASCII; raises NotAValue."""
    address = unicodedata.normalize("NFC", text.strip().lower()).removeprefix("mailto:")
    if len(address) > MAX_ADDRESS_CHARS or not _ADDRESS.fullmatch(address):
        raise NotAValue("expected one address such as anna@example.com")
    name, _, host = address.rpartition("@")
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode("ascii")
        except idna.IDNAError:
            raise NotAValue("expected an address whose host is a domain") from None
    return f"{name}@{host.rstrip('.')}"


def mailbox(spelled: str) -> str:
    """The mailbox of a normalized address: without a tag after +, and without dots where they do not count."""
    name, _, host = spelled.rpartition("@")
    name = name.partition("+")[0] or name
    if host in _DOTLESS:
        name, host = name.replace(".", "") or name, _DOTLESS[host]
    return f"{name}@{host}"


def phone_digits(text: str) -> str:
    """The digits of a phone number, country code first if it has one; raises NotAValue."""
    number = _EXTENSION.sub("", text.replace("(0)", ""))
    # Digits of every script: those of others count as the ones they mean.
    digits = "".join(str(unicodedata.digit(char)) for char in number if char.isdigit()).removeprefix("00")
    if not MIN_PHONE_DIGITS <= len(digits) <= MAX_PHONE_DIGITS:
        raise NotAValue(f"expected a phone number of {MIN_PHONE_DIGITS} to {MAX_PHONE_DIGITS} digits")
    return digits


class Hasher:
    """Makes the keyed hashes. The secret can never change: hashed values cannot be hashed again."""

    def __init__(self, settings: Settings) -> None:
        secret = settings.suppression_secret
        if len(secret) < MIN_SECRET_CHARS:
            raise SettingsError(
                f"{variable('suppression_secret')} must be a secret of at least {MIN_SECRET_CHARS} characters. Keep a "
                "copy: without it nobody on the opt-out list can be recognised."
            )
        key = hashlib.sha256(b"siteglass suppression\n" + secret.encode()).digest().ljust(64, b"\0")
        # The two halves of HMAC-SHA256, started once: starting them each time takes three times as long.
        self._inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in key))
        self._outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in key))

    def proof(self) -> bytes:
        """A check value that distinguishes this secret from another."""
        return self._hmac(b"proof")

    def of_value(self, value: Value) -> bytes:
        """What the list holds of a value: of a domain its name."""
        if value.kind is Kind.DOMAIN:
            return value.text.encode()
        inner = value.sha256 or hashlib.sha256(value.text.encode()).digest()
        return self._keyed(value.kind, inner)

    def pair(self, value: Value) -> tuple[Kind, bytes]:
        """The entry that a value becomes."""
        return value.kind, self.of_value(value)

    def all_of(self, value: Value) -> set[bytes]:
        """Every hash under which a value may be listed."""
        spelled = self.of_address(value.spelled) if value.spelled else ()
        phone = self.of_phone(value.text) if value.kind is Kind.PHONE and value.text else ()
        return {self.of_value(value), *spelled, *phone}

    def of_address(self, address: str) -> Iterator[bytes]:
        """Every hash under which an address may be listed: of its mailbox, and of the address as written."""
        try:
            spelled = spelled_address(address)
        except NotAValue:
            return
        yield self._keyed(Kind.EMAIL, hashlib.sha256(spelled.encode()).digest())
        box = mailbox(spelled)
        if box != spelled:
            yield self._keyed(Kind.EMAIL, hashlib.sha256(box.encode()).digest())

    def of_phone(self, phone: str) -> Iterator[bytes]:
        """The hash under which a phone may be listed, with and without the sign of a country code in front."""
        try:
            digits = phone_digits(phone)
        except NotAValue:
            return
        for text in (digits, f"+{digits}"):
            yield self._keyed(Kind.PHONE, hashlib.sha256(text.encode()).digest())

    def _keyed(self, kind: Kind, inner: bytes) -> bytes:
        return self._hmac(kind.encode() + inner)

    def _hmac(self, message: bytes) -> bytes:
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(message)
        outer.update(inner.digest())
        return outer.digest()


def index_key(hashed: bytes) -> str:
    """The key in the index for a hash."""
    return urlsafe_b64encode(hashed[:KEY_BYTES]).decode()


def site_key(site: str) -> str:
    """The key in the index of a lead that belongs to this site."""
    return f"site:{site}"
