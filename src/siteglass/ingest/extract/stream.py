"""A page as a stream of typed events, in the order in which a reader meets them: text, and the marks between texts.

One walk through the tree, which is the most expensive step of extraction. `layout` makes lines of the events."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from enum import Enum
from typing import Literal, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_TEXT_CHARS = 200_000
# A menu must not take the room of what the page is about.
MAX_ASIDE_CHARS = 100_000
MAX_NAMED_BLOCKS = 200

Role = Literal["", "footer", "aside", "quote"]


class Mark(Enum):
    """What is between two texts, and says no more than that."""

    BREAK = "a block starts or ends"
    LINE_BREAK = "a line ends, and its paragraph does not"
    CELL = "a cell of a table starts"
    BLOCK_END = "the last block that has a role ends"
    CODE_START = "what follows is code"
    CODE_END = "what follows is not"


class HeadingStart(NamedTuple):
    """What follows, up to the next break, is a heading."""

    is_title: bool
    """h1 to h6, and not the term or the legend of a smaller part."""


class BlockStart(NamedTuple):
    """A block that has a role starts."""

    role: Role
    is_apart: bool
    """Whether it is an element for what a page is not about: nav, footer, aside."""


class LinkStart(NamedTuple):
    """A link to an address or a number starts."""

    url: str


Event = str | Mark | HeadingStart | BlockStart | LinkStart
"""A text is a str."""


class _Kind(Enum):
    """What an element is for the reader of its text."""

    BLOCK = 0
    IN_WORD = 1
    """Parts of a word may be in these: "wel<b>come</b>" is one word."""
    CODE = 2
    """In these, too."""
    APART = 3
    """In these, too; but two of them side by side are two words, as in a menu."""
    UNSEEN = 4
    ASIDE = 5
    """Not what a page is about. Forms are: some frameworks put the whole page into one. So are headers: the first
    heading is often there."""
    TITLE = 6
    HEADING = 7
    CELL = 8
    LINE_BREAK = 9
    IMAGE = 10


_TAGS = {
    _Kind.IN_WORD: "abbr acronym b bdi bdo big cite del dfn em font i ins mark q s small strike strong sub sup tt u "
    "var wbr",
    _Kind.CODE: "code samp kbd",
    _Kind.APART: "a button label span time",
    _Kind.UNSEEN: "-comment script style template noscript svg textarea select datalist iframe object",
    _Kind.ASIDE: "nav footer aside",
    _Kind.TITLE: "h1 h2 h3 h4 h5 h6",
    _Kind.HEADING: "dt summary legend",
    _Kind.CELL: "td th",
    _Kind.LINE_BREAK: "br",
    _Kind.IMAGE: "img",
}
_kinds: dict[str | None, _Kind] = {tag: kind for kind, tags in _TAGS.items() for tag in tags.split()}
_IN_WORDS = (_Kind.IN_WORD, _Kind.CODE)
_HEADINGS = (_Kind.TITLE, _Kind.HEADING)

_LONG_PIECE = 10_000
# An address in three spans is one all the same.
_GLUE = ("@", ".")
_PICTURED_AT = ("@", "at", "(at)", "[at]")
# Both begin with letters that are found fast, which letters of either case are not.
_ALT_AT = (re.compile(r"alt=[\"']?[@(\[aA]"), re.compile(r"ALT=[\"']?[@(\[aA]"))
_HIDDEN = re.compile(r"display:\s?none")
_QUOTES = (
    "blockquote, [class*=testimonial i], [class*=review i], [class*=quote i], .comment-body, .comment-content, "
    ".comment-text"
)
# A longer block is a page or a list of quotations, whatever its class is.
MAX_QUOTE_CHARS = 3_000
_RATINGS = ("★", "⭐", "/5", "\n-", "\n–", "\n—")
_QUOTATION_MARKS = ('"', "\u201c", "\u201d", "\u201e", "«", "»", "「")
_FOOTERS = "[id*=footer i], [class*=footer i], #colophon"
# The number in or after one is that of a fax: icons, microdata, business cards.
_FAX_ICONS = "[class*=-fax i], img[src*='/fax' i], img[src*='fax.' i], img[alt^=fax i]"
_FAXES = "[itemprop=faxNumber], [class~=fax i]"


def events_of(tree: LexborHTMLParser, html: str, contacts: Mapping[int, str]) -> list[Event]:
    """The events of a page's body; `contacts` are links to addresses and numbers by the ids of their nodes."""
    walk = _Walk(
        contacts,
        _named_blocks(tree),
        hidden=_hidden_spans(tree) if _HIDDEN.search(html) or "cloak" in html else frozenset(),
        faxes=_faxes(tree) if "fax" in html or "Fax" in html else frozenset(),
        has_pictured_at=any(mark.search(html) for mark in _ALT_AT),
    )
    if tree.body:
        walk.through(tree.body)
    return walk.events


