"""The form of an API key: `sg_live_` or `sg_test_`, 30 base62 characters, and 6 of checksum. Pure, no look-up.

The checksum is the CRC32 of everything before it, in base62, as in GitHub's tokens. Typos and made-up keys are
recognised without a look-up, and a scanner can distinguish a real key from noise.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import string
import zlib

LIVE = "sg_live_"
TEST = "sg_test_"
RANDOM_CHARS = 30
CHECKSUM_CHARS = 6

_DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_FORM = re.compile(rf"(?:{LIVE}|{TEST})[0-9A-Za-z]{{{RANDOM_CHARS + CHECKSUM_CHARS}}}", re.ASCII)


def checksum(text: str) -> str:
    """CRC32 of the text in six base62 characters."""
    left = zlib.crc32(text.encode())
    digits = []
    for _ in range(CHECKSUM_CHARS):
        left, digit = divmod(left, 62)
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))


def make_key(*, test: bool = False) -> str:
    """A new key; 178 random bits."""
    text = (TEST if test else LIVE) + "".join(secrets.choice(_DIGITS) for _ in range(RANDOM_CHARS))
    return text + checksum(text)


def is_well_formed(presented: str) -> bool:
    """Whether this can be a key at all; some microseconds, no query."""
    return (
        _FORM.fullmatch(presented) is not None and checksum(presented[:-CHECKSUM_CHARS]) == presented[-CHECKSUM_CHARS:]
    )


def digest(secret: bytes, key: str) -> bytes:
    """What is stored instead of the key. A fast hash is right: the key has 178 random bits, not a person's choice."""
    return hmac.digest(secret, key.encode(), "sha256")


def secret_version(secret: bytes) -> str:
    """A short name of a secret, from which the secret cannot be derived. It shows which keys need which secret."""
    return hashlib.sha256(b"siteglass key secret " + secret).hexdigest()[:8]
