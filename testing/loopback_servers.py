"""Servers of the tests' own on loopback: a DNS server, a web server, an SMTP server, and a certificate for them."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingUDPServer
from typing import Any

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass
class Names:
    """What the DNS server knows: records by name and type, the last answer of several again and again."""

    port: int = 0
    records: dict[tuple[str, str], list[list[str]]] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    broken: bool = False
    broken_kinds: tuple[str, ...] = ()
    silent: bool = False

    def say(self, name: str, kind: str, *answers: list[str]) -> None:
        """Answer a question with each of these in turn."""
        self.records[name, kind] = list(answers)

    def answer(self, wire: bytes) -> bytes | None:
        """What goes back, if anything."""
        query = dns.message.from_wire(wire)
        (question,) = query.question
        name, kind = question.name.to_text(omit_final_dot=True).lower(), dns.rdatatype.to_text(question.rdtype)
        self.asked.append((name, kind))
        if self.silent:
            return None
        response = dns.message.make_response(query)
        response.flags |= dns.flags.RA
        if self.broken or kind in self.broken_kinds:
            response.set_rcode(dns.rcode.SERVFAIL)
        elif answers := self.records.get((name, kind)) or self.records.get(("*." + name.partition(".")[2], kind)):
            texts = answers.pop(0) if len(answers) > 1 else answers[0]
            if texts:
                response.answer.append(dns.rrset.from_text_list(question.name, 0, "IN", kind, texts))
        elif not any(known == name for known, _ in self.records):
            response.set_rcode(dns.rcode.NXDOMAIN)
        return response.to_wire()


@contextmanager
def naming() -> Iterator[Names]:
    """The DNS server, while it listens."""
    names = Names()

    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            wire, connection = self.request
            if (answer := names.answer(wire)) is not None:
                connection.sendto(answer, self.client_address)

    with running(ThreadingUDPServer(("127.0.0.1", 0), Handler)) as port:
        names.port = port
        yield names


@dataclass
class Site:
    """What the web server answers from now on, and what it was asked so far."""

    port: int = 0
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0
    asked: list[tuple[str, str]] = field(default_factory=list)

    def say(self, body: str | bytes = b"", status: int = 200, **headers: str) -> None:
        """Answer everybody so."""
        self.body, self.status, self.headers = (body.encode() if isinstance(body, str) else body), status, headers


@contextmanager
def hosting(tls: ssl.SSLContext | None = None, *, version: str = "HTTP/1.0") -> Iterator[Site]:
    """The web server, while it listens."""
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = version

        def do_GET(self) -> None:
            site.asked.append((self.headers.get("Host", "").partition(":")[0], self.path))
            time.sleep(site.delay_s)
            self.send_response(site.status)
            for name, value in {"Content-Length": str(len(site.body)), **site.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(site.body)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            pass  # whoever asked did not read all of it

    server = Server(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    with running(server) as port:
        site.port = port
        yield site


@contextmanager
def running(server: Any) -> Iterator[int]:
    """The port of a server, which runs meanwhile."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join(5)
        server.server_close()


def certificate(folder: Path, *names: str) -> tuple[Path, Path]:
    """Certificate and key for these names and loopback, signed by itself, as files."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])
    now = datetime.datetime.now(datetime.UTC)
    alternatives: list[x509.GeneralName] = [x509.DNSName(name) for name in names]
    alternatives.append(x509.IPAddress(ipaddress.ip_address("127.0.0.1")))
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .sign(key, hashes.SHA256())
    )
    certificate_path, key_path = folder / "certificate.pem", folder / "key.pem"
    certificate_path.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return certificate_path, key_path
