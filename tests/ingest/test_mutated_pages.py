"""Pages with errors and repetitions that nobody wrote: each gives facts or a reason, and none takes long."""

from __future__ import annotations

import contextlib
import random
import time
from pathlib import Path

import pytest

from siteglass.ingest.capture import Capture
from siteglass.ingest.extract import ExtractFailed, facts_of
from siteglass.ingest.tasks import FACTS_OF, warm

MAX_PAGE_S = 0.5
MAX_BYTES = 200_000
BY_NIGHT = 50_000
# Pieces whose repetition is hard to read: openings without an end, labels without a value, values without a label.
PIECES = [
    piece.encode()
    for piece in (
        "<div>", "<b>", "<td>", "<br>", "</p>", "<a href='tel:+49 30 901820'>", "<span style='display:none'>", "&amp;",
        "info", "@", " [at] ", ".de ", " dot ", "+49 30 ", "030/", "(0)", "10115 ", "Tel. / Fax: ", "“",
        "★", "Phone\n", ": ", "; ", ". ", " – ", "lorem ipsum ", "Hosting: ", "© ", "e", "7", " ", "日本", "\u00ad",
    )
]  # fmt: skip


def _mutated(chance: random.Random, pages: list[bytes]) -> bytes:
    body = chance.choice(pages)
    for _ in range(chance.randint(1, 4)):
        start, end = sorted((chance.randrange(len(body) + 1), chance.randrange(len(body) + 1)))
        piece = chance.choice((body[start:end], body[start : start + 30], *chance.sample(PIECES, 3)))
        times = min(chance.choice((0, 1, 3, 1_000, 30_000)), MAX_BYTES // (len(piece) + 1))
        # In the place of a part, or at one point.
        body = body[:start] + piece * times + body[chance.choice((start, end)) :]
    return body[:MAX_BYTES]


def _takes_s(capture: Capture) -> float:
    started = time.thread_time()
    with contextlib.suppress(ExtractFailed):
        facts_of(capture)
    return time.thread_time() - started


@pytest.mark.parametrize("count", [40, pytest.param(BY_NIGHT, marks=pytest.mark.nightly)])
def test_no_mutated_page_takes_long(count: int) -> None:
    warm(FACTS_OF)
    pages = [path.read_bytes() for path in sorted((Path(__file__).parent / "labelled").glob("*.html"))]
    slow = {}
    for seed in range(count):
        body = _mutated(random.Random(seed), pages)
        headers = (("content-type", "text/html"),)
        capture = Capture(url="https://www.firma.de/", captured_at_ms=0, status=200, headers=headers, body=body)
        # The best of three: on a shared host one attempt can take several times as long as the next.
        if (took := _takes_s(capture)) > MAX_PAGE_S:
            took = min(took, _takes_s(capture), _takes_s(capture))
        if took > MAX_PAGE_S:
            slow[seed] = round(took, 2)
    assert slow == {}
