"""Postal addresses of made-up sites, as their countries write them."""

from __future__ import annotations

from random import Random

from siteglass.query.vocabulary import vocabulary

# country -> street names, and the postal code with # for a digit and A for a letter.
_STREETS: dict[str, tuple[str, str]] = {
    "USA": ("Maple Avenue; Main Street; Oak Street; Cedar Lane; 5th Avenue; Lincoln Road", "#####"),
    "CAN": ("King Street West; Maple Drive; Lakeshore Road; Rue Principale", "A#A #A#"),
    "GBR": ("High Street; Station Road; Church Lane; Mill Road; Victoria Street", "AA# #AA"),
    "AUS": ("George Street; Collins Street; Beach Road; Railway Parade", "####"),
    "IRL": ("Main Street; Bridge Street; Patrick Street", "A## A###"),
    "DEU": ("Hauptstraße; Bahnhofstr.; Gartenweg; Lindenallee; Am Markt; Schillerstraße", "#####"),
    "AUT": ("Hauptplatz; Wiener Straße; Bahnhofstraße; Kirchengasse", "####"),
    "CHE": ("Bahnhofstrasse; Dorfstrasse; Rue du Lac; Seestrasse", "####"),
    "FRA": ("rue de la République; avenue Victor Hugo; place de l'Église; rue des Lilas", "#####"),
    "BEL": ("Kerkstraat; Rue de la Gare; Stationsstraat", "####"),
    "NLD": ("Kerkstraat; Dorpsstraat; Molenweg; Stationsweg", "#### AA"),
    "ESP": ("Calle Mayor; Avenida de la Constitución; Plaza de España; Calle Real", "#####"),
    "ITA": ("Via Roma; Via Garibaldi; Corso Italia; Piazza Dante", "#####"),
    "PRT": ("Rua da Liberdade; Avenida da República; Rua Direita", "####-###"),
    "BRA": ("Rua das Flores; Avenida Brasil; Rua Sete de Setembro", "#####-###"),
    "MEX": ("Calle Hidalgo; Avenida Juárez; Calle Morelos", "#####"),
    "POL": ("ul. Długa; ul. Kościuszki; ul. Polna; al. Jana Pawła II", "##-###"),
    "CZE": ("Hlavní; Nádražní; Školní; Zahradní", "### ##"),
    "SWE": ("Storgatan; Kungsgatan; Skolgatan; Drottninggatan", "### ##"),
    "DNK": ("Hovedgaden; Vestergade; Skolevej", "####"),
    "FIN": ("Mannerheimintie; Asemakatu; Kirkkokatu", "#####"),
    "RUS": ("ул. Ленина; ул. Мира; пр. Победы; ул. Садовая", "######"),
    "UKR": ("вул. Шевченка; вул. Садова; вул. Лесі Українки", "#####"),
    "TUR": ("Atatürk Caddesi; İstiklal Caddesi; Cumhuriyet Caddesi", "#####"),
    "JPN": ("中央; 本町; 栄町; 東町", "###-####"),
    "CHN": ("人民路; 中山路; 解放路; 建设路", "######"),
    "KOR": ("중앙로; 시청로; 강변로", "#####"),
    "IND": ("MG Road; Station Road; Gandhi Nagar; Park Street", "######"),
}
# country -> town or state = its postal codes, as above; the first of them in an address decides.
_CODES_TEXT: dict[str, str] = {
    "USA": "Austin=787##; New York City=100##; Los Angeles=900##; Chicago=606##; San Francisco=941##; Miami=331##; "
    "Orlando=328##; Tampa=336##; Jacksonville=322##; Denver=802##; Seattle=981##; Boston=021##; Dallas=752##; "
    "FL=33###; TX=77###; CA=92###; NY=11###; IL=60###; WA=98###; CO=80###; MA=02###",
    "GBR": "London=SE# #AA,SW# #AA,N# #AA,W# #AA,E# #AA,NW# #AA,EC#V #AA; Manchester=M# #AA; Birmingham=B# #AA; "
    "Leeds=LS# #AA; Bristol=BS# #AA; Edinburgh=EH# #AA; Glasgow=G# #AA; Liverpool=L# #AA; "
    "ENG=NG# #AA; SCT=KY# #AA; WLS=CF# #AA; NIR=BT# #AA",
    "ITA": "Rome=001##; Milan=201##; Naples=801##; Turin=101##; Florence=501##; Venice=301##; Bologna=401##; "
    "Palermo=901##; Genoa=161##; Bari=701##; Catania=951##; Verona=371##",
    "DEU": "Berlin=10###; Hamburg=20###; Munich=80###; Cologne=50###; Frankfurt am Main=60###; Stuttgart=70###; "
    "Düsseldorf=40###; Leipzig=04###; Dresden=01###; BY=86###; BW=79###; NW=44###; HE=61###; NI=30###; SN=09###; "
    "RP=56###; ST=39###; SH=24###; TH=99###; BB=15###; MV=18###; SL=66###; HB=28###; HH=22###; BE=12###",
    "AUT": "Vienna=1##0; Graz=80##; Linz=40##; Salzburg=50##; Innsbruck=60##; 1=70##; 2=90##; 3=30##; 4=40##; 5=50##; "
    "6=80##; 7=60##; 8=68##; 9=1##0",
    "CHE": "Zurich=80##; Geneva=12##; Basel=40##; Bern=30##; Lausanne=10##",
    "FRA": "Paris=750##; Lyon=690##; Marseille=130##; Bordeaux=330##; Nice=060##; Toulouse=310##; "
    "ARA=380##; BFC=210##; BRE=350##; CVL=450##; 20R=200##; GES=670##; HDF=590##; IDF=780##; NOR=140##; NAQ=870##; "
    "OCC=340##; PDL=440##; PAC=830##",
    "ESP": "Madrid=280##; Barcelona=080##; Valencia=460##; Sevilla=410##; Málaga=290##; Palma=070##",
    "NLD": "Amsterdam=10## AA; Rotterdam=30## AA; Utrecht=35## AA",
    "AUS": "Sydney=20##; Melbourne=30##; Brisbane=40##; Perth=60##",
}
_codes = {
    (country, place): patterns.split(",")
    for country, text in _CODES_TEXT.items()
    for place, patterns in (part.split("=") for part in text.split("; "))
}
# Towns that their own country calls otherwise than the vocabulary does.
_OWN_TOWNS_TEXT = (
    "Rome=Roma; Milan=Milano; Naples=Napoli; Turin=Torino; Florence=Firenze; Venice=Venezia; Genoa=Genova; "
    "Munich=München; Cologne=Köln; Nuremberg=Nürnberg; Vienna=Wien; Zurich=Zürich; Geneva=Genève; Seville=Sevilla"
)
_OWN_TOWNS = dict(part.split("=") for part in _OWN_TOWNS_TEXT.split("; "))
_streets = {country: (names.split("; "), code) for country, (names, code) in _STREETS.items()}
_OTHER = (["Central Avenue", "Market Street", "Harbour Road", "Station Square"], "#####")
_NUMBER_FIRST = frozenset({"USA", "CAN", "GBR", "AUS", "IRL", "FRA", "IND"})
_CITY_FIRST = frozenset({"USA", "CAN", "AUS", "GBR", "IRL", "IND"})
_BORROWED = frozenset({"io", "ai", "co", "gg", "tv", "me"})
_OWN_NAMES_TEXT = (
    "DEU de Deutschland; AUT de Österreich; CHE de Schweiz; ESP es España; MEX es México; ITA it Italia; "
    "BRA pt Brasil; NLD nl Nederland; "
    "POL pl Polska; SWE sv Sverige; CZE cs Česko; DNK da Danmark; FIN fi Suomi; RUS ru Россия; "
    "UKR uk Україна; TUR tr Türkiye; JPN ja 日本; CHN zh 中国; KOR ko 대한민국"
)
_OWN_NAMES = {
    country: (language, name) for country, language, name in (part.split() for part in _OWN_NAMES_TEXT.split("; "))
}
_LETTERS = "ABCEGHJKLMNPRSTVX"


