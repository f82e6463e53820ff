"""What the server of a made-up site answers when a crawler comes by."""

from __future__ import annotations

from dataclasses import dataclass, field
from email.utils import formatdate
from random import Random
from typing import Any, Literal

from siteglass_demo.leads.chance import Weighted
from siteglass_demo.sites import charsets, other_pages
from siteglass_demo.sites.label import Served, Site
from siteglass_demo.sites.layouts import LAYOUTS
from siteglass_demo.sites.parts import build
from siteglass_demo.sites.plants import planted
from siteglass_demo.sites.schema import head_tags, json_ld
from siteglass_demo.sites.words import WORDS, path

_DAY_MS = 86_400_000
_ENCODINGS: Weighted[Literal["", "gzip", "br", "deflate"]] = Weighted(
    [("gzip", 38), ("br", 16), ("deflate", 4), ("", 42)]
)


def serve(site: Site) -> list[Served]:
    """All captures of a site. Those that only trouble a reader come after the pages themselves."""
    rng = Random(f"pages {site.number} {site.domain}")
    server = _Server(rng, site)
    if site.kind in ("normal", "noindex"):
        server.business()
    else:
        server.no_business()
    return server.answers


@dataclass(slots=True)
class _Server:
    rng: Random
    site: Site
    answers: list[Served] = field(default_factory=list)
    origin: str = ""
    head: str = ""
    scripts: str = ""
    headers: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        site = self.site
        self.origin = f"{'https' if site.https else 'http'}://{site.host}"
        self.head, self.scripts, self.headers = planted(self.rng, site.technologies, site.host)
        if site.noindex_by == "header":
            self.headers.append(("X-Robots-Tag", "noindex"))

    def answer(self, url: str, body: bytes | str, *, status: int = 200, content_type: str = "", **more: Any) -> Served:
        rng = self.rng
        raw = body.encode() if isinstance(body, str) else body
        captured_at_ms = self.site.captured_at_ms + len(self.answers) * 7_000 + more.pop("later_ms", 0)
        headers = [("Date", formatdate(captured_at_ms // 1000, usegmt=True))]
        headers.append(("Content-Type", content_type or "text/html; charset=utf-8"))
        headers += more.pop("headers", self.headers)
        encoding = _ENCODINGS.pick(rng.random()) if raw else ""
        served = Served(
            url=url,
            status=status,
            headers=tuple(headers),
            body=raw,
            captured_at_ms=captured_at_ms,
            load_time_ms=int(self.site.load_time_ms * (0.6 + rng.random() * 0.8)),
            content_encoding=encoding,
            chunked=rng.random() < 0.25 and bool(raw),
            decoded=rng.random() < 0.4 and encoding != "",
            **more,
        )
        self.answers.append(served)
        return served

    def redirect(self, url: str, target: str) -> None:
        status = 302 if self.rng.random() < 0.2 else 301
        self.answer(url, other_pages.moved(target), status=status, headers=[("Location", target), ("Server", "web")])

    def html(self, page: str) -> bytes:
        """A page of the business in its layout and charset."""
        rng, site = self.rng, self.site
        url = self.origin + ("/" if page == "home" else path(site.language, page))
        title = site.title if page == "home" else f"{WORDS[site.language][page]} - {site.business_name}"
        _, charset = charsets.declarations(site)
        head = "\n".join((head_tags(rng, site, url, title, charset), self.head, json_ld(rng, site, self.origin + "/")))
        parts = build(rng, site, page, url, title, head, self.scripts)
        return charsets.encoded(site, LAYOUTS[site.layout](parts))

    def page(self, page: str, **more: Any) -> Served:
        header, _ = charsets.declarations(self.site)
        content_type = f"text/html; charset={header}" if header else "text/html"
        url = self.origin + ("/" if page == "home" else path(self.site.language, page))
        body = more.pop("body", None)
        return self.answer(
            more.pop("url", url), self.html(page) if body is None else body, content_type=content_type, **more
        )

    def no_business(self) -> None:
        site = self.site
        body = "" if site.kind == "redirect" else other_pages.instead(self.rng, site)
        for where in ("/", "/contact", "/about"):
            if site.kind == "redirect":
                target = f"https://www.{site.redirects_to}{where}"
                self.redirect(self.origin + where, target)
            else:
                self.answer(self.origin + where, body)

    def business(self) -> None:
        site, rng = self.site, self.rng
        if "http_to_https" in site.hard:
            self.redirect(f"http://{site.host}/", f"{self.origin}/")
        if "apex_to_www" in site.hard:
            self.redirect(self.origin.replace("://www.", "://") + "/", f"{self.origin}/")
        home_at = len(self.answers)
        home = self.page("home")
        self.page("imprint" if site.language == "de" and rng.random() < 0.6 else "contact")
        self.asked_files()
        if len(self.answers) < 4 or rng.random() < 0.4:
            self.page(rng.choice(("about", "products", "blog")))
        self.troubles(home, home_at)

    def asked_files(self) -> None:
        """Robots.txt and the sitemap, as far as the label knows of them."""
        site, rng = self.site, self.rng
        names_sitemap = bool(site.has_robots and site.has_sitemap) and rng.random() < 0.7
        url = f"{self.origin}/robots.txt"
        if site.has_robots:
            text = other_pages.robots(rng, site, self.origin, names_sitemap)
            self.answer(url, text, content_type="text/plain")
        elif site.has_robots is False and "html_robots" in site.hard:
            self.page("home", url=url)
        elif site.has_robots is False:
            self.answer(url, other_pages.error(404), status=404)
        url = f"{self.origin}/sitemap.xml"
        if site.has_sitemap and (not names_sitemap or rng.random() < 0.3):
            self.answer(url, other_pages.sitemap(site, self.origin), content_type="application/xml")
        elif site.has_sitemap is False:
            self.answer(url, other_pages.error(404), status=404)

    def troubles(self, home: Served, home_at: int) -> None:
        """Captures that tell nothing new: copies, errors, cut pages, visits without a body."""
        site = self.site
        if "duplicate" in site.hard:
            copied = site.https and "http_to_https" not in site.hard
            url = f"http://{site.host}/" if copied else f"{self.origin}/index.html"
            # The copy is older: what the newest home page says about https holds.
            self.page("home", url=url, body=home.body, later_ms=-3 * _DAY_MS)
            self.answers.insert(home_at, self.answers.pop())
        if "truncated" in site.hard:
            body = self.html("products")
            self.page("products", body=body[: len(body) * 2 // 3], truncated=True)
        if "error_404" in site.hard:
            self.answer(f"{self.origin}/old-page.html", other_pages.error(404), status=404)
        if "error_500" in site.hard:
            self.answer(f"{self.origin}/search?q=a&page=2", other_pages.error(500), status=500)
        if "not_modified" in site.hard:
            self.answer(f"{self.origin}/", b"", status=304, later_ms=9 * _DAY_MS)
        if "revisit" in site.hard:
            self.page("home", body=b"", revisit=True, later_ms=20 * _DAY_MS)
