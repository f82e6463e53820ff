"""Mails: taken by a real server or kept as a file, never able to say more than they were meant to."""

from __future__ import annotations

import asyncio
import email
import email.policy
import os
import socket
import ssl
import stat
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP as Server
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword, Session

from siteglass.platform.mailer import MailDeferred, Mailer, MailError, MailRefused, open_mailer
from siteglass.settings import Settings, SettingsError
from testing.loopback_servers import certificate
from testing.ports import free_port

FROM = "Siteglass <privacy@sender.test>"
TO = "jo@receiver.test"
PASSWORD = "a pass:word@/%?"


class Inbox:
    """What the server took, and what it says to recipients."""

    def __init__(self) -> None:
        self.mails: list[Envelope] = []
        self.answer = self.answer_to_text = "250 OK"
        self.names: list[str | None] = []

    async def handle_RCPT(
        self, _server: Server, session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        self.names.append(session.host_name)
        if self.answer.startswith("2"):
            envelope.rcpt_tos.append(address)
        return self.answer

    async def handle_DATA(self, _server: Server, _session: Session, envelope: Envelope) -> str:
        self.mails.append(envelope)
        return self.answer_to_text


def _authenticated(_server: Server, _session: Session, _envelope: Envelope, _mechanism: str, given: Any) -> AuthResult:
    right = isinstance(given, LoginPassword) and given.password == PASSWORD.encode()
    return AuthResult(handled=False, success=right and given.login == b"us er")


class _TlsController(Controller):
    """Sees whether the server runs as a client does, not with the server's own certificate."""

    def _trigger_server(self) -> None:
        context = ssl._create_unverified_context()  # noqa: S323 - nothing is said to it
        with socket.create_connection(("127.0.0.1", self.port), 5) as plain:
            if self.ssl_context:
                with context.wrap_socket(plain) as wrapped:
                    wrapped.recv(100)
            else:
                plain.recv(100)


@pytest.fixture
def inbox() -> Iterator[tuple[Inbox, str]]:
    """A server without TLS, and its address."""
    made = Inbox()
    controller = Controller(made, "127.0.0.1", free_port())
    controller.start()
    yield made, f"smtp://127.0.0.1:{controller.port}?tls=none"
    controller.stop()


def _mailer(url: str, **changes: Any) -> Mailer:
    made = open_mailer(Settings(mail_url=url, mail_from=FROM, **changes))
    assert made is not None
    return made


def _send(url: str, to: str = TO, subject: str = "Your code", text: str = "ABCD\n", **changes: Any) -> None:
    mailer = _mailer(url, **changes)
    try:
        asyncio.run(mailer.send(to, subject, text))
    finally:
        mailer.close()


def _read(raw: bytes) -> EmailMessage:
    return email.message_from_bytes(raw, policy=email.policy.default)


# --- SMTP -----------------------------------------------------------------------------------------


def test_a_server_takes_a_mail(inbox: tuple[Inbox, str]) -> None:
    server, url = inbox
    _send(url, text="Grüße\n.\nThe end\n")
    (envelope,) = server.mails
    assert (envelope.mail_from, envelope.rcpt_tos) == ("privacy@sender.test", [TO])
    mail = _read(envelope.content)  # type: ignore[arg-type]
    assert (mail["From"], mail["To"], mail["Subject"]) == (FROM, TO, "Your code")
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Message-ID"].endswith("@sender.test>")
    assert mail["Date"].endswith("+0000") or mail["Date"].endswith("GMT")
    assert mail.get_content_type() == "text/plain"
    assert mail.get_content().replace("\r\n", "\n") == "Grüße\n.\nThe end\n"
    assert server.names == ["sender.test"]
    assert socket.gethostname() not in str(mail)


@pytest.mark.parametrize(("answer", "kind"), [("550 5.1.1 no such user", MailRefused), ("451 later", MailDeferred)])
def test_a_recipient_that_is_refused(inbox: tuple[Inbox, str], answer: str, kind: type[MailError]) -> None:
    server, url = inbox
    server.answer = answer
    with pytest.raises(MailError) as caught:
        _send(url)
    assert type(caught.value) is kind
    assert TO not in str(caught.value)
    assert str(caught.value).endswith(f"refused the recipient with {answer[:3]}")


def test_a_mail_that_is_refused_after_its_text_is_tried_again_by_itself(inbox: tuple[Inbox, str]) -> None:
    server, url = inbox
    server.answer_to_text = "451 greylisted"
    with pytest.raises(MailDeferred, match=r"refused the mail with 451$"):
        _send(url)


def test_no_server_there() -> None:
    port = free_port()
    with pytest.raises(MailError, match=rf"^127\.0\.0\.1:{port}: ConnectionRefusedError$"):
        _send(f"smtp://127.0.0.1:{port}")


@pytest.mark.promise("setting.mail_timeout_ms")
def test_a_server_that_says_nothing() -> None:
    told = r"took longer than 0\.2 s$"
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(MailError, match=told):
        _send(f"smtp://127.0.0.1:{silent.getsockname()[1]}", mail_timeout_ms=200)


def test_no_mail_goes_out_open_unless_allowed(inbox: tuple[Inbox, str]) -> None:
    server, url = inbox
    with pytest.raises(MailError, match="SMTPNotSupportedError"):
        _send(url.partition("?")[0])
    assert server.mails == []


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")  # it does not see that all of it is TLS
@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
def test_encrypted_and_with_a_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    pem, key = certificate(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pem, key)
    tls: dict[str, Any] = {"tls_context": context, "require_starttls": True} if scheme == "smtp" else {}
    server = Inbox()
    controller = _TlsController(
        server,
        "127.0.0.1",
        free_port(),
        ssl_context=context if scheme == "smtps" else None,
        authenticator=_authenticated,
        auth_required=True,
        auth_require_tls=scheme == "smtp",
        **tls,
    )
    controller.start()
    try:
        place = f"127.0.0.1:{controller.port}"
        right = f"{scheme}://us%20er:a%20pass%3Aword%40%2F%25%3F@{place}"
        with pytest.raises(MailError, match="SSLCertVerificationError"):
            _send(right)
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))
        _send(right)
        assert len(server.mails) == 1
        with pytest.raises(MailError, match=r"answered 535 \(SMTPAuthenticationError\)"):
            _send(f"{scheme}://user:wrong@{place}")
        asyncio.run(_mailer(right).check())
    finally:
        controller.stop()
    with pytest.raises(MailError):
        asyncio.run(_mailer(right).check())


