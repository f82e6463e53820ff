"""Phone numbers of a page: every usual way of writing one, and what else is made of digits."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siteglass.ingest.extract.phones import MAX_PHONES, phones
from siteglass.ingest.facts import ContactSighting
from tests.ingest.contacts.making import PAGE_LIMIT_MS, page, slowest_ms


def found(html: str, *countries: str) -> list[tuple[str, str]]:
    return [(one.value, one.method) for one in _numbers(html, countries)]


def _numbers(html: str, countries: Sequence[str], url: str = "https://www.example.com/") -> list[ContactSighting]:
    """Without fax numbers and what no country is known for, which are for the merge."""
    several = phones(page(html, url), countries)
    return [one for one in several if one.label != "fax" and one.value.startswith("+")]


@pytest.mark.parametrize(
    ("href", "countries", "expected"),
    [
        ("tel:+49-30-901820", "", "+4930901820"),
        ("TEL:%2B49%2030%20901820", "", "+4930901820"),
        ("tel:004930901820", "", "+4930901820"),
        ("tel:+49(0)30901820", "", "+4930901820"),
        ("tel://+4930901820", "", "+4930901820"),
        ("tel:030901820", "DE", "+4930901820"),
        ("tel:030901820", "CH DE", "+4930901820"),
        ("tel:4930901820", "", ""),
        ("tel:493090182000", "", "+493090182000"),
        ("tel:2127365000", "", "+12127365000"),
        ("tel:1-800-843-0008", "DE", "+18008430008"),
        ("tel:+1-212-736-5000;ext=12", "", "+12127365000"),
        ("callto:+4930901820", "", "+4930901820"),
        ("tel:110", "DE", ""),
        ("tel:", "DE", ""),
        ("tel:+49", "DE", ""),
    ],
)
def test_tel_links(href: str, countries: str, expected: str) -> None:
    assert found(f'<a href="{href}">call</a>', *countries.split()) == ([(expected, "tel")] if expected else [])


@pytest.mark.parametrize(
    "href",
    [
        "https://wa.me/4915123456789",
        "https://wa.me/+4915123456789?text=Hi",
        "https://api.whatsapp.com/send?phone=4915123456789&text=1234567890",
        "https://api.whatsapp.com/send/?text=x&phone=%2B4915123456789",
        "whatsapp://send?phone=+4915123456789",
        "https://web.whatsapp.com/send?phone=4915123456789",
    ],
)
def test_whatsapp_links(href: str) -> None:
    assert found(f'<a href="{href}">chat</a>') == [("+4915123456789", "whatsapp")]


def test_whatsapp_links_without_a_number() -> None:
    assert (
        found('<a href="https://wa.me/message/ABCDEF123456">x</a><a href="https://wa.me/?text=4915123456789">y</a>')
        == []
    )


def test_json_ld_has_phones_and_faxes() -> None:
    html = """<script type="application/ld+json">{"@type": "LocalBusiness",
      "telephone": ["030 901820", "+44 20 7946 0958"], "faxNumber": "+49 30 901821",
      "contactPoint": {"telephone": "+1-212-736-5000"}}</script> Tel. +49 30 901821"""

    assert found(html, "DE") == [
        ("+4930901820", "json_ld"),
        ("+442079460958", "json_ld"),
        ("+4930901821", "text"),
        ("+12127365000", "json_ld"),
    ]


@pytest.mark.parametrize(
    ("text", "country", "expected"),
    [
        ("Tel.: 030 / 90 18 20", "DE", "+4930901820"),
        ("Telefon 030-901820", "DE", "+4930901820"),
        ("T: +49 (0) 30 90 18 20", "", "+4930901820"),
        ("Rufen Sie uns an (030) 901820-0", "DE", "+49309018200"),
        ("Mobil 0171/2345678", "DE", "+491712345678"),
        ("0800 330 1000", "DE", "+498003301000"),
        ("Tel. 01 58858-0", "AT", "+431588580"),
        ("044 668 18 00", "CH", "+41446681800"),
        ("Tél. : 01 42 68 53 00", "FR", "+33142685300"),
        ("01.42.68.53.00", "FR", "+33142685300"),
        ("Llámenos: 912 345 678", "ES", "+34912345678"),
        ("912 34 56 78", "ES", "+34912345678"),
        ("tel 06 698821", "IT", "+3906698821"),
        ("Telefono: 02 8646 1234", "IT", "+390286461234"),
        ("Bel 020 624 1111", "NL", "+31206241111"),
        ("(212) 736-5000", "US", "+12127365000"),
        ("(212) 736-5000", "", "+12127365000"),
        ("212.736.5000", "US", "+12127365000"),
        ("1-800-843-0008", "US", "+18008430008"),
        ("Call 2127365000 now", "US", "+12127365000"),
        ("+1 (212) 736-5000 ext. 12", "", "+12127365000"),
        ("020 7946 0958", "GB", "+442079460958"),
        ("+44 (0)20 7946 0958", "", "+442079460958"),
        ("(11) 91234-5678", "BR", "+5511912345678"),
        ("Telefone: (11) 3061-1234", "BR", "+551130611234"),
        ("(02) 9374 4000", "AU", "+61293744000"),
        ("TEL 03-3201-3331", "JP", "+81332013331"),
        ("電話０３－３２０１－３３３１", "JP", "+81332013331"),
        ("전화 02-2133-1234", "KR", "+82221331234"),
        ("电话：010-6552 9988", "CN", "+861065529988"),
        ("тел. 8 (495) 123-45-67", "RU", "+74951234567"),
        ("tel. 22 621 02 51", "PL", "+48226210251"),
        ("Tlf 33 12 12 12", "DK", "+4533121212"),
        ("Puh. 09 310 1691", "FI", "+35893101691"),
        ("0212 251 25 25", "TR", "+902122512525"),
        ("Phone 098200 12345", "IN", "+919820012345"),
        ("0049 30 901820", "DE", "+4930901820"),
        ("(+49) 30 901820", "", "+4930901820"),
        ("BTW NL812345678B01, 030-2345678", "NL", "+31302345678"),
        ("Tel:030/901820", "DE", "+4930901820"),
        ("Tel.030 901820", "DE", "+4930901820"),
        ("Tel:+49.30.901820", "", "+4930901820"),
        ("Fax: -, Tel: (030)901820", "DE", "+4930901820"),
        ("Tel/Fax: 030 901820", "DE", "+4930901820"),
        ("Telefon und Fax 030 901820", "DE", "+4930901820"),
        ("☎ 030 901820", "DE", "+4930901820"),
        ("Phone number: 020 7946 0958", "GB", "+442079460958"),
        ("Tel. Nr. 030 901820", "DE", "+4930901820"),
        ("Acme Company, London 020 7946 0958", "GB", "+442079460958"),
        ("+49 30 9018-0/-12", "", "+493090180"),
        ("Mob. 901 84 417", "NO", "+4790184417"),
        ("Kontor på Stord: 53 41 88 40", "NO", "+4753418840"),
        ("GSM (Hasan Usta) 0532 418 44 17", "TR", "+905324184417"),
        ("Servis 0 332 713 44 20", "TR", "+903327134420"),
        ("Tổng đài 1900 18 44 18", "VN", "+841900184418"),
        ("初診専用：０１２０－１８－４４１８（９時〜１９時）", "JP", "+81120184418"),
        ("Rua Frei Mariano, 71. (67) 3231-8844", "BR", "+556732318844"),
    ],
)
def test_numbers_in_text(text: str, country: str, expected: str) -> None:
    assert found(f"<p>{text}</p>", *country.split()) == [(expected, "text")]


def test_two_numbers_with_a_slash_between() -> None:
    assert found("Tel: 030 901820 / 0171 2345678", "DE") == [("+4930901820", "text"), ("+491712345678", "text")]


@pytest.mark.parametrize(
    ("text", "country", "expected"),
    [
        ("924 31 44 18 / 924 31 44 19", "ES", ["+34924314418", "+34924314419"]),
        ("+91-427-2448120, 2448121", "IN", ["+914272448120", "+914272448121"]),
        ("(+91) 9443210776, 9865100432", "IN", ["+919443210776", "+919865100432"]),
        ("Tel. 0335 15231, 15230 Frankfurt", "DE", ["+4933515231"]),
        ("Tel. 030 901820, 10117 Berlin", "DE", ["+4930901820"]),
    ],
)
def test_numbers_that_differ_in_their_end(text: str, country: str, expected: list[str]) -> None:
    assert [value for value, _ in found(f"<p>{text}</p>", country)] == expected


def test_numbers_of_one_line_are_of_one_country() -> None:
    html = "<p>Nairobi. Tel. +254 20 388 4120, mobile 0722 418 806<p>York 01904 557721"
    assert [one.value for one in phones(page(html), ["GB"])] == ["+254203884120", "+254722418806", "+441904557721"]


def test_a_national_number_is_the_one_that_a_link_dials() -> None:
    html = "<p>Laredo, TX 78045, USA<p>WhatsApp: <a href='https://wa.me/523318802277'>33 1880 2277</a>"
    assert found(html, "US", "MX") == [("+523318802277", "whatsapp")]
    (number,) = phones(page("<a href='tel:+302103318447'>Call</a> 210 33 18 447"), ["CY"])
    assert (number.value, number.given) == ("+302103318447", "")


def test_a_word_belongs_to_the_number_after_it() -> None:
    html = "<p>Τηλέφωνο: 24 65 18 44 Φαξ: 24 65 18 45 Έκτακτα περιστατικά: 99 184417"
    labels = {one.value: one.label for one in phones(page(html), ["CY"])}
    assert labels == {"+35724651844": "phone", "+35724651845": "fax", "+35799184417": ""}


def test_labels_may_stand_in_the_cell_before() -> None:
    html = """<table><tr><td>Telefon</td><td>030901820</td></tr><tr><td>Fax</td><td>030 901821</td></tr></table>
      030 901822"""

    assert found(html, "DE") == [("+4930901820", "text"), ("+4930901822", "text")]


@pytest.mark.parametrize(
    ("text", "country"),
    [
        ("Fax: 030 901821", "DE"),
        ("Telefax +49 30 901821", "DE"),
        ("Tel. siehe oben, Fax (030) 901821", "DE"),
        ("030 901821 (Fax)", "DE"),
        ("факс 8 (495) 123-45-67", "RU"),
        ("USt-IdNr. DE 123456789, DE123456789", "DE"),
        ("IBAN DE89 3704 0044 0532 0130 00", "DE"),
        ("Konto 0123456789 BLZ 10050000", "DE"),
        ("HRB 012 345678, Amtsgericht", "DE"),
        ("Steuernummer 030/123/45678", "DE"),
        ("SIRET 012 345 678 00012", "FR"),
        ("P. IVA 01234567890", "IT"),
        ("CNPJ 12.345.678/0001-90", "BR"),
        ("Bestellnummer 0301234567", "DE"),
        ("Order no. 212-736-5000", "US"),
        ("ISBN 0-306-40615-2, 978-3-16-148410-0", "US"),
        ("vom 01.02.2024 bis 03.04.2024 10", "FR"),
        ("2013-05-04 1998-2013 1998 – 2013", "DK"),
        ("Mo-Fr 08.00 - 12.00 13.00 - 17.00", "FR"),
        ("09:00-17:00 0900 - 1700", "DE"),
        ("52.520008, 13.404954", "DE"),
        ("1.234.567 Stück, 12.345.678,00 €, $1 234 567 890", "DE"),
        ("20 30 40 50 60", "DE"),
        ("12345 67890", "US"),
        ("0123456789", "FR"),
        ("v1.2.3.4567 10.0.0.1 192.168.100.200", "US"),
        ("A030901820 x/030901820", "DE"),
        ("030901820€ 0309018200%", "DE"),
        ("12:30 901820 0 1.030 901820 3,030 901820", "DE"),
        ("7" * 30, "DE"),
        ("+49 30 1", "DE"),
        ("+999 1234567", "DE"),
        ("bank code 7171, account 003-901442-8", "SG"),
        ("P.O. Box 4418-00506, Nairobi", "KE"),
    ],
)
def test_what_else_is_made_of_digits(text: str, country: str) -> None:
    assert found(f"<p>{text}</p>", country) == []


def test_a_fax_is_none_as_a_link_either() -> None:
    html = 'Tel <a href="tel:+4930901820">030 901820</a> Fax: <a href="tel:+4930901821">030 901821</a>'

    assert found(html, "DE") == [("+4930901820", "tel")]


def test_each_number_counts_once_and_they_are_bounded() -> None:
    assert found('Tel. 030 901820 <a href="tel:+4930901820">030 901820</a>', "DE") == [("+4930901820", "tel")]
    assert len(found(" x ".join(f"+49 30 9018{number}" for number in range(10, 99)))) == MAX_PHONES


def test_scripts_and_attributes_are_not_read() -> None:
    assert (
        found('<script>"+49 30 901820"</script><input value="+49 30 901820" placeholder="+49 30 901820">', "DE") == []
    )


def test_no_page_takes_long() -> None:
    assert slowest_ms(lambda made: phones(made, ("DE", "AT", "CH", "FR"))) < PAGE_LIMIT_MS


_PIECES = st.sampled_from(
    ["+49", "030", "0", "1", "(0)", " ", "-", "/", "Tel", "Fax: ", "901820", "２", "ー", "\n", "+", "("]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(_PIECES, st.text(max_size=4)), max_size=16).map("".join))
def test_whatever_stands_there_only_numbers_come_out(text: str) -> None:
    for value, _ in found(f"<p>{text}</p><a href='tel:{text}'>x</a>", "DE", "US"):
        assert re.fullmatch(r"\+[1-9]\d{6,14}", value)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>Secrétariat : 05 55 33 41 72 (9 h – 18 h)</p>", ["+33555334172"]),
        ("<p>Tel. 05 55 33 41 72 (24/7)</p>", ["+33555334172"]),
        ("<h2>Order</h2><p>Shop 05 55 33 41 72</p>", ["+33555334172"]),
        ("<p>ＴＥＬ　０５（５５）３３４１７２　ＦＡＸ　０５（５５）３３４１７３</p>", ["+33555334172"]),
    ],
)
def test_what_stands_beside_a_number_does_not_hide_it(html: str, expected: list[str]) -> None:
    assert [one.value for one in _numbers(html, ["FR"], "https://www.firma.fr/")] == expected


def test_an_office_abroad_is_called_in_its_country() -> None:
    html = """<h2>Standorte</h2><p>Heilbronner Straße 390, 70469 Stuttgart<br>Tel. 0711 / 8944170</p>
      <p>Österreich<br>Industriezeile 47, 4020 Linz<br>Tel. 0732 / 77 88 12</p>
      <p>USA<br>Tel: 248 948 7920</p>"""
    assert [one.value for one in _numbers(html, ["DE"])] == ["+497118944170", "+43732778812", "+12489487920"]
    assert [one.given for one in _numbers(html, ["DE"])] == ["", "", ""]


def test_a_national_number_is_kept_for_the_merge_where_no_country_is_known() -> None:
    (number,) = phones(page("<p>Office: 020 7515 7774", "https://www.example.com/"), [])
    assert (number.value, number.given, number.label) == ("02075157774", "020 7515 7774", "")


def test_fax_numbers_are_labelled() -> None:
    html = "<p>P: 415.898.4197 <p>F: 866.557.7094 <p>202.299.1148 fax"
    assert [(one.value, one.label) for one in phones(page(html), ["US"])] == [
        ("+14158984197", "phone"), ("+18665577094", "fax"), ("+12022991148", "fax"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "html",
    [
        "<p>T 030 901820 · F 030 901821",
        "<p>T +49 30 901820<br>F +49 30 901821",
        "<p>Ph 030 901820 | Fx 030 901821",
        "<p>Tél. : 030 901820<br>Téléc. : 030 901821",
        "<p>Tel 030 901820<p><i class='fa fa-fax'></i> 030 901821",
        "<p>Tel 030 901820<ul><li><span class='icon-fax'></span><span>030 901821</span></ul>",
        "<p>Tel 030 901820<p itemprop=faxNumber>030 901821",
        "<p>Tel 030 901820<table><tr><th>Faks<td>030 901821</table>",
        "<p>Tel 030 901820 <a href='tel:030901821'>F 030 901821</a>",
        "<p>Tel 030 901820<p>Belgegeçer: 030 901821",
        "<p>Tel 030 901820<br>Facsimile 030 901821",
        "<p>Tel 030 901820<br><img src='/images/fax.gif'> 030 901821",
        "<p>Tel. / Fax: 030 901820 / 030 901821",
        "<table><tr><td>Phone<td>Fax<tr><td>030 901820<td>030 901821</table>",
        "<dl><dt>E-mail<dt>Telefon<dt>Telefax<dd>info@firma.de<dd>030 901820<dd>030 901821</dl>",
        # The word that is near a number more often is its own.
        "<p>Contact<br>030 901821</p><p>Fax: 030 901821</p><p>Fax: 030 901821</p><p>Tel. 030 901820</p>",
    ],
)
def test_marks_of_fax_numbers(html: str) -> None:
    labels = {one.value: one.label for one in phones(page(html), ["DE"])}
    assert labels == {"+4930901820": "phone", "+4930901821": "fax"}


def test_a_word_after_a_fax_number_is_not_said_of_the_next_one() -> None:
    labels = {one.value: one.label for one in phones(page("<p>030 901821 (Fax), 030 901820"), ["DE"])}
    assert labels == {"+4930901821": "fax", "+4930901820": ""}


def test_words_that_end_like_fax_are_none() -> None:
    assert found("<p>Staff 030 901820", "DE") == [("+4930901820", "text")]
    assert found("<a href='tel:030901820'>Our staff 030 901820</a>", "DE")[0] == ("+4930901820", "tel")


def test_words_in_free_numbers_are_dialled() -> None:
    assert found("<p>Call 1-800-555-ROOF today, or visit 800 MAIN STREET") == [("+18005557663", "text")]
    assert found("<p>Toll free 1-888-55-DODGE, or call at 800 OAK AVENUE") == [("+18885536343", "text")]
    (number,) = phones(page("<p>Fax: 888.FAX.IOSAFE"), ["US"])
    assert number.label == "fax"
