"""What a reader sees of a page: its lines, and for each line its paragraph, its heading and the block it is in.

One walk through the tree, which is the most expensive step of extraction."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Mapping
from typing import Literal, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_TEXT_CHARS = 200_000
# A menu must not take the room of what the page is about.
MAX_ASIDE_CHARS = 100_000
MAX_HEADING_CHARS = 120

Block = Literal["", "footer", "aside", "quote"]

# Marks that no reader sees, put inside of words against crawlers or for hyphenation.
_INVISIBLE = "\u00ad\u200b\u2060\ufeff"
_PICTURED_AT = ("@", "at", "(at)", "[at]")
# Both begin with letters that are found fast, which letters of either case are not.
_ALT_AT = (re.compile(r"alt=[\"']?[@(\[aA]"), re.compile(r"ALT=[\"']?[@(\[aA]"))
_HIDDEN = re.compile(r"display:\s?none")
# An address in three spans is one all the same.
_GLUE = ("@", ".")
_UNSEEN = frozenset(
    ("-comment", "script", "style", "template", "noscript", "svg", "textarea", "select", "datalist", "iframe", "object")
)
# Parts of a word may be in these; "wel<b>come</b>" is one word.
_IN_WORDS = """
abbr acronym b bdi bdo big cite code del dfn em font i ins kbd mark q s samp small strike strong sub sup tt u var wbr
"""
# In these, too; but two of them side by side are two words, as in a menu.
_APART = frozenset(("a", "button", "label", "span", "time"))
_in_words = frozenset(_IN_WORDS.split())
# Blocks that are not what a page is about. Forms stay: some frameworks put the whole page into one. So do headers: the
# first heading is often there.
_ASIDE = frozenset(("nav", "footer", "aside"))
_TITLES = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_HEADINGS = _TITLES | frozenset(("dt", "summary", "legend"))
_CODE = frozenset(("code", "samp", "kbd"))
_LONG_PIECE = 10_000

# The parser lets no NUL through, so that one can mark what the text itself does not say. The letter after it says what.
_BREAK, _LINE_BREAK, _TITLE, _HEADING, _CONTACT = "\0b", "\0l", "\0t", "\0h", "\0a"
_CODE_START, _CODE_END, _BLOCK_END = "\0c", "\0d", "\0e"
_BLOCK_STARTS: dict[str, Block] = {"f": "footer", "n": "aside", "q": "quote"}
_WITHIN_LINES = "acd"

_QUOTES = (
    "blockquote, [class*=testimonial i], [class*=review i], [class*=quote i], .comment-body, .comment-content, "
    ".comment-text"
)
# The number in or after one is that of a fax: icons, microdata, business cards.
_FAX_ICONS = "[class*=-fax i]"
_FAXES = "[itemprop=faxNumber], [class~=fax i]"
_FOOTERS = "[id*=footer i], [class*=footer i], #colophon"
MAX_NAMED_BLOCKS = 200
_QUOTATION_MARKS = ('"', "\u201c", "\u201d", "\u201e", "«", "»", "「")
_CONTACTS = re.compile(
    r"(?:mailto|tel|callto):|(?:https?:)?//(?:wa\.me|(?:api|web|www)?\.?whatsapp\.com)/|whatsapp:", re.I
)


class Line(NamedTuple):
    """A line and where it is."""

    text: str
    paragraph: int
    """Lines that only a line break separates have the same."""
    heading: str
    """The nearest one before it in the same block."""
    block: Block
    section: str
    """The nearest h1 to h6 before it in the same block: `heading` may be a term below that."""


class Layout(NamedTuple):
    """The lines of a page."""

    lines: list[Line]
    texts: list[str]
    starts: list[int]
    """Where in the joined text each line starts."""
    main: list[str] | None
    """Lines outside of navigation, footers and asides; None if there is no such part."""
    contacts: list[tuple[int, str]]
    """Links to addresses and numbers: where in the joined text, and where to."""
    code: list[tuple[int, int]]
    """Spans of the joined text that are code."""

    def line_at(self, offset: int) -> int:
        """The number of the line at an offset of the joined text."""
        return max(0, bisect_right(self.starts, offset) - 1)

    def is_code(self, offset: int) -> bool:
        """Whether the text at an offset is code, an example for programs."""
        return any(start <= offset < end for start, end in self.code)


def is_contact(url: str) -> bool:
    """Whether a link leads to an address or a number."""
    return bool(_CONTACTS.match(url)) or "/cdn-cgi/l/email-protection" in url


def layout_of(tree: LexborHTMLParser, html: str, contacts: Mapping[int, str]) -> Layout:
    """The lines of a page; `contacts` are links by the ids of their nodes."""
    blocks: dict[int, str] = {}
    for letter, selector in (("f", _FOOTERS), ("q", _QUOTES)):
        nodes = tree.css(selector)[:MAX_NAMED_BLOCKS]
        blocks |= {node.mem_id: letter for node in nodes if node.tag != "blockquote" or _quotes(node)}
    blocks.pop(tree.body.mem_id if tree.body else -1, None)
    pieces, main = _pieces(
        tree.body,
        contacts,
        blocks,
        hidden=_hidden_spans(tree) if _HIDDEN.search(html) or "cloak" in html else frozenset(),
        faxes=_faxes(tree) if "fax" in html else frozenset(),
        has_pictured_at=any(mark.search(html) for mark in _ALT_AT),
    )
    return _laid_out(pieces, None if main is None else _lines(main), list(contacts.values()))


def _quotes(node: LexborNode) -> bool:
    """Whether a block quotes someone: many pages use the element only for its margin."""
    return any(mark in node.text() for mark in _QUOTATION_MARKS)


def _lines(pieces: list[str]) -> list[str]:
    return _laid_out(pieces, None, []).texts


def _laid_out(pieces: list[str], main: list[str] | None, urls: list[str]) -> Layout:
    broken = "".join(pieces)
    if not broken.isascii():
        for mark in _INVISIBLE:
            broken = broken.replace(mark, "")
    found = Layout([], [], [], main, [], [])
    paragraph, heading, section, is_heading, start, code_start = 0, "", "", "", 0, -1
    blocks: list[Block] = []
    pending = ""
    marks: list[tuple[int, str]] = []

    def close() -> None:
        nonlocal pending, heading, section, start
        if words := pending.split():
            text = " ".join(words)
            block = blocks[-1] if blocks else ""
            found.lines.append(Line(text, paragraph, "" if is_heading else heading, block, section))
            found.texts.append(text)
            found.starts.append(start)
            start += len(text) + 1
            if is_heading:
                heading = text[:MAX_HEADING_CHARS]
                section = heading if is_heading == "t" else section
        pending = ""

    first, *rest = broken.split("\0")
    pending = first
    for part in rest:
        code = part[:1]
        if code in _WITHIN_LINES:
            offset = start + len(" ".join(pending.split())) + (pending[-1:].isspace() and bool(pending.strip()))
            if code == "a":
                number, _, part = part.partition(";")
                marks.append((offset, number[1:]))
                pending += part
                continue
            if code == "c":
                code_start = offset
            elif code_start >= 0:
                found.code.append((code_start, offset))
                code_start = -1
            pending += part[1:]
            continue
        close()
        if code != "l":
            paragraph += 1
            is_heading = code if code in "ht" else ""
        if code in _BLOCK_STARTS:
            blocks.append(_BLOCK_STARTS[code])
            heading = section = ""
        elif code == "e" and blocks:
            blocks.pop()
            heading = section = ""
        pending = part[1:]
    close()
    if code_start >= 0:
        found.code.append((code_start, start))
    found.contacts.extend((offset, urls[int(number)]) for offset, number in marks if urls)
    return found


def _pieces(  # noqa: C901
    body: LexborNode | None,
    contacts: Mapping[int, str],
    blocks: Mapping[int, str],
    *,
    hidden: Collection[int],
    faxes: Collection[int],
    has_pictured_at: bool,
) -> tuple[list[str], list[str] | None]:
    """Texts outside of what is not shown, with a mark wherever a block starts or ends; and those outside of _ASIDE.

    Blocks that are hidden at first may be opened by a reader; a hidden span amid a word is there against crawlers.
    """
    numbers = {node: number for number, node in enumerate(contacts)}
    pieces: list[str] = []
    asides: list[tuple[int, int]] = []  # where in the pieces they start and end
    inside: list[int] = []
    above: list[LexborNode] = []
    length = aside_length = 0
    node = body.first_child if body else None
    broken = True
    beside = False  # whether an element of _APART has just ended
    while length < MAX_TEXT_CHARS:
        if node is None:
            if not above:
                break
            node = above.pop()
            tag = node.tag
            if tag in _ASIDE:
                start = inside.pop()
                if not inside:
                    asides.append((start, len(pieces)))
            beside = tag in _APART
            if tag in _CODE:
                pieces.append(_CODE_END)
            if tag in _ASIDE or (blocks and node.mem_id in blocks):
                pieces.append(_BLOCK_END)
                broken = True
            elif tag in _HEADINGS or not (broken or beside or tag in _in_words):
                pieces.append(_BREAK)
                broken = True
            node = node.next
            continue
        tag = node.tag
        if tag == "-text":
            text = node.text_content or ""
            beside = False
            if text in _GLUE and pieces[-1:] == [" "] and not (inside and inside[-1] == len(pieces)):
                pieces.pop()
            if not (broken and text.isspace()):
                if len(text) > _LONG_PIECE:
                    text = f" {' '.join(text.split())[:MAX_TEXT_CHARS]} "
                chars = len(text.strip())
                if not inside:
                    length += chars
                elif (aside_length := aside_length + chars) > MAX_ASIDE_CHARS:
                    text = ""
                pieces.append(text)
                broken = False
        elif tag not in _UNSEEN and not (hidden and tag == "span" and node.mem_id in hidden):
            if faxes and node.mem_id in faxes:
                pieces.append(" Fax ")
            if tag in _APART:
                if beside and pieces and pieces[-1] not in _GLUE:
                    pieces.append(" ")
                if numbers and tag == "a" and (number := numbers.get(node.mem_id)) is not None:
                    pieces.append(f"{_CONTACT}{number};")
            elif has_pictured_at and tag == "img" and _is_pictured_at(node):
                pieces.append("@")
            elif tag == "br":
                if not broken:
                    pieces.append(_LINE_BREAK)
                    broken = True
            elif not (broken or tag in _in_words):
                pieces.append(_BREAK)
                broken = True
            if (inner := node.first_child) is not None:
                if tag in _ASIDE:
                    pieces.append("\0f" if tag == "footer" else "\0n")
                    inside.append(len(pieces))
                elif blocks and node.mem_id in blocks:
                    pieces.append(f"\0{blocks[node.mem_id]}")
                    broken = True
                elif tag in _HEADINGS:
                    pieces.append(_TITLE if tag in _TITLES else _HEADING)
                    broken = True
                elif tag in _CODE:
                    pieces.append(_CODE_START)
                above.append(node)
                node = inner
                continue
        node = node.next
    if inside:
        asides.append((inside[0], len(pieces)))
    return pieces, _without(pieces, asides) if asides else None


def _without(pieces: list[str], asides: list[tuple[int, int]]) -> list[str]:
    main: list[str] = []
    end = 0
    for start, after in asides:
        main += pieces[end:start]
        end = after
    return main + pieces[end:]


def _faxes(tree: LexborHTMLParser) -> frozenset[int]:
    """Elements that stand for the word fax: an icon has no text itself, as in `<i class="fa fa-fax">`."""
    icons = [node for node in tree.css(_FAX_ICONS)[:MAX_NAMED_BLOCKS] if not node.text(strip=True)]
    return frozenset([node.mem_id for node in (*icons, *tree.css(_FAXES)[:MAX_NAMED_BLOCKS])])


def _is_pictured_at(node: LexborNode) -> bool:
    return (node.attributes.get("alt") or "").strip().lower() in _PICTURED_AT


def _hidden_spans(tree: LexborHTMLParser) -> frozenset[int]:
    """Also those in which Joomla says that a script shows an address: its two sentences would end that of the page."""
    nodes = [node for node in tree.css("span[style]") if _HIDDEN.search(node.attributes.get("style") or "")]
    return frozenset([node.mem_id for node in (*nodes, *tree.css("span[id^=cloak]"))])
