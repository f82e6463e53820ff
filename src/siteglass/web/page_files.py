"""Files that pages load: read once from a package, sent packed to those who can unpack, and kept by browsers for good.

Their address holds a digest of all of them, so it changes whenever one of them does.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response

from siteglass.errors import NotFound

# What was loaded once need never be asked for again.
_HEADERS = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
_MEDIA_TYPES = {
    "js": "text/javascript",
    "json": "application/json",
    "css": "text/css",
    "svg": "image/svg+xml",
    "png": "image/png",
}


@dataclass(frozen=True, slots=True)
class _File:
    """A file as it is sent: plain, and packed where that is shorter."""

    media_type: str
    plain: bytes
    packed: bytes | None


class PageFiles:
    """The files of a page, or of several that share them, kept in memory.

    `paths` are those inside the folder of the package, `name.js.gz` for a file that is kept packed; a file is asked for
    by its last part, `name.js`, below the path `under` of the service.
    """

    def __init__(self, package: str, folder: str, paths: Sequence[str], *, under: str) -> None:
        self._files = dict(_read(files(package).joinpath(folder, path)) for path in paths)
        digest = hashlib.sha256()
        for name, file in sorted(self._files.items()):
            digest.update(name.encode() + b"\0" + hashlib.sha256(file.plain).digest())
        self.version = digest.hexdigest()[:16]
        self.route = under + "/{version}/{name}"
        self.address = f"{under}/{self.version}"

    def path(self, name: str) -> str:
        """Where a page finds this file."""
        if name not in self._files:
            raise KeyError(f"{name} is not among the files of these pages: {', '.join(self._files)}")
        return f"{self.address}/{name}"

    def answer(self, request: Request, headers: Mapping[str, str]) -> Response:
        """The file that a request along `route` asks for, with the headers of the page besides its own."""
        file = self._files.get(request.path_params["name"])
        if file is None or request.path_params["version"] != self.version:
            raise NotFound(request.url.path[:200])
        sent = {**headers, **_HEADERS}
        if file.packed is not None and _takes_gzip(request.headers.get("accept-encoding", "")):
            return Response(file.packed, 200, {**sent, "Content-Encoding": "gzip"}, file.media_type)
        return Response(file.plain, 200, sent, file.media_type)


def _read(path: Traversable) -> tuple[str, _File]:
    content = path.read_bytes()
    name = path.name.removesuffix(".gz")
    kept_packed = name != path.name
    plain = gzip.decompress(content) if kept_packed else content
    packed = content if kept_packed else gzip.compress(content, mtime=0)
    return name, _File(_MEDIA_TYPES[name.rpartition(".")[2]], plain, packed if len(packed) < len(plain) else None)


def _takes_gzip(accepted: str) -> bool:
    """Whether a list such as `br, gzip;q=0.5` names gzip and does not refuse it."""
    for coding in accepted.lower().split(","):
        name, _, weight = coding.partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
