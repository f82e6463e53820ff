"""Made-up sites: the same for a seed, true to their labels, rich in hard cases, and readable as WARC files."""

from __future__ import annotations

import re
import sys
import warnings
import zlib
from collections import Counter
from html import unescape
from pathlib import Path

import brotli  # type: ignore[import-untyped]
import phonenumbers
import pytest

from siteglass.corpus.domains import registrable
from siteglass.query.vocabulary import vocabulary
from siteglass_demo.sites import Email, Served, Site, pages, read_labels, sites, write_folder, write_warc
from siteglass_demo.sites.__main__ import main
from siteglass_demo.sites.draw import _HARD

with warnings.catch_warnings():
    # The package warns about its own old names when it is imported.
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import ArchiveIterator, WarcRecordType

_EMAIL = re.compile(r"[a-z0-9][a-z0-9._+-]*@[a-z0-9-]+(\.[a-z0-9-]+)+")
_BUSINESS = ("normal", "noindex")


@pytest.fixture(scope="module")
def many() -> list[Site]:
    return list(sites(1_500, seed=7))


@pytest.fixture(scope="module")
def served(many: list[Site]) -> list[tuple[Site, list[Served]]]:
    return [(site, pages(site)) for site in many[:300]]


def _text(site: Site, captures: list[Served]) -> str:
    bodies = [one.body for one in captures if one.status == 200 and "html" in dict(one.headers)["Content-Type"]]
    codec = {"shift_jis": "cp932"}.get(site.charset, site.charset)
    return "\n".join(body.decode(codec, "replace" if site.hard else "strict") for body in bodies)


