"""The page at /opt-out, for people whom the data is about."""

from __future__ import annotations

import html

from starlette.requests import Request

from siteglass.privacy.operations import OPT_OUT_PAGE
from siteglass.privacy.requests import contact
from siteglass.settings import Settings
from siteglass.web.pages import STYLES, StaticPage

_FILES = (*STYLES, "opt_out.js", "icon.svg")
_WRITE = """\
<p>
        Write to <a href="mailto:{contact}">{contact}</a> from the address in question, and say what you would like.
        Write to us, too, if the page reports too many attempts: others may have asked about the same address. For a
        phone number, this is the only way.
      </p>"""


class OptOutPage(StaticPage):
    """Without JavaScript it says whom to write to, and what to call."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(OPT_OUT_PAGE, "opt_out.html", _FILES)
        write_to = html.escape(contact(settings))
        self._write = _WRITE.replace("{contact}", write_to) if write_to else ""

    def html(self, request: Request) -> str:
        base_url = html.escape(str(request.base_url).rstrip("/"))
        return self._html.replace("{write}", self._write).replace("{base_url}", base_url)
