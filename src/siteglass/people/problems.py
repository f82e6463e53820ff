"""What a person cannot have or do, in words that a page shows beside the field it is about."""

from __future__ import annotations


class PeopleError(ValueError):
    """What was asked for cannot be done; the message says what can."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field
        """Of the form; empty: it is about none."""


class TooManyAttempts(PeopleError):
    """Somebody tried too often."""

    def __init__(self, retry_after_s: int) -> None:
        minutes = -(-retry_after_s // 60)
        super().__init__(f"Too many attempts. Try again in {minutes} minute{'s' if minutes != 1 else ''}.")
        self.retry_after_s = retry_after_s
