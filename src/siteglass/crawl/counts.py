"""What a fetcher did so far, for progress and the report at its end."""

from __future__ import annotations

from collections import Counter

from siteglass.crawl.results import NoAnswer


class Counts:
    """One per fetcher."""

    def __init__(self) -> None:
        self.sent = 0
        self.pages = 0
        self.domains = 0
        self.failed_domains = 0
        self.problems: Counter[str] = Counter()

    def add_page(self, status: int) -> None:
        """Count an answer; its status, if it is an error."""
        self.pages += 1
        if status >= 400:
            self.problems[f"status {status}"] += 1

    def add_error(self, reason: NoAnswer) -> None:
        """Count an address without an answer."""
        self.problems[reason.name.lower().replace("_", " ")] += 1

    def end_domain(self, *, is_failure: bool) -> None:
        """Count a domain that was visited."""
        self.domains += 1
        self.failed_domains += is_failure

    def text(self) -> str:
        """In one line."""
        told = ", ".join(f"{name} {count}" for name, count in self.problems.most_common(12)) or "none"
        return (
            f"{self.domains} domains visited, {self.failed_domains} of them without a home page; {self.sent} requests, "
            f"{self.pages} pages; problems: {told}"
        )
