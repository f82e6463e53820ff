"""The text of a page: words stay whole inside of inline elements, and apart between blocks."""

from __future__ import annotations

import pytest

from siteglass.ingest.extract.page import Page
from siteglass.ingest.extract.stream import MAX_TEXT_CHARS
from tests.ingest.contacts.making import PAGE_LIMIT_MS, hostile, page, slowest_ms


@pytest.mark.parametrize(
    ("html", "lines"),
    [
        ("in<b>fo</b>@firma.de", ["info@firma.de"]),
        ("info<span>@</span>firma.de", ["info@firma.de"]),
        ("a<p>b</p>c<br>d<div>e</div>f", ["a", "b", "c", "d", "e", "f"]),
        ("<a>Home</a><a>About</a> <a>Team</a>", ["Home About Team"]),
        ("<span>Tel</span><span>030</span>", ["Tel 030"]),
        ("<p>one\n   two<!-- no -->three</p>", ["one twothree"]),
        ("<table><tr><td>a</td><td>b</td></tr></table>", ["a", "b"]),
        ("soft\u00adhy\u200bphen", ["softhyphen"]),
        ("seen<script>no</script><style>no</style><svg><text>no</text></svg><textarea>no</textarea>", ["seen"]),
        ("<body><noscript>no</noscript><template>no</template><select><option>no</select>seen", ["seen"]),
        ('in<span style="display:none">no</span>fo<span style="color:red">@</span>', ["info@"]),
        ('<div style="display: none">a menu</div>', ["a menu"]),
        ("<div></div><p> </p>", []),
        ("", []),
    ],
)
def test_text_is_joined_in_words_and_broken_at_blocks(html: str, lines: list[str]) -> None:
    made = page(html)

    assert made.lines == lines
    assert made.text == " ".join(lines)


def test_json_ld_with_raw_line_breaks_is_read() -> None:
    made = page('<script type="application/ld+json">{"name": "two\nlines"};</script>')

    assert made.json_ld == [{"name": "two lines"}]


def test_text_is_bounded() -> None:
    assert max(len(made.text) for made in hostile()) <= MAX_TEXT_CHARS


def test_no_page_takes_long_to_read() -> None:
    def read(made: Page) -> None:
        again = Page.__new__(Page)
        again.__dict__.update(tree=made.tree, capture=made.capture, html=made.html)
        assert isinstance((again.text, again.links, again.json_ld, again.metas), tuple)

    assert slowest_ms(read) < PAGE_LIMIT_MS
