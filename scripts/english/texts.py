"""The texts that people read, cut out of docs, templates and code, each with its file, line and area."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePosixPath

# Stands for code, a value or a link target inside a text, so that it counts as one word and matches no rule.
CODE = "⟨code⟩"

# The area of a file's prose, by the first pattern that fits its path; `*` matches slashes, too.
MARKDOWN_AREAS = (
    ("README.md", "readme"),
    ("docs/guides/*", "guides"),
    ("docs/errors.md", "error pages"),
    ("docs/reference/*", "reference"),
    ("CHANGELOG.md", "changelog"),
    ("THIRD_PARTY.md", None),
    ("tests/*", None),
    ("testing/*", None),
    ("bench/*", None),
    ("*.md", "docs"),
)
# Strings of the code that are shown to somebody.
STRING_AREAS = (
    ("*/dashboard/*", "ui"),
    ("*/privacy/*", "ui"),
    ("*/people/*", "ui"),
    ("*/openapi/*", "api descriptions"),
    ("*/cli/*", "help"),
    ("demo/src/siteglass_demo/commands.py", "help"),
    ("*/mcp/*", "help"),
    ("*/settings.py", "help"),
    ("*/migrations/*", None),
    ("demo/src/siteglass_demo/leads/*", None),
    ("demo/src/siteglass_demo/sites/*", None),
    ("src/*", "errors"),
    ("clients/*", "errors"),
)
_COMMANDS = ("*/cli/*", "*/mcp/*")

# A string is prose if one of these words is in it, and it is not SQL, Lua, a pattern or a table of words.
_FUNCTION_WORD = re.compile(r"\b(?:the|an?|is|are|was|of|to|in|and|or|not|no|for|with|by|on|this|that|you|it)\b")
_NO_PROSE = re.compile(
    r"\b(?:SELECT|INSERT|UPDATE|DELETE|FROM|JOIN|WHERE|SET|VALUES|RETURNING|CREATE)\b|redis\.call|\(\?|\\[wsb]"
)
_SENTENCE_MARK = re.compile(r"[.?!:;](?:\s|$)")
_MIN_WORDS = 3


@dataclass(frozen=True)
class Text:
    """A paragraph, list item, table cell, message, docstring or comment."""

    path: str
    line: int
    area: str
    text: str


def _area(path: str, areas: tuple[tuple[str, str | None], ...]) -> str | None:
    return next((area for pattern, area in areas if fnmatchcase(path, pattern)), None)


# --- Markdown -----------------------------------------------------------------------------------

_FENCED = re.compile(r"^ *(```).*?^ *```$", re.DOTALL | re.MULTILINE)
_HTML_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_INLINE_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.)\s+|^#+\s+|^>\s*")


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def _code(match: re.Match[str]) -> str:
    return CODE + "\n" * match[0].count("\n")


def markdown(source: str) -> Iterator[tuple[int, str]]:
    """Paragraphs, headings, list items and table cells with their line, without code."""
    plain = _HTML_COMMENT.sub(_blank, _FENCED.sub(_blank, source))
    plain = _LINK.sub(r"\1", _INLINE_CODE.sub(_code, plain))
    started, lines = 1, list[str]()
    for number, line in enumerate([*plain.split("\n"), ""], 1):
        starts_new = not line.strip() or _ITEM.match(line) or line.startswith("|")
        if starts_new and lines:
            yield started, " ".join(lines)
            lines = []
        if line.startswith("|"):
            yield from ((number, cell) for cell in line.strip("|").split("|") if not re.fullmatch(r"[-: ]*", cell))
        elif line.strip():
            if not lines:
                started = number
            lines.append(_ITEM.sub("", line))
            if line.startswith("#"):
                yield number, lines.pop()


# --- promises -----------------------------------------------------------------------------------

_PROMISES = "scripts/reference/promises.toml"
_PROMISE = re.compile(r'^[^#=\n]+ = "(?P<text>.*)"$', re.MULTILINE)


def promises(source: str) -> Iterator[tuple[int, str]]:
    """The texts of promises, each on one line."""
    for match in _PROMISE.finditer(source):
        yield source.count("\n", 0, match.start()) + 1, _INLINE_CODE.sub(_code, match["text"])


# --- templates ----------------------------------------------------------------------------------

_UNSEEN = re.compile(r"<(script|style)\b.*?</\1>|\{#.*?#\}|\{%.*?%\}|<!--.*?-->|<!doctype[^>]*>", re.DOTALL | re.I)
_SPOKEN_STRING = re.compile(r'"([^"{}<>]*? [^"{}<>]*? [^"{}<>]*)"')
_EXPRESSION = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_SPOKEN_ATTRIBUTE = re.compile(r'\b(?:title|alt|placeholder|aria-label|content)="([^"]* [^"]*)"')
_INLINE_TAG = re.compile(r"</?(?:a|b|strong|em|i|span|small|time|kbd|abbr)\b[^>]*>", re.DOTALL)
_CODE_TAG = re.compile(r"<(code|pre)\b.*?</\1>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>", re.DOTALL)
_BREAK = "\x00"


def template(source: str) -> Iterator[tuple[int, str]]:
    """What a page shows: text between tags, attributes that are read aloud, and sentences given to macros."""

    def line_of(position: int) -> int:
        return source.count("\n", 0, position) + 1

    for block in (*_EXPRESSION.finditer(source), *re.finditer(r"\{%.*?%\}", source, re.DOTALL)):
        for spoken in _SPOKEN_STRING.finditer(block[0]):
            yield line_of(block.start() + spoken.start()), spoken[1]
    plain = _UNSEEN.sub(lambda match: "\n" * match[0].count("\n"), source)
    plain = _EXPRESSION.sub(_code, plain)
    for spoken in _SPOKEN_ATTRIBUTE.finditer(plain):
        yield plain.count("\n", 0, spoken.start()) + 1, spoken[1]
    plain = _INLINE_TAG.sub(_blank, _CODE_TAG.sub(_code, plain))
    plain = _TAG.sub(lambda match: _BREAK + "\n" * match[0].count("\n"), plain)
    line = 1
    for part in plain.split(_BREAK):
        if part.strip(f" \n{CODE}"):
            yield line + len(part[: len(part) - len(part.lstrip())].split("\n")) - 1, part
        line += part.count("\n")


# --- code ---------------------------------------------------------------------------------------


def docstrings(nodes: Iterable[ast.AST]) -> Iterator[ast.Constant]:
    """Strings that are statements: docstrings of modules, classes, functions and attributes."""
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value


def _without_code(text: str) -> str:
    return _INLINE_CODE.sub(_code, text)


def _paragraphs(line: int, text: str) -> Iterator[tuple[int, str]]:
    """A docstring's paragraphs and list items; drawings and examples, which are indented or drawn, are left out."""
    drawn = re.sub(r"^ *[│├└|].*$|^ {4,}\S.*$|^.*  +\S.*$", "", text, flags=re.MULTILINE)
    yield from ((line + number - 1, paragraph) for number, paragraph in markdown(_dedented(drawn)))