class _Walk:
    """One walk through the tree: what is not shown is left out, and a break is wherever a block starts or ends.

    Blocks that are hidden at first may be opened by a reader; a hidden span amid a word is there against crawlers."""

    __slots__ = (
        "_aside_chars", "_aside_starts", "_beside", "_blocks", "_broken", "_chars", "_contacts", "_faxes",
        "_has_pictured_at", "_hidden", "events",
    )  # fmt: skip

    def __init__(
        self,
        contacts: Mapping[int, str],
        blocks: Mapping[int, Role],
        *,
        hidden: Collection[int],
        faxes: Collection[int],
        has_pictured_at: bool,
    ) -> None:
        self.events: list[Event] = []
        self._contacts, self._blocks, self._hidden, self._faxes = contacts, blocks, hidden, faxes
        self._has_pictured_at = has_pictured_at
        self._aside_starts: list[int] = []  # of those that the walk is in: how many events were before their texts
        self._chars = self._aside_chars = 0
        self._broken = True
        self._beside = False  # whether an element that is apart from its neighbour has just ended

    def through(self, body: LexborNode) -> None:
        """Add the events of all that is in a node."""
        above: list[tuple[LexborNode, _Kind]] = []
        node = body.first_child
        while self._chars < MAX_TEXT_CHARS:
            if node is None:
                if not above:
                    return
                node, kind = above.pop()
                self._leave(node, kind)
            elif (tag := node.tag) == "-text":
                self._add_text(node.text_content or "")
            elif (kind := _kinds.get(tag, _Kind.BLOCK)) is not _Kind.UNSEEN and not (
                self._hidden and tag == "span" and node.mem_id in self._hidden
            ):
                self._enter(node, kind)
                if (inner := node.first_child) is not None:
                    self._open(node, kind)
                    above.append((node, kind))
                    node = inner
                    continue
            node = node.next

    def _add_text(self, text: str) -> None:
        events = self.events
        self._beside = False
        inside = self._aside_starts
        if text in _GLUE and events[-1:] == [" "] and not (inside and inside[-1] == len(events)):
            events.pop()
        if self._broken and text.isspace():
            return
        if len(text) > _LONG_PIECE:
            text = f" {' '.join(text.split())[:MAX_TEXT_CHARS]} "
        chars = len(text.strip())
        if not inside:
            self._chars += chars
        else:
            self._aside_chars += chars
            if self._aside_chars > MAX_ASIDE_CHARS:
                text = ""
        events.append(text)
        self._broken = False

    def _enter(self, node: LexborNode, kind: _Kind) -> None:
        """Before an element, also one that holds nothing."""
        events = self.events
        if self._faxes and node.mem_id in self._faxes:
            events.append(" Fax ")
        if kind is _Kind.APART:
            if self._beside and events and events[-1] not in _GLUE:
                events.append(" ")
            if self._contacts and (url := self._contacts.get(node.mem_id)) is not None:
                events.append(LinkStart(url))
        elif kind is _Kind.IMAGE and self._has_pictured_at and _is_pictured_at(node):
            events.append("@")
        elif not self._broken and kind not in _IN_WORDS:
            mark = Mark.LINE_BREAK if kind is _Kind.LINE_BREAK else Mark.BREAK
            events.append(Mark.CELL if kind is _Kind.CELL else mark)
            self._broken = True

    def _open(self, node: LexborNode, kind: _Kind) -> None:
        """Before what is in an element."""
        events = self.events
        if kind is _Kind.ASIDE:
            events.append(BlockStart("footer" if node.tag == "footer" else "aside", is_apart=True))
            self._aside_starts.append(len(events))
        elif self._blocks and (role := self._blocks.get(node.mem_id)):
            events.append(BlockStart(role, is_apart=False))
            self._broken = True
        elif kind in _HEADINGS:
            events.append(HeadingStart(kind is _Kind.TITLE))
            self._broken = True
        elif kind is _Kind.CODE:
            events.append(Mark.CODE_START)

    def _leave(self, node: LexborNode, kind: _Kind) -> None:
        """After an element that holds something."""
        events = self.events
        self._beside = kind is _Kind.APART
        if kind is _Kind.CODE:
            events.append(Mark.CODE_END)
        if kind is _Kind.ASIDE or (self._blocks and node.mem_id in self._blocks):
            if kind is _Kind.ASIDE:
                self._aside_starts.pop()
            events.append(Mark.BLOCK_END)
            self._broken = True
        elif kind in _HEADINGS or not (self._broken or self._beside or kind in _IN_WORDS):
            events.append(Mark.BREAK)
            self._broken = True


def _named_blocks(tree: LexborHTMLParser) -> dict[int, Role]:
    """Blocks whose class or id names their role, by the ids of their nodes."""
    blocks: dict[int, Role] = {}
    named: tuple[tuple[Role, str], ...] = (("footer", _FOOTERS), ("quote", _QUOTES))
    for role, selector in named:
        nodes = tree.css(selector)[:MAX_NAMED_BLOCKS]
        blocks |= {node.mem_id: role for node in nodes if role != "quote" or _quotes(node)}
    blocks.pop(tree.body.mem_id if tree.body else -1, None)
    return blocks


def _quotes(node: LexborNode) -> bool:
    """Whether the text of a block quotes someone: many pages use the element only for its margin, and "review" is in
    the name of a form, a preview, a page."""
    text = node.text(separator="\n")
    return len(text) <= MAX_QUOTE_CHARS and any(mark in text for mark in (*_QUOTATION_MARKS, *_RATINGS))


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
