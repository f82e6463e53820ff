"""What the vocabulary promises of places and languages: every accepted form, in both directions."""

import re

import pytest

from siteglass.query.vocabulary import Kind, vocabulary

VOCABULARY = vocabulary()


@pytest.mark.parametrize(
    ("text", "country"),
    [
        *[(text, "USA") for text in ("usa", "US", "U.S.", "u.s.a.", "America", "United States of America")],
        *[(text, "GBR") for text in ("UK", "GB", "Great Britain", "united kingdom", "Vereinigtes Königreich")],
        *[(text, "DEU") for text in ("Germany", "DE", "Deutschland", "Alemania", "Allemagne", "Alemanha", "Germania")],
        *[(text, "NLD") for text in ("Holland", "the Netherlands", "Niederlande", "Países Bajos", "Nederland")],
        *[(text, "CZE") for text in ("Czech Republic", "Czechia")],
        *[(text, "TUR") for text in ("Turkey", "Türkiye", "TURKIYE")],
        *[(text, "CIV") for text in ("Ivory Coast", "Côte d'Ivoire", "Cote d\u2019Ivoire")],
        ("Georgia", "GEO"),
        ("Kosovo", "XKX"),
        ("Taiwan", "TWN"),
        ("South Korea", "KOR"),
        ("日本", "JPN"),
        ("Россия", "RUS"),
        ("Irã", "IRN"),
    ],
)
def test_country(text: str, country: str) -> None:
    assert VOCABULARY.resolve("country", text) == (country,)


def test_country_codes_and_names() -> None:
    assert VOCABULARY.country_name("DEU") == "Germany"
    assert VOCABULARY.country_alpha2("DEU") == "DE"
    assert VOCABULARY.country_alpha3("DE") == "DEU"
    assert VOCABULARY.country_alpha2("XXX") is None
    assert VOCABULARY.country_alpha3("XX") is None
    for alpha3 in VOCABULARY.values("country"):
        alpha2 = VOCABULARY.country_alpha2(alpha3)
        assert alpha2 is not None
        assert VOCABULARY.country_alpha3(alpha2) == alpha3
        assert VOCABULARY.resolve("country", alpha2) == (alpha3,)
        assert VOCABULARY.resolve("country", VOCABULARY.country_name(alpha3)) == (alpha3,)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        *[(text, "de") for text in ("DE", "German", "Deutsch", "alemán", "allemand", "tedesco", "deu")],
        ("Mandarin", "zh"),
        ("Brazilian Portuguese", "pt"),
        ("Farsi", "fa"),
        ("日本語", "ja"),
    ],
)
def test_language(text: str, language: str) -> None:
    assert VOCABULARY.resolve("language", text) == (language,)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("CA", ("CA",)),
        ("ca", ("CA",)),
        ("N.Y.", ("NY",)),
        ("US-CA", ("US-CA",)),
        ("usa-ca", ("US-CA",)),
        ("UK-SCT", ("GB-SCT",)),
        ("US-BY", ()),
        ("California", ("US-CA",)),
        ("new york", ("US-NY",)),
        ("Georgia", ("US-GA",)),
        ("Limburg", ("BE-VLI", "NL-LI")),
        ("Jura", ("CH-JU", "FR-39")),
        ("Victoria", ("AU-VIC", "MT-45")),
        ("Madrid", ("ES-M", "ES-MD")),
        ("Bavaria", ("DE-BY",)),
        ("Bayern", ("DE-BY",)),
        ("Sachsen", ("DE-SN",)),
        ("NRW", ("DE-NW",)),
        ("Steiermark", ("AT-6",)),
        ("Tessin", ("CH-TI",)),
        ("Bern", ("CH-BE",)),
        ("Cataluña", ("ES-CT",)),
        ("cataluna", ("ES-CT",)),
        ("Toscana", ("IT-52",)),
        ("Ile de France", ("FR-IDF",)),
        ("Québec", ("CA-QC",)),
        ("São Paulo", ("BR-SP",)),
        ("Nuevo León", ("MX-NLE",)),
        ("Puerto Rico", ("US-PR",)),
    ],
)
def test_state(text: str, codes: tuple[str, ...]) -> None:
    assert VOCABULARY.resolve("state", text) == codes


def test_names_of_states_carry_no_footnote_marks() -> None:
    names = [name for alpha3 in VOCABULARY.values("country") for name in VOCABULARY.states_of(alpha3).values()]
    assert [name for name in names if re.search(r"[⁰¹²³⁴-⁹†‡*]", name)] == []
    assert VOCABULARY.states_of("CIV")["LC"] == "Lacs"
    assert VOCABULARY.resolve("state", "Lacs") == ("CI-LC",)
    assert VOCABULARY.resolve("state", "Butel") == ("MK-803",)
    assert VOCABULARY.states_of("EST")["796"] == "Tartu"
    assert VOCABULARY.resolve("state", "Tartu") == ("EE-793", "EE-796")


