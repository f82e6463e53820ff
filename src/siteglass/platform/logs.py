"""Log lines as JSON, one object a line, and the id that ties those of a request together.

What may be in them: never a key, an address or a caller's text.
"""

from __future__ import annotations

import logging
import secrets
import sys
import time
import traceback
import uuid
from datetime import UTC, datetime

import orjson

log = logging.getLogger("siteglass.api")

# uvicorn adds `color_message` for terminals: the message once more, with escape codes and its values not filled in.
_LEFT_OUT = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName", "color_message"}


class JsonFormatter(logging.Formatter):
    """Time, level, logger, message and what the caller added."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S") + f".{int(record.msecs):03}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        line.update((name, value) for name, value in record.__dict__.items() if name not in _LEFT_OUT)
        return orjson.dumps(line, default=str).decode()


def places(error: BaseException) -> list[str]:
    """Where an error came from; of an error that nobody expected, kind and place are all that may be logged."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]


def configure_logs(level: str) -> None:
    """Send all log lines to standard error as JSON."""
    formatter = JsonFormatter()
    formatter.converter = time.gmtime
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(level=level, handlers=[handler], force=True)
    # The service writes its own line per request, with the request id.
    logging.getLogger("uvicorn.access").disabled = True


ID_CHARS = 36


def new_request_id() -> str:
    """A UUID of version 7: ids of one time are next to each other in the ledger's index, which keeps charges fast."""
    made = time.time_ns() // 1_000_000 << 80 | secrets.randbits(80)
    return str(uuid.UUID(int=made & ~(0xF << 76) & ~(0x3 << 62) | 0x7 << 76 | 0x2 << 62))


def request_time(request_id: str) -> datetime | None:
    """When an ID of `new_request_id` was made, perhaps with words after it; None for any other text."""
    text = request_id[:ID_CHARS]
    try:
        read = uuid.UUID(text)
        if read.version == 7 and str(read) == text:
            return datetime.fromtimestamp((read.int >> 80) / 1000, UTC)
    except (ValueError, OverflowError):  # not a UUID, or of a year that no clock shows
        pass
    return None


def log_fault(request_id: str, error: BaseException) -> None:
    """A bug: its kind and place. Not its message, which may quote an address."""
    log.error("fault", extra={"request_id": request_id, "kind": type(error).__name__, "frames": places(error)})
