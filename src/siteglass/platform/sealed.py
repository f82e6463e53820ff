"""Encrypted bytes in a path or a body: base64url without padding, with exactly one valid form."""

from __future__ import annotations

import base64
import binascii
import re

# AES-SIV puts its tag before what it seals: what is no longer holds nothing.
TAG_BYTES = 16

_ALPHABET = re.compile(r"[A-Za-z0-9_-]+")


def spell_sealed(sealed: bytes) -> str:
    """The bytes as text."""
    return base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()


def read_sealed(text: str, most_chars: int) -> bytes | None:
    """The bytes of a text; None if this service cannot have issued it."""
    if len(text) > most_chars or not _ALPHABET.fullmatch(text):
        return None
    try:
        sealed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return None
    # Unused bits of the last character would let several texts stand for the same bytes.
    return sealed if len(sealed) > TAG_BYTES and spell_sealed(sealed) == text else None
