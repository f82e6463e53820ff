"""What `keywords` and the words of a `query` find."""

from __future__ import annotations

import httpx
import pytest

from testing.api_calls import found, search
from tests.api.handmade import those

DENTISTS = {"word-title.com", "word-description.com"}
VEGAN = {"word-keywords.com", "word-text.com"}


@pytest.mark.promise(
    "search.keywords", "lists.or", "keywords.where", "keywords.stemmed", "keywords.phrase", "keywords.compounds"
)
@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        (["dentist"], DENTISTS),
        (["dentists"], DENTISTS),
        (["DENTISTS"], DENTISTS),
        (["Déntist"], DENTISTS),
        (["dent"], set()),
        (["emergency dentist"], {"word-title.com"}),
        (["Emergency  Dentists"], {"word-title.com"}),
        (["dentist emergency"], set()),
        (["for an emergency"], {"word-description.com"}),
        (["cafe creme"], {"word-name.com"}),
        (["CAFÉ CRÈME"], {"word-name.com"}),
        (["café"], {"word-name.com"}),
        (["vegan dog food"], {"word-keywords.com"}),
        (["dog food"], {"word-keywords.com", "word-text.com"}),
        (["dog foods"], {"word-keywords.com", "word-text.com"}),
        (["vegan", "dentist"], DENTISTS | {"word-keywords.com", "word-text.com"}),
        (["left to chance"], {"full-record.com"}),
        (["牙医"], {"word-chinese.com"}),
        (["诊所"], {"word-chinese.com"}),
        (["牙医诊所"], {"word-chinese.com"}),
        (["医牙"], set()),
        (["東京"], {"word-japanese.com"}),
        (["歯医者"], {"word-japanese.com"}),
        (["abc"], {"word-wide.com"}),
        (["ａｂｃ trading"], {"word-wide.com"}),
        # Thai is written without blanks: only the whole run between two blanks is a word.
        (["คลินิกทันตกรรม"], {"word-thai.com"}),
        (["คลินิก"], set()),
        # Of compounds, a word finds parts, in the language of the lead.
        (["Garten"], {"word-compound.com"}),
        (["zäune"], set()),
        (["zaun"], {"word-compound.com"}),
        (["Gartenzaun"], {"word-compound.com", "word-compound-of-no-language.com"}),
        (["Haus"], set()),
        (["garten zaun"], set()),
        (["nobody says this"], set()),
        (['"no vocabulary"'], set()),
    ],
)
def test_keywords(own: httpx.Client, keywords: list[str], expected: set[str]) -> None:
    assert found(own, {"keywords": keywords}) == expected
    assert search(own, {"keywords": keywords})["filters"] == {"keywords": keywords}


@pytest.mark.promise("directive.keywords")
@pytest.mark.parametrize("text", ["@keywords(dog food, dentists)", "@KEYWORDS( dog food ,dentist )"])
def test_keywords_as_a_directive(own: httpx.Client, text: str) -> None:
    assert found(own, {"wrapped_query": text}) == DENTISTS | {"word-keywords.com", "word-text.com"}
    assert found(own, {"wrapped_query": f"!{text}"}) == those(
        lambda lead: lead.domain not in {*DENTISTS, "word-keywords.com", "word-text.com"}
    )


@pytest.mark.promise("keywords.compounds")
def test_exclusions_see_parts_of_compounds_too(own: httpx.Client) -> None:
    compound, other = "word-compound.com", "word-compound-of-no-language.com"
    assert found(own, {"wrapped_query": "@keywords(am Krankenhaus)\n!@keywords(garten)"}) == set()
    assert found(own, {"wrapped_query": "@keywords(Gartenzaun)\n!@keywords(garten)"}) == {other}
    assert found(own, {"wrapped_query": "@keywords(Gartenzaun)\n!@keywords(garten zaun)"}) == {compound, other}


@pytest.mark.promise("directives.rule_1", "lists.and")
def test_two_lines_of_keywords_must_both_be_found(own: httpx.Client) -> None:
    assert found(own, {"wrapped_query": "@keywords(emergency)\n@keywords(dentist)"}) == DENTISTS
    assert found(own, {"wrapped_query": "@keywords(emergency)\n@keywords(vegan)"}) == set()


@pytest.mark.promise("search.query")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("vegan", VEGAN),
        # Words side by side are one phrase; what is between them parts it.
        ("food vegan", set()),
        ("vegan dog", {"word-keywords.com"}),
        ("  vegan \n foods ", VEGAN),
        ("vegan dog food", {"word-keywords.com"}),
        ("vegan glaciology", set()),
        ("牙医", {"word-chinese.com"}),
        ("vegan!", VEGAN),
        ("food, vegan.", VEGAN),
        ("food & vegan", VEGAN),
        ('"vegan" (food)', VEGAN),
        ("# vegan", VEGAN),
        ("CRÈME", {"word-name.com"}),
        # A word for a trade finds what the business is; in quotes it is a keyword.
        ("dentist", {"trade-dentist.fr", "trade-orthodontist.de"}),
        ('"dentist"', DENTISTS),
    ],
)
def test_every_word_of_a_query_must_be_found(own: httpx.Client, query: str, expected: set[str]) -> None:
    page = search(own, {"query": query})
    assert {record["domain"] for record in page["results"]} == expected
    assert "query" not in page["filters"]
    assert found(own, page["filters"]) == expected


def test_one_word_of_a_query_comes_back_as_keywords(own: httpx.Client) -> None:
    assert search(own, {"query": "vegan"})["filters"] == {"keywords": ["vegan"]}


@pytest.mark.promise("query.directives")
def test_a_directive_inside_a_query_is_one(own: httpx.Client) -> None:
    for directive in ("@country(DEU)", "!@keywords(vegan)"):
        assert found(own, {"query": directive}) == found(own, {"wrapped_query": directive})
