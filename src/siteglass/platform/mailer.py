"""Sends plain mails: over SMTP, or into a folder while developing. The callers write the texts."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import smtplib
import ssl
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, make_msgid, parseaddr
from functools import partial
from pathlib import Path
from typing import Literal
from urllib.parse import SplitResult, unquote, urlsplit

from siteglass.settings import Settings, SettingsError, variable

MAX_AT_ONCE = 4
MAX_ADDRESS_CHARS = 254

Security = Literal["tls", "starttls", "none"]
# Of what the standards allow, what mailboxes have: no quotes, no comments, no addresses of machines.
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_ADDRESS = re.compile(rf"{_ATOM}(\.{_ATOM})*@([A-Za-z0-9-]{{1,63}}\.)+[A-Za-z][A-Za-z0-9-]{{1,62}}")
# A link that does not fit into a line of 78 characters would be encoded, and no mail program would find it.
_LONG_LINES = SMTP.clone(max_line_length=998)
_PORTS = {"smtp": 587, "smtps": 465}


class MailError(Exception):
    """A mail was not taken; the message never holds an address."""


class MailRefused(MailError):
    """Mail for this recipient is rejected: another attempt would fail, too."""


class MailDeferred(MailError):
    """The server does not take this mail now: a later attempt may succeed, and other mails need not wait."""


@dataclass(frozen=True, slots=True)
class MailExtras:
    """What a mail has besides its text."""

    html: str = ""
    """The same as HTML."""
    unsubscribe_url: str = ""
    """Where one POST, which the mail program sends, stops such mails (RFC 8058)."""
    key: str = ""
    """A second copy of a mail has the same key, and thus the same Message-ID: mailboxes can drop it."""


class Mailer(ABC):
    """Sends mails of one sender, a few at once, each with a deadline."""

    def __init__(self, sender: Address, timeout_ms: int) -> None:
        self._sender = sender
        self._timeout_s = timeout_ms / 1000
        # Separate threads: a server that hangs must not block those of others.
        self._threads = ThreadPoolExecutor(MAX_AT_ONCE, thread_name_prefix="mail")

    @property
    @abstractmethod
    def place(self) -> str:
        """Where mails go, without a password."""

    @abstractmethod
    def _deliver(self, message: EmailMessage) -> None:
        """In a thread; raises MailError."""

    @abstractmethod
    def _try(self) -> None:
        """Come as near to delivering as one can without a mail; in a thread, raises MailError."""

    async def send(self, to: str, subject: str, text: str, extras: MailExtras | None = None) -> None:
        """Hand a mail over; raises MailError."""
        await self._in_time(partial(self._deliver, _written(self._sender, to, subject, text, extras or MailExtras())))

    async def check(self) -> None:
        """Whether mails would be taken now; raises MailError if not."""
        await self._in_time(self._try)

    def close(self) -> None:
        """Send no more; what is under way ends by its own deadline."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _in_time(self, work: Callable[[], None]) -> None:
        try:
            async with asyncio.timeout(self._timeout_s):
                await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except TimeoutError:
            raise MailError(f"{self.place} took longer than {self._timeout_s:g} s") from None


class SmtpMailer(Mailer):
    """Hands mails to a server, each over a separate connection: they are few."""

    def __init__(self, sender: Address, timeout_ms: int, server: SplitResult, security: Security) -> None:
        super().__init__(sender, timeout_ms)
        self._host = server.hostname or ""
        self._port = server.port or _PORTS[server.scheme]
        self._user, self._password = unquote(server.username or ""), unquote(server.password or "")
        self._security = security

    @property
    def place(self) -> str:
        return f"{self._host}:{self._port}"

    @contextlib.contextmanager
    def _session(self) -> Iterator[smtplib.SMTP]:
        """A server that has been greeted; every failure in it becomes a MailError without an address."""
        # Not the machine's own name: finding it may take a while, and it is nobody's business.
        name, timeout_s = self._sender.domain, self._timeout_s
        try:
            with (
                smtplib.SMTP_SSL(self._host, self._port, name, timeout=timeout_s, context=ssl.create_default_context())
                if self._security == "tls"
                else smtplib.SMTP(self._host, self._port, name, timeout=timeout_s)
            ) as server:
                if self._security == "starttls":
                    server.starttls(context=ssl.create_default_context())
                if self._user:
                    server.login(self._user, self._password)
                yield server
        except smtplib.SMTPRecipientsRefused as error:
            ((status, _),) = error.recipients.values()
            kind = MailRefused if status >= 500 else MailDeferred
            raise kind(f"{self.place} refused the recipient with {status}") from None
        except smtplib.SMTPDataError as error:
            raise MailDeferred(f"{self.place} refused the mail with {error.smtp_code}") from None
        except smtplib.SMTPResponseException as error:
            raise MailError(f"{self.place} answered {error.smtp_code} ({type(error).__name__})") from None
        except (smtplib.SMTPException, OSError) as error:
            raise MailError(f"{self.place}: {type(error).__name__}") from None

    def _deliver(self, message: EmailMessage) -> None:
        with self._session() as server:
            server.send_message(message)

    def _try(self) -> None:
        with self._session() as server:
            server.noop()


