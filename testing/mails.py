"""The folder that mails go to, as their recipients see it."""

from __future__ import annotations

import email
import email.policy
import re
import time
from email.message import EmailMessage
from pathlib import Path


class Outbox:
    """Mails in the order in which they were sent."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def mails(self, to: str) -> list[EmailMessage]:
        paths = sorted(self._folder.glob("*.eml"))
        found = (email.message_from_bytes(path.read_bytes(), policy=email.policy.default) for path in paths)
        return [mail for mail in found if mail["To"] == to]

    def wait(self, to: str, count: int) -> list[EmailMessage]:
        """The mails to an address, once there are so many: some go out after the answer."""
        deadline = time.monotonic() + 10
        while len(found := self.mails(to)) < count:
            assert time.monotonic() < deadline, f"{len(found)} mails to {to}, expected {count}"
            time.sleep(0.02)
        return found

    def code(self, to: str) -> str:
        """What the newest mail says."""
        return code_in(self.mails(to)[-1])


def code_in(mail: EmailMessage) -> str:
    """The code in a mail."""
    (code,) = re.findall(r"^Your code:  (\S+)$", mail.get_content(), re.MULTILINE)
    return str(code)
