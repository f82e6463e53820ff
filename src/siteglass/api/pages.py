"""The pages of the service: /docs shows the OpenAPI document, /opt-out is for people whom the data is about.

Their files are read once from the package, and served with nothing from elsewhere.
"""

from __future__ import annotations

import gzip
import hashlib
import html
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response

from siteglass.api.guard import Call, Service
from siteglass.api.operations import DOCS, OPT_OUT_PAGE, Declared
from siteglass.api.responses import SAFE_HEADERS
from siteglass.api.subject_requests import contact
from siteglass.errors import NotFound

# Nothing but our own files may be loaded, run, framed or called. Icons inside the viewer's stylesheet are data.
HEADERS = {
    **SAFE_HEADERS,
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
}
# The address of a file changes with what the files say, so what was loaded once need never be asked for again.
FILE_HEADERS = {**HEADERS, "Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}

_MEDIA_TYPES = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
_DOCS_FILES = ("docs.css", "docs.js", "icon.svg", "swagger-ui/swagger-ui-bundle.js.gz", "swagger-ui/swagger-ui.css.gz")
_WRITE = """\
<p>
        Write to <a href="mailto:{contact}">{contact}</a> from the address that it is about, and say what you would
        like. Do so, too, if you are told of too many tries: others may have asked about the same address. For a phone
        number this is the only way.
      </p>"""
_OPT_OUT_FILES = ("opt_out.css", "opt_out.js", "icon.svg")


@dataclass(frozen=True, slots=True)
class _File:
    """A file as it is sent: plain, and packed where it is kept so."""

    media_type: str
    plain: bytes
    packed: bytes | None


def _folder() -> Traversable:
    return files("siteglass.api").joinpath("page_files")


def _read(path: str) -> tuple[str, _File]:
    content = _folder().joinpath(path).read_bytes()
    name = path.rpartition("/")[2].removesuffix(".gz")
    media_type = _MEDIA_TYPES[name.rpartition(".")[2]]
    packed = content if path.endswith(".gz") else None
    return name, _File(media_type, content if packed is None else gzip.decompress(packed), packed)


class Page:
    """A page and its files, kept in memory."""

    def __init__(self, declared: Declared, name: str, paths: Sequence[str]) -> None:
        self._files = dict(_read(path) for path in paths)
        digest = hashlib.sha256()
        for file_name, file in sorted(self._files.items()):
            digest.update(file_name.encode() + b"\0" + hashlib.sha256(file.plain).digest())
        self._version = digest.hexdigest()[:16]
        self.files_path = declared.path + "/{version}/{name}"
        template = _folder().joinpath(name).read_text("utf-8")
        self._html = template.replace("{files}", f"{declared.path}/{self._version}")

    def html(self, _service: Service, _request: Request) -> str:
        """What is sent to this caller."""
        return self._html

    async def page(self, service: Service, request: Request, _call: Call) -> Response:
        """The HTML."""
        return Response(self.html(service, request).encode(), 200, HEADERS, "text/html")

    async def file(self, _service: Service, request: Request, _call: Call) -> Response:
        """What the HTML asks for."""
        file = self._files.get(request.path_params["name"])
        if file is None or request.path_params["version"] != self._version:
            raise NotFound(request.url.path[:200])
        if file.packed is not None and _takes_gzip(request.headers.get("accept-encoding", "")):
            return Response(file.packed, 200, {**FILE_HEADERS, "Content-Encoding": "gzip"}, file.media_type)
        return Response(file.plain, 200, FILE_HEADERS, file.media_type)


def docs_page() -> Page:
    """The page at /docs."""
    return Page(DOCS, "docs.html", _DOCS_FILES)


class OptOutPage(Page):
    """The page at /opt-out: without JavaScript it says whom to write to, and what to call."""

    def __init__(self) -> None:
        super().__init__(OPT_OUT_PAGE, "opt_out.html", _OPT_OUT_FILES)

    def html(self, service: Service, request: Request) -> str:
        write_to = html.escape(contact(service.backends.settings))
        write = _WRITE.replace("{contact}", write_to) if write_to else ""
        base_url = html.escape(str(request.base_url).rstrip("/"))
        return self._html.replace("{write}", write).replace("{base_url}", base_url)


def _takes_gzip(accepted: str) -> bool:
    """Whether a list such as `br, gzip;q=0.5` names gzip and does not refuse it."""
    for coding in accepted.lower().split(","):
        name, _, weight = coding.partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
