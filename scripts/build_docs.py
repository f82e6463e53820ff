"""Renders the docs that the service serves at /docs: Markdown pages to HTML, with copies of their images and Markdown,
the list for language models (llms.txt) and the index of the search.

The files go to src/siteglass/web/static/docs/, which is not in git. scripts/build_hook.py renders them when the package
is built or installed from a checkout, and `make setup` when a page has changed.

A link between rendered pages becomes a path of the service. A link to a file that only the repository has, such as a
decision, becomes plain text. `{files}` in a page stands for the path of stylesheets and images, `{header}` for the
header of all pages; the service fills them in.
"""

from __future__ import annotations

import html
import itertools
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

import docs_search
from docs_order import CONTRIBUTORS, ROOT, Entry, order, words_of_links

FOLDER = ROOT / "src" / "siteglass" / "web" / "static" / "docs"
# Pages for contributors are left out: people who have no repository cannot use them.
SOURCES = {
    "README.md": "readme",
    "clients/python/README.md": "python-client",
    "clients/typescript/README.md": "typescript-client",
    "docs/README.md": "index",
    "docs/deprecation.md": "deprecation",
    "docs/errors.md": "errors",
    "docs/performance.md": "performance",
    "docs/privacy.md": "privacy",
    "docs/proof.md": "proof",
    "docs/threat-model.md": "threat-model",
}
SECTIONS = ("guides", "reference", "runbooks")
# Pages of sections that are looked for by name: the search lists each section as it lists a page.
_LOOKED_UP = re.compile(r"errors|runbooks/.*")
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^)\s]+)\)")

_TEMPLATE = """\
<!doctype html>
<!-- Rendered from {source} by scripts/build_docs.py. Do not edit it here. -->
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>{title} · Siteglass</title>
    <link rel="icon" type="image/svg+xml" href="{{files}}/icon.svg">
    <link rel="alternate" type="text/markdown" href="{markdown}">
    <link rel="stylesheet" href="{{files}}/tokens.css">
    <link rel="stylesheet" href="{{files}}/frame.css">
    <link rel="stylesheet" href="{{files}}/site.css">
    <link rel="stylesheet" href="{{files}}/docs.css">
  </head>
  <body>
    <a class="skip" href="#page-content">Skip to the content</a>
    {{header}}
    <div class="page docs">
      <aside class="side">
        <div class="find" role="search" hidden>
          <label for="find">Search the docs</label>
          <input id="find" type="search" autocomplete="off" spellcheck="false" aria-controls="found">
          <p class="hint" id="found-count" role="status"></p>
          <ol id="found"></ol>
        </div>
        <details class="menu">
          <summary>All pages</summary>
          <nav aria-label="Docs">
{menu}          </nav>
        </details>
      </aside>
      <script src="{{files}}/docs.js"></script>
      <main id="page-content">
{body}{turn}      </main>
    </div>
  </body>
</html>
"""


@dataclass(slots=True)
class Page:
    """A page: what was read from its Markdown."""

    source: Path
    addresses: dict[Path, str]
    anchors: list[str] = field(default_factory=list)
    headings: list[tuple[str, str, str]] = field(default_factory=list)
    """Tag, anchor and text."""
    images: list[Path] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=dict)
    """Everything that it says, without marks, by the anchor of the heading of the first or second level above it."""
    summary: str = ""
    """The first paragraph."""
    body: str = ""
    markdown: str = ""

    def add_text(self, text: str) -> None:
        section = next((anchor for tag, anchor, _ in reversed(self.headings) if tag in ("h1", "h2")), "")
        self.texts.setdefault(section, []).append(text)

    @property
    def title(self) -> str:
        return self.headings[0][2]

    @property
    def path(self) -> str:
        return _path(self.addresses[self.source])


def served_pages() -> dict[Path, str]:
    """Every rendered page by its Markdown file, with its path inside the folder."""
    pages = {ROOT / source: name for source, name in SOURCES.items()}
    for section in SECTIONS:
        for path in sorted((ROOT / "docs" / section).glob("*.md")):
            pages[path] = section if path.stem == "README" else f"{section}/{path.stem}"
    return pages


def anchor(text: str, earlier: list[str]) -> str:
    """The anchor of a heading, as code forges make it, so that links work in both places."""
    plain = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
    return f"{plain}-{earlier.count(plain)}" if plain in earlier else plain


def _resolve(page: Page, target: str) -> str | None:
    """The path of the service that a link leads to; None if only the repository has it."""
    if target.startswith("#") or "://" in target:
        return target
    file, _, fragment = target.partition("#")
    name = page.addresses.get(Path(os.path.normpath(page.source.parent / file)))
    if name is None:
        return None
    return _path(name) + (f"#{fragment}" if fragment else "")


def _path(name: str) -> str:
    return "/docs" if name == "index" else f"/docs/{name}"


def _copy_path(path: str) -> str:
    """Where the Markdown of a page is."""
    return f"{path}/index.md" if path == "/docs" else f"{path}.md"


