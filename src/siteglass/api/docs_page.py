"""The page at /docs that shows the OpenAPI document: read once from the package, served with nothing from elsewhere."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

from siteglass.api.guard import Call, Service
from siteglass.api.operations import DOCS
from siteglass.api.responses import SAFE_HEADERS
from siteglass.errors import NotFound

FILES_PATH = DOCS.path + "/{version}/{name}"

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
_FILES = ("docs.css", "docs.js", "icon.svg", "swagger-ui/swagger-ui-bundle.js.gz", "swagger-ui/swagger-ui.css.gz")


@dataclass(frozen=True, slots=True)
class _File:
    """A file as it is sent: plain, and packed where it is kept so."""

    media_type: str
    plain: bytes
    packed: bytes | None


def _read(path: str) -> tuple[str, _File]:
    content = files("siteglass.api").joinpath("docs_files").joinpath(path).read_bytes()
    name = path.rpartition("/")[2].removesuffix(".gz")
    media_type = _MEDIA_TYPES[name.rpartition(".")[2]]
    packed = content if path.endswith(".gz") else None
    return name, _File(media_type, content if packed is None else gzip.decompress(packed), packed)


class DocsPage:
    """The page and its files, kept in memory."""

    def __init__(self) -> None:
        self._files = dict(_read(path) for path in _FILES)
        digest = hashlib.sha256()
        for name, file in sorted(self._files.items()):
            digest.update(name.encode() + b"\0" + hashlib.sha256(file.plain).digest())
        self._version = digest.hexdigest()[:16]
        template = files("siteglass.api").joinpath("docs_files").joinpath("docs.html").read_text("utf-8")
        self._html = template.replace("{files}", f"{DOCS.path}/{self._version}").encode()

    async def page(self, _service: Service, _request: Request, _call: Call) -> Response:
        """The HTML."""
        return Response(self._html, 200, HEADERS, "text/html")

    async def file(self, _service: Service, request: Request, _call: Call) -> Response:
        """What the HTML asks for."""
        file = self._files.get(request.path_params["name"])
        if file is None or request.path_params["version"] != self._version:
            raise NotFound(request.url.path[:200])
        if file.packed is not None and _takes_gzip(request.headers.get("accept-encoding", "")):
            return Response(file.packed, 200, {**FILE_HEADERS, "Content-Encoding": "gzip"}, file.media_type)
        return Response(file.plain, 200, FILE_HEADERS, file.media_type)


def _takes_gzip(accepted: str) -> bool:
    """Whether a list such as `br, gzip;q=0.5` names gzip and does not refuse it."""
    for coding in accepted.lower().split(","):
        name, _, weight = coding.partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
