"""Words that say nothing about whose name a text is, in the larger languages.

They name pages of a site, greet before a name, are a legal form after it, or reserve rights."""

from __future__ import annotations

import re
from functools import cache

from siteglass.ingest.extract.stop_words import STOP_WORDS
from siteglass.query.folding import compact, fold

MAX_FORM_CHARS = 25
MAX_LAST_WORD_CHARS = 14

# A text is not a name if all its words are among these, as in "Contact & Impressum" and "About us - Home". Names that
# consist of one of them, such as that of a gallery "Galerie", need the vote of the domain, which comes in another way.
_PAGE_WORDS = """
home homepage start startpage main index default untitled website site webpage page pages welcome menu navigation
skip content toggle search login logout register account cart basket checkout shop store blog news archive archives
category categories tag tags author post posts article articles faq faqs help support sitemap map maps directions
contact contacts contacting touch reach enquiry enquiries inquiry form feedback quote about us we our your you me
my team staff people company profile history story mission vision services service products product portfolio
gallery projects references testimonials reviews careers jobs career vacancies press media events event calendar
downloads download legal notice imprint privacy policy policies terms conditions use cookie cookies disclaimer
copyright accessibility delivery shipping returns opening hours location locations branches stores offices office
find visit read more online logo header footer banner image picture slider slide icon undefined null none test
example demo sample wordpress organization business just another error found oops email mail phone telephone tel
fax address call opens closed now free book booking appointment prices price list rates rooms offers offer latest
featured new best all other info information general details overview thank thanks thankyou subscribe newsletter
follow share facebook twitter instagram linkedin youtube pinterest tiktok google whatsapp mobile desktop english
version language languages startseite willkommen hauptseite hauptmenu menue kontakt kontaktformular anfahrt
impressum datenschutz datenschutzerklarung agb wir uber uns unser unsere unternehmen firma geschichte leistungen
produkte angebot angebote referenzen galerie aktuelles neuigkeiten karriere stellenangebote partner presse termine
veranstaltungen suche anmelden warenkorb kasse konto offnungszeiten standort standorte anschrift rechtliches
barrierefreiheit herzlich seite nicht gefunden deutsch anfrage verkauf accueil bienvenue contactez nous
contactez-nous contacter propos mentions legales plan acces confidentialite generales vente utilisation panier
compte boutique actualites actualite equipe entreprise societe realisations produits tarifs horaires recherche qui
sommes notre nos histoire coordonnees joindre francais nouveautes inicio bienvenido bienvenidos bienvenida contacto
contactanos contactenos nosotros quienes somos aviso politica privacidad condiciones empresa servicios productos
galeria noticias equipo historia tienda carrito cuenta buscar ubicacion donde estamos horario horarios principal
pagina espanol sobre sobre-nosotros trabaja inicial bem vindo bem-vindo contato contatos contacte contactos fale
conosco quem servicos produtos equipa localizacao termos politica-de-privacidade carrinho conta loja orcamento
inizio benvenuti benvenuto contatti contattaci chi siamo dove azienda servizi prodotti galleria notizie storia
carrello negozio note legali informativa iniziale principale prenota orari welkom contactgegevens contactformulier
over ons onze bedrijf diensten producten nieuws vacatures openingstijden winkel winkelwagen privacyverklaring
algemene voorwaarden zoeken werkwijze route forside hjem startsida hem velkommen valkommen kontakta kontakte oss os
om foretaget virksomheden tjanster ydelser tjenester produkter nyheter nyheder galleri personvern integritetspolicy
priser butik handelsbetingelser omtale etusivu tervetuloa yhteystiedot yhteys meista yritys palvelut tuotteet
uutiset tietosuoja hinnasto ota yhteytta strona glowna witamy kontaktowe nas firmie uslugi produkty aktualnosci
polityka prywatnosci cennik regulamin sklep koszyk dane uvod uvodni uvodna stranka domov domu vitejte vitajte
kontakty onas sluzby cenik fotogalerie aktuality reference obchod kosik ochrana osobnich udaju kezdolap fooldal
kapcsolat rolunk szolgaltatasok termekek hirek arak udvozoljuk elerhetosegek adatvedelem impresszum bemutatkozas
acasa bun venit contactati despre noi servicii produse noutati stiri preturi magazin confidentialitate termeni
conditii naslovnica pocetna dobrodosli kontakti nama usluge proizvodi novosti galerija cjenik domaca stran storitve
izdelki αρχικη σελιδα επικοινωνια σχετικα εμας εταιρεια εταιρια υπηρεσιες προϊοντα νεα καλως ηρθατε ποιοι ειμαστε
πολιτικη απορρητου οροι χρησης главная страница контакты компании компания услуги продукция каталог товаров новости
галерея цены добро пожаловать обратная связь политика конфиденциальности вакансии отзывы доставка оплата магазин
корзина нас сайт официальный головна сторінка про послуги продукція новини ціни ласкаво просимо начало начална
контакти продукти галерия цени добре дошли anasayfa ana sayfa iletisim hakkimizda kurumsal hizmetler hizmetlerimiz
urunler urunlerimiz haberler galeri hosgeldiniz gizlilik politikasi bize ulasin beranda kontak kami hubungi tentang
layanan produk berita selamat datang trang chu lien he gioi thieu dich vu san pham tin tuc chao mung الرئيسية
الصفحة اتصل بنا من نحن خدماتنا منتجاتنا مرحبا أهلا الأخبار سياسة الخصوصية בית דף הבית צור קשר אודות אודותינו
שירותים מוצרים חדשות ברוכים הבאים מדיניות פרטיות יצירת หน้าแรก หน้าหลัก ติดต่อเรา ติดต่อ เกี่ยวกับเรา บริการ สินค้า
ข่าวสาร ยินดีต้อนรับ
"""
# In scripts without blanks between words, whole parts of titles.
_PAGE_PARTS = """
ホーム トップ トップページ 会社概要 会社案内 企業情報 お問い合わせ お問合せ アクセス 交通案内 交通案内お問い合わせ
サービス 製品情報 採用情報 ニュース お知らせ プライバシーポリシー 個人情報保護方針 サイトマップ 公式サイト
公式ホームページ ブログ 店舗情報 店舗案内 メニュー 料金 事業内容 特定商取引法に基づく表記 ようこそ 首页 首頁 主页
主頁 网站首页 关于我们 關於我們 公司简介 公司簡介 企业简介 联系我们 聯絡我們 聯繫我們 联系方式 产品中心 产品展示
新闻中心 新闻资讯 服务 在线留言 人才招聘 隐私政策 官网 官方网站 欢迎光临 最新消息 홈 메인 홈페이지 회사소개
오시는길 찾아오시는길 문의 문의하기 고객센터 제품소개 서비스 공지사항 이용약관 개인정보처리방침 인사말 로그인
회원가입
"""
_GREETING = re.compile(
    r"(?:welcome to|contact(?: us)?(?: at| -| –)?|about(?: us)?(?: at)?|"
    r"(?:the )?(?:official )?(?:website|home ?page|home|site) of|get in touch with|careers at|"
    r"logo(?: of| von| de| du)?|(?:herzlich )?willkommen (?:bei(?:m| der)?|auf(?: der| den)?|im|in der)|"
    r"kontakt(?: zu)?|"
    r"bienvenue (?:chez|[àa] (?:la |l['’])?|au|sur le site d[eu])|bienvenid[oa]s? (?:a|en|al)|contacto|contatti|"
    r"benvenut[io] (?:a|da|in|su|al|nel|nella)|bem[- ]vindo(?:s)? (?:a|ao|à|aos)|contato|welkom (?:bij|op)|"
    r"velkommen til|v[äa]lkommen till|tervetuloa|vitajte (?:v|na)|v[ií]tejte (?:v|na)|witamy (?:w|na)|bun venit la|"
    r"добро пожаловать (?:в|на)(?: сайт)?|официальный сайт|ласкаво просимо (?:до|на)|καλώς ήρθατε στ[οη]ν?|"
    r"selamat datang di|chào mừng (?:bạn )?đến với)\s+",
    re.IGNORECASE,
)
_AFTER_NAME = re.compile(
    r"\s+(?:logo|home ?page|website|web ?site|home|official site|startseite|[Ll]ogotyp|hoşgeldiniz|公式サイト|"
    r"へようこそ)\Z|(?:公式サイト|公式ホームページ|へようこそ|官网|官方网站)\Z",
    re.IGNORECASE,
)
_FORMS_AFTER = (
    r"incorporated|inc|l\.?l\.?c|ltda|ltd|limited|p\.?l\.?l\.?c|plc|llp|lllp|l\.?p|p\.?c|p\.?a|corporation|corp|"
    r"company|co|g?gmbh(?:\s?&\s?co\.?\s?kg)?|mbh|ag(?:\s?&\s?co\.?\s?kg)?|kg|ug(?: \(haftungsbeschränkt\))?|ohg|gbr|"
    r"e\.?\s?v|e\.?\s?k|e\.?\s?u|eg|se|s\.?\s?a|s\.?\s?l(?:\.?\s?[up])?|s\.?\s?r\.?\s?l|s\.?\s?p\.?\s?a|s\.?\s?a\.?\s?s"
    r"|s\.?\s?a\.?\s?r\.?\s?l|e\.?u\.?r\.?l|s\.?\s?n\.?\s?c|s\.?c\.?p|s\.?\s?c|sasu|b\.?\s?v|n\.?\s?v|v\.?\s?o\.?\s?f|"
    r"ab|oyj|oy|a\.?s\.?a|a/s|aps|i/s|as|ans|hf|ehf|sp\.?\s?z\s?o\.?\s?o|sp\.?\s?[jkp](?:\.?\s?[ak])?|spółka cywilna|"
    r"(?:spol\.?\s)?s\.?\s?r\.?\s?o|a\.\s?s|v\.\s?o\.\s?s|kft|bt|zrt|nyrt|d\.?\s?o\.?\s?o|j\.d\.o\.o|d\.\s?d|"
    r"ооо|оао|зао|ао|тов|еоод|оод|ад|eood|ood|lda|unipessoal(?:,? lda)?|eireli|me|epp|s/a|"
    r"s\.?a\.? de c\.?v|pty(?:\.? ltd)?|(?:pvt|private|\(pvt\))\.?(?: ltd| limited)|pte\.?(?: ltd)?|sdn\.? bhd|bhd|"
    r"(?:ltd\.?|tic\.?|san\.?|ve|\s)*(?:şti|a\.ş|as)|oü|uab|sia|tbk|d\.?o\.?o\.?el"
)
LEGAL_FORM = re.compile(rf"(?:,?\s|(?<=\w),)\(?(?:{_FORMS_AFTER})\.?\)?\Z", re.IGNORECASE)
"""At the end of a name, with the blank or comma before it."""
FORM_AFTER = re.compile(rf"(?:\s|,\s?(?=inc|l\.?l|ltd|p\.?[lca]|corp))\(?(?:{_FORMS_AFTER})\b\.?(?!\w)", re.IGNORECASE)
"""After a name, within a text."""
_FORM_BEFORE = re.compile(
    r"\A(?:ооо|оао|зао|пао|ао|ип|тов|фоп|ет|pt\.?|cv\.?|ud\.?|công ty(?: tnhh| cổ phần)?|cty|บริษัท|شركة|"
    r"株式会社|有限会社|合同会社|\(주\)|㈜|주식회사|s\.c\.)\s*(?=[\W\w])",
    re.IGNORECASE,
)
_FORM_RUN_ON = re.compile(
    r"(?:株式会社|有限会社|合同会社|有限公司|股份有限公司|有限責任公司|有限责任公司|주식회사|\(주\)|㈜|จำกัด)\Z"
)
# Those that are not also words of many names, as in "Salon Se", "Bar Co".
_STRONG_AFTER = re.compile(
    r"(?:\b(?:inc|l\.?l\.?c|ltda?|limited|p\.?l\.?c|llp|g?gmbh|sp\.\s?[jkp]|e\.\s?v|e\.\s?k|s\.?r\.?l|s\.p\.a|sarl|b\.v|oyj?|aps|a/s|"
    r"z\s?o\.?\s?o|s\.?\s?r\.?\s?o|kft|d\.?o\.?o|eood|lda|bhd|şti|a\.ş|oü|uab|ag|ab|as|corp|kg|s\.n\.c|s\.l)|"
    r"株式会社|有限会社|有限公司|주식회사)\.?\)?\Z",
    re.IGNORECASE,
)
_STRONG_BEFORE = re.compile(
    r"(?:ооо|оао|зао|пао|ип|тов|фоп|株式会社|有限会社|合同会社|주식회사|\(주\)|㈜)", re.IGNORECASE
)
# Where the name in a copyright line ends.
_RESERVED = (
    "all rights", "alle rechte", "tous droits", "todos los", "todos os", "tutti i", "wszelkie", "vseobecn",
    "všechna práva", "minden jog", "toate drepturile", "все права", "усі права", "всички права", "tüm hak",
    "alla rättigheter", "alle rettigheder", "kaikki oikeudet", "με επιφύλαξη", "hak cipta", "版权所有", "版權所有",
)  # fmt: skip
_NO_OWNERS = (
    "made ", "powered ", "designed ", "developed ", "site by", "website", "web design", "privacy", "terms", "sitemap",
    "impressum",
)  # fmt: skip
RIGHTS = re.compile("|".join((*_RESERVED, *_NO_OWNERS)), re.IGNORECASE)


