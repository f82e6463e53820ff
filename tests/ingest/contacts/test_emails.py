"""Addresses of a page: every usual way of writing one, and what only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siteglass.corpus.domains import is_of_the_internet
from siteglass.corpus.role import is_free_mail, is_role
from siteglass.ingest.extract.emails import MAX_EMAILS, emails
from tests.ingest.contacts.making import PAGE_LIMIT_MS, page, slowest_ms


def found(html: str, url: str = "https://www.firma.de/") -> list[tuple[str, str]]:
    return [(one.value, one.method) for one in emails(page(html, url))]


def veiled(address: str, key: int = 0x5A) -> str:
    return bytes([key, *(byte ^ key for byte in address.encode())]).hex()


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("mailto:info@firma.de", ["info@firma.de"]),
        ("MAILTO:Info@Firma.DE?subject=Hallo%20Welt", ["info@firma.de"]),
        ("mailto:info%40firma.de", ["info@firma.de"]),
        ("mailto:%20info@firma.de%20", ["info@firma.de"]),
        ("mailto:info%2540firma.de", ["info@firma.de"]),
        ("mailto://info@firma.de", []),
        ("mailto:a@firma.de,b@firma.de; c@firma.de", ["a@firma.de", "b@firma.de", "c@firma.de"]),
        ("mailto:?to=a@firma.de&cc=b@firma.de&bcc=c@firma.de", ["a@firma.de", "b@firma.de"]),
        ("mailto:?subject=Look&body=x@firma.de", []),
        ("mailto:Anna%20Berg%20%3Canna.berg@firma.de%3E", ["anna.berg@firma.de"]),
        ("mailto:info[at]firma.de", ["info@firma.de"]),
        ("mailto:", []),
        ("mailto:nobody", []),
    ],
)
def test_mailto_links(href: str, expected: list[str]) -> None:
    assert found(f'<a href="{href}">write</a>') == [(value, "mailto") for value in expected]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("Mail: info@firma.de.", "info@firma.de"),
        ("INFO@FIRMA.DE", "info@firma.de"),
        ("info&#64;firma&#46;de", "info@firma.de"),
        ("&#105;&#x6e;fo&commat;firma.de", "info@firma.de"),
        ("in<b>fo</b>@fir<i>ma</i>.de", "info@firma.de"),
        ("info<span>@</span>firma.de", "info@firma.de"),
        ("info<!-- x -->@<wbr>firma.de", "info@firma.de"),
        ("first.last+tag@mail.sub.firma.co.uk", "first.last+tag@mail.sub.firma.co.uk"),
        ("info@müller.de", "info@xn--mller-kva.de"),
        ("почта:info@кухня.рф", "info@xn--j1agri5c.xn--p1ai"),
        ("邮箱info@firma.cn电话", "info@firma.cn"),
        ("メール：info@firma.co.jp。", "info@firma.co.jp"),
        ("이메일 info@firma.co.kr로", "info@firma.co.kr"),
        ("Schreiben Sie an info@firma.de.Wir antworten", "info@firma.de"),
        ("info@firma.deTelefon", "info@firma.de"),
        ("&lt;info@firma.de&gt;", "info@firma.de"),
        ("'info@firma.de'", "info@firma.de"),
        ("«info@firma.de»,", "info@firma.de"),
        ("(info@firma.de)", "info@firma.de"),
        ("..info@firma.de-", "info@firma.de"),
        ("o'neill@firma.ie", "o'neill@firma.ie"),
        ("u003einfo@firma.de", "info@firma.de"),
        ("?email=%20info@firma.de", "info@firma.de"),
        ("E-Mail: info @ firma.de", "info@firma.de"),
        ("a.very_long-name@firma.museum", "a.very_long-name@firma.museum"),
        ("info@company.com", "info@company.com"),
    ],
)
def test_addresses_in_text(html: str, expected: str) -> None:
    url = "https://www.company.com/" if "company" in html else "https://www.firma.de/"

    assert found(f"<p>{html}</p>", url) == [(expected, "text")]


@pytest.mark.parametrize(
    "text",
    [
        "info [at] firma [dot] de",
        "info(at)firma.de",
        "info (AT) firma (DOT) de",
        "info {at} firma {dot} de",
        "info [ at ] firma [ dot ] de",
        "info ((at)) firma.de",
        "info &lt;at&gt; firma.de",
        "info[@]firma.de",
        "info (@) firma.de",
        "info at firma dot de",
        "info at firma [dot] de",
        "info[ät]firma[punkt]de",
        "info ät firma punkt de",
        "info [at] firma punkt de",
        "info (arroba) firma (punto) de",
        "info arroba firma punto de",
        "info (arobase) firma (point) de",
        "info[arobase]firma.de",
        "info (chiocciola) firma (punto) de",
        "info[apenstaartje]firma[punt]de",
        "info (małpa) firma (kropka) de",
        "info(zavináč)firma(tečka)de",
        "info [kukac] firma [pont] de",
        "info(собака)firma.de",
        "info -at- firma -dot- de",
        "info *at* firma.de",
        "info(a)firma.de",
        "in<b>fo</b> [at] firma.de",
    ],
)
def test_veiled_addresses(text: str) -> None:
    assert found(f"<p>Kontakt: {text}</p>") == [("info@firma.de", "obfuscated")]


def test_dots_of_names_are_unveiled_too() -> None:
    assert found("anna [dot] berg [at] mail [dot] firma [dot] co [dot] uk") == [
        ("anna.berg@mail.firma.co.uk", "obfuscated")
    ]


def test_cloudflare_is_decoded() -> None:
    html = (
        f'<a class="__cf_email__" data-cfemail="{veiled("hi@firma.de")}">[email&#160;protected]</a>'
        f'<a href="/cdn-cgi/l/email-protection#{veiled("shop@firma.de?subject=x", 1)}">write</a>'
        '<a href="/cdn-cgi/l/email-protection#zz">x</a><i data-cfemail=""></i><i data-cfemail="5a"></i>'
    )

    assert found(html) == [("shop@firma.de", "cloudflare"), ("hi@firma.de", "cloudflare")]


def test_json_ld_is_read_at_any_depth() -> None:
    html = """<script type="application/ld+json">{"@graph": [{"@type": "Organization", "email": "mailto:Info@Firma.de",
      "contactPoint": [{"email": ["sales@firma.de", 7, null]}],
      "founder": {"email": {"x": "no@firma.de"}}}]}</script>"""

    assert found(html) == [("info@firma.de", "json_ld"), ("sales@firma.de", "json_ld")]


@pytest.mark.parametrize(
    "html",
    [
        "logo@2x.png icon@3x.webp hero@2x.zip",
        "react@18.2.0 @types/node@20.1.1 pkg@1.2.3-beta.io",
        "you@example.com x@example.org x@mail.example.net x@example.de x@shop.example.co.uk",
        "name@company.com user@domain.com me@yoursite.com jo@yourdomain.de jo@mysite.com",
        "yourname@firma.de your-email@gmail.com ihre-email@gmx.de votre.email@orange.fr tucorreo@gmail.com",
        "vorname.nachname@firma.de firstname.lastname@firma.de max.mustermann@web.de john.doe@gmail.com",
        "https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/1",
        "0123456789abcdef0123456789abcdef@firma.de",
        "605a7baede844d278b89dc95ae0a9123@sentry-next.wixpress.com",
        "@anna@mastodon.social @firma.de follow @firma.de",
        "https://medium.com/@firma.de https://user:secret@ftp.firma.de/",
        "git@github.com:firma/app.git",
        "meet us @ cafe.de and follow us at twitter dot com",
        "look at firma.de or open at 9.30 [at] 10.30",
        "we are at the point of no return, at lunch point taken",
        "müller@firma.de",
        "x@intranet.local x@server x@firma.notatld x@1.2.3.4 x@[10.0.0.1]",
        "info@nospam.firma.de",
        "x..y@firma.de " + "x" * 65 + "@firma.de x@" + "a" * 64 + ".de",
        '<input placeholder="x@firma.de" value="y@firma.de"><textarea>z@firma.de</textarea>',
        '<!-- x@firma.de --><script>var a = "y@firma.de"</script><style>@import "z@firma.de"</style>',
        '<img src="x@firma.de.png" alt="y@firma.de"><div data-mail="z@firma.de"></div>',
    ],
)
def test_what_only_looks_like_an_address(html: str) -> None:
    assert found(html) == []


def test_each_address_counts_once_and_the_best_method_is_told() -> None:
    html = 'info@firma.de info [at] firma.de <a href="mailto:INFO@firma.de">INFO@FIRMA.DE</a>'

    assert found(html) == [("info@firma.de", "mailto")]


def test_addresses_are_bounded() -> None:
    assert len(found(" ".join(f"a{number}@firma.de" for number in range(200)))) == MAX_EMAILS


_ROLES = """
info@x.de INFO@X.DE sales2@x.de info-berlin@x.de info.uk@x.de no-reply@x.de noreply+7@x.de kundenservice@x.de
datenschutz@x.de bewerbung@x.de accueil@x.fr devis@x.fr presupuestos@x.es atencionalcliente@x.es segreteria@x.it
prenotazioni@x.it klantenservice@x.nl verkoop@x.nl orcamento@x.pt faleconosco@x.com.br biuro@x.pl customer.care@x.com
berlin-office@x.de 2024@x.de webmaster@x.de 123@x.de
"""
_PEOPLE = """
anna@x.de anna.berg@x.de a.berg@x.de annab2@x.de jean-luc@x.fr inforn@x.de salesh@x.de alexa@x.de o'neill@x.ie
"""


def test_roles_and_people_are_told_apart() -> None:
    assert [address for address in _ROLES.split() if not is_role(address)] == []
    assert [address for address in _PEOPLE.split() if is_role(address)] == []


def test_free_mailers() -> None:
    assert is_free_mail("Anna@GMAIL.com")
    assert is_free_mail("anna@web.de")
    assert not is_free_mail("anna@firma.de")
    assert not is_free_mail("gmail.com@firma.de")


@pytest.mark.parametrize(
    "html",
    [
        "<select><option value='info@firma.de'>Sales</select>",
        "<form><input type=hidden name=recipient value='info@firma.de'></form>",
        "<meta name='reply-to' content='info@firma.de'>",
    ],
)
def test_addresses_in_fields_are_found_as_such(html: str) -> None:
    assert [(one.value, one.method) for one in emails(page(html))] == [("info@firma.de", "field")]
    seen = emails(page(f"{html}<p>info@firma.de"))
    assert [(one.value, one.method) for one in seen] == [("info@firma.de", "text")]
    assert emails(page(html.replace("hidden", "text").replace("info@", "@"))) == ()


def test_no_page_takes_long() -> None:
    assert slowest_ms(emails) < PAGE_LIMIT_MS


_PIECES = st.sampled_from(
    ["info", "@", "[at]", " at ", " dot ", "(dot)", ".", "firma", "de", " ", "<b>", "é", "日", "%", "u003e"]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(_PIECES, st.text(max_size=5)), max_size=20).map("".join))
def test_whatever_stands_there_only_addresses_come_out(text: str) -> None:
    for value, _ in found(f"<p>{text}</p><a href='mailto:{text}'>x</a>"):
        local, _, host = value.rpartition("@")
        assert value == value.lower()
        assert 0 < len(local) <= 64
        assert len(value) <= 254
        assert is_of_the_internet(host)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("info@acme.com.Call now", ["info@acme.com"]),
        ("info@acme-shop.de.Tel 030", ["info@acme-shop.de"]),
        ("Info@Acme.Com", ["info@acme.com"]),
        ("available at amazon dot com", []),
        ("register at eventbrite dot com", []),
        ("arrive at gate point one", []),
        ("info at acme dot com", ["info@acme.com"]),
        ("jo.doe at acme dot com", ["jo.doe@acme.com"]),
    ],
)
def test_sentences_around_an_address(text: str, expected: list[str]) -> None:
    assert [one.value for one in emails(page(f"<p>{text}</p>"))] == expected


@pytest.mark.parametrize(
    "html",
    [
        "<p>ｉｎｆｏ＠ｆｉｒｍａ．ｄｅ</p>",
        "<p>info[アット]firma.de</p>",
        "<p>info (a) firma.de</p>",
        """<a href="#" onclick="location.href='mailto:'+atob('aW5mb0BmaXJtYS5kZQ==')">write</a>""",
    ],
)
def test_more_cloaks(html: str) -> None:
    assert [one.value for one in emails(page(html))] == ["info@firma.de"]
