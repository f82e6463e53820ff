"""Made-up sites on loopback as a small web for the crawler: DNS, HTTP and HTTPS, each site under its own name.

`environment` has the settings that lead a crawler there: DNS servers, ports, the networks that it may connect to, and
the certificate. Several sites share an address, as with real hosters. A site that `change` was called for serves other
pages from then on. Nothing listens on addresses outside of 127.0.0.0/8.
"""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import ssl
import zlib
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import dns.exception
import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from siteglass.settings import variable
from siteglass_demo.sites import other_pages
from siteglass_demo.sites.history import after_change
from siteglass_demo.sites.label import Served, Site
from siteglass_demo.sites.serve import serve
from siteglass_demo.sites.warc import packed

NETWORK, PORT = "127.18", 18180
# All names are in one certificate, and TLS clients accept 100 kB of it.
MAX_SITES = 1_000
_SITES_PER_ADDRESS = 8
# A crawler waits ten times as long as an answer took: with the true load times, a small crawl would take an hour.
_HURRY = 20


class DemoWeb:
    """The sites, their names, and what they serve. HTTP is on `port`, HTTPS on the next, DNS on the one after."""

    def __init__(self, sites: Iterable[Site], folder: Path, *, network: str = NETWORK, port: int = PORT) -> None:
        self.sites = {site.domain: site for site in sites}
        if len(self.sites) > MAX_SITES:
            raise ValueError(f"{len(self.sites)} sites: at most {MAX_SITES} fit into one certificate")
        self._folder, self._network, self._port = folder, network, port
        self._pages: dict[str, dict[tuple[str, str], Served]] = {}
        self._domains: dict[str, str] = {}
        self._secure: set[str] = set()
        for domain in self.sites:
            self._show(self.sites[domain])

    @property
    def environment(self) -> dict[str, str]:
        """Settings for a crawler."""
        return {
            variable("dns_servers"): f"{self._network}.0.1:{self._port + 2}",
            variable("outgoing_allowed"): f"{self._network}.0.0/16",
            variable("crawl_http_port"): str(self._port),
            variable("crawl_https_port"): str(self._port + 1),
            variable("crawl_contact"): "https://crawler.example/",
            "SSL_CERT_FILE": str((self._folder / "certificate.pem").absolute()),
        }

    def change(self, domain: str) -> Site | None:
        """Let a site serve other pages; returns what is true of it now. None: there is no such site."""
        if domain in self.sites:
            self.sites[domain] = after_change(self.sites[domain])
            self._show(self.sites[domain])
        return self.sites.get(domain)

    def address(self, host: str) -> str | None:
        """Where a name leads; None if there is no such name."""
        if (domain := self._domains.get(host.lower())) is None:
            return None
        number = self.sites[domain].number // _SITES_PER_ADDRESS
        return f"{self._network}.{number // 250 + 1}.{number % 250 + 1}"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve meanwhile."""
        self._folder.mkdir(parents=True, exist_ok=True)
        tls = _tls(self._folder, self._domains)
        # What only speaks HTTP refuses TLS, as its server would.
        tls.sni_callback = lambda _socket, name, _context: (
            None if name in self._secure else ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        )
        addresses = sorted({address for host in self._domains if (address := self.address(host))})
        loop = asyncio.get_running_loop()
        async with AsyncExitStack() as stack:
            server = web.Server(self._answer)
            stack.push_async_callback(server.shutdown, 1)
            for port, context in ((self._port, None), (self._port + 1, tls)):
                listener = await loop.create_server(server, addresses, port, ssl=context)
                stack.callback(listener.close)
            place = (f"{self._network}.0.1", self._port + 2)
            transport, _ = await loop.create_datagram_endpoint(lambda: _Dns(self), local_addr=place)
            stack.callback(transport.close)
            yield

    def _show(self, site: Site) -> None:
        pages: dict[tuple[str, str], Served] = {}
        for page in serve(site):
            parts = urlsplit(page.url)
            host = str(parts.hostname)
            self._domains[host] = site.domain
            if parts.scheme == "https":
                self._secure.add(host)
            # Some captures are of the same address at other times, or were cut by a crawler.
            if page.status != 304 and not page.revisit and not page.truncated:
                target = f"{parts.path}?{parts.query}" if parts.query else parts.path
                pages.setdefault((f"{parts.scheme}://{host}", target), page)
        self._pages[site.domain] = pages

    async def _answer(self, request: web.BaseRequest) -> web.Response:
        host = (request.url.host or "").lower()
        site = self._pages.get(self._domains.get(host, ""), {})
        page = site.get((f"{request.scheme}://{host}", request.path_qs))
        if page is None:
            return web.Response(status=404, text=other_pages.error(404), content_type="text/html")
        etag = f'"{zlib.crc32(page.body):x}"'
        await asyncio.sleep(page.load_time_ms / 1000 / _HURRY)
        if page.status == 200 and request.headers.get("If-None-Match") == etag:
            return web.Response(status=304, headers={"ETag": etag})
        headers = [(name, value) for name, value in page.headers if name != "Date"]
        if page.status == 200:
            headers.append(("ETag", etag))
        accepted = page.content_encoding in request.headers.get("Accept-Encoding", "")
        if not (page.content_encoding and accepted):
            return web.Response(status=page.status, headers=headers, body=page.body)
        headers.append(("Content-Encoding", page.content_encoding))
        return web.Response(status=page.status, headers=headers, body=packed(page.body, page.content_encoding))


class _Dns(asyncio.DatagramProtocol):
    """Knows the A records of the web."""

    def __init__(self, served: DemoWeb) -> None:
        self._web = served

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what answers are sent with."""
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
        """Answer a question."""
        try:
            query = dns.message.from_wire(data)
            (question,) = query.question
        except (dns.exception.DNSException, ValueError):
            return
        response = dns.message.make_response(query)
        response.flags |= dns.flags.RA
        found = self._web.address(question.name.to_text(omit_final_dot=True))
        if found is None:
            response.set_rcode(dns.rcode.NXDOMAIN)
        elif question.rdtype == dns.rdatatype.A:
            response.answer.append(dns.rrset.from_text(question.name, 60, "IN", "A", found))
        self._transport.sendto(response.to_wire(), address)


def _tls(folder: Path, hosts: Iterable[str]) -> ssl.SSLContext:
    """A certificate for all names, signed by itself; only its public part stays in the folder."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "made-up web")])
    names: list[x509.GeneralName] = [x509.DNSName(host) for host in sorted(hosts)]
    names.append(x509.IPAddress(ipaddress.ip_address("127.0.0.1")))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    encoding, private = serialization.Encoding.PEM, folder / "key.pem"
    public = folder / "certificate.pem"
    public.write_bytes(certificate.public_bytes(encoding))
    private.touch(mode=0o600)
    private.write_bytes(key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(public, private)
    private.unlink()
    return context
