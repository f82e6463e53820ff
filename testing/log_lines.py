"""What is logged while something runs, in the lines that the service writes."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from siteglass.platform.logs import JsonFormatter


class _Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(JsonFormatter())
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@contextmanager
def kept_lines(name: str | None, level: int) -> Iterator[list[str]]:
    """The lines of a logger and all below it, None for everybody's, from this level on."""
    logger, kept = logging.getLogger(name), _Kept()
    before = logger.level
    logger.addHandler(kept)
    logger.setLevel(level)
    try:
        yield kept.lines
    finally:
        logger.setLevel(before)
        logger.removeHandler(kept)