# --- a folder -------------------------------------------------------------------------------------


def test_a_folder_keeps_mails(tmp_path: Path) -> None:
    folder = tmp_path / "var" / "outbox"
    os.umask(os.umask(0o022))
    for number in range(3):
        _send(f"file:{folder}", text=f"{number}\n")
    found = sorted(folder.iterdir())
    assert [_read(path.read_bytes()).get_content() for path in found] == ["0\n", "1\n", "2\n"]
    assert {path.suffix for path in found} == {".eml"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in found} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    mailer = _mailer(f"file:{tmp_path}/file/outbox")
    with pytest.raises(MailError):
        asyncio.run(mailer.send(TO, "s", "t"))
    with pytest.raises(MailError, match="is not a writable folder"):
        asyncio.run(mailer.check())
    asyncio.run(_mailer(f"file:{tmp_path}/new/outbox").check())
    assert not (tmp_path / "new").exists()


# --- what could be smuggled in --------------------------------------------------------------------

SMUGGLED = [
    *("jo@receiver.test\nBcc: x@y.test", "jo@receiver.test\r\nSubject: x", "jo@receiver.test,x@y.test", "a b@c.test"),
    *("jo@receiver.test, x@y.test", "<jo@receiver.test>", "Jo <jo@receiver.test>", "jo@receiver.test\0", "@x.test"),
    *("jo@receiver.test>\nRCPT TO:<x@y.test", "jo", "jo@", "", "x" * 250 + "@y.test", "jo(a comment)@receiver.test"),
    *("jo;x@receiver.test", "jo@receiver.test\u2028x", "jo@[127.0.0.1", "group:jo@receiver.test;", '"\\"@x.test'),
]


@pytest.mark.parametrize("to", SMUGGLED)
def test_a_recipient_is_an_address_and_nothing_else(tmp_path: Path, to: str) -> None:
    with pytest.raises(MailRefused):
        _send(f"file:{tmp_path}/outbox", to)
    assert not (tmp_path / "outbox").exists()


def test_a_subject_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="linefeed"):
        _send(f"file:{tmp_path}/outbox", subject="Your code\nBcc: x@y.test")


# --- settings -------------------------------------------------------------------------------------


def test_no_mailer_is_the_default() -> None:
    assert open_mailer(Settings()) is None


@pytest.mark.parametrize(
    "url",
    ["smtp://", "mail.test:25", "http://mail.test", "smtp://u:secret@m.test:port", "smtp://u:secret@m.test?tls=maybe",
     "smtps://u:secret@m.test?tls=none", "smtp://u:secret@m.test?ssl=1", "file:", "file://host/outbox"],
)  # fmt: skip
def test_addresses_that_cannot_be_read(url: str) -> None:
    with pytest.raises(SettingsError, match=r"^SITEGLASS_MAIL_URL: ") as caught:
        open_mailer(Settings(mail_url=url, mail_from=FROM))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("sender", ["", "Siteglass", "a@b.test\nBcc: x@y.test", "a b@c.test"])
def test_a_sender_is_needed(sender: str) -> None:
    with pytest.raises(SettingsError, match=r"^SITEGLASS_MAIL_FROM: expected an address such as"):
        open_mailer(Settings(mail_url="file:x", mail_from=sender))


def test_the_password_is_not_shown() -> None:
    assert "hush" not in repr(Settings(mail_url="smtp://user:hush@mail.test"))
    assert _mailer("smtp://user:hush@mail.test").place == "mail.test:587"
    assert _mailer("smtps://user:hush@mail.test").place == "mail.test:465"
