"""Passwords: what makes a good one, and Argon2id in threads, a few at a time: each takes memory and a core."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import Type

from siteglass.errors import Unavailable
from siteglass.people.problems import PeopleError

Result = TypeVar("Result")

MIN_CHARS = 15
MAX_CHARS = 200
# Minimum length of a password after removing what attackers guess first.
MIN_LEFT = 8
_COMMON = (
    "password",
    "passwort",
    "passw0rd",
    "siteglass",
    "qwerty",
    "letmein",
    "welcome",
    "iloveyou",
    "admin",
    "secret",
)
_ROWS = ("abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "yxcvbnm")
# OWASP asks for 19 MiB twice at least.
MEMORY_KIB = 64 * 1024
TIMES = 3
AT_ONCE = max(1, min(4, os.cpu_count() or 1))
# With more than this many waiting, it is better to refuse.
MAX_WAITING = 50
RETRY_AFTER_S = 5


def check_password(password: str, email: str) -> None:
    """Raise PeopleError for one that is easily guessed. Any characters will do: length is what counts."""
    if len(password) < MIN_CHARS:
        raise PeopleError(f"At least {MIN_CHARS} characters. Four or five words are easy to remember.", "password")
    if len(password) > MAX_CHARS:
        raise PeopleError(f"At most {MAX_CHARS} characters.", "password")
    if _hard_to_guess(password.lower(), email) < MIN_LEFT:
        raise PeopleError("This password is easy to guess. Choose another one.", "password")


def _hard_to_guess(password: str, email: str) -> int:
    """How many characters are left without common words, the person's own, repetitions and runs such as 3456."""
    unit = (password + password).find(password, 1)  # shorter than the whole if it repeats
    left = password[:unit]
    local, _, host = email.partition("@")
    for word in sorted({*_COMMON, local, host, *local.split("."), *host.split(".")}, key=len, reverse=True):
        if len(word) > 2:
            left = left.replace(word, "")
    steps = {row[at : at + 2] for row in _ROWS for at in range(len(row) - 1)}
    steps |= {step[::-1] for step in steps}
    return sum(at == 0 or (left[at - 1] != left[at] and left[at - 1 : at + 1] not in steps) for at in range(len(left)))


class Passwords:
    """Hashes and compares, at most AT_ONCE at a time."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher(time_cost=TIMES, memory_cost=MEMORY_KIB, parallelism=1, type=Type.ID)
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="password")
        self._waiting = 0
        # Compared with when there is nobody of that name, so that it takes as long.
        self._nobody = self._hasher.hash(os.urandom(16).hex())

    async def hash(self, password: str) -> str:
        """What is stored of it."""
        return await self._run(lambda: self._hasher.hash(password))

    async def matches(self, stored: str | None, password: str) -> bool:
        """Whether it is the one; None, when there is nobody, takes as long and is False."""

        def compare() -> bool:
            try:
                self._hasher.verify(stored or self._nobody, password)
            except (VerificationError, InvalidHashError):
                return False
            return stored is not None

        return await self._run(compare)

    def is_outdated(self, stored: str) -> bool:
        """Whether it was hashed with other parameters than now, and should be hashed again."""
        return self._hasher.check_needs_rehash(stored)

    def close(self) -> None:
        """Take no more."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, work: Callable[[], Result]) -> Result:
        if self._waiting >= MAX_WAITING:
            raise Unavailable("too many sign-ins at once", RETRY_AFTER_S, has_price=False)
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._waiting -= 1
