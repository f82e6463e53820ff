"""The language of a page, by its text and by what it declares."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siteglass.ingest.extract.language import language
from tests.ingest.contacts.making import PAGE_LIMIT_MS, page, slowest_ms

# Two texts of each: a sentence as firms write it, and a short one.
_TEXTS = {
    "en": (
        "We are a family business and have been baking fresh bread every morning since 1950.",
        "Book your table online",
    ),
    "de": (
        "Wir sind ein Familienbetrieb und backen seit 1950 jeden Morgen frisches Brot für Sie.",
        "Jetzt Termin vereinbaren",
    ),
    "fr": (
        "Nous sommes une entreprise familiale et cuisons du pain frais chaque matin depuis 1950.",
        "Prenez rendez-vous en ligne",
    ),
    "es": (
        "Somos una empresa familiar y horneamos pan fresco todas las mañanas desde 1950.",
        "Reserve su mesa con nosotros",
    ),
    "it": (
        "Siamo un'azienda di famiglia e dal 1950 sforniamo ogni mattina pane fresco per voi.",
        "Prenota subito un appuntamento",
    ),
    "pt": (
        "Somos uma empresa familiar e assamos pão fresco todas as manhãs desde 1950.",
        "Não perca as nossas promoções",
    ),
    "nl": (
        "Wij zijn een familiebedrijf en bakken sinds 1950 elke ochtend vers brood voor u.",
        "Maak nu een afspraak bij ons",
    ),
    "sv": ("Vi är ett familjeföretag som bakar färskt bröd varje morgon sedan 1950.", "Boka tid hos oss på nätet"),
    "da": (
        "Vi er en familievirksomhed og har bagt frisk brød hver morgen siden 1950 til vores kunder.",
        "Bestil tid på nettet hos os i dag",
    ),
    "no": (
        "Vi er en familiebedrift som har bakt ferskt brød hver morgen siden 1950, og vi gleder oss til å se deg.",
        "Ta kontakt med oss for en hyggelig prat",
    ),
    "fi": (
        "Olemme perheyritys ja olemme leiponeet tuoretta leipää joka aamu vuodesta 1950.",
        "Varaa aika verkossa nyt",
    ),
    "pl": (
        "Jesteśmy firmą rodzinną i od 1950 roku codziennie rano wypiekamy świeży chleb.",
        "Umów się na wizytę już dziś",
    ),
    "cs": (
        "Jsme rodinná firma a od roku 1950 pečeme každé ráno čerstvý chléb pro naše zákazníky.",
        "Objednejte se ještě dnes",
    ),
    "sk": (
        "Sme rodinná firma a od roku 1950 pečieme každé ráno čerstvý chlieb pre našich zákazníkov.",
        "Objednajte sa ešte dnes",
    ),
    "hu": (
        "Családi vállalkozás vagyunk, és 1950 óta minden reggel friss kenyeret sütünk.",
        "Foglaljon időpontot még ma",
    ),
    "ro": (
        "Suntem o afacere de familie și coacem pâine proaspătă în fiecare dimineață din 1950.",
        "Rezervați o masă la noi",
    ),
    "bg": (
        "Ние сме семеен бизнес и от 1950 г. всяка сутрин печем пресен хляб за нашите клиенти.",
        "Запазете час още днес",
    ),
    "ru": ("Мы семейная компания и с 1950 года каждое утро печём для вас свежий хлеб.", "Запишитесь на приём онлайн"),
    "uk": ("Ми родинне підприємство і з 1950 року щоранку печемо для вас свіжий хліб.", "Запишіться на прийом онлайн"),
    "el": ("Είμαστε οικογενειακή επιχείρηση και ψήνουμε φρέσκο ψωμί κάθε πρωί από το 1950.", "Κλείστε ραντεβού τώρα"),
    "tr": ("Biz bir aile şirketiyiz ve 1950'den beri her sabah taze ekmek pişiriyoruz.", "Hemen randevu alın"),
    "hr": (
        "Mi smo obiteljska tvrtka i od 1950. svakog jutra pečemo svježi kruh za naše kupce.",
        "Naručite se već danas putem interneta",
    ),
    "sl": (
        "Smo družinsko podjetje in že od leta 1950 vsako jutro pečemo svež kruh za naše stranke.",
        "Naročite se na pregled še danes",
    ),
    "lt": (
        "Esame šeimos įmonė ir nuo 1950 metų kiekvieną rytą kepame šviežią duoną.",
        "Užsiregistruokite vizitui internetu",
    ),
    "lv": (
        "Mēs esam ģimenes uzņēmums un kopš 1950. gada katru rītu cepam svaigu maizi.",
        "Piesakieties vizītei tiešsaistē",
    ),
    "et": (
        "Oleme pereettevõte ja küpsetame alates 1950. aastast igal hommikul värsket leiba.",
        "Broneeri aeg veebis kohe",
    ),
    "ja": ("私たちは家族経営の会社で、1950年から毎朝新鮮なパンを焼いています。", "ご予約はこちら"),
    "zh": ("我们是一家家族企业，自1950年以来每天早上为您烘焙新鲜面包。", "立即在线预约"),
    "ko": ("저희는 가족 기업으로 1950년부터 매일 아침 신선한 빵을 굽고 있습니다.", "지금 온라인으로 예약하세요"),
    "ar": ("نحن شركة عائلية ونخبز الخبز الطازج كل صباح منذ عام 1950.", "احجز موعدك الآن"),
    "he": ("אנחנו עסק משפחתי ואופים לחם טרי בכל בוקר מאז 1950.", "הזמינו תור עכשיו"),
    "th": ("เราเป็นธุรกิจครอบครัวและอบขนมปังสดทุกเช้าตั้งแต่ปี 1950", "จองคิวออนไลน์ตอนนี้"),
    "vi": (
        "Chúng tôi là doanh nghiệp gia đình và nướng bánh mì tươi mỗi sáng từ năm 1950.",
        "Đặt lịch hẹn trực tuyến ngay",
    ),
    "id": (
        "Kami adalah perusahaan keluarga dan memanggang roti segar setiap pagi sejak tahun 1950.",
        "Pesan janji temu sekarang juga",
    ),
    "hi": ("हम एक पारिवारिक व्यवसाय हैं और 1950 से हर सुबह ताज़ी रोटी बनाते हैं।", "अभी अपॉइंटमेंट बुक करें"),
}


@pytest.mark.parametrize("code", _TEXTS)
def test_text_alone_tells(code: str) -> None:
    assert language(page(f"<p>{_TEXTS[code][0]}</p>")) == code


@pytest.mark.parametrize("code", [code for code in _TEXTS if code != "en"])
def test_a_wrong_declaration_does_not_win_over_text(code: str) -> None:
    assert language(page(f'<html lang="en-US"><p>{_TEXTS[code][0]}</p>')) == code


@pytest.mark.parametrize("code", _TEXTS)
def test_little_text_and_a_declaration(code: str) -> None:
    assert language(page(f'<html lang="{code}"><p>{_TEXTS[code][1]}</p>')) == code


@pytest.mark.parametrize(
    ("html", "header", "expected"),
    [
        ('<html lang="de-AT">', "", "de"),
        ('<html lang="DE_de">', "", "de"),
        ('<html lang="nb-NO">', "", "no"),
        ('<html lang="zh-Hant-TW">', "", "zh"),
        ('<html lang="">', "fr-CH, de", "fr"),
        ('<meta http-equiv="Content-Language" content="it">', "", "it"),
        ('<meta property="og:locale" content="pt_BR">', "", "pt"),
        ('<html lang="xx-XX">', "", ""),
        ('<html lang="english">', "", ""),
        ('<html lang="de"><p>12345 67890</p>', "", "de"),
        ("<p>12345 67890</p>", "", ""),
        ("<p>OK</p>", "", ""),
        ("", "", ""),
        ('<html lang="de"><title>Home</title><p>Home News Shop Blog</p>', "", "de"),
        ('<html lang="sv"><p>Kontakt</p>', "", "sv"),
        (
            "<title>Bäckerei Müller</title><meta name=description content='Frisches Brot aus unserer Backstube'>",
            "",
            "de",
        ),
        ('<html lang="hr"><p>Mi smo firma iz grada i radimo svaki dan od jutra do mraka.</p>', "", "hr"),
        ('<html lang="sr"><p>Mi smo firma iz grada i radimo svaki dan od jutra do mraka.</p>', "", "sr"),
    ],
)
def test_declarations(html: str, header: str, expected: str) -> None:
    assert language(page(html, language=header)) == expected


def test_menus_in_another_language_do_not_count() -> None:
    menu = "".join(f"<li>{word}</li>" for word in ("Home", "About us", "Our services", "Contact", "Privacy policy"))

    assert language(page(f"<ul>{menu}</ul>" + f"<p>{_TEXTS['pl'][0]}</p>" * 5)) == "pl"


def test_no_page_takes_long() -> None:
    language(page("<p>The model is loaded once.</p>"))

    assert slowest_ms(language) < PAGE_LIMIT_MS


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=200), st.text(max_size=10))
def test_whatever_stands_there_two_letters_or_none_come_out(text: str, declared: str) -> None:
    assert len(language(page(f"<html lang='{declared}'><p>{text}"))) in (0, 2)


def test_hiragana_is_japanese_however_much_kanji_there_is() -> None:
    assert language(page("<p>株式会社東京製作所 会社概要 所在地 代表取締役 事業内容 精密部品の製造</p>")) == "ja"
    assert language(page("<p>东京制作有限公司 公司简介 地址 总经理 业务范围 精密零件制造</p>")) == "zh"