def _rewrite_inline(page: Page, tokens: list[Token]) -> list[Token]:
    kept: list[Token] = []
    without_target = False
    for token in tokens:
        if token.type == "link_open":
            address = _resolve(page, str(token.attrs["href"]))
            without_target = address is None
            if address is not None:
                token.attrs["href"] = address
        elif token.type == "image":
            image = Path(os.path.normpath(page.source.parent / str(token.attrs["src"])))
            page.images.append(image)
            token.attrs["src"] = f"{{files}}/{image.name}"
        elif token.type == "html_inline":
            raise ValueError(f"{page.source}: write Markdown, not HTML: {token.content}")
        if not (without_target and token.type in ("link_open", "link_close")):
            kept.append(token)
    return kept


def _plain(token: Token) -> str:
    return "".join(
        " " if child.type == "softbreak" else child.content for child in token.children or [] if child.type != "image"
    )


def _raw(content: str) -> Token:
    return Token("html_block", "", 0, content=content)


def _rewrite(page: Page, tokens: list[Token]) -> list[Token]:
    """The tokens with anchors, resolved links and tables that scroll; comments are left out."""
    kept: list[Token] = []
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and following is not None:
            text = "".join(child.content for child in following.children or [])
            if text == CONTRIBUTORS:
                break
            token.attrs["id"] = anchor(text, page.anchors)
            page.anchors.append(str(token.attrs["id"]))
            page.headings.append((token.tag, page.anchors[-1], text))
        elif token.type == "inline":
            page.add_text(_plain(token))
            if kept[-1].type == "paragraph_open" and not page.summary:
                page.summary = _plain(token)
            token.children = _rewrite_inline(page, token.children or [])
            if kept[-1].type == "heading_open" and kept[-1].tag != "h1":
                link = f'<a class="anchor" href="#{page.anchors[-1]}">'
                token.children = [_raw(link), *token.children, _raw("</a>")]
        elif token.type == "fence":
            page.add_text(token.content)
        elif token.type == "html_block":
            if not re.fullmatch(r"(<!--.*?-->\s*)+", token.content, re.DOTALL):
                raise ValueError(f"{page.source}: write Markdown, not HTML: {token.content}")
            continue
        elif token.type in ("th_open", "td_open") and (alignment := token.attrs.pop("style", None)):
            # The service's policy forbids inline styles.
            token.attrs["class"] = str(alignment).removeprefix("text-align:")
        elif token.type == "table_open":
            kept.append(_raw('<div class="scroll" tabindex="0" role="group" aria-label="Table">\n'))
        kept.append(token)
        if token.type == "table_close":
            kept.append(_raw("</div>\n"))
    return kept


def read(source: Path, text: str, addresses: dict[Path, str]) -> Page:
    """A page and its Markdown as callers get it."""
    if "{files}" in text or "{header}" in text:
        raise ValueError(f"{source}: {{files}} and {{header}} are filled in by the service; write them differently")
    markdown = MarkdownIt("commonmark").enable("table")
    page = Page(source, addresses)
    tokens = markdown.parse(text)
    page.markdown = _copy(page, text, tokens)
    body = markdown.renderer.render(_rewrite(page, tokens), markdown.options, {})
    page.body = body.replace("<pre>", '<pre tabindex="0">').replace("<img ", '<img loading="lazy" ')
    return page


def _copy(page: Page, text: str, tokens: list[Token]) -> str:
    """The Markdown without comments and the part for contributors; links lead to other such copies."""
    lines = text.splitlines(keepends=True)
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and following is not None and following.content == CONTRIBUTORS:
            del lines[(token.map or [0])[0] :]
        elif token.type == "html_block":
            start, end = token.map or (0, 0)
            lines[start:end] = [""] * (end - start)

    def link(match: re.Match[str]) -> str:
        if match["image"]:
            return f"![{match['text']}]({{files}}/{Path(match['target']).name})"
        address = _resolve(page, match["target"])
        if address is None or not address.startswith("/docs"):
            return match["text"] if address is None else match[0]
        path, mark, fragment = address.partition("#")
        return f"[{match['text']}]({_copy_path(path)}{mark}{fragment})"

    return _LINK.sub(link, "".join(lines))


def _menu(page: Page, entries: list[Entry], pages: dict[Path, Page]) -> str:
    """The links to all pages; those of a family only on its own pages."""
    here = next(entry for entry in entries if entry.source == page.source)
    lines: list[str] = []
    for group, listed in itertools.groupby(entries, lambda entry: entry.group):
        shown = [entry for entry in listed if entry.parent in (None, here.source, here.parent)]
        lines.append(f"            <p>{html.escape(group)}</p>\n            <ul>\n")
        lines += [_menu_line(pages[entry.source], page, nested=entry.parent is not None) for entry in shown]
        lines.append("            </ul>\n")
    return "".join(lines)


