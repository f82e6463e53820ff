"""E-mail addresses of a page: its links, its structured data, its text as written or veiled against crawlers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from urllib.parse import unquote

from siteglass.corpus.domains import NotAHost, is_of_the_internet, normalise, registrable
from siteglass.corpus.role import is_role
from siteglass.ingest.extract.page import Page
from siteglass.ingest.extract.schema_types import contact_holders
from siteglass.ingest.extract.scripted_emails import joined_texts, script_data
from siteglass.ingest.extract.surroundings import PageSurroundings
from siteglass.ingest.facts import ContactSighting
from siteglass.suppression.veiled import AT_SIGNS, AT_WORDS, CLOSING, DOT_WORDS, OPENING

MAX_EMAILS = 50
MAX_LOCAL_CHARS = 64
MAX_ADDRESS_CHARS = 254
# A page of nothing but @ must not take longer than others.
MAX_TRIES = 1_000
MAX_JOINED_CHARS = 1_000

_LOCAL_CHARS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+'-"
# From here on, scripts without blanks between words: 邮箱info@… is a word and an address.
_NO_LETTERS_OF_NAMES = 0x2E80
_HOST = re.compile(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W_](?:[\w-]{0,61}[^\W_])")
_ASCII_HOST = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])"
)
_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}
_GLUED = re.compile(r"([a-z]{2,})[A-Z][A-Za-z]*\Z")
# What escapes leave of themselves before an address: \u003e, %20, &gt;
_ESCAPE = re.compile(r"(?:u00[0-9a-f]{2})+")

# These read lower case. A bare "at" counts only before one word and a dot that is a word: "at acme dot com".
_VEILED_AT = re.compile(rf"[{OPENING}]{{1,2}}\s?(?:{AT_WORDS}|à)\s?[{CLOSING}]{{1,2}}")
_VEILED_DOT = re.compile(rf"\s?[{OPENING}]{{1,2}}\s?(?:{DOT_WORDS})\s?[{CLOSING}]{{1,2}}\s?")
_BARE_DOT = re.compile(r" (?:dot|punkt|punto|point|ponto|punt) (?=[a-z0-9])")
# "ät" is not a word in any language, so a domain with an ordinary dot may follow it.
_BARE_AT = re.compile(
    r" (?:at|ät|arroba|arobase|chiocciola|apenstaartje) "
    rf"(?=[a-z0-9-]{{1,63}}(?: ?[{OPENING}]{{1,2}} ?(?:{DOT_WORDS})|{_BARE_DOT.pattern}))"
    r"| ät (?=[a-z0-9-]{1,63}\.[a-z])"
)
# Words before a bare "at" that are not a name: "follow us at".
_SENTENCES = frozenset(
    ("us", "me", "him", "her", "them", "it", "look", "visit", "find", "more", "online", "here", "you", "is")
)
# Role names that are not verbs: "register at" is part of a sentence.
_SPOKEN = frozenset(
    ("info", "contact", "office", "mail", "email", "hello", "sales", "support", "kontakt", "post", "admin", "service")
)
_DASHED = re.compile(r"(?<= )[-*_]{1,2}(at|ät|dot|punkt)[-*_]{1,2}(?= )")
_LETTER_A = re.compile(r"(?<=[a-z0-9]) ?[(\[][aà][)\]] ?(?=[a-z0-9-]{2,63}\.[a-z])")
_BEFORE_CHARS, _AFTER_CHARS = 90, 160

_CLOUDFLARE_LINK = "/cdn-cgi/l/email-protection#"
_FIELDS = "option[value*='@'], input[type=hidden i][value*='@'], meta[content*='@']"
_HASH = re.compile(r"[0-9a-f]{24,}")
# "logo@2x.png", "package@1.2.3-rc.io"
_NO_HOSTS = re.compile(r"[1-9]x\.|\d+\.\d")
# Of documentation and forms. Host labels, and names before the @.
_PLACEHOLDER_HOSTS = """
example examples exemple ejemplo esempio exemplo beispiel voorbeeld przyklad domain yourdomain your-domain mydomain
deinedomain ihredomain meinedomain votredomaine tudominio dominio tuodominio seudominio jouwdomein domena yoursite
mysite your-site website yourwebsite your-website company yourcompany your-company mycompany companyname
yourcompanyname ihrefirma ihre-firma deinefirma musterfirma votreentreprise tuempresa suaempresa tuazienda bedrijf
yourbusiness yourorganization sample placeholder foobar test testing email-address yourmail youremail localhost
"""
_PLACEHOLDER_NAMES = """
you your yourname your.name your-name youremail your.email your-email yourmail yourfriend friend name nom nombre nome
imie naam firstname lastname firstname.lastname first.last vorname nachname vorname.nachname v.nachname prenom.nom
nombre.apellido nome.cognome nome.sobrenome voornaam.achternaam imie.nazwisko fornavn.etternavn fornamn.efternamn
etunimi.sukunimi ihre-email ihre.email ihreemail ihrname ihr.name deine-email deinname deine.email votre-email
votre.email votrenom votremail votre tu tunombre tucorreo tu.correo tu-email tuemail tu.email seuemail seu-email
seu.email seunome latuaemail tuoemail tuaemail jouwemail jouwnaam uwnaam uwemail mustermann max.mustermann
maxmustermann erika.mustermann muster beispiel exemple ejemplo esempio exemplo example john.doe johndoe jane.doe
janedoe email.address emailaddress someone somebody xxx xxxx
"""
# Names that are someone's at a domain of one's own, but placeholders at a domain that everybody has.
_SHARED_HOSTS = frozenset(("email", "mail", "gmail", "test", "abc", "xyz", "site", "web", "business", "host"))
_CODE_HOSTS = frozenset(("github.com", "gitlab.com", "bitbucket.org", "ssh.dev.azure.com"))
_TRACKERS = ("sentry.io", "wixpress.com", "sentry-cdn.com")
_FILE_SUFFIXES = ("zip", "mov")


_placeholder_hosts = frozenset(_PLACEHOLDER_HOSTS.split())
_placeholder_names = frozenset(_PLACEHOLDER_NAMES.split())


def emails(page: Page) -> tuple[ContactSighting, ...]:
    """At most MAX_EMAILS addresses in lower case, those of links first; each once."""
    around = PageSurroundings(page)
    found: dict[str, ContactSighting] = {}
    for value, method, place in _all(page):
        if value in found and not found[value].party:
            continue
        where = around.at(place) if isinstance(place, int) else around.of_link(place)
        if value in found:
            # One sighting that names nobody else speaks for the address; the first says how it was found.
            if not where.party and where.group >= 0:
                found[value] = ContactSighting(value, found[value].method, *where)
        else:
            found[value] = ContactSighting(value, method, *where)
        if len(found) >= MAX_EMAILS:
            break
    return tuple(found.values())


def _all(page: Page) -> Iterator[tuple[str, str, int | str]]:
    """Addresses, how they were found, and where: an offset of the text, -1 for none, or the address of a link."""
    own = page.domain
    for link in page.links:
        url = link.url
        if url[:7].lower() == "mailto:":
            yield from ((value, "mailto", url) for value in _of_mailto(url[7:], own))
        elif _CLOUDFLARE_LINK in url:
            yield from ((value, "cloudflare", url) for value in _of_cloudflare(url.partition("#")[2], own))
    if "data-cfemail" in page.html:
        for node in page.tree.css("[data-cfemail]")[:MAX_EMAILS]:
            code = node.attributes.get("data-cfemail") or ""
            yield from ((value, "cloudflare", -1) for value in _of_cloudflare(code, own))
    for thing in contact_holders(page.json_ld):
        given = thing.get("email")
        for one in given[:MAX_EMAILS] if isinstance(given, list) else (given,):
            if isinstance(one, str):
                one = one.strip()
                text = one[7:] if one[:7].lower() == "mailto:" else one
                yield from ((value, "json_ld", -1) for value in _plain(text[:MAX_ADDRESS_CHARS], own))
    text = page.text
    if "＠" in text:  # in the width of East Asian letters; each stays one letter, so that places stay
        text = text.translate(_NARROW)
    yield from ((value, "text", at) for value, at in _plain_places(text, own))
    yield from ((value, "obfuscated", at) for value, at in _veiled_places(text, own))
    yield from ((value, "obfuscated", at) for value, at in _hashed_places(text, own))
    for joined in joined_texts(page):
        yield from ((value, "obfuscated", -1) for value in _plain(joined[:MAX_JOINED_CHARS], own))
    for given in _fields(page):
        yield from ((value, "field", -1) for value in _plain(given[:MAX_ADDRESS_CHARS], own))
    # Data of scripts holds addresses of customers and services, too: those of the site's own domain are surely its own.
    for data in script_data(page):
        for value in _plain(data, own):
            if registrable(value.rpartition("@")[2]) == own:
                yield value, "script", -1


def _fields(page: Page) -> Iterator[str]:
    """What forms send and search engines read: the recipient that a visitor chooses, the one that he does not see."""
    if "@" in page.html:
        for node in page.tree.css(_FIELDS)[:MAX_EMAILS]:
            yield node.attributes.get("value") or node.attributes.get("content") or ""


def _of_mailto(rest: str, own: str) -> Iterator[str]:
    to, _, query = rest.partition("?")
    parts = [to, *(part.partition("=")[2] for part in query.split("&") if part[:3].lower() in ("to=", "cc="))]
    for part in parts:
        if not part:
            continue
        text = unquote(part)
        if "%" in text:
            text = unquote(text)  # some encode twice
        direct = list(_plain(text, own))
        yield from direct or (value for value, _ in _veiled_places(text, own))


def _of_cloudflare(code: str, own: str) -> Iterator[str]:
    """Hexadecimal bytes, of which the first is the key that all others were combined with."""
    try:
        raw = bytes.fromhex(code[: 2 * MAX_ADDRESS_CHARS])
    except ValueError:
        return
    if len(raw) > 1:
        text = bytes(byte ^ raw[0] for byte in raw[1:]).decode("utf-8", "replace")
        yield from _plain(text.partition("?")[0], own)


def _plain(text: str, own: str) -> Iterator[str]:
    return (value for value, _ in _plain_places(text, own))


def _plain_places(text: str, own: str) -> Iterator[tuple[str, int]]:
    at = text.find("@")
    tries = 0
    while at >= 0 and tries < MAX_TRIES:
        tries += 1
        if value := _address_at(text, at, own) or (_spaced(text, at, own) if text[at - 1 : at + 2] == " @ " else ""):
            yield value, at
        at = text.find("@", at + 1)


def _address_at(text: str, at: int, own: str) -> str:
    """The address around an @; "" if there is none."""
    window = text[max(0, at - MAX_LOCAL_CHARS - 12) : at]
    head = window.rstrip(_LOCAL_CHARS)
    local = window[len(head) :]
    ahead = head[-1:]
    if not local or (ahead and (ahead in "@/" or (ahead.isalpha() and ord(ahead) < _NO_LETTERS_OF_NAMES))):
        return ""  # a handle of a network, a path, or a name cut at a letter that addresses do not have
    if ahead == "%" and len(local) > 2:
        local = local[2:]
    elif ahead == ":" and "//" in head.rpartition(" ")[2]:
        return ""  # a password in an address of the web
    return _checked(local, text[at + 1 : at + 1 + MAX_ADDRESS_CHARS], own)


def _spaced(text: str, at: int, own: str) -> str:
    """An address with blanks around its @, where the name is that of a role, or the domain the page's: else it is a
    sentence ("us @ cafe.de")."""
    before = text[max(0, at - MAX_LOCAL_CHARS) : at].rstrip()
    value = _address_at(f"{before}@{text[at + 1 : at + 1 + MAX_ADDRESS_CHARS].lstrip()}", len(before), own)
    local, _, host = value.partition("@")
    return value if local and local not in _SENTENCES and (is_role(value) or registrable(host) == own) else ""


def _veiled_places(text: str, own: str) -> Iterator[tuple[str, int]]:
    """Addresses as "name [at] domain [dot] tld", in the spellings and languages that are usual."""
    text = text.lower()
    if "at- " in text or "at* " in text or "at_ " in text:
        text = _DASHED.sub(r"[\1]", text)
    for pattern in (_VEILED_AT, _BARE_AT, _LETTER_A) if "(a)" in text or "[a]" in text else (_VEILED_AT, _BARE_AT):
        for match in islice(pattern.finditer(text), MAX_TRIES):
            value = _unveiled(text, match.start(), match.end(), own)
            if value and not (pattern is _BARE_AT and " at " in match[0] and _is_sentence(value, own)):
                yield value, match.start()


def _hashed_places(text: str, own: str) -> Iterator[tuple[str, int]]:
    """Addresses of the page's own domain with another sign in the place of the @: "sales#acme.cn (# is @)"."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = text  # a letter that is two in lower case: places would not be the same
    at = lower.find(own)
    tries = 0
    while at > 0 and tries < MAX_TRIES:
        tries += 1
        if text[at - 1] in AT_SIGNS:
            window = text[max(0, at - 1 - MAX_LOCAL_CHARS) : at - 1]
            if value := _address_at(f"{window}@{text[at : at + MAX_ADDRESS_CHARS]}", len(window), own):
                yield value, at - 1
        at = lower.find(own, at + 1)


