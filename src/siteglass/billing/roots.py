"""Signed roots: what ledger and audit log were on a day, in a form that anybody can check who has the public key.

A line is JSON, a blank and the Ed25519 signature of exactly these bytes in hexadecimal. Each root names the hash of
the one before. It has the heads of the accounts whose ledger grew since: row number, hash of that row, and the sums up
to it. A sealed row is known by its number, so charges that are settled later, by new rows, change nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from siteglass.access.audit_chain import AuditHead
from siteglass.settings import Settings, SettingsError, variable

ROOT, HEAD = "root 1", "head 1"
FIRST_PREVIOUS = "0" * 64

_LINE = re.compile(r"(\{.*\}) ([0-9a-f]{128})")
_SECRET = re.compile(r"[0-9a-fA-F]{64}")
_KEY = re.compile(rf"(?:public:)?{_SECRET.pattern}")


class RootError(ValueError):
    """A root is not what was signed; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Head:
    """The ledger of an account up to a row."""

    seq: int
    hash: str
    api: int
    lead: int


@dataclass(frozen=True, slots=True)
class Root:
    """One day of ledger and audit log."""

    number: int
    at: str
    audit: AuditHead
    heads: dict[int, Head]
    """By account: those that changed since the root before."""
    line: str

    @property
    def hash(self) -> str:
        """What the next root names as the one before."""
        return hashlib.sha256(self.line.encode()).hexdigest()


class RootKeys:
    """The keys of these settings: the first signs, and signatures of all are accepted. Of the others, the public key
    suffices."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(keys[0]))
        self._accepted = [_public_key(key) for key in keys]

    @property
    def public(self) -> str:
        """What everybody may know, and needs to check what the first key signs."""
        return self._key.public_key().public_bytes_raw().hex()

    def sign_root(self, at: datetime, audit: AuditHead, heads: dict[int, Head], before: Root | None) -> Root:
        """The root that follows `before`."""
        number = 1 if before is None else before.number + 1
        text = self._sign(
            {
                "siteglass": ROOT,
                "number": number,
                "at": at.isoformat(timespec="seconds"),
                "previous": FIRST_PREVIOUS if before is None else before.hash,
                "audit": [audit.last_id, audit.rows, audit.hash.hex()],
                "accounts": [[account, head.seq, head.hash, head.api, head.lead] for account, head in heads.items()],
            }
        )
        return _root(text, orjson.loads(text.rpartition(" ")[0]))

    def sign_head(self, root: Root, account_id: int, head: Head) -> str:
        """What the account gets with its statements."""
        return self._sign(_head_values(root, account_id, head))

    def is_head(self, line: str, root: Root, account_id: int, head: Head) -> bool:
        """Whether a line is the signed head of an account in a root."""
        text, _, signature = line.rpartition(" ")
        return text.encode() == orjson.dumps(_head_values(root, account_id, head)) and self._is_signed(text, signature)

    def _sign(self, values: dict[str, Any]) -> str:
        text = orjson.dumps(values)
        return f"{text.decode()} {self._key.sign(text).hex()}"

    def read_roots(self, text: str, roots: Iterable[Root] = ()) -> list[Root]:
        """The roots of a file or table, after those that are known; raises RootError at the first that does not follow.

        A line that a crash cut is passed over: if a root is lost with it, the next one does not follow.
        """
        read = list(roots)
        for line in text.splitlines():
            if (parts := _LINE.fullmatch(line)) is None:
                continue
            expected = len(read) + 1
            if not self._is_signed(parts[1], parts[2]):
                raise RootError(f"root {expected}: its signature is not of a key in {variable('root_keys')}")
            values = orjson.loads(parts[1])
            if values.get("siteglass") != ROOT:
                raise RootError(f"root {expected}: is not a root")
            if values["number"] != expected or values["previous"] != (read[-1].hash if read else FIRST_PREVIOUS):
                raise RootError(f"root {expected}: is missing, or root {values['number']} does not follow it")
            read.append(_root(line, values))
        return read

    def _is_signed(self, text: str, signature: str) -> bool:
        for key in self._accepted:
            try:
                key.verify(bytes.fromhex(signature), text.encode())
            except (InvalidSignature, ValueError):
                continue
            return True
        return False


def _public_key(key: str) -> Ed25519PublicKey:
    prefix, _, digits = key.rpartition(":")
    content = bytes.fromhex(digits)
    if prefix:
        return Ed25519PublicKey.from_public_bytes(content)
    return Ed25519PrivateKey.from_private_bytes(content).public_key()


def _head_values(root: Root, account_id: int, head: Head) -> dict[str, Any]:
    return {
        "siteglass": HEAD, "account": account_id, "row": head.seq, "hash": head.hash,
        "api_credits": head.api, "lead_credits": head.lead, "root": root.number, "at": root.at,
    }  # fmt: skip


def _root(line: str, values: dict[str, Any]) -> Root:
    last_id, rows, audit_hash = values["audit"]
    heads = {account: Head(*head) for account, *head in values["accounts"]}
    return Root(values["number"], values["at"], AuditHead(last_id, rows, bytes.fromhex(audit_hash)), heads, line)


def newest_heads(roots: Iterable[Root]) -> dict[int, Head]:
    """The last head of each account."""
    newest: dict[int, Head] = {}
    for root in roots:
        newest.update(root.heads)
    return newest


def read_file(keys: RootKeys, path: Path) -> list[Root]:
    """The roots of a file, none if it is not there yet; raises RootError and OSError."""
    return keys.read_roots(path.read_text(encoding="utf-8")) if path.exists() else []


def open_root_keys(settings: Settings) -> RootKeys | None:
    """The keys of these settings, if they are set; raises SettingsError."""
    if not settings.root_keys and not settings.root_file:
        return None
    keys = settings.root_keys
    if not keys or not _SECRET.fullmatch(keys[0]) or not all(map(_KEY.fullmatch, keys)):
        raise SettingsError(
            f"{variable('root_keys')}: expected 64 hexadecimal digits, as `openssl rand -hex 32` makes them. After the "
            "first, `public:` and a public key may follow."
        )
    if not settings.root_file:
        raise SettingsError(
            f"{variable('root_keys')} is set, but {variable('root_file')} is not: name the file that roots are "
            "appended to."
        )
    return RootKeys(settings.root_keys)
