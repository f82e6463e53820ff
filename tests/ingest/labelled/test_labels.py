"""The labelled pages themselves: every page has one label, and the label can be true of the page.

Nothing here knows the extractor; what it makes of these pages is tested elsewhere.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import phonenumbers
import pytest

FOLDER = Path(__file__).parent
LABELS: list[dict[str, Any]] = json.loads((FOLDER / "labels.json").read_text(encoding="utf-8"))

KEYS = {
    *("file", "url", "charset", "headers", "emails", "phones", "language", "country", "state", "city", "social"),
    *("business_name", "title", "description", "flags", "kind", "technologies", "technologies_also", "cases", "notes"),
}
FLAGS = {"responsive", "has_schema", "has_heading", "has_description", "noindex"}
NETWORK_HOSTS = {
    "facebook": r"facebook\.com",
    "linkedin": r"linkedin\.com",
    "twitter": r"(twitter|x)\.com",
    "instagram": r"instagram\.com",
    "youtube": r"youtube\.com",
    "tiktok": r"tiktok\.com",
    "pinterest": r"pinterest\.[a-z]+",
}
EMAIL = re.compile(r"[a-z0-9.+-]+@(?:[a-z0-9-]+\.)+[a-z]{2,}")
SPELT_AT = re.compile(r"\s*(?:\[at\]|\(at\)|\bAT\b|\bät\b)\s*")
SPELT_DOT = re.compile(r"\s*(?:\[dot\]|\bDOT\b)\s*")
PROTECTED = re.compile(r"(?:data-cfemail=\"|/email-protection#)([0-9a-f]+)")
KEYPAD = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "22233344455566677778889999")

# What makes a page hard, as far as a pattern over its source can see it.
EVIDENCE = {
    "email:mailto-subject": r"mailto:[^\"]+\?subject=",
    "email:mailto-uppercase": r"MAILTO:|MailTo:|mailto:[A-Z]",
    "email:mailto-percent": r"mailto:[^\"]*%(40|6f)",
    "email:entity-decimal": r"&#64;",
    "email:entity-hex": r"&#x40;",
    "email:entity-mixed": r"(?s)&#\d+;&#x[0-9A-F]+;[a-z]",
    "email:at-brackets": r"\[at\]",
    "email:at-parens": r"\(at\)",
    "email:at-word": r" AT \S+ DOT ",
    "email:at-umlaut": r" ät ",
    "email:js-split": r"'\+'|\+\"@\"\+",
    "email:cfemail": r"data-cfemail=|/email-protection#",
    "email:cdn-cgi": r"/cdn-cgi/l/email-protection#[0-9a-f]{20}",
    "email:rot13": r"rot13",
    "email:reversed": r"direction:rtl",
    "email:jsonld-only": r"\"email\":\s*\"[^\"]+@",
    "email:jsonld-mailto": r"\"email\":\s*\"mailto:",
    "email:punctuation": r"[\w.-]+@[\w.-]+(?:[.,;!)»]|\s/)",
    "email:subdomain": r"@[\w-]+(?:\.[\w-]+){2,}",
    "email:long-tld": r"@[\w.-]+\.[a-z]{4,}",
    "email:plus": r"\+[a-z]+@",
    "email:image-name": r"@[123]x\.(png|jpg|webp)",
    "email:sentry": r"@o\d+\.ingest\.",
    "email:npm": r"[a-z]@\d+\.\d+\.\d+",
    "email:example-address": r"placeholder=\"[^\"]+@|@example\.(com|org)",
    "email:script-or-comment": r"(?s)<(!--|script).*[\w.-]+@",
    "email:agency-credit": r"(Website|Site) by ",
    "phone:tel-spaces": r"tel:\+?\d+ \d",
    "phone:tel-letters": r"tel:[\d-]+[A-Z]{5,}",
    "phone:extension": r"\bext\. ?\d|\bposte \d| x\d\b",
    "phone:double-zero": r"\b00[1-9]\d",
    "phone:zero-in-middle": r"\(0\) ?\d",
    "phone:dots": r"\d\.\d{2,4}\.\d",
    "phone:slashes": r"\d ?/ ?\d{2}| / ",
    "phone:whatsapp": r"wa\.me/|api\.whatsapp\.com/send\?phone",
    "phone:fax": r"(?i)\bfax|telefax|t[ée]l[ée]copi|\bfaks|传真|傳真|팩스|פקס",
    "place:jsonld-graph": r"\"@graph\"",
    "place:jsonld-array": r"ld\+json\">\s*\[",
    "place:microdata": r"itemprop=\"addressLocality\"",
    "place:country-name": r"\"addressCountry\":\s*\"[^\"]{3,}\"",
    "place:country-code": r"(addressCountry\":\s*\"|addressCountry\" content=\")[A-Z]{2}\"",
    "place:country-object": r"\"addressCountry\":\s*\{",
    "social:tracking": r"\?(fbclid|igsh|ref|hl|s=|trk|lang|fref|_rdc)",
    "social:mobile-host": r"//m\.facebook\.com",
    "social:locale-host": r"//[a-z]{2}(-[a-z]{2})?\.(linkedin|facebook)\.com",
    "social:x": r"//x\.com/\w",
    "social:youtube-handle": r"youtube\.com/@",
    "social:youtube-channel": r"youtube\.com/channel/UC",
    "social:youtube-c": r"youtube\.com/c/",
    "social:profile-id": r"profile\.php\?id=\d",
    "social:share": r"sharer|/share|intent/|create/button|send\?text",
    "social:bare-home": r"https://(www\.)?(facebook|x|twitter|instagram)\.com/?\"",
    "social:post": r"/posts/|instagram\.com/p/",
    "social:hashtag": r"/hashtag/|explore/tags/",
    "structure:broken-nesting": r"</[bi]></font>|</b></font>|</B></I>|</h1></i>|</I></B>",
    "structure:no-head-end": r"(?s)^(?!.*</head>)",
    "structure:open-comment": r"(?s)<!--(?:(?!-->).)*$",
    "structure:two-titles": r"(?s)<title.*<svg.*<title",
    "structure:late-description": r"(?s)<body.*<meta name=\"description\"",
    "structure:empty-description": r"name=\"description\" content=\" *\"",
    "structure:h1-hidden": r"<(template|noscript)[^>]*><h1>",
    "structure:base-href": r"<base href=",
    "structure:viewport-odd": r"name=\"viewport\" content=\"(width=1024|[^\"]*;)",
    "structure:viewport-commented": r"<!--[^>]*<meta name=\"viewport\"",
}

# The same, as far as the label itself shows it.
SHOWN_BY_LABEL: dict[str, Callable[[dict[str, Any]], bool]] = {
    "charset:legacy": lambda label: not label["charset"].startswith("utf"),
    "charset:utf-16": lambda label: label["charset"] == "utf-16",
    "charset:undeclared": lambda label: "charset" not in label["headers"]["content-type"] + _source(label).lower(),
    "charset:wrong": lambda label: _declared_charsets(label) - {label["charset"]} != set(),
    "kind:parked": lambda label: label["kind"] == "parked",
    "kind:soft_404": lambda label: label["kind"] == "soft_404",
    "kind:noindex": lambda label: label["kind"] == "noindex" and label["flags"]["noindex"],
    "none:no-contact": lambda label: not label["emails"] and not label["phones"],
    "place:cctld-only": lambda label: bool(label["country"]) and not label["city"],
    "place:phone-only": lambda label: bool(label["country"]) and not label["city"] and label["phones"] != [],
}
# And those only a reader can tell.
JUDGED_BY_READING = {
    *("email:twice", "phone:national", "phone:not-a-phone"),
    *("place:footer", "place:two-offices", "place:language-contradicts"),
}


def _source(label: dict[str, Any]) -> str:
    source: str = (FOLDER / label["file"]).read_bytes().decode(label["charset"])
    return source


def _declared_charsets(label: dict[str, Any]) -> set[str]:
    said = label["headers"]["content-type"] + _source(label)
    return {name.lower() for name in re.findall(r"charset=\"?([\w-]+)", said)}


def _unprotected(hexadecimal: str) -> str:
    key, *rest = bytes.fromhex(hexadecimal)
    return bytes(byte ^ key for byte in rest).decode()


def _readable(source: str) -> str:
    """The page with all spellings of addresses that a person can undo undone, in lower case."""
    plain = unquote(html.unescape(source))
    joined = SPELT_DOT.sub(".", SPELT_AT.sub("@", plain))
    return "\n".join([plain, joined, *map(_unprotected, PROTECTED.findall(source))]).lower()


def test_every_page_has_one_label() -> None:
    names = [label["file"] for label in LABELS]
    assert sorted(names) == names == sorted(page.name for page in FOLDER.glob("*.html"))
    assert len({label["url"] for label in LABELS}) == len(LABELS) == len({name[:2] for name in names})


def test_the_set_is_broad_enough() -> None:
    assert len(LABELS) >= 64
    assert len({label["language"] for label in LABELS}) >= 14
    assert len({label["country"] for label in LABELS} - {""}) >= 20
    kinds = Counter(label["kind"] for label in LABELS)
    assert set(kinds) == {"normal", "parked", "soft_404", "noindex"}
    assert min(kinds.values()) >= 2
    assert len({label["charset"] for label in LABELS}) >= 9


def test_every_hard_case_stands_on_two_pages() -> None:
    counts = Counter(case for label in LABELS for case in label["cases"])
    assert set(counts) == EVIDENCE.keys() | SHOWN_BY_LABEL.keys() | JUDGED_BY_READING
    assert {case: count for case, count in counts.items() if count < 2} == {}


@pytest.mark.parametrize("label", LABELS, ids=lambda label: label["file"])
def test_label_can_be_true_of_its_page(label: dict[str, Any]) -> None:
    source = _source(label)
    assert 2_000 <= (FOLDER / label["file"]).stat().st_size <= 12_000
    assert set(label) == KEYS
    assert set(label["flags"]) == FLAGS
    assert [case for case in label["cases"] if not re.search(EVIDENCE.get(case, ""), source)] == []
    assert [case for case in label["cases"] if case in SHOWN_BY_LABEL and not SHOWN_BY_LABEL[case](label)] == []
    assert not set(label["technologies"]) & set(label["technologies_also"])
    _check_words(label, source)
    _check_emails(label["emails"], _readable(source))
    _check_phones(label["phones"], html.unescape(source))
    _check_profiles(label["social"], html.unescape(source))


def _check_words(label: dict[str, Any], source: str) -> None:
    text = " ".join(html.unescape(source).split())
    assert re.fullmatch(r"[a-z]{2}", label["language"])
    assert re.fullmatch(r"([A-Z]{3})?", label["country"])
    assert label["country"] or not label["state"] + label["city"]
    assert [label[key] for key in ("city", "business_name", "title", "description") if label[key] not in text] == []
    assert label["flags"]["has_description"] == bool(label["description"])
    assert label["flags"]["noindex"] == ("noindex" in source + json.dumps(label["headers"]))


def _check_emails(emails: list[str], readable: str) -> None:
    assert [email for email in emails if not EMAIL.fullmatch(email)] == []
    assert [email for email in emails if email not in readable and not _can_be_joined(email, readable)] == []
    assert len(set(emails)) == len(emails)


def _can_be_joined(email: str, readable: str) -> bool:
    """Whether a script may join it of parts that the page has, or a style sheet turns it around."""
    return email[::-1] in readable or all(part in readable for part in re.split(r"[@.]", email))


def _check_phones(phones: list[str], text: str) -> None:
    spelt = " ".join(re.findall(r"tel:([^\"]+)", text)).translate(KEYPAD)
    digits = re.sub(r"\D", "", text) + " " + re.sub(r"\D", "", spelt)
    for phone in phones:
        number = phonenumbers.parse(phone)
        assert phonenumbers.is_valid_number(number), phone
        assert phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164) == phone
        assert str(number.national_number) in digits, phone
    assert len(set(phones)) == len(phones)


def _check_profiles(social: dict[str, str], text: str) -> None:
    for network, profile in social.items():
        parts = urlsplit(profile)
        assert parts.scheme == "https", profile
        assert re.fullmatch(NETWORK_HOSTS[network], parts.netloc), profile
        assert re.fullmatch(r"/.*[^/]", parts.path), profile
        assert not parts.query or parts.path == "/profile.php", profile
        assert profile.removeprefix("https://") in text, profile
