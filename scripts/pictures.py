"""Draws the pictures of README and of the client's page from the demo as it starts: Explore, and a session with `sgl`.

    make screenshots

`siteglass demo up` must have run; SITEGLASS_URL and SITEGLASS_API_KEY name the demo. The picture of Explore must show
companies of `siteglass_demo.leads.COMPANIES` alone, since the test that compares its texts has only these leads.
"""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.text import Text

import browser
from siteglass.dashboard.examples import EXAMPLES
from testing.pictures import draw

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
EXPLORE = IMAGES / "explore.png"
EXPLORE_PATH = f"/dashboard/explore?{urlencode({'q': EXAMPLES[0]})}"
TERMINAL = IMAGES / "sgl.svg"
WIDTH = 100
SESSION = (
    ("interpret", EXAMPLES[0]),
    ("search", EXAMPLES[0], "--dry-run"),
    ("search", EXAMPLES[0], "--max-leads", "5"),
    ("search", EXAMPLES[0], "--max-leads", "50", "-o", "dentists.csv"),
    ("search", "--filter", "countri=DEU"),
)
# What moves the cursor or hides it; colours stay.
_STEERING = re.compile(r"\x1b\[\??[0-9;]*[A-Za-ln-z]")
_REQUEST = re.compile(r" \(request [0-9a-f-]+\)")
# The picture must load nothing from elsewhere, nor name it.
_FROM_ELSEWHERE = re.compile(r"@font-face \{.*?\}\s*|<!--.*?-->\s*", re.DOTALL)


def draw_explore(link: str) -> None:
    """The first example, as somebody sees it who opened the demo's link."""
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=browser.PROGRAM, args=list(browser.FLAGS))
        page = chromium.new_page(
            viewport={"width": 1440, "height": 900}, reduced_motion="reduce", locale="en-GB", timezone_id="UTC"
        )
        page.goto(link)
        page.goto(link.partition("/dashboard")[0] + EXPLORE_PATH)
        page.locator(".facet").first.wait_for()
        draw(page, EXPLORE, whole=False)
        chromium.close()


def shown(words: tuple[str, ...], folder: str) -> str:
    """What a terminal shows of a command."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "siteglass_client.cli", *words]
    # Nobody is there to answer what `sgl` asks.
    answered = {"SITEGLASS_ASK_ABOVE": "1000000"}
    environment = {**os.environ, **answered, "COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
    process = subprocess.Popen(command, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    text = bytearray()
    try:
        while chunk := os.read(ours, 65_536):
            text += chunk
    except OSError:  # how Linux says that nobody writes any more
        pass
    os.close(ours)
    process.wait(60)
    return _REQUEST.sub("", _STEERING.sub("", text.decode().replace("\r\n", "\n")))


def session() -> str:
    """What a terminal shows of all commands, with colours."""
    with tempfile.TemporaryDirectory() as folder:
        return "\n".join(f"\x1b[1;32m$\x1b[0m {_typed(words)}\n{shown(words, folder)}" for words in SESSION)


def _typed(words: tuple[str, ...]) -> str:
    return "sgl " + " ".join(f'"{word}"' if " " in word else word for word in words)


def draw_session() -> None:
    """The session as a picture that holds its texts."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(session()))
    drawn = _FROM_ELSEWHERE.sub("", console.export_svg(title="sgl", unique_id="sgl"))
    # For those who have a picture read to them.
    TERMINAL.write_text(drawn.replace(">", "><title>A session with sgl in a terminal</title>", 1))


def main() -> None:
    """Both pictures, from the demo that runs."""
    program = Path(sys.executable).with_name("siteglass")
    link = subprocess.run([program, "demo", "link"], capture_output=True, text=True, check=True).stdout.strip()
    draw_explore(link)
    draw_session()
    print(EXPLORE, TERMINAL, sep="\n")


if __name__ == "__main__":
    main()
