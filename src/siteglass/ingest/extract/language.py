"""The language of a page: what its text looks like, and where that says little, what the page declares."""

from __future__ import annotations

import re
from functools import cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from siteglass.ingest.extract.page import Page

# The model reads byte by byte, some 0.4 µs each; more than this makes it no surer.
MAX_SAMPLE_BYTES = 600
_PROSE_CHARS = 50
_PASSAGES = 3
_FEW_LETTERS, _SOME_LETTERS = 20, 60
# How much likelier, in the model's logarithms, a language must be than the declared one to be believed.
_TOLERANCE, _TOLERANCE_SHORT, _TOLERANCE_KIN = 10, 16, 30
_SURE_MARGIN = 4
_LANGUAGES = """
af ar az be bg bn bs ca cs cy da de el en es et eu fa fi fr ga gl gu he hi hr hu hy id is it ja ka kk km kn ko ky lb lo
lt lv mk ml mn mr ms mt my ne nl no pa pl ps pt ro ru si sk sl sq sr sv sw ta te th tl tr uk ur uz vi zh
"""
# Languages so near to each other that a declaration settles it.
_KIN = (
    frozenset(("da", "no")),
    frozenset(("id", "ms")),
    frozenset(("bs", "hr", "sr")),
    frozenset(("cs", "sk")),
    frozenset(("es", "gl")),
    frozenset(("gl", "pt")),
    frozenset(("es", "ca")),
    frozenset(("af", "nl")),
    frozenset(("de", "lb")),
    frozenset(("bg", "mk")),
    frozenset(("hi", "mr", "ne")),
)
# Language, letters that it alone writes with, and the share of all letters that must be exceeded.
_SCRIPTS = (
    ("ja", re.compile("[\u3041-\u309f]"), 0.02),
    ("ko", re.compile("[\uac00-\ud7a3]"), 0.3),
    ("th", re.compile("[\u0e01-\u0e2e]"), 0.3),
    ("el", re.compile("[\u0391-\u03c9]"), 0.5),
)
_OTHER_CODES = {
    "nb": "no",
    "nn": "no",
    "iw": "he",
    "in": "id",
    "fil": "tl",
    "cn": "zh",
    "jp": "ja",
    "gr": "el",
    "cz": "cs",
}
_CODE = re.compile(r"\s*([a-z]{2,3})(?![a-z])", re.IGNORECASE)


@cache
def _identifier() -> LanguageIdentifier:
    """Takes half a second and some 100 MB to load: once in a process."""
    found = LanguageIdentifier.from_model_file(MODEL_FILE)
    found.set_languages(_LANGUAGES.split())
    return found


def language(page: Page) -> str:
    """Two letters; "" if it cannot be determined."""
    declared = _declared(page)
    sample = _sample(page)
    letters = sum(map(str.isalpha, sample))
    if not letters:
        return declared
    if of_script := _by_script(sample, letters):
        return of_script
    ranked = _identifier().rank(sample)
    best, likelihood = ranked[0]
    surely = likelihood - ranked[1][1]
    if declared:
        of_declared = next((value for code, value in ranked if code == declared), None)
        if of_declared is None:
            return str(best) if letters >= _SOME_LETTERS else declared
        return declared if likelihood - of_declared <= _tolerance(best, declared, letters) else str(best)
    return str(best) if surely >= _SURE_MARGIN and (letters >= _FEW_LETTERS or not sample.isascii()) else ""


def _by_script(sample: str, letters: int) -> str:
    """The language whose script no other has: a page in kanji with some hiragana is Japanese, not Chinese."""
    for code, script, share in _SCRIPTS:
        if len(script.findall(sample)) > share * letters:
            return code
    return ""


def _tolerance(best: str, declared: str, letters: int) -> float:
    if any(best in kin and declared in kin for kin in _KIN):
        return _TOLERANCE_KIN
    if letters < _FEW_LETTERS:
        return 2 * _TOLERANCE_SHORT
    return _TOLERANCE_SHORT if letters < _SOME_LETTERS else _TOLERANCE


def _declared(page: Page) -> str:
    root = page.tree.root
    attributes = root.attributes if root is not None else {}
    for given in (
        attributes.get("lang"),
        attributes.get("xml:lang"),
        page.capture.header("content-language"),
        page.metas.get("content-language"),
        page.metas.get("og:locale"),
    ):
        if given and (match := _CODE.match(given)):
            code = match[1].lower()
            code = _OTHER_CODES.get(code, code)
            if code in _known():
                return code
    return ""


@cache
def _known() -> frozenset[str]:
    return frozenset(_LANGUAGES.split())


def _sample(page: Page) -> str:
    """Passages of prose from the start, the middle and the end; of pages with little text, all there is."""
    prose = [line for line in page.lines if len(line) >= _PROSE_CHARS]
    if len(prose) > _PASSAGES:
        prose = [prose[0], prose[len(prose) // 2], prose[-1]]
    elif sum(map(len, prose)) < 2 * _PROSE_CHARS:
        title = page.tree.css_first("title")
        said = (title.text(strip=True) if title else "", page.metas.get("description", ""))
        return _cut(" ".join((*said, page.text[:MAX_SAMPLE_BYTES])), MAX_SAMPLE_BYTES)
    return " ".join(_cut(line, MAX_SAMPLE_BYTES // len(prose)) for line in prose)


def _cut(text: str, length: int) -> str:
    """At most so many bytes of UTF-8."""
    return text[:length].encode("utf-8", "ignore")[:length].decode("utf-8", "ignore")
