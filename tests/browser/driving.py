"""A browser that is driven: how pages are opened, what is watched meanwhile, and how they are looked at."""

from __future__ import annotations

import functools
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Playwright,
    Request,
    WebSocket,
    expect,
    sync_playwright,
)

import browser as chromium
from testing.pictures import draw, gone_texts
from tests.docs.blocks import ROOT

IMAGES = ROOT / "docs" / "images" / "dashboard"
# Long, for a machine that does much else; nobody waits for it but a test that fails.
TIMEOUT_MS = 60_000
expect.set_options(timeout=TIMEOUT_MS)

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Look:
    """How somebody looks at a page."""

    width: int
    height: int
    scheme: Literal["light", "dark"]

    def __str__(self) -> str:
        return f"{self.width}-{self.scheme}"


LIGHT, DARK = Look(1280, 800, "light"), Look(1280, 800, "dark")
PHONE, PHONE_DARK = Look(390, 844, "light"), Look(390, 844, "dark")
LOOKS = (LIGHT, DARK, PHONE, PHONE_DARK)
every_look = pytest.mark.parametrize("look", LOOKS, ids=str)


class Stage:
    """The thread that the browser is driven from, and the tests that drive it run in.

    The driver keeps an event loop running in its thread, where no other can run then: not in the main one, which other
    tests need.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "browser")
        self._id = self._thread.submit(threading.get_ident).result()
        self._driver: Playwright = self.do(lambda: sync_playwright().start())
        self.browser: Browser = self.do(self._launch)

    def do(self, work: Callable[[], Result]) -> Result:
        """Do something with the browser, and wait for it."""
        if threading.get_ident() == self._id:
            return work()
        return self._thread.submit(work).result()

    def close(self) -> None:
        self.do(self.browser.close)
        self.do(self._driver.stop)
        self._thread.shutdown()

    def _launch(self) -> Browser:
        return self._driver.chromium.launch(executable_path=chromium.PROGRAM, args=list(chromium.FLAGS))


class Browse:
    """Opens pages for one test, and remembers what was wrong with them."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._contexts: list[BrowserContext] = []
        self._problems: list[str] = []

    def open(
        self,
        base_url: str,
        look: Look = LIGHT,
        *,
        cookies: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Page:
        """A page of somebody who was never here before, still empty; `goto` takes paths of this service."""
        return self.stage.do(lambda: self._open(base_url.rstrip("/"), look, cookies or {}, headers or {}))

    def excuse(self, text: str) -> None:
        """What the test provoked is not wrong: problems that hold this text, of which there must be one."""
        left = [problem for problem in self._problems if text not in problem]
        assert len(left) < len(self._problems), f"nothing says {text!r}: {self._problems}"
        self._problems = left

    def forget(self) -> None:
        """Nothing of what was wrong so far matters: the page is wrong on purpose."""
        self._problems.clear()

    def close(self) -> None:
        """Close all pages; nothing may have been wrong with them."""
        for context in self._contexts:
            self.stage.do(context.close)
        assert not self._problems, "\n".join(self._problems)

    def _open(self, base_url: str, look: Look, cookies: Mapping[str, str], headers: Mapping[str, str]) -> Page:
        context = self.stage.browser.new_context(
            base_url=base_url,
            viewport={"width": look.width, "height": look.height},
            color_scheme=look.scheme,
            reduced_motion="reduce",
            locale="en-GB",
            timezone_id="UTC",
            has_touch=look.width < 600,
            extra_http_headers=dict(headers),
        )
        self._contexts.append(context)
        context.set_default_timeout(TIMEOUT_MS)
        # Set as over https: `__Host-` asks for that, and the browser sends them to loopback all the same.
        secure = base_url.replace("http:", "https:", 1)
        context.add_cookies([{"name": name, "value": value, "url": secure} for name, value in cookies.items()])
        self._watch(context, urlsplit(base_url).netloc)
        return context.new_page()

    def _watch(self, context: BrowserContext, home: str) -> None:
        """Violations of the content security policy are reported on the console."""

        def console(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning"):
                self._problems.append(f"console {message.type}: {message.text} ({message.location['url']})")

        def requested(request: Request | WebSocket) -> None:
            address = urlsplit(request.url)
            if address.scheme not in ("data", "blob", "about") and address.netloc != home:
                self._problems.append(f"asked for elsewhere: {request.url[:500]}")

        def failed(request: Request) -> None:
            # What a page breaks off itself is not a failure: it was left, or what came was a file to keep.
            if request.failure != "net::ERR_ABORTED":
                self._problems.append(f"request failed: {request.url[:500]}: {request.failure}")

        context.on("console", console)
        context.on("weberror", lambda error: self._problems.append(f"page error: {error.error}"))
        context.on("request", requested)
        context.on("requestfailed", failed)
        context.on("page", lambda page: page.on("websocket", requested))


@functools.cache
def _axe_source() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")


# Findings of an element that is known not to be ours, `[rule, selector]`, are left out.
# Of a long table the first rows are enough: the others are like them.
_RUN_AXE = """async ([within, known, rules]) => {
    const left = (rule, node) => {
        const element = document.querySelector(node.target[0]);
        return !known.some(([id, selector]) => id === rule.id && element && element.matches(selector));
    };
    const context = {include: [within], exclude: ["tbody tr:nth-child(n+9)"]};
    const options = {resultTypes: ["violations"], ...(rules.length ? {runOnly: rules} : {})};
    const {violations} = await axe.run(context, options);
    return violations.map((rule) => ({...rule, nodes: rule.nodes.filter((node) => left(rule, node))}));
}"""


def axe(page: Page, *, within: str = "html", known: Sequence[tuple[str, str]] = (), rules: Sequence[str] = ()) -> None:
    """axe-core has nothing serious or critical to say of the page, or a part of it, as it is now.

    `known` names findings that cannot be mended, by rule and selector of the elements; the test says why. Of
    all rules, or only of these.
    """
    # Not as a script of the page: its policy would not let it in.
    if page.evaluate("window.axe === undefined"):
        page.evaluate(_axe_source())
    found: list[dict[str, Any]] = page.evaluate(_RUN_AXE, [within, [list(pair) for pair in known], list(rules)])
    lines = [
        f"{rule['impact']} {rule['id']} at {' '.join(map(str, node['target']))}: {rule['help']}\n"
        f"    {node['failureSummary']}"
        for rule in found
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]
    assert not lines, f"axe-core on {page.url}:\n" + "\n".join(lines)


def look_again(page: Page, look: Look) -> None:
    """Look at an open page in another way, which costs less than to open it again."""
    page.set_viewport_size({"width": look.width, "height": look.height})
    page.emulate_media(color_scheme=look.scheme)


def fits(page: Page) -> None:
    """Nobody has to scroll sideways."""
    more = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert more == 0, f"{page.url} is {more} px too wide"


def shoot(page: Page, name: str, *, whole: bool = True) -> None:
    """Compare the texts of docs/images/dashboard/NAME.png with the page; draw it anew where `make screenshots` asks.

    Only for pictures that a page of the docs shows.
    """
    if name not in shown_pictures():
        return
    path = IMAGES / f"{name}.png"
    if os.environ.get("SITEGLASS_SCREENSHOTS") == "1":
        draw(page, path, whole=whole)
    gone = gone_texts(path, page)
    assert not gone, f"{path.name} shows texts that its page has no more; draw it anew with `make screenshots`: {gone}"


@functools.cache
def shown_pictures() -> frozenset[str]:
    """The names of the pictures of pages that the docs show."""
    texts = (path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md"))
    return frozenset(name for text in texts for name in re.findall(r"images/dashboard/([\w-]+)\.png", text))
