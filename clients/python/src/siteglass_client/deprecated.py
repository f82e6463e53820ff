"""Old names, which are accepted for one release with a warning."""

from __future__ import annotations

import warnings


def warn_of_old(old: str, new: str, *, level: int = 3) -> None:
    """A warning at the line that calls the client; `level` counts the frames from here to there."""
    message = f"{old} is now {new}. The old name is accepted until the next release: change it."
    warnings.warn(message, DeprecationWarning, stacklevel=level)


def lead_credits(max_lead_credits: int | None, max_credits: int | None) -> int | None:
    """The budget of a walk, under whichever name it was given."""
    if max_credits is None:
        return max_lead_credits
    warn_of_old("max_credits", "max_lead_credits", level=4)
    if max_lead_credits is not None:
        raise TypeError("give max_lead_credits only: max_credits is its old name")
    return max_credits
