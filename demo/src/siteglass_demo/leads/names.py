"""Made-up business names and their domains: lead number i has a name no other lead of the seed has.

Names are pairs of composed words. No word in the list is a prefix of another, so a domain can be split into words in
only one way. Different pairs therefore give different domains, whatever follows them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import gcd
from random import Random

# Beginnings and endings of family and place names by culture; the words are composed, not taken from a register.
_PARTS: dict[str, tuple[str, str]] = {
    "english": (
        "Ash Brook Cald Dun Elm Fair Glen Hart Kings Lang Maple Nor Oak Pem Quarr Rad Stan Thorn Up Wal Whit Win Brad "
        "Clay Cross Dray Farn Hal Hazel Hol Ked Lind Marl Mill Ren Shel Stone Tem Ver Wick Al Bram Chat East Lock",
        "well ford ley wood field worth more dale combe stead bury ridge brook hurst croft wick mere gate ham by "
        "bourne lock shaw pool stone view",
    ),
    "german": (
        "Berg Stein Linden Wald Brunn Eich Rosen Hohen Schwarz Grün Korn Mühl Birken Falken Hirsch Kirch König Lauter "
        "Neu Ober Roth Sand Schön Tannen Unter Vogel Weiden Weiß Wiesen Winter Zell Acker Buch Dorn Erlen Fichten "
        "Gold Hasel Kalten Krumm Leut Silber",
        "mann er feld bach hof berger thal stedt brück kamp ner rath hausen acker meier eck hain wieser lach horst "
        "gruber au stetter moser",
    ),
    "french": (
        "Beau Mont Clair Bel Grand Val Chant Font Ro Mar Lor Ville Bri Cham Du Fleur Gar La Mer Per Sau Tour Ver Bois "
        "Cour Del Her Lan Mal Plan Roche Ser Vau Bour Char Dam Gail Lam Mou Ri Sou Tri",
        "champ mont lieu fort court neuve rive bert lande tel rac vigne nière lois seau ville doux gnac nay chet sart "
        "bois leau celle",
    ),
    "spanish": (
        "Agui Bel Cas Monte Riba Villa Sala Alca Cara Herr Mora Oli Pere San Torre Vera Zara Alma Bar Cer Dela Espi "
        "Flor Gal Lara Mira Nava Pala Quin Roda Seg Tole Val Are Bena Campo Fuente Guada Luce Mend",
        "lar vera nova zuela negro mar rada linda seca rosa tero ñaga guera sola dillo real nares gosa verde cín pita "
        "roja lva tilla",
    ),
    "italian": (
        "Mar Bel Ros Mon Fer Gal Cas Tor Val Ber Cor Gian Lom Man Pal Ric San Ven Zan Bar Car Dan Fior Gra Lan Mor "
        "Pell Rav Sal Ter Vis Alb Bian Col Don Fal Gob Mass Petr Roc",
        "telli setti bardi cini gatti nelli ronti zano dotti ghini rello vani cchi done lucci mini raldi sani tori "
        "vetti zetti berti lasso",
    ),
    "japanese": (
        "Taka Naka Yama Matsu Saka Fuji Kawa Mori Hara Ishi Kita Nishi Oka Sugi Ueda Miya Kiku Ari Aka Hoshi Ike Iwa "
        "Kane Koba Kuro Maru Mina Nagi Ogi Sasa Shira Taki Toki Tsuru Uchi Wata Yanagi Yone Asa Hide Momo",
        "mura moto shima zaki hashi saki tani gawa naga numa bayashi yoshi maki mitsu sato nishi kura hama matsu hira "
        "oka sawa bata",
    ),
    "chinese": (
        "Hua Jin Xin Tian Hong Fu Rui De Bao Chang Dong Guang Hai Heng Jia Kang Long Ming Nan Ping Qing Ri Sheng Tai "
        "Wan Xiang Yong Yuan Zheng Zhong An Bei Cheng Feng Guo He Jun Lian Mei Qian Shun",
        "feng sheng tong lin yuan kai bang cheng hui long rong yang hao xiang yi run zhou qiao shan quan tao wei lun "
        "ning bo",
    ),
    "korean": (
        "Han Dae Sung Woo Jin Kwang Seo Hwa Nam Chun Gyeo Hae Joo Kang Min Nak Pyeong Sam Tae Won Yeon Cheong Eun "
        "Gang Jae Myeong Byeol Dam Garam Haneul Ire Kyung Mir Noel Saet Sol Uri Yeoul Ban Dure",
        "seong hwan nara bit eul ram woori gang mir jung dam teo hana maru sarang bom kyeong nuri soop byeol sae",
    ),
    "dutch": (
        "Bos Dijk Haan Kool Meer Veen Water Zand Berk Groen Hoog Laan Molen Noord Ooster Rijn Schoon Tuin Vlier Wester "
        "Zuid Beek Dal Eik Goud Heide Kers Lind Maas Oud Polder Riet Schip Til Vis Wind Zilver Appel Boom Duin Hof",
        "stra huis man berg veld dam hoven kamp sma broek wijk burg loo horst donk laar zicht oever graaf sluis mans",
    ),
    "indian": (
        "Raj Anand Shiv Dev Surya Vish Pra Chandra Ganga Hari Indra Jay Kaml Laksh Madh Nir Om Param Rat Sam Tri Ud "
        "Var Yash Amrit Bhar Dhar Gop Kir Mani Nand Push Rohi Sahy Suv Tej Vasu Akh Bal Chir",
        "esh anand kant deep wal ani inder vik raj mala endra kar stha tara ika prasad lok mitra puri nath vati sagar",
    ),
    "slavic": (
        "Nov Krasn Bor Dob Gor Jez Kam Lip Mil Olsz Pol Rad Slav Tom Vlad Wis Zaj Brez Czar Dub Gran Hor Jas Kow Lub "
        "Mal Ost Petr Ruz Sok Tar Vor Zel Bel Drag Jar Kral Les Mir Star",
        "owski ovic enko ański ava ovna ička ov ek icz inski orad oslav itsa ivka owicz anek ecki aňa olin arov",
    ),
    "nordic": (
        "Berg Lind Nord Sten Grön Holm Ek Björk Dal Fors Gran Hag Kvist Lund Mal Nygård Öst Sand Sjö Sund Vest Viken "
        "Alm Bjerke Engel Fjell Hede Isak Kjell Løv Mose Rosen Skog Strand Thor Ulv Vinter Asp Brand Eld",
        "ström gren kvist dahl lund mark qvist vik berget sson holt vold haug stad nes by rud moen sten gård falk",
    ),
}

# Nouns for the second word of a name, so that not every name is a pair of family names.
_NOUNS: dict[str, str] = {
    "english": "Harbor Works Lane Bridge House Collective Forge Point Garden Yard Corner Summit Compass Lantern Anchor "
    "Orchard Meadow Canyon River Cedar Falcon Sparrow Otter Copper Ember Willow Juniper Saffron Indigo Cobalt Pepper "
    "Mosaic Quill Beacon Atlas Rocket Pixel Signal Orbit Vertex Cascade Horizon Keystone Velvet Marble Thistle Clover "
    "Heron Badger Magnolia Prairie Boulder Terrace Foundry Harvest Lighthouse Northstar Bluebird Driftwood Evergreen",
    "german": "Werk Haus Garten Kontor Werft Manufaktur Hafen Mühle Brücke Quelle Turm Feder Anker Kompass Adler",
    "french": "Atelier Maison Jardin Comptoir Fabrique Moulin Lumière Horizon Rivage Olivier Cigale Étoile Phare",
    "spanish": "Casa Taller Jardín Puerto Molino Estrella Faro Puente Olivo Camino Cumbre Brisa Horizonte Fuente Roble",
    "italian": "Bottega Officina Giardino Porto Mulino Stella Faro Ponte Ulivo Sentiero Brezza Orizzonte Fonte Quercia",
    "japanese": "Sakura Hikari Kaede Tsubame Midori Asahina Kikyo Hayate Shizuku Nagomi Komorebi Tsukimi Hotaru Kaigan",
    "chinese": "Bright Jade Lotus Bamboo Phoenix Silk Crane Pearl River Lantern Cloud Orchid Summit Harbour Pine",
    "korean": "Haru Nuri Baram Gureum Ieum Onnuri Sarang Byeolbit Moran Narae Dasom Podo Sonamu Hanok Danbi",
    "dutch": "Werf Huis Tuin Haven Molen Brug Bron Toren Veer Anker Kompas Adelaar Eik Duin Vuurtoren Polder Kade",
    "indian": "Lotus Saffron Banyan Peacock Monsoon Jasmine Marigold Sandal Temple Mango Indigo Spice River Lantern",
    "slavic": "Most Dom Sad Zorza Orzel Rzeka Brama Lipa Gwiazda Polana Kamień Skala Jutro Bursztyn Latarnia Kuznia",
    "nordic": "Hus Verk Fyr Bro Skog Fjord Havn Ankar Kompass Ørn Kilde Bølge Stjerne Gård Mølle Vind Lykta",
}

# Parts of Chinese and Japanese words; endings begin with a small letter, and may be written otherwise.
_CHARACTERS_TEXT = """
Hua=华 Jin=金 Xin=新 Tian=天 Hong=宏 Fu=福 Rui=瑞 De=德 Bao=宝 Chang=昌 Dong=东 Guang=广 Hai=海 Heng=恒 Jia=嘉
Kang=康 Long=龙 Ming=明 Nan=南 Ping=平 Qing=青 Ri=日 Sheng=盛 Tai=泰 Wan=万 Xiang=祥 Yong=永 Yuan=远 Zheng=正
Zhong=中 An=安 Bei=北 Cheng=诚 Feng=丰 Guo=国 He=和 Jun=骏 Lian=联 Mei=美 Qian=乾 Shun=顺 feng=丰 sheng=盛
tong=通 lin=林 yuan=源 kai=凯 bang=邦 cheng=成 hui=汇 long=隆 rong=荣 yang=阳 hao=豪 xiang=翔 yi=艺 run=润
zhou=洲 qiao=桥 shan=山 quan=泉 tao=涛 wei=伟 lun=伦 ning=宁 bo=博
Taka=高 Naka=中 Yama=山 Matsu=松 Saka=坂 Fuji=藤 Kawa=川 Mori=森 Hara=原 Ishi=石 Kita=北 Nishi=西 Oka=岡 Sugi=杉
Miya=宮 Kiku=菊 Ari=有 Aka=赤 Hoshi=星 Ike=池 Iwa=岩 Kane=金 Koba=小 Kuro=黒 Maru=丸 Mina=南 Sasa=笹 Shira=白
Taki=滝 Tsuru=鶴 Uchi=内 Wata=渡 Yanagi=柳 Yone=米 Asa=浅 Hide=秀 Momo=桃 mura=村 moto=本 shima=島 zaki=崎
hashi=橋 saki=崎 tani=谷 gawa=川 naga=永 numa=沼 bayashi=林 yoshi=吉 maki=牧 mitsu=光 sato=里 nishi=西 kura=倉
hama=浜 matsu=松 hira=平 oka=岡 sawa=沢 bata=畑
"""
_CHARACTERS = dict(part.split("=") for part in _CHARACTERS_TEXT.split())

# Second words that companies of all cultures use.
_SHARED = (
    "Group Partners Solutions Systems Works Labs Design Concept Service Center Projects Ventures Collective Network "
    "Media Trade Team Studio Point Line Vision Consult Dynamics Select Impulse Motion Axis Nova Delta Sigma"
)

# Further names of a pair, once all pairs are taken. None of them is a trade's word.
_TAILS = "24 365 hq plus one now go pro direct global united first prime next max net express world family"
TAILS = tuple(_TAILS.split())

_ASCII = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "o", "å": "a", "æ": "ae", "ñ": "n", "ń": "n", "č": "c", "ň": "n"}
    | dict(zip("éèêëàâîïôûçáíóúãõÉØÖ", "eeeeaaiioucaiouaoeoo", strict=True))
)

# Composed by accident, and too well known to be anybody else.
_FAMOUS_TEXT = (
    "huawei kawasaki morinaga fujikura okamoto fujimoto nakamichi stanford stanley hartford oakley kingsford "
    "brookstone bradford ashley rosenthal rothmann goldmann nordstroem waterman alley matsumoto xinyi zhongtong"
)
_FAMOUS = frozenset(_FAMOUS_TEXT.split())


@cache
def ascii_word(text: str) -> str:
    """The text as it is written in a domain or an address."""
    return "".join(c for c in text.lower().translate(_ASCII) if c.isascii() and c.isalnum())


def _prefix_free(words: Iterable[str]) -> frozenset[str]:
    """The words without those that begin with another of them."""
    kept: set[str] = set()
    for word in sorted(set(words) - _FAMOUS):
        if not any(word[:length] in kept for length in range(1, len(word))):
            kept.add(word)
    return frozenset(kept)


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a culture. Lists are equally long in all cultures, so a number means the same place in each."""

    firsts: tuple[str, ...]
    nouns: tuple[str, ...]
    families: tuple[str, ...]


