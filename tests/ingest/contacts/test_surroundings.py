"""What the words around an address or a number say of its owner, in the languages of pages."""

from __future__ import annotations

import pytest

from siteglass.ingest.extract.emails import emails
from siteglass.ingest.extract.phones import phones
from tests.ingest.contacts.making import page


def party(html: str) -> tuple[str, str]:
    (found,) = emails(page(html))
    return found.party, found.block


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>Write to hello@studio.com", ""),
        ("<p>Website by Studio (hello@studio.com)", "designer"),
        ("<footer><p>Gestaltung: <a href='mailto:hello@studio.com'>studio</a></footer>", "designer"),
        ("<p>Hébergement : Nuage, abuse@studio.com", "host"),
        ("<p>Zuständige Aufsichtsbehörde: Kreis, Amt, hello@studio.com", "regulator"),
        ("<h2>Datenschutzbeauftragter</h2><p>Data GmbH<br>Kiel<br>hello@studio.com", "dpo"),
        ("<p><b>Aufsichtsbehörde</b></p><p>hello@studio.com", "regulator"),
        ("<p>夜間の急病は、こども夜間安心コール（hello@studio.com）へ。", "hotline"),
        ("<p>κατασκευή: Web hello@studio.com", "designer"),
        ("<p>Отследить груз: «Доставка», hello@studio.com", "carrier"),
        # The word is said of something else: in the sentence before, in the paragraph before, before the next heading.
        ("<p>We are licensed by the city. Write to hello@studio.com", ""),
        ("<p>Website by Studio.</p><p>Write to us at any time, we answer within two days: hello@studio.com", ""),
        ("<p>Médiateur : Conso, 75009 Paris – 01 49 70 15 93 – hello@studio.com", "regulator"),  # no words of its own
        ("<p>موافقات التأمين: شركة التعاون hello@studio.com", "insurer"),
        ("<h2>Hosting</h2><p>Cloud</p><h2>Contact</h2><p>hello@studio.com", ""),
        ("<p>Reclamaciones: Agencia (C/ Jorge Juan 6; teléfono 912 663 517; hello@studio.com).", "regulator"),
        ("<p>The state drought hotline is hello@studio.com", "hotline"),
        ("<p>Our emergency hotline: hello@studio.com", ""),
        ("<p>© Acme. Built by Cody – need a site? hello@studio.com", "designer"),
        ("<h1>Member directory</h1><h3>Bluebird Diner</h3><p>18 Main St<p>hello@studio.com", "directory"),
        ("<h1>Our offices</h1><h3>Leeds</h3><p>18 Main St<p>hello@studio.com", ""),
        ("<p>Text a photo of your roof to hello@studio.com", ""),
    ],
)
def test_the_words_before_an_address_name_its_owner(html: str, expected: str) -> None:
    assert party(html)[0] == expected


@pytest.mark.parametrize(
    ("html", "block"),
    [
        ("<blockquote>“Great!” – Rainer (hello@studio.com)</blockquote>", "quote"),
        ("<blockquote>hello@studio.com</blockquote>", ""),  # an indentation
        ("<div class='review'>Hair fall stopped, hello@studio.com</div>", "quote"),
        ("<p>“They fixed our roof in a day. Ask me: hello@studio.com”</p>", "quote"),
        ("<p>“They fixed our roof within a single day.”</p><p>– Becky, hello@studio.com</p>", "quote"),
        ("<p>“They fixed our roof within a single day.”</p><p>Write to hello@studio.com</p>", ""),
        ("<p>“They fixed our roof within a single day.”</p><p>Jo Ames, baker, Leeds · hello@studio.com</p>", "quote"),
        ("<p>Jo runs the stand on Highway 34: “Write me, I tell everybody: hello@studio.com”.</p>", "quote"),
        ("<p>Our sister company in Ghent: hello@studio.com</p>", "branch"),
        ("<footer>Zweigstelle Waren: Lange Straße 5, hello@studio.com</footer>", "branch"),
        ("<div id='footer'>hello@studio.com</div>", "footer"),
        ("<p>Send <code>{mail: 'hello@studio.com'}</code> to us", "code"),
    ],
)
def test_the_block_of_an_address_is_known(html: str, block: str) -> None:
    assert party(html)[1] == block


def test_values_of_one_sentence_have_one_group() -> None:
    read = page("<p>Call 030 901820 or info@firma.de. Klagomål: IVO, 030 901821, office@amt.de<br>030 901822</p>")
    groups = {one.value: one.group for one in (*emails(read), *phones(read, ["DE"]))}
    assert groups["+4930901820"] == groups["info@firma.de"]
    assert groups["+4930901821"] == groups["office@amt.de"] != groups["info@firma.de"]


@pytest.mark.parametrize(
    "html",
    [
        "<script>var addy1 = 'in&#102;o' + '&#64;'; addy1 = addy1 + 'firma' + '&#46;' + 'de'; x.innerHTML = 1</script>",
        '<script>var u="info",h="firma.de";document.write("<a href=\\"mailto:"+u+"@"+h+"\\">"+u+"&#64;"+h)</script>',
        '<script id="__NEXT_DATA__" type="application/json">{"mail": "info@firma.de", "of": "jo@other.com"}</script>',
        "<span data-e='aW5mb0BmaXJtYS5kZQ=='></span><script>atob(1)</script>",
        "<a data-user='info' data-domain='firma.de'>mail</a>",
        "<p>メール：info＠firma．de",
        "<p>info<img src='at.gif' alt='@'>firma.de",
        "<p>info (à) firma.de",
        "<p>info#firma.de (replace # by @)",
        "<p>info @ firma.de",
        "<p style='unicode-bidi: bidi-override'>ed.amrif@ofni",
    ],
)
def test_addresses_that_scripts_and_pictures_hide_are_found(html: str) -> None:
    assert [one.value for one in emails(page(html))] == ["info@firma.de"]


def test_what_a_site_calls_itself_is_not_someone_else() -> None:
    html = "<title>Taxi Huber</title><p>Taxi 030 901820"
    assert [one.party for one in phones(page(html, "https://www.huber-kiel.de/"), ["DE"])] == [""]
    assert [one.party for one in phones(page("<p>Taxi 030 901820"), ["DE"])] == ["directory"]
