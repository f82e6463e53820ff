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
        ("<p>Nordtex, København, hello@studio.com (empresa independente)", "partner"),
        ("<h2>Hosting</h2><dl><dt>E-mail</dt><dd>hello@studio.com</dd></dl>", "host"),
    ],
)
def test_the_words_before_an_address_name_its_owner(html: str, expected: str) -> None:
    assert party(html)[0] == expected


@pytest.mark.parametrize(
    ("html", "block"),
    [
        ("<blockquote>“Great!” – Rainer (hello@studio.com)</blockquote>", "quote"),
        ("<blockquote>hello@studio.com</blockquote>", ""),  # an indentation
        ("<div class='review'>“Hair fall stopped”, hello@studio.com</div>", "quote"),
        ("<div class='review'>★★★★★ Hair fall stopped, hello@studio.com</div>", "quote"),
        ("<div class='testimonial'>Hair fall stopped.<p>– Jo, hello@studio.com</div>", "quote"),
        # The class alone says nothing: a preview, a form for an offer, a page on reviews.
        ("<div class='review'>Write to hello@studio.com</div>", ""),
        ("<div class='request-quote'>Ask for an offer: hello@studio.com</div>", ""),
        ("<p>“They fixed our roof in a day. Ask me: hello@studio.com”</p>", "quote"),
        ("<p>“They fixed our roof within a single day.”</p><p>– Becky, hello@studio.com</p>", "quote"),
        ("<p>“They fixed our roof within a single day.”</p><p>Write to hello@studio.com</p>", ""),
        ("<p>“They fixed our roof within a single day.”</p><p>Jo Ames, baker, Leeds · hello@studio.com</p>", "quote"),
        ("<p>Jo runs the stand on Highway 34: “Write me, I tell everybody: hello@studio.com”.</p>", "quote"),
        ("<p>Our sister company in Ghent: hello@studio.com</p>", "branch"),
        ("<footer>Zweigstelle Waren: Lange Straße 5, hello@studio.com</footer>", "branch"),
        ("<p>Bookings are taken by Petro at our booking office, Coast Boats: hello@studio.com", "branch"),
        ("<p>Bei unserer Kollegin Frau Petersen im Lager: hello@studio.com", "branch"),
        ("<p>Notre bureau parisien, 11 rue du Bois, prend vos réservations : hello@studio.com", "branch"),
        ("<p>A nossa marca própria, Selho: hello@studio.com", "branch"),
        ("<p>Αθήνα: το αδελφό μας γραφείο, hello@studio.com", "branch"),
        ("<p>予約確認メールは当院専用アドレス hello@studio.com からお送りします。", "branch"),
        ("<p>Bolaget ägs av Skog AB, som sköter våra fakturor: hello@studio.com", "branch"),
        ("<p>Voor Limburg heten wij Mergel, zelfde eigenaar.<br>hello@studio.com", "branch"),
        ("<p>hello@studio.com (our English-language site)", "branch"),
        ("<p>La confirmación llega desde hello@studio.com, que leemos nosotros.", "branch"),
        ("<h3>Showroom Paris</h3><p>21 rue du Sentier, 75002 Paris<br>hello@studio.com", "branch"),
        ("<h3>昆山廠</h3><p>江蘇省昆山市友誼路44號<br>hello@studio.com", "branch"),
        ("<h2>Group office</h2><dl><dt>E-mail</dt><dd>hello@studio.com</dd></dl>", "branch"),
        # Not said of this address, or said by someone else.
        ("<p>Duinrand (geen onderdeel van ons kantoor) rekent mee: hello@studio.com", ""),
        ("<p>Our trailers are made by Remolques: hello@studio.com", ""),
        ("<p>Our office is cleaned every Monday. Foo & Sons: hello@studio.com", ""),
        ("<h3>Showroom Paris</h3><p>Agent for Scandinavia: Nordtex Agency, hello@studio.com", ""),
        ("<p>“They painted our office within a single day” – Jo, hello@studio.com", "quote"),
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
        "<p>info★firma.de（★を@に変えてください）",
        "<p>info（アットマーク）firma.de",
        "<p>info (παπάκι) firma (τελεία) de",
        "<p>Storm: info @ firma.de, later info@firma.de",
        "<span data-e='aW5mb0BmaXJtYS5kZQ=='></span>",
        '<span class="m" data-u="info" data-d="firma" data-t="de"></span>',
        "<script>document.write(String.fromCharCode(105,110,102,111,64,102,105,114,109,97,46,100,101))</script>",
        "<a href='#' onclick=\"location.href='mailto:'+'ed.amrif@ofni'.split('').reverse().join('')\">write</a>",
        "<a href=\"javascript:linkTo_UnCryptMailto('nbjmup+jogpAgjsnb/ef');\">write</a>",
        "<p>info @ firma.de",
        "<p style='unicode-bidi: bidi-override'>ed.amrif@ofni",
    ],
)
def test_addresses_that_scripts_and_pictures_hide_are_found(html: str) -> None:
    assert [one.value for one in emails(page(html))] == ["info@firma.de"]


@pytest.mark.parametrize(
    "html",
    [
        '<span data-color="dark" data-d="other" data-t="de"></span>',
        "<span data-e='aW5mb3JtYXRpb25lbiB1bmQgbWVocg=='></span>",
        "<p>x★other.de, §*firma.de",
    ],
)
def test_attributes_and_signs_that_hide_no_address(html: str) -> None:
    assert [one.value for one in emails(page(html))] == []


def test_a_label_of_a_line_with_its_own_value_does_not_reach_the_next_sentence() -> None:
    html = "<p>Stockists: sales@firma.de<br>If you do not get an answer from there, try Annie at home: hello@studio.com"
    assert {one.value: one.party for one in emails(page(html))} == {
        "sales@firma.de": "supplier", "hello@studio.com": "",
    }  # fmt: skip


def test_the_sentence_of_a_cloak_does_not_end_that_of_the_page() -> None:
    html = "<p>Hosting: Cloud, <span id='cloak1'>This address is protected. You need JavaScript.</span>, 030 901820"
    assert [one.party for one in phones(page(html), ["DE"])] == ["host"]


def test_addresses_in_structured_data_of_others_are_not_the_sites() -> None:
    html = """<script type="application/ld+json">{"@type": "TheaterEvent", "location": {"email": "box@stage.com"},
      "offers": {"seller": {"@type": "Organization", "email": "hello@studio.com",
      "contactPoint": {"telephone": "+49 30 901820"}}}}</script>"""
    assert [one.value for one in emails(page(html))] == ["box@stage.com"]
    assert phones(page(html), ["DE"]) == ()


def test_what_a_site_calls_itself_is_not_someone_else() -> None:
    html = "<title>Taxi Huber</title><p>Taxi 030 901820"
    assert [one.party for one in phones(page(html, "https://www.huber-kiel.de/"), ["DE"])] == [""]
    assert [one.party for one in phones(page("<p>Taxi 030 901820"), ["DE"])] == ["directory"]