def test_states_of_a_country() -> None:
    assert VOCABULARY.states_of("DEU")["BY"] == "Bavaria"
    assert len(VOCABULARY.states_of("DEU")) == 16
    assert VOCABULARY.state_name("USA", "TX") == "Texas"
    assert VOCABULARY.state_name("USA", "BY") is None
    assert VOCABULARY.states_of("XXX") == {}


@pytest.mark.parametrize(
    ("text", "city"),
    [
        *[(text, "New York City") for text in ("NYC", "New York", "new york city", "Nueva York")],
        *[(text, "Munich") for text in ("Munich", "München", "muenchen", "MUNCHEN")],
        *[(text, "Cologne") for text in ("Cologne", "Köln", "koeln")],
        *[(text, "Vienna") for text in ("Vienna", "Wien")],
        *[(text, "Frankfurt") for text in ("Frankfurt", "Frankfurt am Main")],
        *[(text, "Bengaluru") for text in ("Bangalore", "Bengaluru")],
        ("SF", "San Francisco"),
        ("LA", "Los Angeles"),
        ("Washington DC", "Washington"),
        ("Lodz", "Łódź"),
        ("saint etienne", "Saint-Étienne"),
        ("Xi\u2019an", "Xi'an"),
        ("Napoli", "Naples"),
        ("Sevilla", "Seville"),
        ("Calcutta", "Kolkata"),
        ("東京", "Tokyo"),
        ("Москва", "Moscow"),
        # A city's own name wins over an alternate name of a larger one: Vienna is "Vienne" in French.
        ("Vienne", "Vienne"),
    ],
)
def test_city(text: str, city: str) -> None:
    assert VOCABULARY.resolve("city", text) == (city,)


def test_cities_come_with_their_place() -> None:
    cities = VOCABULARY.cities()
    assert [city.population for city in cities] == sorted((city.population for city in cities), reverse=True)
    largest = {(city.name, city.country): city for city in reversed(cities)}
    places = {("Austin", "USA"): "TX", ("Munich", "DEU"): "BY", ("Toronto", "CAN"): "ON", ("Leeds", "GBR"): "ENG"}
    assert {place: largest[place].state for place in places} == places
    assert {city.country for city in cities} <= set(VOCABULARY.values("country"))
    assert all(city.state in VOCABULARY.states_of(city.country) for city in cities if city.state)


@pytest.mark.parametrize(
    ("kind", "text", "name"),
    [
        ("region", "europe", "Europe"),
        ("region", "Europa", "Europe"),
        ("region", "the Americas", "Americas"),
        ("subregion", "Southeast Asia", "South-eastern Asia"),
        ("subregion", "South East Asia", "South-eastern Asia"),
        ("subregion", "Latin America", "Latin America and the Caribbean"),
        ("subregion", "western europe", "Western Europe"),
    ],
)
def test_region(kind: Kind, text: str, name: str) -> None:
    assert VOCABULARY.resolve(kind, text) == (name,)


def test_countries_of_regions() -> None:
    assert VOCABULARY.region_of("TWN") == "Asia"
    assert VOCABULARY.subregion_of("TWN") == "Eastern Asia"
    assert VOCABULARY.subregion_of("XKX") == "Southern Europe"
    assert VOCABULARY.region_of("ATA") is None
    assert "MEX" in VOCABULARY.countries_in("subregion", "Latin America and the Caribbean")
    assert VOCABULARY.countries_in("region", "Nowhere") == ()
    for alpha3 in set(VOCABULARY.values("country")) - {"ATA"}:
        region, subregion = VOCABULARY.region_of(alpha3), VOCABULARY.subregion_of(alpha3)
        assert region is not None
        assert subregion is not None
        assert alpha3 in VOCABULARY.countries_in("region", region)
        assert alpha3 in VOCABULARY.countries_in("subregion", subregion)
    assert len(VOCABULARY.values("region")) == 5
    assert len(VOCABULARY.values("subregion")) == 17


def test_groups() -> None:
    groups = VOCABULARY.groups()
    assert groups["DACH"] == ("AUT", "CHE", "DEU")
    assert len(groups["EU"]) == 27
    assert groups["LATAM"] == VOCABULARY.countries_in("subregion", "Latin America and the Caribbean")
    assert sorted(groups["South America"] + groups["Central America"] + groups["Caribbean"]) == list(groups["LATAM"])
    assert {country for some in groups.values() for country in some} <= set(VOCABULARY.values("country"))
