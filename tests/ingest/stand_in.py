"""Extractors that stand in for the real one where tests are about driving it: small, and bad on demand."""

from __future__ import annotations

import hashlib
import os
import re
import signal
from pathlib import Path
from urllib.parse import urlsplit

from siteglass.corpus.domains import NotAHost, normalise, registrable
from siteglass.ingest.capture import Capture
from siteglass.ingest.facts import ContactSighting, PageFacts

_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_ADDRESS = re.compile(r"[\w.]+@[\w.]+\w")
_PHONE = re.compile(r"\+\d{8,15}")


def facts_of(capture: Capture) -> PageFacts:
    """Title, text and contacts. A body that says so fails, never ends, takes all memory, or kills its worker."""
    text = capture.body.decode("utf-8", "replace")
    host = normalise(capture.url)
    if "FAIL" in text:
        raise NotAHost("fails as it should") if "OURS" in text else KeyError("somebody@private.example")
    while "SLOW" in text:
        pass
    if "LARGE" in text:
        bytearray(2**36)
    if "KILL" in text:
        os.kill(os.getpid(), signal.SIGKILL)
    if once := re.search(r"ONCE (\S+)", text):
        _die_the_first_time(Path(once[1]))
    title = _TITLE.search(text)
    path = urlsplit(capture.url).path or "/"
    return PageFacts(
        domain=registrable(host),
        url=capture.url,
        path=path,
        is_home=path == "/",
        kind="page",
        captured_at_ms=capture.captured_at_ms,
        archive=capture.archive,
        offset=capture.offset,
        digest=hashlib.sha256(capture.body).hexdigest()[:16],
        title=title[1] if title else "",
        text=text,
        emails=tuple(ContactSighting(found, "text") for found in sorted(set(_ADDRESS.findall(text)))),
        phones=tuple(ContactSighting(found, "text") for found in sorted(set(_PHONE.findall(text)))),
        load_time_ms=capture.load_time_ms,
    )


def _die_the_first_time(mark: Path) -> None:
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
