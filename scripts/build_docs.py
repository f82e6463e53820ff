"""Renders the docs that the service serves at /docs: Markdown pages to HTML, and copies of their images.

The files go to src/siteglass/web/static/docs/, which is not in git. scripts/build_hook.py renders them when the package
is built or installed from a checkout, and `make setup` when a page has changed.

A link between rendered pages becomes a path of the service. A link to a file that only the repository has, such as a
decision, becomes plain text. `{files}` in a page stands for the path of stylesheets and images, `{header}` for the
header of all pages; the service fills them in.
"""

from __future__ import annotations

import html
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "src" / "siteglass" / "web" / "static" / "docs"
# Pages for contributors are left out: people who have no repository cannot use them.
SOURCES = {
    "README.md": "readme",
    "clients/python/README.md": "python-client",
    "docs/README.md": "index",
    "docs/deprecation.md": "deprecation",
    "docs/performance.md": "performance",
    "docs/privacy.md": "privacy",
    "docs/proof.md": "proof",
    "docs/threat-model.md": "threat-model",
}
SECTIONS = ("guides", "errors", "reference", "runbooks")
CONTRIBUTORS = "For contributors"

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
    <link rel="stylesheet" href="{{files}}/tokens.css">
    <link rel="stylesheet" href="{{files}}/frame.css">
    <link rel="stylesheet" href="{{files}}/site.css">
  </head>
  <body>
    <a class="skip" href="#page-content">Skip to the content</a>
    {{header}}
    <div class="page">
{contents}      <main id="page-content">
{body}      </main>
    </div>
  </body>
</html>
"""


@dataclass(slots=True)
class _Page:
    """A page while it is rendered."""

    source: Path
    addresses: dict[Path, str]
    anchors: list[str] = field(default_factory=list)
    headings: list[tuple[str, str, str]] = field(default_factory=list)
    """Tag, anchor and text."""
    images: list[Path] = field(default_factory=list)


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


def _resolve(page: _Page, target: str) -> str | None:
    """The path of the service that a link leads to; None if only the repository has it."""
    if target.startswith("#") or "://" in target:
        return target
    file, _, fragment = target.partition("#")
    name = page.addresses.get(Path(os.path.normpath(page.source.parent / file)))
    if name is None:
        return None
    return ("/docs" if name == "index" else f"/docs/{name}") + (f"#{fragment}" if fragment else "")


def _rewrite_inline(page: _Page, tokens: list[Token]) -> list[Token]:
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


def _raw(content: str) -> Token:
    return Token("html_block", "", 0, content=content)


def _rewrite(page: _Page, tokens: list[Token]) -> list[Token]:
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
            token.children = _rewrite_inline(page, token.children or [])
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


def _contents(page: _Page) -> str:
    """The table of contents: headings of the second and third level."""
    entries = [
        f'          <li class="{tag}"><a href="#{anchor}">{html.escape(text)}</a></li>\n'
        for tag, anchor, text in page.headings
        if tag in ("h2", "h3")
    ]
    if len(entries) < 2:
        return ""
    return (
        '      <nav class="contents" aria-label="On this page">\n        <p>On this page</p>\n'
        f"        <ul>\n{''.join(entries)}        </ul>\n      </nav>\n"
    )


def render(source: Path, text: str, addresses: dict[Path, str]) -> tuple[str, list[Path]]:
    """A page as HTML, and the images that it shows."""
    if "{files}" in text or "{header}" in text:
        raise ValueError(f"{source}: {{files}} and {{header}} are filled in by the service; write them differently")
    markdown = MarkdownIt("commonmark").enable("table")
    page = _Page(source, addresses)
    tokens = _rewrite(page, markdown.parse(text))
    body = markdown.renderer.render(tokens, markdown.options, {})
    body = body.replace("<pre>", '<pre tabindex="0">').replace("<img ", '<img loading="lazy" ')
    title = html.escape(page.headings[0][2])
    rendered = _TEMPLATE.format(source=source.relative_to(ROOT), title=title, contents=_contents(page), body=body)
    return rendered, page.images


def build() -> dict[str, bytes]:
    """Every file by its path inside the folder."""
    addresses = served_pages()
    files: dict[str, bytes] = {}
    for source, name in addresses.items():
        rendered, images = render(source, source.read_text("utf-8"), addresses)
        files[f"{name}.html"] = rendered.encode()
        files.update((f"images/{image.name}", image.read_bytes()) for image in images)
    return files


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