@cache
def _words() -> dict[str, _Words]:
    composed = {culture: [a + b for a, b in product(*map(str.split, parts))] for culture, parts in _PARTS.items()}
    owner: dict[str, str] = {}
    for culture, words in composed.items():
        for word in words:
            owner.setdefault(ascii_word(word), culture)
    kept = _prefix_free(owner)
    found = {}
    for culture, words in composed.items():
        usable = {ascii_word(w): w for w in words if owner[ascii_word(w)] == culture and ascii_word(w) in kept}
        firsts = list(usable.values())
        # A fixed shuffle: neighbours in the list must not look similar.
        Random(culture).shuffle(firsts)
        nouns = {ascii_word(w): w for w in f"{_NOUNS[culture]} {_SHARED}".split()}
        # The first word determines the culture, so second words need to be unique only within it.
        seconds = _prefix_free([*nouns, *usable])
        families = [w for w in reversed(firsts) if ascii_word(w) in seconds and ascii_word(w) not in nouns]
        found[culture] = _Words(tuple(firsts), tuple(w for a, w in nouns.items() if a in seconds), tuple(families))
    least = [min(len(getattr(words, name)) for words in found.values()) for name in ("firsts", "nouns", "families")]
    return {
        culture: _Words(w.firsts[: least[0]], w.nouns[: least[1]], w.families[: least[2]])
        for culture, w in found.items()
    }