def _dedented(text: str) -> str:
    first, _, rest = text.partition("\n")
    return first + "\n" + "\n".join(line.strip() for line in rest.split("\n")) if rest else first


def _string(node: ast.expr) -> str | None:
    """A string, or an f-string with CODE in place of each value."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(CODE if isinstance(part, ast.FormattedValue) else _string(part) or "" for part in node.values)
    return None


def _is_prose(text: str) -> bool:
    is_long_enough = len(text.split()) >= _MIN_WORDS
    return bool(is_long_enough and _FUNCTION_WORD.search(text) and not _NO_PROSE.search(text) and not _is_table(text))


def _is_table(text: str) -> bool:
    """Whether it lists words or phrases for the code: several lines without a value, a capital or a sentence mark."""
    in_lines = "\n" in text.strip() and CODE not in text
    return in_lines and text == text.lower() and not _SENTENCE_MARK.search(text)


def strings(nodes: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    """Strings that read like prose, docstrings aside."""
    seen = {id(one) for one in docstrings(nodes)}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            seen.update(id(part) for part in ast.walk(node) if part is not node)
        if not isinstance(node, ast.expr) or id(node) in seen:
            continue
        text = _string(node)
        if text and _is_prose(text):
            yield from ((node.lineno, part) for _, part in markdown(text))


def comments(source: str) -> Iterator[tuple[int, str]]:
    """Comments; those on separate, consecutive lines are joined. Comments for tools are left out."""
    started, last, lines = 0, -1, list[str]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        text = token.string.lstrip("#!: ").removesuffix("-").strip("- ")
        alone = token.line.lstrip().startswith("#")
        if not text or re.match(r"(noqa|type: ignore|pragma)\b", text):
            continue
        if lines and not (alone and token.start[0] == last + 1):
            yield started, _without_code(" ".join(lines))
            lines = []
        if not lines:
            started = token.start[0]
        lines.append(text)
        last = token.start[0] if alone else -1
    if lines:
        yield started, _without_code(" ".join(lines))


def sql_comments(source: str) -> Iterator[tuple[int, str]]:
    """The comments of an SQL file, one for each run of lines."""
    for run in re.finditer(r"(?:^ *--.*\n?)+", source, re.MULTILINE):
        text = re.sub(r"^ *-- ?", "", run[0], flags=re.MULTILINE)
        yield source.count("\n", 0, run.start()) + 1, _without_code(text)


def python(path: str, source: str) -> Iterator[Text]:
    """Docstrings, comments and prose of a module."""
    is_product = path.startswith(("src/", "clients/"))
    nodes = list(ast.walk(ast.parse(source)))
    commands = _command_docstrings(nodes) if is_product and any(fnmatchcase(path, each) for each in _COMMANDS) else ()
    for constant in docstrings(nodes):
        area = "help" if constant in commands else "docstrings" if is_product else "tests"
        for line, text in _paragraphs(constant.lineno, str(constant.value)):
            yield Text(path, line, area, text)
    for line, text in comments(source):
        yield Text(path, line, "comments" if is_product else "tests", text)
    area_of_strings = _area(path, STRING_AREAS) if is_product else None
    if area_of_strings:
        yield from (Text(path, line, area_of_strings, text) for line, text in strings(nodes))


def _command_docstrings(nodes: Iterable[ast.AST]) -> list[ast.expr]:
    """Docstrings of decorated functions, which `--help` or an agent shows."""
    return [
        node.body[0].value
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.decorator_list
        and isinstance(node.body[0], ast.Expr)
    ]


# --- files --------------------------------------------------------------------------------------


def texts_of(path: str, read: Callable[[], str]) -> Iterator[Text]:
    """All texts of one file, which is only read if people read it."""
    for text in _texts_of(path, read):
        if squeezed := " ".join(text.text.split()):
            yield replace(text, text=squeezed)


def _texts_of(path: str, read: Callable[[], str]) -> Iterator[Text]:
    suffix = PurePosixPath(path).suffix
    if suffix == ".py":
        yield from python(path, read())
    elif suffix == ".md" and (area := _area(path, MARKDOWN_AREAS)):
        yield from (Text(path, line, area, text) for line, text in markdown(read()))
    elif suffix == ".html" and path.startswith("src/") and "/vendor/" not in path:
        yield from (Text(path, line, "ui", text) for line, text in template(read()))
    elif path == _PROMISES:
        yield from (Text(path, line, "conformance", text) for line, text in promises(read()))
    elif suffix == ".sql" and path.startswith("src/"):
        yield from (Text(path, line, "comments", text) for line, text in sql_comments(read()))


def all_texts(root: Path) -> list[Text]:
    """The texts of every file in Git, and of those that are not ignored and could be added."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    paths = [name for name in sorted(listed.split("\0")) if name and (root / name).is_file()]
    return [text for path in paths for text in texts_of(path, partial((root / path).read_text, "utf-8"))]