@cache
def _page_words() -> frozenset[str]:
    return frozenset(map(fold, (*_PAGE_WORDS.split(), *STOP_WORDS)))


@cache
def _page_parts() -> frozenset[str]:
    return frozenset(map(compact, _PAGE_PARTS.split()))


def is_page_word(word: str) -> bool:
    """Whether a folded word is grammar, or names a page."""
    return word in _page_words()


def names_a_page(text: str) -> bool:
    """Whether a text says what a page is, and not whose: "Contact us", "Über uns", "お問い合わせ"."""
    words = re.findall(r"[\w'-]+", fold(text))
    return all(word in _page_words() or word.isdigit() for word in words) or compact(text) in _page_parts()


def without_greeting(text: str) -> str:
    """ "Welcome to Acme" is Acme, and so is "Acme logo"."""
    bare = _GREETING.sub("", text.strip(), count=1) if _GREETING.match(text.strip()) else text.strip()
    return _AFTER_NAME.sub("", bare)


def without_form(name: str) -> str:
    """A name without its legal form, before or after it; the name itself if nothing else is left."""
    bare = name
    for _ in range(2):  # "Acme Co., Ltd."
        if form := LEGAL_FORM.search(bare, max(0, len(bare) - MAX_FORM_CHARS)):
            bare = bare[: form.start()]
    bare = _FORM_RUN_ON.sub("", _FORM_BEFORE.sub("", bare)).strip(" ,.-–")
    return bare if compact(bare) else name


def may_have_form(line: str) -> bool:
    """A fast test: whether a line begins like a name, and its last word is as short as legal forms are."""
    last = line.rpartition(" ")[2]
    return (
        line[0].isalnum()
        and len(last) <= MAX_LAST_WORD_CHARS
        and (last[-1] == "." or last != last.lower() or not last.isascii())
    )


def has_form(name: str) -> bool:
    """Whether a name has a legal form that is not also a word."""
    found = _STRONG_AFTER.search(name, max(0, len(name) - MAX_FORM_CHARS)) or _STRONG_BEFORE.match(name)
    return found is not None and without_form(name) != name


def is_written_before(name: str) -> bool:
    """Whether the legal form comes first, as registers write it and hardly anyone else: "ООО «Кедр»"."""
    return _STRONG_BEFORE.match(name) is not None and not name.startswith("株")