class FolderMailer(Mailer):
    """Keeps mails as files that only their owner reads, for development: nobody receives them."""

    def __init__(self, sender: Address, timeout_ms: int, folder: Path) -> None:
        super().__init__(sender, timeout_ms)
        self._folder = folder

    @property
    def place(self) -> str:
        return str(self._folder)

    def _deliver(self, message: EmailMessage) -> None:
        # Names sort by time, and no file is seen before it is whole.
        path = self._folder / f"{time.time_ns()}-{uuid.uuid4().hex[:8]}.eml"
        aside = path.with_suffix(".new")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(message.as_bytes(policy=message.policy.clone(linesep="\n")))
            aside.replace(path)
        except OSError as error:
            raise MailError(f"{self.place}: {error.strerror}") from None

    def _try(self) -> None:
        there = self._folder
        while not there.exists():
            there = there.parent
        if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            raise MailError(f"{there} is not a writable folder")


def open_mailer(settings: Settings) -> Mailer | None:
    """The mailer of the settings; None if none is set, which is the default. Raises SettingsError."""
    if not settings.mail_url:
        return None
    name, address = parseaddr(settings.mail_from)
    try:
        sender = Address(name, addr_spec=_plain(address if settings.mail_from.isprintable() else ""))
    except MailRefused:
        raise SettingsError(
            f"{variable('mail_from')}: expected an address such as Siteglass <privacy@example.com>."
        ) from None
    # The address is not repeated in a message: it may hold a password.
    wrong = SettingsError(
        f"{variable('mail_url')}: expected a URL such as smtp://user:password@host:587, "
        "smtps://user:password@host:465 or file:var/outbox."
    )
    try:
        server = urlsplit(settings.mail_url)
        _ = server.port
    except ValueError:
        raise wrong from None
    if server.scheme == "file" and server.path and not server.netloc:
        return FolderMailer(sender, settings.mail_timeout_ms, Path(server.path))
    if server.scheme not in _PORTS or not server.hostname:
        raise wrong
    return SmtpMailer(sender, settings.mail_timeout_ms, server, _security(server))


def _security(server: SplitResult) -> Security:
    """Encrypted unless the setting says otherwise."""
    match server.scheme, server.query:
        case "smtps", "":
            return "tls"
        case "smtp", "" | "tls=starttls":
            return "starttls"
        case "smtp", "tls=none":
            return "none"
    raise SettingsError(f"{variable('mail_url')}: only smtp:// takes options, either ?tls=starttls or ?tls=none.")


def is_address(text: str) -> bool:
    """Whether a mail could be sent there."""
    return len(text) <= MAX_ADDRESS_CHARS and _ADDRESS.fullmatch(text) is not None


def _plain(address: str) -> str:
    """An address that is one and nothing else; raises MailRefused for what could say more in a header."""
    if not is_address(address):
        raise MailRefused("the recipient is not a plain email address")
    return address


def _written(sender: Address, to: str, subject: str, text: str, extras: MailExtras) -> EmailMessage:
    message = EmailMessage(_LONG_LINES if extras.unsubscribe_url else SMTP)
    message["From"] = sender
    message["To"] = Address(addr_spec=_plain(to))
    message["Subject"] = subject  # a line break in it is a ValueError
    message["Date"] = formatdate(usegmt=True)
    message["Message-ID"] = f"<{extras.key}@{sender.domain}>" if extras.key else make_msgid(domain=sender.domain)
    message["Auto-Submitted"] = "auto-generated"  # so that no answering machine answers
    if extras.unsubscribe_url:
        message["List-Unsubscribe"] = f"<{extras.unsubscribe_url}>"
        message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    message.set_content(text)
    if extras.html:
        message.add_alternative(extras.html, subtype="html")
    return message
