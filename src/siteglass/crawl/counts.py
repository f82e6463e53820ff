"""What a fetcher did so far: for progress, for the report at its end, and for the monitoring."""

from __future__ import annotations

import time
from collections import Counter, deque

from siteglass.crawl.results import NoAnswer, Response
from siteglass.platform.metrics import CRAWL_ANSWERS, CRAWL_DOMAINS, CRAWL_PAUSED, CRAWL_PROBLEMS, CRAWL_REQUESTS

# Pages a second are those of this time.
RATE_S = 30.0
OUTCOMES = ("page", "unchanged", "moved", "error", "robots")


class Counts:
    """One per fetcher."""

    def __init__(self) -> None:
        self.sent = 0
        self.pages = 0
        self.unchanged = 0
        self.domains = 0
        self.failed_domains = 0
        self.is_paused = False
        self.problems: Counter[str] = Counter()
        for outcome in OUTCOMES:  # so that their rates are known to be 0 before the first of them
            CRAWL_ANSWERS.labels(outcome)
        self._earlier: deque[tuple[float, int]] = deque([(time.monotonic(), 0)])

    def add_request(self) -> None:
        """Count a request that is sent."""
        self.sent += 1
        CRAWL_REQUESTS.inc()

    def add_robots(self) -> None:
        """Count an answer to a request for robots.txt."""
        CRAWL_ANSWERS.labels("robots").inc()

    def add_page(self, response: Response) -> None:
        """Count an answer; its status, if it is an error."""
        self.pages += 1
        self.unchanged += response.unchanged is not None
        if response.status >= 400:
            self.problems[f"status {response.status}"] += 1
        CRAWL_ANSWERS.labels(_outcome(response)).inc()

    def add_error(self, reason: NoAnswer) -> None:
        """Count an address without an answer."""
        name = reason.name.lower().replace("_", " ")
        self.problems[name] += 1
        CRAWL_PROBLEMS.labels(name).inc()

    def note_pause(self, *, is_paused: bool) -> None:
        """Whether the crawl waits until sites can be reached again."""
        self.is_paused = is_paused
        CRAWL_PAUSED.set(is_paused)

    def end_domain(self, *, is_failure: bool) -> None:
        """Count a domain that was visited."""
        self.domains += 1
        self.failed_domains += is_failure
        CRAWL_DOMAINS.labels("none" if is_failure else "home").inc()

    def progress(self) -> str:
        """What a bar of domains does not show: pages a second, and the most frequent problems."""
        now = time.monotonic()
        while len(self._earlier) > 1 and now - self._earlier[1][0] >= RATE_S:
            self._earlier.popleft()
        since, pages = self._earlier[0]
        if now > self._earlier[-1][0] + 1:
            self._earlier.append((now, self.pages))
        rate = (self.pages - pages) / max(now - since, 0.1)
        problems = "".join(f", {name} {count}" for name, count in self.problems.most_common(3))
        paused = "no site answers, waiting for the network; " if self.is_paused else ""
        return f"{paused}{self.pages} pages, {rate:.1f} pages/s{problems}"

    def text(self) -> str:
        """In one line."""
        problems = ", ".join(f"{name} {count}" for name, count in self.problems.most_common(12)) or "none"
        return (
            f"{self.domains} domains visited, {self.failed_domains} of them without a home page; {self.sent} requests, "
            f"{self.pages} pages, {self.unchanged} of them as before; problems: {problems}"
        )


def _outcome(response: Response) -> str:
    if response.unchanged is not None:
        return "unchanged"
    if response.status >= 400:
        return "error"
    return "moved" if response.status >= 300 else "page"
