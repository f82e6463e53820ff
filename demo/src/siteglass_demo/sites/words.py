"""Words of menus and footers by language, and whole texts of languages the demo leads do not speak."""

from __future__ import annotations

# language | home | about | contact | products | blog | phone | e-mail | fax | address | imprint | privacy | read more
_TABLE = """
en | Home | About us | Contact | Products | Blog | Phone | Email | Fax | Address | Legal notice | Privacy policy | Read more
de | Startseite | Über uns | Kontakt | Produkte | Aktuelles | Telefon | E-Mail | Telefax | Anschrift | Impressum | Datenschutz | Mehr erfahren
fr | Accueil | À propos | Contact | Produits | Actualités | Téléphone | Courriel | Fax | Adresse | Mentions légales | Confidentialité | Lire la suite
es | Inicio | Nosotros | Contacto | Productos | Noticias | Teléfono | Correo electrónico | Fax | Dirección | Aviso legal | Privacidad | Leer más
pt | Início | Sobre nós | Contato | Produtos | Notícias | Telefone | E-mail | Fax | Endereço | Termos de uso | Privacidade | Saiba mais
it | Home | Chi siamo | Contatti | Prodotti | Novità | Telefono | E-mail | Fax | Indirizzo | Note legali | Privacy | Leggi tutto
nl | Home | Over ons | Contact | Producten | Nieuws | Telefoon | E-mail | Fax | Adres | Colofon | Privacyverklaring | Lees meer
sv | Hem | Om oss | Kontakt | Produkter | Nyheter | Telefon | E-post | Fax | Adress | Juridisk information | Integritetspolicy | Läs mer
pl | Strona główna | O nas | Kontakt | Produkty | Aktualności | Telefon | E-mail | Faks | Adres | Nota prawna | Polityka prywatności | Czytaj więcej
cs | Úvod | O nás | Kontakt | Produkty | Aktuality | Telefon | E-mail | Fax | Adresa | Právní informace | Ochrana údajů | Více
da | Forside | Om os | Kontakt | Produkter | Nyheder | Telefon | E-mail | Fax | Adresse | Juridisk | Privatlivspolitik | Læs mere
fi | Etusivu | Meistä | Yhteystiedot | Tuotteet | Uutiset | Puhelin | Sähköposti | Faksi | Osoite | Käyttöehdot | Tietosuoja | Lue lisää
ja | ホーム | 会社概要 | お問い合わせ | 製品情報 | お知らせ | 電話 | メール | FAX | 所在地 | 特定商取引法に基づく表記 | プライバシーポリシー | 詳しく見る
zh | 首页 | 关于我们 | 联系我们 | 产品中心 | 新闻 | 电话 | 邮箱 | 传真 | 地址 | 法律声明 | 隐私政策 | 了解更多
ko | 홈 | 회사 소개 | 문의하기 | 제품 | 소식 | 전화 | 이메일 | 팩스 | 주소 | 이용약관 | 개인정보처리방침 | 더 보기
ru | Главная | О компании | Контакты | Продукция | Новости | Телефон | Почта | Факс | Адрес | Правовая информация | Конфиденциальность | Подробнее
uk | Головна | Про нас | Контакти | Продукція | Новини | Телефон | Пошта | Факс | Адреса | Правова інформація | Конфіденційність | Докладніше
tr | Ana sayfa | Hakkımızda | İletişim | Ürünler | Haberler | Telefon | E-posta | Faks | Adres | Yasal uyarı | Gizlilik | Devamını oku
ar | الرئيسية | من نحن | اتصل بنا | المنتجات | الأخبار | هاتف | البريد الإلكتروني | فاكس | العنوان | إشعار قانوني | سياسة الخصوصية | اقرأ المزيد
"""  # noqa: E501 - a row of the table is a line
_NAMES = ("home", "about", "contact", "products", "blog", "phone", "email", "fax", "address", "imprint", "privacy")

WORDS: dict[str, dict[str, str]] = {
    cells[0]: dict(zip((*_NAMES, "more"), cells[1:], strict=True))
    for cells in ([cell.strip() for cell in row.split("|")] for row in _TABLE.strip().splitlines())
}

