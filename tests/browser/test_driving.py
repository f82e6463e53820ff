"""The ground of these tests: what is wrong with a page is seen, and what a session needs works on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from testing.loopback_servers import Site as Server
from testing.loopback_servers import hosting
from testing.pictures import texts_of
from testing.service import apart
from tests.browser.driving import Browse, Stage, axe, shoot

POLICY = "default-src 'none'; script-src 'self' 'nonce-ours'"
PAGE = '<!doctype html><html lang="en"><title>A page</title><link rel="icon" href="data:,"><main>{}</main>'
WRONG = """
<script>console.error('one')</script>
<script>console.warn('two')</script>
<script>missing()</script>
<script>new WebSocket('ws://elsewhere.test/')</script>
<script>fetch('http://127.0.0.1:1/').catch(() => 0)</script>
<img alt='' src='http://elsewhere.test/x.png'>
"""


@pytest.fixture
def server() -> Iterator[Server]:
    with hosting() as made:
        yield made


def _shown(server: Server, browse: Browse, content: str, **headers: str) -> Page:
    server.say(PAGE.format(content), 200, **{"Content-Type": "text/html", **headers})
    page = browse.open(f"http://127.0.0.1:{server.port}")
    page.goto("/")
    return page


def test_what_is_wrong_is_seen(server: Server, browse: Browse) -> None:
    _shown(server, browse, WRONG).wait_for_load_state("networkidle")
    for told in (
        "console error: one",
        "console warning: two",
        "page error: missing is not defined",
        "asked for elsewhere: ws://elsewhere.test/",
        "asked for elsewhere: http://127.0.0.1:1/",
        "asked for elsewhere: http://elsewhere.test/x.png",
        "request failed: http://elsewhere.test/x.png",
    ):
        browse.excuse(told)
    browse.forget()


def test_a_policy_that_is_broken_is_seen(server: Server, browse: Browse) -> None:
    _shown(server, browse, "<script>document.title = 'ran'</script>", **{"Content-Security-Policy": POLICY})
    browse.excuse("Content Security Policy")


def test_what_nobody_excused_fails(server: Server, browse: Browse) -> None:
    _shown(server, browse, "<script>console.error('one')</script>")
    with pytest.raises(AssertionError, match="console error: one"):
        browse.close()
    with pytest.raises(AssertionError, match="nothing says 'two'"):
        browse.excuse("two")
    browse.forget()


def test_axe_sees_what_cannot_be_read(server: Server, browse: Browse) -> None:
    page = _shown(server, browse, "<h1>Title</h1><p id='pale'>Pale</p><input id='nameless'>")
    page.locator("#pale").evaluate("(element) => { element.style.color = '#ccc'; }")
    with pytest.raises(AssertionError, match="critical label at #nameless: Form elements must have labels"):
        axe(page)
    with pytest.raises(AssertionError, match="serious color-contrast at #pale"):
        axe(page, known=[("label", "input")])
    axe(page, known=[("label", "input"), ("color-contrast", "p")])


def test_pictures_are_drawn_where_asked_for_and_alike(
    server: Server, browse: Browse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.browser.driving.IMAGES", tmp_path)
    monkeypatch.setattr("tests.browser.driving.shown_pictures", lambda: {"first", "second"})
    page = _shown(server, browse, "<h1>Title</h1><input>")
    page.locator("input").focus()
    monkeypatch.setenv("SITEGLASS_SCREENSHOTS", "1")
    shoot(page, "first")
    page.wait_for_timeout(600)  # a caret that blinks would have changed
    shoot(page, "second")
    shoot(page, "not in the docs")
    assert {path.name for path in tmp_path.iterdir()} == {"first.png", "second.png"}
    assert (tmp_path / "first.png").read_bytes() == (tmp_path / "second.png").read_bytes()


def test_a_picture_whose_texts_are_gone_is_noticed(
    server: Server, browse: Browse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.browser.driving.IMAGES", tmp_path)
    monkeypatch.setattr("tests.browser.driving.shown_pictures", lambda: {"page"})
    page = _shown(server, browse, "<h1>Title</h1><p>Sign in <b>now</b></p><p>17 credits</p><p hidden>Never seen</p>")
    monkeypatch.setenv("SITEGLASS_SCREENSHOTS", "1")
    shoot(page, "page")
    monkeypatch.delenv("SITEGLASS_SCREENSHOTS")
    assert texts_of(tmp_path / "page.png") == ["Title", "Sign in", "now"]
    shoot(page, "page")
    shoot(_shown(server, browse, "<h1>Title</h1><p>Sign in now, 18 credits</p>"), "page")
    with pytest.raises(AssertionError, match="draw it anew"):
        shoot(_shown(server, browse, "<h1>Title</h1><p>Log in now</p>"), "page")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_secure_cookie_is_kept_on_loopback(server: Server, browse: Browse, host: str) -> None:
    cookie = "__Host-session=one; Secure; HttpOnly; Path=/; SameSite=Lax"
    server.say(PAGE.format(""), 200, **{"Content-Type": "text/html", "Set-Cookie": cookie})
    page = browse.open(f"http://{host}:{server.port}", cookies={"__Host-given": "two"})
    page.goto("/")
    page.goto("/again")
    sent = page.context.cookies()
    assert {(one["name"], one["value"], one["secure"]) for one in sent} == {
        ("__Host-session", "one", True),
        ("__Host-given", "two", True),
    }
    with page.expect_request("**/third") as asked:
        page.goto("/third")
    assert set(asked.value.all_headers()["cookie"].split("; ")) == {"__Host-session=one", "__Host-given=two"}


def test_other_loops_run_beside_it(server: Server, browse: Browse) -> None:
    page = _shown(server, browse, "")
    assert apart(asyncio.sleep(0.01, "slept")) == "slept"
    page.reload()
    expect(page).to_have_title("A page")


def test_the_main_thread_is_left_alone(stage: Stage) -> None:
    assert stage.browser.is_connected()
    assert asyncio.run(asyncio.sleep(0.01, "slept")) == "slept"