def test_a_seed_gives_the_same_files_and_a_site_does_not_depend_on_the_others(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write_warc(tmp_path / name / "x.warc.gz", sites(40, seed=3), seed=3, corrupt_percent=5)
    assert (tmp_path / "a/x.warc.gz").read_bytes() == (tmp_path / "b/x.warc.gz").read_bytes()
    assert list(sites(60, seed=3))[:20] == list(sites(20, seed=3))
    assert list(sites(20, seed=4)) != list(sites(20, seed=3))


def test_every_hard_case_occurs(many: list[Site]) -> None:
    count = len(many)
    kinds = Counter(site.kind for site in many)
    assert all(kinds[kind] >= count // 80 for kind in ("parked", "soft_404", "redirect", "noindex", "empty"))
    assert kinds["normal"] > count * 0.8
    assert len({site.layout for site in many} - {""}) >= 13
    assert len({site.language for site in many} - {""}) >= 17
    written = Counter(email.written for site in many for email in site.emails)
    assert len(written) == 7
    assert min(written.values()) >= 20
    assert {phone.written for site in many for phone in site.phones} == {"tel", "text", "json_ld", "whatsapp"}
    forms = Counter(phone.form for site in many for phone in site.phones)
    assert len(forms) == 3
    assert {site.geo_basis for site in many} == {"", "json_ld", "address", "cctld", "phone"}
    charsets = {site.charset for site in many}
    assert charsets >= {"utf-8", "utf-16", "windows-1252", "iso-8859-1", "iso-8859-2", "windows-1251", "shift_jis"}
    assert charsets >= {"euc-kr", "gb18030"}
    assert {site.charset_declared for site in many} == {"header", "meta", "both", "wrong", "missing"}
    hard = Counter(name for site in many for name in site.hard)
    assert set(hard) == {*_HARD, "apex_to_www", "idn", "private_suffix"}
    assert min(hard.values()) >= 15
    ends = {site.domain.partition(".")[2] for site in many if "private_suffix" in site.hard}
    assert ends == {"myshopify.com", "webflow.io", "blogspot.com", "github.io"}
    assert all("xn--" in site.domain for site in many if "idn" in site.hard)


def test_labels_are_well_formed(many: list[Site]) -> None:
    known = vocabulary().technologies()
    assert len({site.domain for site in many}) == len(many)
    for site in many:
        assert registrable(site.host) == site.domain
        assert site.country == "" or site.country in vocabulary().values("country")
        assert (site.geo_basis != "") == (site.country != "")
        assert (site.city != "") == (site.geo_basis in ("json_ld", "address"))
        assert set(site.technologies) <= set(known)
        for email in site.emails:
            assert _EMAIL.fullmatch(email.value), email
        for number in [phone.value for phone in site.phones] + list(site.not_phones):
            assert phonenumbers.is_valid_number(phonenumbers.parse(number)), number
        for phone in site.phones:
            assert phone.form != "national" or site.geo_basis in ("json_ld", "address", "cctld")
            region = vocabulary().country_alpha2(site.country) if phone.form == "national" else None
            read = phonenumbers.parse(phone.shown, region)
            assert phonenumbers.format_number(read, phonenumbers.PhoneNumberFormat.E164) == phone.value
        if site.kind not in _BUSINESS:
            assert not any((site.emails, site.phones, site.technologies, site.title, site.country))


def _shows(email: Email, text: str) -> bool:
    """Whether a person who knows the tricks finds the address in the page."""
    shown = re.sub(r"<!--.*?-->|</?(b|i|span)>", "", unescape(text)).lower()
    if email.written == "cloudflare":
        coded = (bytes.fromhex(one) for one in re.findall(r"(?:data-cfemail=\"|protection#)([0-9a-f]+)", text))
        return email.value in [bytes(byte ^ one[0] for byte in one[1:]).decode() for one in coded]
    if email.written == "at_dot":
        shown = re.sub(r"\s?[\[(]at[\])]\s?", "@", re.sub(r"\s?[\[(]dot[\])]\s?", ".", shown))
    return email.value in shown


def test_what_a_label_says_is_served(served: list[tuple[Site, list[Served]]]) -> None:
    for site, captures in served:
        assert 3 <= len(captures) <= 10
        assert all(one.url.startswith(("http://", "https://")) for one in captures)
        if site.kind == "redirect":
            assert {dict(one.headers)["Location"].split("/")[2] for one in captures} == {f"www.{site.redirects_to}"}
        if site.kind not in _BUSINESS:
            continue
        text, headers = _text(site, captures), [pair for one in captures for pair in one.headers]
        plain = unescape(text)
        assert f"<title>{site.title}</title>" in plain
        assert ('name="description"' in text) == site.has_description == (site.description != "")
        assert ("<h1" in text) == site.has_heading
        assert ('name="viewport"' in text) == site.responsive
        assert ("application/ld+json" in text) == site.has_schema
        assert site.language == "en" or site.layout == "react_shell" or any(s in plain for s in site.sentences)
        for email in site.emails:
            assert _shows(email, text), (site.domain, email)
            assert (f'"mailto:{email.value}' in text) <= (email.written in ("mailto", "json_ld"))
        for phone in site.phones:
            assert (phone.value[1:] if phone.written == "whatsapp" else phone.shown) in text
        for link in site.social_links.values():
            assert link in text
        if site.geo_basis == "address":
            assert all(line in plain for line in site.address.split("\n"))
        if site.geo_basis == "json_ld":
            assert '"addressLocality"' in text
        header_noindex = ("X-Robots-Tag", "noindex") in headers
        assert (site.kind == "noindex") == (header_noindex or 'content="noindex' in text)
        _check_files(site, captures)


def _check_files(site: Site, captures: list[Served]) -> None:
    """Robots.txt and the sitemap answer as the label says."""
    by_path = {"/" + one.url.split("/", 3)[3]: one for one in captures}
    robots, sitemap = by_path.get("/robots.txt"), by_path.get("/sitemap.xml")
    is_robots = robots and robots.status == 200 and ("Content-Type", "text/plain") in robots.headers
    assert site.has_robots == (bool(is_robots) if robots else None)
    named = bool(is_robots and robots and b"Sitemap:" in robots.body)
    found = named or (sitemap.status == 200 if sitemap else None)
    assert site.has_sitemap == found


def test_hard_cases_are_served(served: list[tuple[Site, list[Served]]]) -> None:
    for site, captures in served:
        statuses = Counter(one.status for one in captures)
        homes = [one for one in captures if one.url.rstrip("/").endswith(site.host)]
        assert ("revisit" in site.hard) == any(one.revisit for one in captures)
        assert ("not_modified" in site.hard) == (statuses[304] > 0)
        assert ("error_500" in site.hard) == (statuses[500] > 0)
        assert ("truncated" in site.hard) == any(one.truncated for one in captures)
        if "duplicate" in site.hard:
            bodies = Counter(one.body for one in captures if one.status == 200 and not one.revisit)
            assert max(bodies.values()) == 2
        if "http_to_https" in site.hard:
            first = next(one for one in captures if one.url == f"http://{site.host}/")
            assert dict(first.headers)["Location"] == f"https://{site.host}/" == homes[-1].url
    ways = {(one.content_encoding, one.chunked, one.decoded) for _, captures in served for one in captures}
    assert {way for way, _, _ in ways} == {"", "gzip", "br", "deflate"}
    assert {("gzip", True, False), ("br", False, False), ("gzip", False, True)} <= ways


def _unpacked(headers: dict[str, str], payload: bytes) -> bytes:
    if headers.get("transfer-encoding") == "chunked":
        pieces, rest = [], payload
        while size := int((line := rest.partition(b"\r\n"))[0], 16):
            pieces.append(line[2][:size])
            rest = line[2][size:].removeprefix(b"\r\n")
        payload = b"".join(pieces)
    match headers.get("content-encoding"):
        case "gzip" | "deflate":
            return zlib.decompress(payload, 47)
        case "br":
            return bytes(brotli.decompress(payload))
    return payload


def test_files_are_read_record_by_record(tmp_path: Path) -> None:
    made = list(sites(60, seed=5))
    path = tmp_path / "x.warc.gz"
    assert write_warc(path, made, seed=5) == made
    expected = [one for site in made for one in pages(site)]
    kinds: Counter[str] = Counter()
    found = []
    with path.open("rb") as source:
        for record in ArchiveIterator(source):
            kinds[str(record.headers["WARC-Type"])] += 1
            if record.record_type == WarcRecordType.metadata:
                assert record.reader.read().startswith(b"fetchTimeMs: ")
            if record.record_type == WarcRecordType.response:
                body = _unpacked(
                    {name.lower(): value for name, value in record.http_headers.astuples()}, record.reader.read()
                )
                found.append((record.headers["WARC-Target-URI"], record.http_headers.status_code, body))
                assert record.headers.get("WARC-Truncated") in (None, "length")
    assert found == [(one.url, one.status, one.body) for one in expected if not one.revisit]
    revisits = sum(one.revisit for one in expected)
    assert kinds == {
        "warcinfo": 1,
        "request": len(expected),
        "response": len(expected) - revisits,
        "revisit": revisits,
        "metadata": len(expected),
    }


def _members(content: bytes) -> list[bool]:
    """For each member, whether its record is as long as it says."""
    whole = []
    while content:
        unpacker = zlib.decompressobj(31)
        head, _, rest = unpacker.decompress(content).partition(b"\r\n\r\n")
        length = re.search(rb"Content-Length: (\d+)", head)
        whole.append(length is not None and int(length[1]) + 4 == len(rest))
        content = unpacker.unused_data
    return whole


def test_broken_records_are_few_and_told(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    labels = write_warc(path, sites(40, seed=6), seed=6, corrupt_percent=5)
    damaged = sum(site.damaged for site in labels)
    whole = _members(path.read_bytes())
    assert 0 < damaged <= whole.count(False) < 30
    assert whole.count(True) > 300


def test_a_folder_holds_several_files_and_the_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = write_folder(tmp_path / "a", 20, seed=2, files=3)
    assert read_labels(tmp_path / "a/labels.ndjson") == labels == list(sites(20, seed=2))
    sizes = [path.stat().st_size for path in (tmp_path / "a").glob("*.warc.gz")]
    assert min(sizes) * 4 > sum(sizes) / 3
    arguments = ["--count", "20", "--seed", "2", "--files", "3", str(tmp_path / "b")]
    monkeypatch.setattr(sys, "argv", ["sites", *arguments])
    main()
    names = ["labels.ndjson", "sites-0000.warc.gz", "sites-0001.warc.gz", "sites-0002.warc.gz"]
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == names
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
