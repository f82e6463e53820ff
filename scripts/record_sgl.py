"""Draws a session with `sgl` on a terminal as docs/images/sgl.svg.

SITEGLASS_URL and SITEGLASS_API_KEY name the demo.
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

from rich.console import Console
from rich.text import Text

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "sgl.svg"
WIDTH = 110
SESSION = (
    ("interpret", "SaaS companies in Munich"),
    ("search", "SaaS companies in Munich", "--dry-run"),
    ("search", "SaaS companies in Munich", "--max-leads", "5"),
    ("search", "--filter", "country=DEU", "--filter", "technologies=Shopify", "-o", "shops.csv"),
    ("search", "--filter", "countri=DEU"),
)
# What moves the cursor or hides it; colours stay.
_STEERING = re.compile(r"\x1b\[\??[0-9;]*[A-Za-ln-z]")
_REQUEST = re.compile(r" \(request [0-9a-f-]+\)")
# The picture must load nothing from elsewhere, nor name it.
_FROM_ELSEWHERE = re.compile(r"@font-face \{.*?\}\s*|<!--.*?-->\s*", re.DOTALL)


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


def main() -> None:
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    with tempfile.TemporaryDirectory() as folder:
        for words in SESSION:
            typed = " ".join(f'"{word}"' if " " in word else word for word in words)
            console.print(Text.assemble(("$ ", "bold green"), f"sgl {typed}"))
            console.print(Text.from_ansi(shown(words, folder)))
    drawn = _FROM_ELSEWHERE.sub("", console.export_svg(title="sgl", unique_id="sgl"))
    # For those who have a picture read to them.
    PICTURE.write_text(drawn.replace(">", "><title>A session with sgl in a terminal</title>", 1))


if __name__ == "__main__":
    main()
