"""Addresses in texts as people veil them against crawlers: "name [at] domain (dot) tld". Pure.

More is taken for one than is one: what is found is compared with what is suppressed, so a sentence loses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

AT_WORDS = (
    r"at|ät|æt|@|arroba|arob|arobase|arobas|chiocciola|apenstaartje|apenstaart|kukac|ma[łl]pa|zavin[aá][cč]|"
    r"snabel-?a|kr[øo]llalfa|собака|собачка|равлик|παπάκι|アット(?:マーク)?|あっと(?:まーく)?|골뱅이|"
    r"et|kuyruklu a|שטרודל|כרוכית"
)
DOT_WORDS = (
    r"dot|d0t|punkt|punto|point|ponto|punt|piste|pont|kropka|te[cč]ka|nokta|точка|крапка|prik|τελεία|ドット|점|닷|"
    r"נקודה|punct|\."
)
# As many as are read of a page when it is crawled.
MAX_TRIES = 1_000

OPENING, CLOSING = r"\[({<（【［〔＜", r"\])}>）】］〕＞"
"""Brackets around the words, also in the width of East Asian letters; for use inside of a class."""
_OPEN, _CLOSE = rf"[{OPENING}][{OPENING}]?", rf"[{CLOSING}]{{1,2}}"
_VEILED_DOT = (
    rf"(?:\s?{_OPEN}\s?(?:{DOT_WORDS})\s?{_CLOSE}\s?|\s[-*_]{{0,2}}(?:dot|punkt|punto|point|ponto|punt)[-*_]{{0,2}}\s)"
)
_DOT = re.compile(_VEILED_DOT, re.IGNORECASE)
_ANY_DOT = re.compile(rf"{_VEILED_DOT}|\.", re.IGNORECASE)
_LABEL = r"\w(?:[\w-]{0,61}\w)?"
_HOST = re.compile(rf"\s{{0,2}}({_LABEL}(?:(?:{_ANY_DOT.pattern}){_LABEL}){{1,8}})", re.IGNORECASE)
# Read backwards, from the end of the text before an at.
_NAME_BACKWARDS = re.compile(r"\s{0,2}([\w.+'-]{1,64})")
MAX_NAME_PARTS = 4
# These read lower case. Each begins with what is looked for at once, so that a text without it takes no time.
_BRACKETED_AT = re.compile(rf"{_OPEN}\s?(?:{AT_WORDS}|[aà])\s?{_CLOSE}")
_BARE_AT = {
    start: re.compile(rf"{re.escape(start)}[-*_]{{0,2}}(?=\s[\w-]{{1,63}}(?:\.|\s|{_OPEN}))")
    for word in ("at", "ät", "arroba", "arobase", "chiocciola", "apenstaartje")
    for start in (f" {word}", *((f" {sign}{word}" for sign in "-*_") if len(word) == 2 else ()))
}
# Those that are unusual in an address: with blanks around them, an obfuscated dot, or a word directly after them.
_SIGN = re.compile(
    rf"(?:@|%40)(?:(?=\s)|(?<=\s@)|(?<=\s%40)|(?=[\w-]{{1,63}}(?:\s|{_OPEN}))|(?=[\w.-]{{1,100}}?[A-Z]))"
)
# "sales#acme.cn (put @ for #)"
AT_SIGNS = "#★☆◎●○■□◆◇※＃*"
_HASH = re.compile(rf"(?<=\w)[{AT_SIGNS}](?=[\w-]{{1,63}}\.\w)")
_BEFORE_CHARS = 130
# "firma.deTelefon", where a line end was lost.
_GLUED = re.compile(r"[a-z]{2,}(?=[A-Z])")
_ASCII_END = re.compile(r"[A-Za-z0-9._+'-]+\Z")

Span = tuple[int, int, str]


def may_veil(text: str) -> bool:
    """Whether a text, or one of many in one piece, holds what `veiled` finds."""
    return next(veiled(text, None), None) is not None


def veiled(text: str, most: int | None = MAX_TRIES) -> Iterator[list[Span]]:
    """For each place that may be an address, what it may mean, the longest first: start, end, address."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = text  # a letter that is two in lower case: places would not be the same
    for pattern in _patterns(lower):
        for at in islice(pattern.finditer(text if pattern is _SIGN else lower), most):
            host = _HOST.match(text, at.end())
            if host is None:
                continue
            begins = _begins(text, at.start())
            if not begins:
                continue
            name_end = begins[0] + len(text[begins[0] : at.start()].rstrip())
            hosts = list(_hosts(text, host.start(1), host.end(1)))
            names = _names(text, begins, name_end)
            yield [(start, end, f"{local}@{spelled}") for start, local in names for end, spelled in hosts]


def _begins(text: str, end: int) -> list[int]:
    """Where the parts of a name begin that ends there, the last one first; none if there is no name."""
    first = max(0, end - _BEFORE_CHARS)
    window = text[first:end]
    dots = {dot.end(): dot.start() for dot in _DOT.finditer(window)}
    begins: list[int] = []
    place: int | None = len(window)
    while place is not None and len(begins) < MAX_NAME_PARTS:
        part = _NAME_BACKWARDS.match(window[:place][::-1])
        if part is None:
            break
        begins.append(first + place - part.end())
        place = dots.get(place - part.end())
    return begins


def _patterns(text: str) -> Iterator[re.Pattern[str]]:
    """Those that may find something: to look for a letter takes a fraction of the time."""
    is_ascii = text.isascii()
    if "(" in text or "[" in text or "{" in text or "<" in text or not is_ascii:
        yield _BRACKETED_AT
    for start, pattern in _BARE_AT.items():
        if (start.isascii() or not is_ascii) and start in text:
            yield pattern
    if "@" in text or "%40" in text:
        yield _SIGN
    if "#" in text or "*" in text or not is_ascii:
        yield _HASH


def _hosts(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Where a host may end, and how it reads: a sentence may continue after it."""
    dots = list(_ANY_DOT.finditer(text, start, end))[1:]
    # "a.de.Call us", "a dot de point of": but a.com.au is not a.com.
    ends = [dot.start() for dot in dots if dot[0] != "." or text[dot.end()].isupper()]
    for one in (end, *reversed(ends)):
        spelled = _ANY_DOT.sub(".", text[start:one])
        yield one, spelled
        last = spelled.rpartition(".")[2]
        if glued := _GLUED.match(last):
            over = len(last) - glued.end()
            yield one - over, spelled[: len(spelled) - over]


def _names(text: str, begins: Sequence[int], end: int) -> Iterator[tuple[int, str]]:
    """Where a name may begin, and how it reads, the longest first."""
    last = text[begins[0] : end]
    ascii_end = None if last.isascii() else _ASCII_END.search(last)
    shorter = () if ascii_end is None else (begins[0] + ascii_end.start(),)
    for begin in (*reversed(begins), *shorter):
        written = _DOT.sub(".", text[begin:end]) if begin < begins[0] else text[begin:end]
        bare = written.lstrip("._+'-")
        yield begin, written
        if bare and bare != written:
            yield begin + len(written) - len(bare), bare


def cut_veiled(text: str, hides: Callable[[str], bool]) -> str:
    """The text without the addresses that are hidden."""
    spans = [
        hidden
        for meanings in veiled(text)
        if (hidden := next((span for span in meanings if hides(span[2])), None)) is not None
    ]
    for start, end, _ in sorted(spans, reverse=True):
        text = text[:start] + text[end:]
    return text
