"""What a fetcher learns: the kinds of addresses, the outcome of a fetch, and the steps that the frontier records."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum
from typing import NamedTuple


class Kind(IntEnum):
    """What an address is fetched for, in the order of fetching."""

    HOME = 0
    KEY_PAGE = 1
    SITEMAP = 2


class NoAnswer(IntEnum):
    """Why an address has no HTTP status; kept in its place, so never change a number."""

    FORBIDDEN = -1
    """By robots.txt."""
    NAME = -2
    """DNS knows no address."""
    REFUSED_ADDRESS = -3
    """The name leads into an internal network."""
    CONNECTION = -4
    TLS = -5
    TOO_SLOW = -6
    NOT_HTTP = -7
    ROBOTS = -8
    """robots.txt could not be fetched, which forbids everything."""


class KnownPage(NamedTuple):
    """What is known of a page that is in the facts store, to ask only for a change of it."""

    digest: str
    """Of its body, see `ingest.facts.page_digest`."""
    full_at: datetime
    """When it was last written to an archive as a whole."""
    etag: str = ""
    modified: str = ""
    """Last-Modified, as sent."""


class Found(NamedTuple):
    """An address to fetch."""

    url: str
    kind: Kind
    hops: int = 0
    """Redirects that led here."""


@dataclass(frozen=True, slots=True)
class Response:
    """An answer of a server, as it goes to the archive."""

    url: str
    address: str
    sent_at_ms: int
    took_ms: int
    status: int
    head: bytes
    """Status line and headers as sent, with the blank line."""
    headers: tuple[tuple[str, str], ...]
    """Names in lower case."""
    body: bytes
    """With its content encoding, without its transfer encoding."""
    is_cut: bool
    unchanged: KnownPage | None = None
    """The page that the site said, or that the body shows, to be as it was. The archive gets no body then."""

    def header(self, name: str) -> str:
        """The first value of a header, or ""."""
        return next((value for found, value in self.headers if found == name), "")


@dataclass(frozen=True, slots=True)
class DnsRecords:
    """What DNS said of a domain, a record per line."""

    domain: str
    server: str
    asked_at_ms: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsText:
    """What an origin answered when its robots.txt was fetched."""

    origin: str
    status: int = 0
    content: bytes = b""
    next_url: str = ""
    """Where a redirect leads that was not followed yet; "": it is complete."""
    hops: int = 0
    """Redirects so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a visit, acknowledged when its responses are in a synced archive."""

    domain: str
    delay_ms: int
    sent: int = 0
    done: tuple[str, int] | None = None
    """An address that need not be fetched again in this visit, and its status or NoAnswer."""
    found: tuple[Found, ...] = ()
    page: KnownPage | None = None
    """What is known of `done` from now on."""
    robots: RobotsText | None = None
    dns: DnsRecords | None = None
    rest: timedelta | None = None
    """For how long the site wants to be left alone, whoever adds it again."""
    finished: Finish | None = None
    responses: tuple[Response, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Finish:
    """The end of a visit."""

    again_in: timedelta
    is_failure: bool | None
    """None if nothing was tried, so nothing is known."""
    is_changed: bool = False
    """A page that was known has another content now."""
    is_partial: bool = False
    """Some pages were left out, so the next visit must find them again on the home page."""
