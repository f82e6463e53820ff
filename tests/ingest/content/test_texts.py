"""Title, description, headings, main text and the keywords drawn from them."""

from __future__ import annotations

import pytest

from siteglass.ingest.extract.keywords import MAX_KEYWORDS, keywords
from siteglass.ingest.extract.texts import MAX_MAIN_CHARS, MAX_TITLE_CHARS, Texts, texts
from tests.ingest.content.pages import page


def _words(title: str = "", description: str = "", headings: tuple[str, ...] = (), main: str = "") -> Texts:
    return Texts(title, description, headings[0] if headings else "", headings, main)


def test_the_title_is_that_of_the_head_with_white_space_folded() -> None:
    found = texts(page("<title>\n Acme\t Tools </title><body><svg><title>Logo</title></svg>"))
    assert found.title == "Acme Tools"


def test_the_title_of_a_drawing_is_none() -> None:
    assert texts(page("<body><svg><g><title>Logo</title></g></svg>")).title == ""


def test_a_title_that_slipped_into_the_body_counts() -> None:
    assert texts(page("<body><div></div><title>Acme</title>")).title == "Acme"


def test_without_a_title_that_for_social_networks_counts() -> None:
    assert texts(page('<title> </title><meta property="og:title" content="Acme  shop">')).title == "Acme shop"


def test_texts_are_bounded() -> None:
    found = texts(page(f"<title>{'t' * 9_000}</title><body><p>{'word ' * 60_000}</p>"))
    assert len(found.title) == MAX_TITLE_CHARS
    assert len(found.main) <= MAX_MAIN_CHARS


def test_the_description_of_the_meta_tag_comes_first() -> None:
    both = '<meta name="og:description" content="social"><meta name="Description" content=" Hand  tools. ">'
    assert texts(page(both)).description == "Hand tools."
    assert texts(page('<meta property="og:description" content="social">')).description == "social"


def test_the_first_heading_is_shown_and_says_something() -> None:
    html = '<h2>News</h2><h1> </h1><h1 style="display: none">SEO</h1><h1 hidden>x</h1><h1>Real <b>one</b></h1>'
    found = texts(page(html))
    assert found.heading == "Real one"
    assert found.headings == ("News", "SEO", "x", "Real one")


def test_a_logo_as_heading_says_its_alternative_text() -> None:
    assert texts(page('<h1><img src="l.png" alt="Acme Tools"></h1>')).heading == "Acme Tools"


def test_the_main_text_leaves_navigation_scripts_and_footer_out() -> None:
    story = "Saws and hammers. " * 20
    html = f"<nav>Home About</nav><script>var x</script><main><p>{story}</p></main><footer>Imprint</footer>"
    assert texts(page(html)).main == story.strip()


@pytest.mark.parametrize(
    "before",
    [
        f"<nav>{'<a>menu entry</a> ' * 20_000}</nav>",
        f"<p>Hello{' ' * 210_000}you</p>",
        "".join(f"<p>{' ' * 180}{number}{' ' * 180}</p>" for number in range(1_000)),
    ],
    ids=["menu", "blanks", "indented"],
)
def test_the_main_text_is_not_lost_behind_what_has_no_words(before: str) -> None:
    story = "We make tables of oak. " * 20
    assert texts(page(f"{before}<main><p>{story}</p></main>")).main.endswith(story.strip())


def test_a_page_of_little_but_navigation_keeps_it() -> None:
    assert texts(page("<nav>Home</nav><p>Hello</p>")).main == "Home Hello"


def test_keywords_come_from_title_headings_and_text() -> None:
    found = keywords(
        _words("Cordless drills | Acme", "Cordless drills for every workshop", ("Cordless drills",), "drills " * 5),
        "power tools, cordless drills",
    )
    assert found[0] == "cordless drills"
    assert set(found[1:]) == {"acme", "drills", "power tools", "cordless", "workshop"}


def test_words_of_grammar_and_navigation_are_no_keywords() -> None:
    assert keywords(_words("Home - Welcome to the website", main="und oder der die das " * 9), "") == ()


def test_keywords_of_scripts_without_blanks_are_stated_or_parts_of_the_title() -> None:
    found = keywords(_words("工具店 | 東京の電動工具", main="電動工具を販売しています。" * 9), "電動工具、ドリル")
    assert found == ("工具店", "東京の電動工具", "ドリル", "電動工具")


def test_keywords_are_few_and_the_same_each_time() -> None:
    words = _words(" ".join(f"alpha{n}x beta{n}y" for n in range(99)))
    assert keywords(words, "") == keywords(words, "")
    assert len(keywords(words, "a1,b2," * 500)) == MAX_KEYWORDS