def _menu_line(target: Page, page: Page, *, nested: bool) -> str:
    mark, contents = (' aria-current="page"', _contents(page)) if target is page else ("", "")
    kind = ' class="nested"' if nested else ""
    link = f'<a href="{target.path}"{mark}>{html.escape(target.title)}</a>'
    return f"              <li{kind}>{link}{contents}</li>\n"


def _contents(page: Page) -> str:
    """The table of contents: headings of the second and third level."""
    entries = [
        f'<li class="{tag}"><a href="#{anchor}">{html.escape(text)}</a></li>\n'
        for tag, anchor, text in page.headings
        if tag in ("h2", "h3")
    ]
    if len(entries) < 2:
        return ""
    return f'\n<nav class="contents" aria-label="On this page">\n<ul>\n{"".join(entries)}</ul>\n</nav>'


def _turn(page: Page, order: list[Page]) -> str:
    """The links to the pages before and after, and to the Markdown."""
    place = order.index(page)
    links = [f'<a href="{_copy_path(page.path)}">This page as Markdown</a>']
    if place > 0:
        before = order[place - 1]
        links.insert(0, f'<a rel="prev" href="{before.path}">Previous: {html.escape(before.title)}</a>')
    if place + 1 < len(order):
        after = order[place + 1]
        links.append(f'<a rel="next" href="{after.path}">Next: {html.escape(after.title)}</a>')
    return f'<nav class="turn" aria-label="Pages before and after">{"".join(links)}</nav>\n'


def _llms(entries: list[Entry], pages: dict[Path, Page]) -> str:
    """The list of all pages for language models (llmstxt.org)."""
    home = pages[ROOT / "README.md"]
    lines = ["# Siteglass\n", f"\n> {home.summary}\n"]
    for group, listed in itertools.groupby(entries, lambda entry: entry.group):
        lines.append(f"\n## {group}\n\n")
        for entry in listed:
            page = pages[entry.source]
            lines.append(f"- [{page.title}]({_copy_path(page.path)}): {page.summary}\n")
    return "".join(lines)


def build() -> dict[str, bytes]:
    """Every file by its path inside the folder."""
    addresses = served_pages()
    texts = {source: source.read_text("utf-8") for source in addresses}
    pages = {source: read(source, text, addresses) for source, text in texts.items()}
    entries = order(texts)
    ordered = [pages[entry.source] for entry in entries]
    files: dict[str, bytes] = {}
    for page in ordered:
        name = addresses[page.source]
        rendered = _TEMPLATE.format(
            source=page.source.relative_to(ROOT),
            title=html.escape(page.title),
            markdown=_copy_path(page.path),
            menu=_menu(page, entries, pages),
            body=page.body,
            turn=_turn(page, ordered),
        )
        files |= {f"{name}.html": rendered.encode(), f"{name}.md": page.markdown.encode()}
        files.update((f"images/{image.name}", image.read_bytes()) for image in page.images)
    files["llms.txt"] = _llms(entries, pages).encode()
    files["search.json"] = json.dumps(search_index(entries, pages), ensure_ascii=False, separators=(",", ":")).encode()
    return files


def search_index(entries: list[Entry], pages: dict[Path, Page]) -> dict[str, Any]:
    """What `docs.js` searches."""
    texts: list[docs_search.Text] = []
    for entry in entries:
        page = pages[entry.source]
        if _LOOKED_UP.fullmatch(page.addresses[page.source]):
            texts += _sections(page, entry)
            continue
        headings = [(anchor, text) for tag, anchor, text in page.headings if tag != "h1"]
        body = " ".join(itertools.chain(*page.texts.values()))
        texts.append(docs_search.Text(page.path, page.title, entry.tasks, headings, body))
    return docs_search.index(texts)


def _sections(page: Page, entry: Entry) -> Iterator[docs_search.Text]:
    """The beginning of a page and each of its sections; lists that lead to a section say what it is looked for by."""
    lists = [(source, source.read_text("utf-8")) for source in (page.source, entry.parent) if source]
    for tag, anchor, text in page.headings:
        body = " ".join(page.texts[anchor])
        if tag == "h1":
            yield docs_search.Text(page.path, text, entry.tasks, [], body)
        elif tag == "h2":
            tasks = " ".join(words_of_links(found, source, page.source, anchor) for source, found in lists)
            yield docs_search.Text(f"{page.path}#{anchor}", text, tasks, [], body)


def write() -> list[str]:
    """Make the folder contain exactly what is rendered; returns the names of the files that changed."""
    files = build()
    there = {str(path.relative_to(FOLDER)): path.read_bytes() for path in FOLDER.rglob("*") if path.is_file()}
    changed = sorted(name for name in there.keys() | files.keys() if there.get(name) != files.get(name))
    for name in changed:
        path = FOLDER / name
        if name in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files[name])
        else:
            path.unlink()
    return changed


if __name__ == "__main__":
    print(f"served docs: {len(write())} files changed")