def _is_sentence(value: str, own: str) -> bool:
    """Whether words around a bare "at" are more likely a sentence: "available at amazon dot com"."""
    local, _, host = value.partition("@")
    return local in _SENTENCES or not (local in _SPOKEN or "." in local or registrable(host) == own)


def _unveiled(text: str, start: int, end: int, own: str) -> str:
    before = _BARE_DOT.sub(".", _VEILED_DOT.sub(".", text[max(0, start - _BEFORE_CHARS) : start])).rstrip()
    after = _BARE_DOT.sub(".", _VEILED_DOT.sub(".", text[end : end + _AFTER_CHARS])).lstrip()
    return _address_at(f"{before}@{after}", len(before), own)


def _checked(local: str, rest: str, own: str) -> str:
    local = local.lstrip("._+'-").rstrip("'").lower()
    if escape := _ESCAPE.match(local):
        local = local[escape.end() :]
    if not local or len(local) > MAX_LOCAL_CHARS or local.endswith(".") or ".." in local or _HASH.fullmatch(local):
        return ""
    host = _host(rest)
    value = f"{local}@{host}"
    return value if host and len(value) <= MAX_ADDRESS_CHARS and not _is_made_up(local, host, own) else ""


def _host(rest: str) -> str:
    """The host a text starts with, what is glued to it cut off; "" if it is none of the public DNS."""
    for pattern in (_HOST, _ASCII_HOST):
        if match := pattern.match(rest):
            name = match[0]
            shorter, _, last = name.rpartition(".")
            # "acme.com.Call now": a sentence that starts without a blank, though many a word is a domain, too.
            if last.istitle() and not shorter.istitle() and (host := _public(shorter)):
                return host
            if host := _public(name):
                return host
            if host := _public(_GLUED.sub(r"\1", name)):
                return host  # "firma.deTelefon"
            if last[:1].isupper() and (host := _public(shorter)):
                return host
    return ""


@lru_cache(maxsize=4_096)
def _public(name: str) -> str:
    try:
        host = normalise(name)
    except NotAHost:
        return ""
    return host if "_" not in host and is_of_the_internet(host) else ""


def _is_made_up(local: str, host: str, own: str) -> bool:
    domain = registrable(host)
    label = domain.partition(".")[0]
    if local in _placeholder_names or host.endswith(_TRACKERS) or "nospam" in host or label == "example":
        return True
    if domain == own:
        return False
    if label in _placeholder_hosts or (label in _SHARED_HOSTS and local in ("user", "info", "test", "email", "mail")):
        return True
    if _NO_HOSTS.match(host) or host.rpartition(".")[2] in _FILE_SUFFIXES:
        return True
    return local in ("git", "hg") and domain in _CODE_HOSTS
