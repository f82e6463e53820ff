"""How found facts are held against labels: precision and recall of sets, the share of single values that are right."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass
class Found:
    """Sets that were found against those that are true, over many pages."""

    right: int = 0
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def add(self, where: str, found: Iterable[str], true: Iterable[str], allowed: Iterable[str] = ()) -> None:
        """What is `allowed` may be found or not."""
        found, true = set(found), set(true)
        self.right += len(found & true)
        self.wrong += [f"{where}: {value}" for value in sorted(found - true - set(allowed))]
        self.missed += [f"{where}: {value}" for value in sorted(true - found)]

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + len(self.wrong))

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + len(self.missed))

    def __str__(self) -> str:
        lines = [f"precision {self.precision:.4f}, recall {self.recall:.4f} of {self.right + len(self.missed)}"]
        return "\n".join(
            [*lines, *(f"  wrong  {one}" for one in self.wrong), *(f"  missed {one}" for one in self.missed)]
        )


@dataclass
class Right:
    """Single values that should equal their labels."""

    count: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, where: str, found: object, true: object) -> None:
        self.count += 1
        if found != true:
            self.wrong.append(f"{where}: {found!r}, not {true!r}")

    @property
    def share(self) -> float:
        return 1 - len(self.wrong) / max(1, self.count)

    def __str__(self) -> str:
        return "\n".join([f"{self.share:.4f} of {self.count} are right", *(f"  {one}" for one in self.wrong)])


def same_profile(url: str) -> str:
    """A profile however its address is written: hosts of a network for phones or countries are one."""
    parts = urlsplit(url)
    host = re.sub(r"^(www|m|mobile|[a-z]{2})\.", "", (parts.hostname or "").lower())
    host = "twitter.com" if host == "x.com" else re.sub(r"^pinterest\..*", "pinterest", host)
    return f"{host}{parts.path.rstrip('/').lower()}"
