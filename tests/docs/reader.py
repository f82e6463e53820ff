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
from typing import Any

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

    def __init__(
        self,
        folder: Path,
        environment: Mapping[str, str],
        replaced: Mapping[str, str] | None = None,
        *,
        exact: bool = True,
    ) -> None:
        self._folder = folder
        self._environment = dict(environment)
        self._replaced = dict(replaced or {})
        self._state = folder / _STATE
        # Many systems have another `sgl`; a reader's own environment has ours first.
        self._state.write_text(f'sgl() {{ "{sys.executable}" -m siteglass_client.cli "$@"; }}\n')
        self._groups: list[int] = []
        # Whether the demo has the leads that the page tells of. If not, only the form of such answers is compared.
        self.exact = exact

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
        _same_http(answer, printed, reader.exact)
    elif answer.language == "json":
        _same_json(answer, printed, answer.text, reader.exact)
    elif reader.exact:
        _same(answer, printed.strip(), answer.text.strip())


def parse_http(text: str) -> tuple[str, dict[str, str], str]:
    """Status line, headers in lower case, body."""
    head, _, body = text.replace("\r\n", "\n").partition("\n\n")
    status, *lines = head.split("\n")
    headers = (line.partition(": ") for line in lines)
    return status, {name.lower(): value for name, _, value in headers}, body


def _same_http(answer: Block, printed: str, exact: bool) -> None:
    """The same status and body; of the headers those that the page shows. Only numbers in errors follow from leads."""
    shown_status, shown, shown_body = parse_http(answer.text)
    status, headers, body = parse_http(printed)
    # The words after the number are the server's.
    _same(answer, " ".join(status.split()[:2]), " ".join(shown_status.split()[:2]))
    if not exact and shown_status.split()[1].startswith("2"):
        assert shown.keys() <= headers.keys(), f"{answer.place}\nwhat comes back {printed}"
        _same_json(answer, body, shown_body, exact)
        return
    for name, value in shown.items():
        _same(answer, f"{name}: {headers.get(name)}", f"{name}: {value}", numbers=exact)
    _same(answer, _compact_json(body), _compact_json(shown_body), numbers=exact)


def _same_json(answer: Block, printed: str, shown: str, exact: bool) -> None:
    if exact:
        _same(answer, _compact_json(printed), _compact_json(shown))
    else:
        assert _alike(json.loads(printed), json.loads(shown)), f"{answer.place}\nwhat comes back {printed}"


def _alike(printed: Any, shown: Any) -> bool:
    """The same names in the same order; of lists, the first elements are compared."""
    if isinstance(printed, dict) and isinstance(shown, dict):
        return list(printed) == list(shown) and all(_alike(printed[name], shown[name]) for name in shown)
    if printed and shown and isinstance(printed, list) and isinstance(shown, list):
        return _alike(printed[0], shown[0])
    return printed is None or shown is None or isinstance(printed, type(shown))


def _same(answer: Block, printed: str, shown: str, *, numbers: bool = True) -> None:
    ours, theirs = _masked(printed), _masked(shown)
    if not numbers:
        ours, theirs = (re.sub(r"\d+", "0", text) for text in (ours, theirs))
    assert ours == theirs, f"{answer.place}\nthe page says   {shown}\nwhat comes back {printed}"


def _compact_json(text: str) -> str:
    """JSON without the line breaks that make it readable; the order of names counts."""
    return json.dumps(json.loads(text), ensure_ascii=False)


def _masked(text: str) -> str:
    for volatile, name in _VOLATILE:
        text = volatile.sub(name, text)
    return text
