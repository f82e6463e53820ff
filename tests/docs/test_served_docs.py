"""How Markdown becomes the pages that the service serves."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import build_docs
import docs_order
from tests.docs.blocks import ROOT

ADDRESSES = {ROOT / "docs/guides/a.md": "guides/a", ROOT / "docs/README.md": "index", ROOT / "README.md": "readme"}


def _body(text: str) -> str:
    page = build_docs.read(ROOT / "docs/guides/a.md", f"# A\n\n{text}\n", ADDRESSES)
    return page.body.partition("</h1>\n")[2].strip()


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("[x](a.md)", '<p><a href="/docs/guides/a">x</a></p>'),
        ("[x](a.md#one-two)", '<p><a href="/docs/guides/a#one-two">x</a></p>'),
        ("[x](../README.md)", '<p><a href="/docs">x</a></p>'),
        ("[x](../../README.md#try-it)", '<p><a href="/docs/readme#try-it">x</a></p>'),
        ("[x](#one)", '<p><a href="#one">x</a></p>'),
        ("[the `x`](../decisions/0001.md) [y](a.md)", '<p>the <code>x</code> <a href="/docs/guides/a">y</a></p>'),
        (
            "<!-- not run: why -->\n```sh\na < b\n```",
            '<pre tabindex="0"><code class="language-sh">a &lt; b\n</code></pre>',
        ),
        (
            "![alt](../images/dashboard/keys.png)",
            '<p><img loading="lazy" src="{files}/keys.png" alt="alt" /></p>',
        ),
        (
            "| a | b |\n| --- | ---: |\n| 1 | `x\\|y` |",
            '<div class="scroll" tabindex="0" role="group" aria-label="Table">\n<table>\n<thead>\n<tr>\n<th>a</th>\n'
            '<th class="right">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n'
            '<td class="right"><code>x|y</code></td>\n</tr>\n</tbody>\n</table>\n</div>',
        ),
        (
            "## One `two`, three\n### One two three",
            '<h2 id="one-two-three"><a class="anchor" href="#one-two-three">One <code>two</code>, three</a></h2>\n'
            '<h3 id="one-two-three-1"><a class="anchor" href="#one-two-three-1">One two three</a></h3>',
        ),
    ],
)
def test_what_markdown_becomes(text: str, rendered: str) -> None:
    assert _body(text) == rendered


@pytest.mark.parametrize("text", ["<b>bold</b>", "<div>\nx\n</div>", "the path {files}/x"])
def test_what_a_page_may_not_contain(text: str) -> None:
    with pytest.raises(ValueError, match=r"docs/guides/a\.md: "):
        _body(text)


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        ("[x](a.md#one) [y](../README.md)", "[x](/docs/guides/a.md#one) [y](/docs/index.md)"),
        ("[the\n`x`](../decisions/0001.md)", "the\n`x`"),
        ("[x](https://example.com/a.md) [y](#one)", "[x](https://example.com/a.md) [y](#one)"),
        ("![alt](../images/dashboard/keys.png)", "![alt]({files}/keys.png)"),
        ("<!-- not run: why -->\n```sh\na <!-- b -->\n```", "```sh\na <!-- b -->\n```"),
        ("one\n\n## For contributors\n\ntwo", "one"),
    ],
)
def test_what_the_markdown_of_a_page_becomes(text: str, copied: str) -> None:
    page = build_docs.read(ROOT / "docs/guides/a.md", f"# A\n\n{text}\n", ADDRESSES)
    assert page.markdown.removeprefix("# A\n\n").strip() == copied


def test_the_list_has_every_page_and_puts_families_together() -> None:
    texts = {source: source.read_text("utf-8") for source in build_docs.served_pages()}
    names = [str(entry.source.relative_to(ROOT)) for entry in docs_order.order(texts)]
    assert sorted(names) == sorted(str(source.relative_to(ROOT)) for source in texts)
    assert names[:2] == ["docs/README.md", "README.md"]
    reference = [place for place, name in enumerate(names) if name.startswith("docs/reference/")]
    assert reference == list(range(reference[0], reference[0] + len(reference)))
    assert names[reference[0]] == "docs/reference/README.md"
    new = ROOT / "docs/guides/new.md"
    with pytest.raises(ValueError, match=r"docs/README\.md lists no docs/guides/new\.md"):
        docs_order.order({**texts, new: "# New"})


def test_every_page_for_users_is_served() -> None:
    served = set(build_docs.served_pages())
    for_contributors = {"architecture.md", "conformance.md", "decisions"}
    pages = {
        path
        for path in (ROOT / "docs").rglob("*.md")
        if path.relative_to(ROOT / "docs").parts[0] not in for_contributors
    }
    assert pages | {ROOT / "README.md", *(ROOT / "clients").glob("*/README.md")} == served


def test_the_search_finds_sections_that_are_looked_up_by_name() -> None:
    found = json.loads(build_docs.build()["search.json"])["pages"]
    assert ["/docs/errors#not_found", "NOT_FOUND", []] in found
    assert ["/docs/errors", "Errors", []] in found


def test_rendering_replaces_what_changed_and_removes_what_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_docs, "FOLDER", tmp_path / "docs")
    pages = [f"{name}.html" for name in build_docs.served_pages().values()]
    assert set(pages) < set(build_docs.write())
    (tmp_path / "docs/guides/gone.html").write_text("")
    (tmp_path / "docs/index.html").write_text("old")
    assert build_docs.write() == ["guides/gone.html", "index.html"]
    assert build_docs.write() == []


def test_no_rendered_file_is_in_git() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    folder = f"{build_docs.FOLDER.relative_to(ROOT)}/"
    assert [name for name in tracked if name.startswith(folder) or name == "docs/conformance.md"] == []
