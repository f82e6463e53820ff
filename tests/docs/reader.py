"""Runs the examples of a page as a reader does: in bash, one after the other, and compares what comes back."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.docs.blocks import Block, Example

TIMEOUT_S = 180
_STATE = "state.sh"

# What differs from one run to the next, and nothing else: both sides are compared without it.
_VOLATILE = (
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "<id>"),
    (re.compile(r"/v1/leads/search/[\w-]+…?"), "<path of a page>"),
    (re.compile(r"(?<=-remaining: )\d+"), "<credits>"),
    (re.compile(r";r=\d+;t=\d+"), "<left of the rate>"),
    (re.compile(r"(?<=retry-after: )\d+"), "<seconds>"),
    (re.compile(r"(?<=demo-50000-1-)[0-9a-f]{8}"), "<hash of the companies>"),
    (re.compile(r"(?<=Try again in )\d+(?= s\.)"), "<seconds>"),
)


class Reader:
    """A bash whose variables and functions last from one block to the next; ends what it left running."""

    def __init__(self, folder: Path, environment: Mapping[str, str], replaced: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._environment = dict(environment)
        self._replaced = dict(replaced or {})
        self._state = folder / _STATE
        # Many systems have another `sgl`; a reader's own environment has ours first.
        self._state.write_text(f'sgl() {{ "{sys.executable}" -m siteglass_client.cli "$@"; }}\n')
        self._groups: list[int] = []

    def run(self, block: Block) -> str:
        """What the block prints; it must succeed."""
        text = block.text
        for ours, here in self._replaced.items():
            text = text.replace(ours, here)
        if block.language == "python":
            (self._folder / "example.py").write_text(text)
            # What needs no package is run without any.
            python = sys.executable if "siteglass_client" in text else "python3"
            text = f"{python} example.py"
        script = f". ./{_STATE}\n{text}\n{{ export -p; declare -f; }} > {_STATE}\n"
        # Files, not pipes: a service left running in the background would hold a pipe open.
        printed, told = self._folder / "printed", self._folder / "told"
        with printed.open("wb") as out, told.open("wb") as err:
            process = subprocess.Popen(
                ["bash", "-e", "-o", "pipefail", "-c", script],
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
            self._groups.append(process.pid)
            code = process.wait(TIMEOUT_S)
        assert code == 0, f"{block.place}: exit code {code}\n{printed.read_text()}\n{told.read_text()}"
        return printed.read_text()

    def close(self) -> None:
        for group in self._groups:
            try:
                os.killpg(group, signal.SIGTERM)
            except ProcessLookupError:
                continue


def check(reader: Reader, example: Example) -> None:
    """The example runs, and prints what the page says."""
    printed = reader.run(example.block)
    answer = example.answer
    if answer is None:
        return
    if answer.language == "http":
        _same_http(answer, printed)
    elif answer.language == "json":
        _same(answer, _compact_json(printed), _compact_json(answer.text))
    else:
        _same(answer, printed.strip(), answer.text.strip())


def parse_http(text: str) -> tuple[str, dict[str, str], str]:
    """Status line, headers in lower case, body."""
    head, _, body = text.replace("\r\n", "\n").partition("\n\n")
    status, *lines = head.split("\n")
    headers = (line.partition(": ") for line in lines)
    return status, {name.lower(): value for name, _, value in headers}, body


def _same_http(answer: Block, printed: str) -> None:
    """The same status and body; of the headers those that the page shows."""
    shown_status, shown, shown_body = parse_http(answer.text)
    status, headers, body = parse_http(printed)
    # The words after the number are the server's.
    _same(answer, " ".join(status.split()[:2]), " ".join(shown_status.split()[:2]))
    for name, value in shown.items():
        _same(answer, f"{name}: {headers.get(name)}", f"{name}: {value}")
    _same(answer, _compact_json(body), _compact_json(shown_body))


def _same(answer: Block, printed: str, shown: str) -> None:
    assert _masked(printed) == _masked(shown), f"{answer.place}\nthe page says   {shown}\nwhat comes back {printed}"


def _compact_json(text: str) -> str:
    """JSON without the line breaks that make it readable; the order of names counts."""
    return json.dumps(json.loads(text), ensure_ascii=False)


def _masked(text: str) -> str:
    for volatile, name in _VOLATILE:
        text = volatile.sub(name, text)
    return text