def town_named(city: str, language: str) -> str:
    """The town as a page in a language calls it: English pages as the vocabulary does, others as its country does."""
    return city if language == "en" else _OWN_TOWNS.get(city, city)


def draw_street(rng: Random, country: str, state: str, city: str) -> tuple[str, str]:
    """Street with its number, and postal code."""
    names, pattern = _streets.get(country, _OTHER)
    if known := _codes.get((country, city)) or _codes.get((country, state)):
        pattern = rng.choice(known)
    street, number = rng.choice(names), 1 + int(rng.random() ** 2 * 240)
    # The first digit of a real code is seldom 0.
    code = "".join(
        str(int(rng.random() * 9) + 1) if mark == "#" else rng.choice(_LETTERS) if mark == "A" else mark
        for mark in pattern
    )
    return (f"{number} {street}" if country in _NUMBER_FIRST else f"{street} {number}"), code


def town(country: str, state: str, city: str, code: str) -> str:
    """The line of the town: `Austin, TX 78701`, `10115 Berlin`."""
    if country in _CITY_FIRST:
        shown_state = state if country in ("USA", "CAN", "AUS") else ""
        return f"{city}, {shown_state} {code}" if shown_state else f"{city} {code}"
    return f"{code} {city}"


def country_of(domain: str) -> str:
    """The country of the domain's ending; "" for one that others use for its sound, or that is of no country."""
    ending = domain.rsplit(".", 1)[-1]
    alpha2 = "GB" if ending == "uk" else ending.upper()
    return (vocabulary().country_alpha3(alpha2) or "") if ending not in _BORROWED and len(ending) == 2 else ""


def is_of(domain: str, country: str) -> bool:
    """Whether the domain's ending is the country's."""
    return country_of(domain) == country


def country_named(rng: Random, country: str, language: str) -> str:
    """The country as a reader sees it, in the language of the site where that is the country's own."""
    own_language, own = _OWN_NAMES.get(country, ("", ""))
    return own if own_language == language and rng.random() < 0.6 else vocabulary().country_name(country)


def country_shown(rng: Random, country: str) -> str:
    """The country as JSON-LD gives it: by code or by name."""
    code = vocabulary().country_alpha2(country) or country
    return code if rng.random() < 0.6 else vocabulary().country_name(country)


def state_shown(rng: Random, country: str, state: str) -> str:
    """The state as JSON-LD gives it: codes where people use them, else names."""
    if country in ("USA", "CAN", "AUS") and rng.random() < 0.6:
        return state
    return vocabulary().state_name(country, state) or state
