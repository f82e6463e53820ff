"""The address and the key that `sg login` stores, and which of several given ones is used."""

from __future__ import annotations

import json
import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

from siteglass_client.cli.failures import NOT_AUTHORISED, WRONG_INPUT, Failure

MAX_FILE_BYTES = 64 * 1024


@dataclass(frozen=True, repr=False)
class Credentials:
    """An address and a key; never shown as a whole."""

    url: str
    key: str


def credentials_path() -> Path:
    """Where they are stored."""
    folder = os.environ.get("XDG_CONFIG_HOME", "")
    # A relative folder would be another one in each working directory.
    base = Path(folder) if Path(folder).is_absolute() else Path.home() / ".config"
    return base / "siteglass" / "credentials"


def store(given: Credentials) -> Path:
    """Write the file, readable by its owner alone from its first byte on; it is there whole or not at all."""
    path = credentials_path()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    unfinished.unlink(missing_ok=True)
    opened = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(opened, "w", encoding="utf-8") as file:
        json.dump({"url": given.url, "key": given.key}, file)
        file.write("\n")
    os.replace(unfinished, path)
    return path


def stored() -> Credentials | None:
    """What `sg login` stored; None if it never did."""
    path = credentials_path()
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES)
            mode = os.fstat(file.fileno()).st_mode
    except FileNotFoundError:
        return None
    if sys.platform != "win32" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        print(f"sg: Others can read your key. Mend it: chmod 600 {path}", file=sys.stderr)
    try:
        told = json.loads(raw)
        return Credentials(str(told["url"]), str(told["key"]))
    except (ValueError, KeyError, TypeError):
        raise Failure(f"{path} cannot be read. Run `sg login` to write it anew.", WRONG_INPUT) from None


def chosen(url: str | None, key: str | None) -> Credentials:
    """Options win over the environment, and that over what is stored."""
    url = url or os.environ.get("SITEGLASS_URL") or None
    key = key or os.environ.get("SITEGLASS_API_KEY") or None
    if url and key:
        return Credentials(url, key)
    kept = stored()
    if kept is None:
        missing = "API key" if url else "address of the service" if key else "address of the service and no API key"
        raise Failure(
            f"There is no {missing}. Run `sg login`, or set SITEGLASS_URL and SITEGLASS_API_KEY.", NOT_AUTHORISED
        )
    if url and url.rstrip("/") != kept.url.rstrip("/"):
        # A stored key goes to the address that it was stored with, and nowhere else.
        raise Failure(
            f"The stored key is for {kept.url}, not for {url}. Set SITEGLASS_API_KEY, or run `sg login --url {url}`.",
            NOT_AUTHORISED,
        )
    return Credentials(kept.url, key or kept.key)
