"""What the words around a number say it is: a phone, a fax, or something that is not dialled."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

Label = Literal["", "phone", "fax", "other"]

_FAX_WORDS = (
    r"e?-?fax|tele?fax|fa[ck]s[ií]mi?le?|fx|f(?=[.:]? ?(?:[+(\d]|\Z))|f(?=[.:] )|t[ée]l[ée]c(?:opi(?:e|eur))?|"
    r"faksi?|telefaks|"
    r"faksas|telefakss|פקס|โทรสาร|факс|传真|傳真|팩스|ファックス|φαξ|faxe|فاكس|факсимил\w*|فکس|फ़ैक्स|FAX番号|伝真|"
    r"belge ?geçer|belgegecer|telekopio|bréfasími|ファク(?:ス|シミリ)|نمابر|دورنگار|ناسوخ|แฟกซ์|फैक्स|פאקס|"
    r"ffacs|ֆաքս|ფაქსი"
)
_PHONE_WORDS = (
    r"tel(?:ef[oóòa]n\w*|éfono|efoon|ephone|\.)?|t[ée]l(?:[ée]phone)?|phone|call|ring|mobile?|mobil\w*|mob|"
    r"cell\w*|handy|hotline|helpline|whatsapp|viber|zalo|tlf|tlm|ph|fon|sími|tālr(?:unis)?|land ?line|switchboard|"
    r"rufen|anruf|appel\w*|ll[aá]m\w+|ligue|chiama\w*|bel(?:len)?|gsm|kom[óo]rk\w*|puh(?:elin)?|тел(?:ефон)?|моб|"
    r"звоните|τηλ\w*|κιν(?:ητ\w*)?|電話|フリーダイヤル|直通|电话|手机|手機|携帯|전화|대표|טלפון|פלאפון|נייד|هاتف|"
    r"جوال|تليفون|تلفون|تلفن|محمول|موبايل|फ़ोन|फोन|मोबाइल|โทร|điện thoại|đt|sđt|sdt|tổng đài|di động|"
    r"đường dây nóng|hp|celular|m[óo]vil|fijo|fono|centralita|zentrale|durchwahl|sentralbord|växel|vaihde|"
    r"ústředna|santral|contact|kontakt|reservation\w*|notdienst|freephone|toll[- ]free|[tmp](?=[.: ])|[☎☏✆📞📱]"
)
_COUNT_WORDS = r"nr|no|num(?:ber|ero)?|nummer|número|numéro|n[°º]|№|番号|号码|번호"
_OTHER_WORDS = (
    r"ust(?:-?id)?(?:-?nr)?|vat|uid|iva|tva|btw|mwst|mva|gst\w*|tax|steuer\w*|id(?:nr)?|hr[ab]|handelsregister\w*|"
    r"regist(?:er|ration)\w*|reg|iban|bic|swift|konto(?:nr|nummer|verbindung|inhaber\w*)?|account(?: no|(?=[.:]? ?\Z))|"
    r"acct|a/c|sort code|blz|bankverbindung|bankleitzahl|siret|siren|rcs|ape|naf|"
    r"capital|nif|cif|nie|p\.?\s?iva|c\.?f|codice|rea|kvk|cnpj|cpf|rut|ruc|rfc|cuit|nit|nip|regon|krs|i[čc]o?|di[čc]|"
    r"abn|acn|ein|duns|d-u-n-s|cvr|org\.?(?:nr)?|isbn|issn|ean|gtin|upc|sku|mpn|art(?:ikel\w*|icle|(?=[.:]|[ -]n))|"
    r"item|order\w*|bestell\w*|auftrag\w*|invoice|rechnung\w*|kunden(?:nummer|nr)|инн|огрн|кпп|р/с|plz|zip|postal|"
    r"(?:(?:p\.? ?o\.? ?)?box|postfach|b\.?p|casilla|apartado|caixa postal|postbus|skrytka)(?=[.:]? ?\Z)|"
    r"lat(?:itude)?|lng|long?(?:itude)?|gps|copyright|©|version|patent|licen[cs]e|lic|permit|ref(?:erence)?|ticket|"
    r"serial|imei|charity|арт|код|备案|備案|icp\w*|許可|第|登録|사업자\w*|등록\w*|통신판매\w*|price|preis|prix|precio|usd|"
    r"eur|€|\$|£"
)
_WORDS = re.compile(
    rf"(?<![^\W\d_])(?:(?P<fax>{_FAX_WORDS})|(?P<phone>{_PHONE_WORDS})|(?P<count>{_COUNT_WORDS})|(?P<other>{_OTHER_WORDS}))"
    r"(?![^\W\d_])",
    re.IGNORECASE,
)
_HEADINGS = re.compile(r"orders?|item|art|ref|reference|ticket|price|prices", re.IGNORECASE)
_BOTH = re.compile(
    rf"(?:{_PHONE_WORDS})\.?(?:\s?[/+&,|-]\s?|\s(?:und|and|y|e|et|en|og|och|i)\s)(?:{_FAX_WORDS})", re.IGNORECASE
)
FAX = re.compile(rf"(?<![^\W\d_])(?:{_FAX_WORDS})(?![^\W\d_])", re.IGNORECASE)
# "202.299.1148 fax": what comes after a number, not what the next number is called.
_FAX_AFTER = re.compile(rf" ?\(?(?:{_FAX_WORDS})\)?(?=\s*(?:[\n,;|·•)]|\Z))", re.IGNORECASE)
# "Tel. / Fax: 030 90182-0 / 030 90182-1": of two numbers after both words, the second is the fax.
_FIRST_OF_TWO = re.compile(r"[.:]?\s*\+?[\d(][\d ()./-]{5,}\s?[/|·,;]\s?\Z")
# "030 901820 (Tel) / 030 901821 (Fax) / 030 901822": the word is of the number before it.
_OF_NUMBER_BEFORE = re.compile(rf"\d\)? ?\(?(?:{_FAX_WORDS})\)?\s?[,;|·/)]\s*\Z", re.IGNORECASE)
_ENDED = re.compile(r"\d{4,}\w*[,;|·]")
# "Fax: 24 65 18 45 Emergencies: 99 18 44 17": a number and a word after it; the word before belongs to that number.
_SPENT = re.compile(r"(?:\d\D{0,2}){5,}[^\W\d_]{4}")
_BEFORE_CHARS = 40
_MIN_VALUE_DIGITS, _MAX_VALUE_CHARS = 6, 80


def label_of(text: str, start: int, end: int) -> Label:
    """What the words before a number say it is; the nearest counts."""
    before = text[max(0, start - _BEFORE_CHARS) : start]
    if not before.isascii():
        before = unicodedata.normalize("NFKC", before)  # ＦＡＸ
    words = list(_WORDS.finditer(before))
    if _FAX_AFTER.match(text, end):
        return "fax"
    if not words:
        return ""
    if _OF_NUMBER_BEFORE.search(before):
        return ""
    last = words[-1]
    if last["count"] and len(words) > 1 and last.start() - words[-2].end() < 4:
        last = words[-2]  # "phone number", "order no."
    between = before[last.end() :]
    if ("\n" in between and any(map(str.isdigit, between))) or (last["other"] and _ENDED.search(between)):
        return ""  # that word was for another number, in the line above or before a comma
    if last["other"] and "\n" in between and _HEADINGS.fullmatch(last["other"]):
        return ""  # "Order" above a number of a shop
    if not last["phone"] and _SPENT.search(between):
        return ""
    if last["fax"]:
        is_both = _BOTH.search(before[: last.end()]) and not _FIRST_OF_TWO.match(between)
        return "phone" if is_both else "fax"
    return "phone" if last["phone"] else "other" if len(between) < 20 else ""


def is_after_both(text: str, start: int) -> bool:
    """Whether the words right before an offset are for a phone and a fax: "Tel. / Fax: "."""
    before = text[max(0, start - _BEFORE_CHARS) : start].rstrip(" .:")
    return any(both.end() == len(before) for both in _BOTH.finditer(before))


MAX_STACKED = 5
_MAX_LABEL_CHARS = 24
_ALONE = re.compile(
    rf"\W*(?:(?P<fax>{_FAX_WORDS})|(?P<phone>{_PHONE_WORDS})|e-?mail|mail|web(?:site)?|internet)"
    rf"(?: (?:{_COUNT_WORDS}))?\W*",
    re.IGNORECASE,
)


def stacked_label(lines: Sequence[str], number: int) -> Label:
    """What a number alone in its line is, where single labels are above as many values: the cells
    "Phone", "Fax" of a table's first row, and below them those of the second. "" if there are no such labels."""
    first = number
    while first and number - first < MAX_STACKED and _is_value(lines[first - 1]):
        first -= 1
    labels: list[Label] = []
    for line in reversed(lines[max(0, first - MAX_STACKED) : first]):
        match = _ALONE.fullmatch(line) if len(line) <= _MAX_LABEL_CHARS else None
        if not match:
            break
        labels.append("fax" if match["fax"] else "phone" if match["phone"] else "")
    place = len(labels) - 1 - (number - first)
    return labels[place] if "fax" in labels and len(labels) > 1 and place >= 0 else ""


def _is_value(line: str) -> bool:
    return "@" in line or sum(map(str.isdigit, line[:_MAX_VALUE_CHARS])) >= _MIN_VALUE_DIGITS
