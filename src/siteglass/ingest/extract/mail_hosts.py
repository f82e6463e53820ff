"""The provider that receives the mail of a domain: MX records from an archive's DNS data, matched with `mail.toml`."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files

from siteglass.ingest.capture import Capture
from siteglass.ingest.extract.technologies.excerpts import Found, excerpt_of
from siteglass.ingest.facts import TechnologyMark

_MX = re.compile(rb"^\S{1,255}[ \t]+\d{1,10}[ \t]+IN[ \t]+(MX[ \t]+\d{1,5}[ \t]+(\S{1,255}))[ \t]*\r?$", re.MULTILINE)


def mail_marks(capture: Capture) -> tuple[TechnologyMark, ...]:
    """Services that receive the mail, sorted, each with the first record that names it."""
    known, found = mail_hosts(), dict[str, TechnologyMark]()
    for record, host in _MX.findall(capture.body):
        for end in _ends(host.decode("ascii", "replace").lower().rstrip(".")):
            if name := known.get(end):
                text = record.decode("ascii", "replace")
                excerpt = excerpt_of(Found("dns", text, 0, len(text)))
                found.setdefault(name, TechnologyMark(name, "dns", end, excerpt))
    return tuple(found[name] for name in sorted(found))


@cache
def mail_hosts() -> dict[str, str]:
    """Host -> technology."""
    text = files("siteglass.ingest.extract.technologies").joinpath("mail.toml").read_text("utf-8")
    return {host: name for name, hosts in tomllib.loads(text).items() for host in hosts}


def _ends(host: str) -> list[str]:
    """The name and those that it is below."""
    labels = host.split(".")
    return [".".join(labels[number:]) for number in range(len(labels))]