DESIGNED_BY = {
    "en": "Website by",
    "de": "Webdesign:",
    "fr": "Site réalisé par",
    "es": "Diseño web:",
    "it": "Sito realizzato da",
    "nl": "Website door",
    "pt": "Desenvolvido por",
}

# Paths of the same pages; other languages use the English ones.
PATHS: dict[str, dict[str, str]] = {
    "en": {"about": "/about", "contact": "/contact", "products": "/products", "blog": "/blog", "imprint": "/legal"},
    "de": {
        "about": "/ueber-uns",
        "contact": "/kontakt",
        "products": "/produkte",
        "blog": "/aktuelles",
        "imprint": "/impressum",
    },
    "fr": {
        "about": "/a-propos",
        "contact": "/contact",
        "products": "/produits",
        "blog": "/actualites",
        "imprint": "/mentions-legales",
    },
    "es": {
        "about": "/nosotros",
        "contact": "/contacto",
        "products": "/productos",
        "blog": "/noticias",
        "imprint": "/aviso-legal",
    },
    "it": {
        "about": "/chi-siamo",
        "contact": "/contatti",
        "products": "/prodotti",
        "blog": "/news",
        "imprint": "/note-legali",
    },
}

# What countries speak that demo leads of it do not: country -> language, with its title, description and sentences.
SPOKEN = {"CZE": "cs", "DNK": "da", "FIN": "fi", "UKR": "uk"}
# {n} is the business, {c} its place, {y} a year.
TEXTS: dict[str, tuple[str, ...]] = {
    "cs": (
        "{n} - oficiální stránky",
        "{n} působí v oblasti {c} od roku {y}. Kontaktujte nás ještě dnes.",
        "Vítejte na stránkách společnosti {n}, působíme v místě {c} a okolí.",
        "Od roku {y} nabízíme kvalitu, zkušenosti a férové ceny pro každého zákazníka.",
        "Napište nám nebo zavolejte, nabídku připravíme zdarma do druhého dne.",
        "Náš tým tvoří zkušení odborníci, kteří vám rádi poradí s výběrem.",
        "Přečtěte si, co o nás říkají zákazníci, a prohlédněte si naše nejnovější práce.",
    ),
    "da": (
        "{n} - Velkommen",
        "{n} har hjulpet kunder i {c} siden {y}. Kontakt os i dag for et godt tilbud.",
        "Velkommen til {n}, vi holder til i {c} og arbejder i hele landet.",
        "Siden {y} har vi leveret kvalitet, tryghed og personlig rådgivning til vores kunder.",
        "Ring eller skriv til os, så får du et uforpligtende tilbud inden for en hverdag.",
        "Vores dygtige medarbejdere har mange års erfaring og står altid klar til at hjælpe.",
        "Læs hvad vores kunder siger, og se billeder fra de seneste opgaver.",
    ),
    "fi": (
        "{n} - Tervetuloa",
        "{n} on palvellut asiakkaita paikkakunnalla {c} vuodesta {y}. Ota yhteyttä jo tänään.",
        "Tervetuloa yrityksen {n} sivuille, toimimme paikkakunnalla {c} ja sen lähialueilla.",
        "Vuodesta {y} lähtien olemme tarjonneet laatua, luotettavuutta ja henkilökohtaista palvelua.",
        "Pyydä ilmainen tarjous puhelimitse tai yhteydenottolomakkeella, vastaamme nopeasti.",
        "Kokenut henkilökuntamme auttaa mielellään kaikissa kysymyksissä.",
        "Lue asiakkaidemme kokemuksia ja tutustu viimeisimpiin töihimme.",
    ),
    "uk": (
        "{n} - офіційний сайт",
        "{n} працює у місті {c} з {y} року. Телефонуйте або залишайте заявку на сайті.",
        "Ласкаво просимо на сайт компанії {n} у місті {c}.",
        "З {y} року ми пропонуємо якість, досвід та чесні ціни для кожного клієнта.",
        "Залиште заявку на сайті або зателефонуйте нам, консультація безкоштовна.",
        "Наша команда складається з досвідчених фахівців, які завжди готові допомогти.",
        "Читайте відгуки наших клієнтів, новини компанії та умови доставки.",
    ),
}


def path(language: str, page: str) -> str:
    """The path of a page of a site."""
    return PATHS.get(language, PATHS["en"])[page]
