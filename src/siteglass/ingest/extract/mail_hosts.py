"""The provider that receives the mail of a domain: MX records from an archive's DNS data, matched with `mail.toml`."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files

from siteglass.ingest.capture import Capture

_MX = re.compile(rb"^\S{1,255}[ \t]+\d{1,10}[ \t]+IN[ \t]+MX[ \t]+\d{1,5}[ \t]+(\S{1,255})[ \t]*\r?$", re.MULTILINE)


def mail_technologies(capture: Capture) -> tuple[str, ...]:
    """Services that receive the mail, sorted."""
    hosts = [found.decode("ascii", "replace").lower().rstrip(".") for found in _MX.findall(capture.body)]
    known = mail_hosts()
    return tuple(sorted({known[end] for host in hosts for end in _ends(host) if end in known}))


@cache
def mail_hosts() -> dict[str, str]:
    """Host -> technology."""
    text = files("siteglass.ingest.extract.technologies").joinpath("mail.toml").read_text("utf-8")
    return {host: name for name, hosts in tomllib.loads(text).items() for host in hosts}


def _ends(host: str) -> list[str]:
    """The name and those that it is below."""
    labels = host.split(".")
    return [".".join(labels[number:]) for number in range(len(labels))]