def _sizes() -> tuple[int, int, int]:
    words = _words()["english"]
    return len(words.firsts), len(words.nouns), len(words.families)


def capacity() -> int:
    """How many leads of one seed have unique names."""
    firsts, nouns, families = _sizes()
    return firsts * (nouns + families) * (len(TAILS) + 1)


def pair(number: int, seed: int, culture: str) -> tuple[str, str, str]:
    """First word, second word and tail of lead `number`; another number never gets the same three."""
    words = _words()[culture]
    firsts, nouns, families = len(words.firsts), len(words.nouns), len(words.families)
    turn, place = divmod(number, firsts * (nouns + families))
    tail = TAILS[turn - 1] if turn else ""
    # Half of the names end in a noun as long as there are such names, the others are pairs of families.
    if place < 2 * firsts * nouns and place % 2 == 0:
        first, second = divmod(_walk(place // 2, seed, firsts * nouns), nouns)
        return words.firsts[first], words.nouns[second], tail
    place = place // 2 if place < 2 * firsts * nouns else place - firsts * nouns
    first, second = divmod(_walk(place, seed, firsts * families), families)
    return words.firsts[first], words.families[second], tail


def _walk(place: int, seed: int, size: int) -> int:
    """Another place for each place below `size`: a step near the golden section visits them evenly."""
    return (place * _step(size) + seed * 7_919) % size


@cache
def _step(size: int) -> int:
    step = int(size * 0.618_033_988_75)
    while gcd(step, size) != 1:
        step += 1
    return step


@cache
def native(word: str) -> str:
    """A composed Chinese or Japanese word in its own script; empty where there is none."""
    for start in range(2, len(word)):
        if (head := _CHARACTERS.get(word[:start])) and (end := _CHARACTERS.get(word[start:])):
            return head + end
    return ""
