"""Passwords: what makes a good one, and Argon2id in threads, a few at a time: each takes memory and a core."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.resources import files
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
_ROWS = ("abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "yxcvbnm")
# Letters of a single word, which other things around it don't save: "metallica1234567", "DeutschlandDeutschland".
_WORD_CHARS = 12
_AROUND_WORD_CHARS = 1
# "P4$$w0rd" is written for "password".
_LOOK_ALIKES = str.maketrans("0134578@$!", "oieastbasi")
_BETWEEN_WORDS = re.compile(r"[\s._-]+")
_YEAR = re.compile(r"(?:19|20)\d\d")
# "monkeymonkey1": repeating a word does not make it harder.
_AGAIN = re.compile(r"(.{2,}?)\1+")
# So much of a run of keys is a run: "1q2w3e4r".
_RUN_CHARS = 6
_STEPS = {step for row in _ROWS for at in range(len(row) - 1) for step in (row[at : at + 2], row[at : at + 2][::-1])}
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
    """How many characters are left without common words, the person's own, years, repetitions and runs such as
    3456; none if they are a single word."""
    bare = _BETWEEN_WORDS.sub("", password)
    local, _, host = email.lower().partition("@")
    own = {local, host, *local.split("."), *host.split(".")}
    words = {_BETWEEN_WORDS.sub("", word) for word in own} | _guessed_first()
    ordered = sorted((word for word in words if len(word) > 2), key=lambda word: (-len(word), word))
    return min(_left(text, ordered) for text in (bare, bare.translate(_LOOK_ALIKES)))


@cache
def _guessed_first() -> frozenset[str]:
    """The shipped words, and every part of a run of keys."""
    text = files("siteglass.people").joinpath("guessed_first.txt").read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    runs = [line for line in lines if not line.isalpha() and len(line) > 2 * _RUN_CHARS]
    runs += [line for line in lines if line.startswith(("qaz", "qay", "qaw"))]
    parts = {
        run[start : start + length]
        for run in (*runs, *(run[::-1] for run in runs))
        for length in range(_RUN_CHARS, len(run) + 1)
        for start in range(len(run) - length + 1)
    }
    return frozenset(lines) | parts


def _left(text: str, words: Sequence[str]) -> int:
    for word in words:
        text = text.replace(word, "")
    text = _AGAIN.sub(r"\1", _YEAR.sub("", text))
    left = [
        char for at, char in enumerate(text)
        if at == 0 or (text[at - 1] != char and text[at - 1 : at + 1] not in _STEPS)
    ]  # fmt: skip
    others = sum(not char.isalpha() for char in left)
    is_word = others <= _AROUND_WORD_CHARS and sum(map(str.isalpha, text)) <= _WORD_CHARS
    return 0 if is_word else len(left)


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
