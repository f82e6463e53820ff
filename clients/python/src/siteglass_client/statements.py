"""Compares statements (the ledger as CSV) with signed heads, offline: nothing but the public key is trusted.

A signed head is what the service was on a day: a row number, the hash of that row, and the sums up to it. Each hash
covers all rows before it, so a row that was changed later, or taken out, changes the hash or the sums.
"""

from __future__ import annotations

import csv
import importlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from siteglass_client.errors import MissingExtra, SiteglassError

# Of a file that has other text, too: the head of a response as curl writes it.
_HEAD = re.compile(r'(\{"siteglass":"head 1",.*\}) ([0-9a-f]{128})$')
_KEY = re.compile(r"[0-9a-fA-F]{64}")
_COMPARED = ("at", "kind", "operation", "api_credits", "lead_credits", "request_id", "expires_at", "refers_to", "hash")


class StatementError(SiteglassError):
    """A file is not a statement or a signed head, or is not signed with this key."""


@dataclass(frozen=True)
class SignedHead:
    """The ledger of an account up to a row, as the service signed it."""

    account: int
    row: int
    hash: str
    api_credits: int
    lead_credits: int
    root: int
    at: str


@dataclass(frozen=True)
class Comparison:
    """What was compared, and what differs."""

    rows: int
    signed_to: int
    """The last row that a head covers."""
    problems: list[str]


def read_heads(paths: Iterable[Path], public_key: str) -> list[SignedHead]:
    """The signed heads of files, in the order of their rows; raises StatementError."""
    heads = []
    for path in paths:
        found = [match for line in path.read_text(encoding="utf-8").splitlines() if (match := _HEAD.search(line))]
        if not found:
            raise StatementError(f"{path} has no signed head. Download it again with a statement.")
        for match in found:
            if not _is_signed(match[1], match[2], public_key):
                raise StatementError(f"{path}: the signature is not of this key. Ask the operator which key signs.")
            values = json.loads(match[1])
            values.pop("siteglass")
            heads.append(SignedHead(**values))
    return sorted(heads, key=lambda head: head.row)


def _is_signed(text: str, signature: str, public_key: str) -> bool:
    if not _KEY.fullmatch(public_key):
        raise StatementError("The public key must have 64 hexadecimal digits.")
    try:
        ed25519 = importlib.import_module("cryptography.hazmat.primitives.asymmetric.ed25519")
        exceptions = importlib.import_module("cryptography.exceptions")
    except ImportError:
        raise MissingExtra("cryptography", "verify") from None
    try:
        key = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(signature), text.encode())
    except (exceptions.InvalidSignature, ValueError):
        return False
    return True


def read_statements(paths: Iterable[Path]) -> tuple[dict[int, dict[str, str]], list[str]]:
    """The rows of statements by number, and where two statements differ; raises StatementError."""
    rows: dict[int, dict[str, str]] = {}
    problems = []
    for path in paths:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for row in csv.DictReader(file):
                try:
                    seq = int(row["seq"])
                    kept = {name: row[name] for name in _COMPARED}
                    int(row["api_credits"]), int(row["lead_credits"])
                except (KeyError, ValueError, TypeError):
                    raise StatementError(f"{path} is not a statement. Download the ledger as CSV again.") from None
                if rows.setdefault(seq, kept) != kept:
                    problems.append(f"row {seq}: is another one in {path}")
    if not rows:
        raise StatementError("The statement has no rows.")
    return rows, problems


def compare(rows: Mapping[int, Mapping[str, str]], heads: Sequence[SignedHead]) -> Comparison:
    """Compare the rows of one account with its heads, which are in the order of their rows; raises StatementError."""
    if len({head.account for head in heads}) > 1:
        raise StatementError("The signed heads are of several accounts. Compare one account at a time.")
    first, last = min(rows), max(rows)
    problems = [f"row {seq}: is missing" for seq in range(first, last) if seq not in rows]
    base, signed_to = (0, 0, 0), 0
    for earlier, head in zip([None, *heads], heads, strict=False):
        if earlier and earlier.row == head.row and _sealed(earlier) != _sealed(head):
            problems.append(f"row {head.row}: roots {earlier.root} and {head.root} signed different rows")
        if head.row >= first:
            problems += _differences(rows, head, base)
            signed_to = head.row
        base = (head.row, head.api_credits, head.lead_credits)
    if not signed_to:
        raise StatementError(f"No signed head is of row {first} or a later one. Download one with the statement.")
    return Comparison(len(rows), signed_to, problems)


def _sealed(head: SignedHead) -> tuple[Any, ...]:
    return head.hash, head.api_credits, head.lead_credits


def _differences(rows: Mapping[int, Mapping[str, str]], head: SignedHead, base: tuple[int, int, int]) -> list[str]:
    """What of a head is not in the rows; `base` is the head before it, with its sums."""
    row = rows.get(head.row)
    signed = f"root {head.root} of {head.at[:10]} signed"
    if row is None:
        return [f"row {head.row}: {signed} it, and it is not in the statement"]
    problems = []
    if row["hash"] != head.hash:
        problems.append(f"row {head.row}: {signed} another hash, so it or a row before it was changed")
    between = range(base[0] + 1, head.row + 1)
    if all(seq in rows for seq in between):
        api, lead = (sum(int(rows[seq][name]) for seq in between) for name in ("api_credits", "lead_credits"))
        if (api, lead) != (head.api_credits - base[1], head.lead_credits - base[2]):
            problems.append(
                f"rows {between[0]} to {head.row}: add up to {api} API and {lead} lead credits, but {signed} "
                f"{head.api_credits - base[1]} and {head.lead_credits - base[2]}"
            )
    return problems
