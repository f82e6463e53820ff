"""What robots.txt of an origin allows, by RFC 9309: 4xx allows everything; 5xx, 429 and silence forbid everything."""

from __future__ import annotations

from dataclasses import dataclass

from protego import Protego

from siteglass.crawl.results import RobotsText

TOKEN = "SiteglassBot"  # noqa: S105 - the name that robots.txt files call us by
MAX_SITEMAPS = 20


@dataclass(frozen=True, slots=True)
class Rules:
    """Of one scheme, host and port."""

    read: Protego | None
    """None: everything is forbidden."""

    def allows(self, url: str) -> bool:
        """Whether the address may be fetched."""
        return self.read is not None and bool(self.read.can_fetch(url, TOKEN))

    @property
    def delay_ms(self) -> int:
        """The Crawl-delay, or 0."""
        delay_s = None if self.read is None else self.read.crawl_delay(TOKEN)
        return min(int(delay_s * 1000), 2**31 - 1) if delay_s and delay_s > 0 else 0

    @property
    def sitemaps(self) -> list[str]:
        """Addresses of sitemaps that it names."""
        return [] if self.read is None else [text for text, _ in zip(self.read.sitemaps, range(MAX_SITEMAPS))]  # noqa: B905


def rules_of(robots: RobotsText) -> Rules:
    """The rules that an answer means."""
    if robots.status < 0 or robots.status >= 500 or robots.status == 429:
        return Rules(None)
    # Redirects that were followed to their limit without an answer count as 4xx, too.
    text = robots.content.decode("utf-8-sig", "replace") if robots.status < 300 else ""
    return Rules(Protego.parse(text))
