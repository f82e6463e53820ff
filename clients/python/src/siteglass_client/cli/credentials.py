"""The address and the key that `sgl login` stores, and which of several given ones is used."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from siteglass_client.cli.failures import NOT_AUTHORISED, WRONG_INPUT, Failure
from siteglass_client.cli.keyrings import Keyring, KeyringFailed

MAX_FILE_BYTES = 64 * 1024
WITHOUT_FILE = "Set XDG_CONFIG_HOME to another folder, or set SITEGLASS_URL and SITEGLASS_API_KEY, which need no file."


@dataclass(frozen=True, repr=False)
class Credentials:
    """An address and a key; never shown as a whole."""

    url: str
    key: str
    key_from: str = "--key"
    """Where the key was found, in words of a user."""


def credentials_path() -> Path:
    """Where they are stored."""
    folder = os.environ.get("XDG_CONFIG_HOME", "")
    # A relative folder would be another one in each working directory.
    try:
        base = Path(folder) if Path(folder).is_absolute() else Path.home() / ".config"
    except RuntimeError:
        raise Failure(f"There is no home folder to store a key in. {WITHOUT_FILE}", WRONG_INPUT) from None
    return base / "siteglass" / "credentials"


def store(given: Credentials, keyring: Keyring | None = None) -> str:
    """Keep an address and its key, in a keyring or in the file; returns where the key is.

    What an earlier login left in a keyring is removed, where that can be done.
    """
    url = given.url
    before = _before()
    if keyring is None:
        place = str(_write({"url": url, "key": given.key}))
    else:
        keyring.put(url, given.key)
        _write({"url": url, "keyring": keyring.name})
        place = f"the keyring ({keyring.name})"
    if before is not None and "key" not in before and (keyring is None or before["url"] != url):
        with contextlib.suppress(KeyringFailed):
            Keyring().remove(before["url"])
    return place


def _before() -> dict[str, Any] | None:
    """What an earlier login wrote, if it can be read."""
    try:
        return _read()
    except Failure:
        return None


def _write(told: dict[str, str]) -> Path:
    """Write the file, readable by its owner alone from its first byte on; it is there whole or not at all."""
    path = credentials_path()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished = path.with_name(f"{path.name}.{os.getpid()}")
        unfinished.unlink(missing_ok=True)
        opened = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(opened, "w", encoding="utf-8") as file:
            json.dump(told, file)
            file.write("\n")
        os.replace(unfinished, path)
    except OSError as error:
        raise Failure(f"{path} cannot be written: {error.strerror}. {WITHOUT_FILE}", WRONG_INPUT) from None
    return path


def _read() -> dict[str, Any] | None:
    """What `sgl login` wrote: an address, and its key or the name of the keyring that has it; None if it never did."""
    path = credentials_path()
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES)
            mode = os.fstat(file.fileno()).st_mode
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Failure(f"{path} cannot be read: {error.strerror}. {WITHOUT_FILE}", WRONG_INPUT) from None
    try:
        told = json.loads(raw)
        kept = {"url": str(told["url"])}
        kept |= {"key": str(told["key"])} if "key" in told else {"keyring": str(told["keyring"])}
    except (ValueError, KeyError, TypeError):
        raise Failure(f"{path} cannot be read. Run `sgl login` to create it again.", WRONG_INPUT) from None
    if "key" in kept and sys.platform != "win32" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        print(f"sgl: Other users can read your key. Fix it: chmod 600 {path}", file=sys.stderr)
    return kept


def forget() -> tuple[str, str] | None:
    """Remove what is stored; returns the address, and where the key was. None if nothing is stored."""
    path = credentials_path()
    if not path.exists():
        return None
    kept = _before() or {"url": "an unknown address", "key": ""}  # a file that cannot be read is to go, too
    place = str(path)
    if "key" not in kept:
        place = f"the keyring ({kept['keyring']})"
        try:
            Keyring().remove(kept["url"])
        except KeyringFailed as error:
            then = f"The key is still in {place}. Run `sgl logout` where the keyring can be unlocked, or delete {path}."
            raise KeyringFailed(error.reason, then) from None
    path.unlink(missing_ok=True)
    return kept["url"], place


def chosen(url: str | None, key: str | None) -> Credentials:
    """Options win over the environment, and that over what is stored."""
    key_from = "--key" if key else "SITEGLASS_API_KEY"
    url = url or os.environ.get("SITEGLASS_URL") or None
    key = key or os.environ.get("SITEGLASS_API_KEY") or None
    if url and key:
        return Credentials(url, key, key_from)
    kept = _read()
    if kept is None:
        missing = "API key" if url else "service URL" if key else "service URL or API key"
        raise Failure(
            f"No {missing} is set. Run `sgl login`, or set SITEGLASS_URL and SITEGLASS_API_KEY.", NOT_AUTHORISED
        )
    if url and url.rstrip("/") != kept["url"].rstrip("/"):
        # A stored key goes to the address that it was stored with, and nowhere else.
        raise Failure(
            f"The stored key is for {kept['url']}, not for {url}. Set SITEGLASS_API_KEY, or run "
            f"`sgl login --url {url}`.",
            NOT_AUTHORISED,
        )
    if key:
        return Credentials(kept["url"], key, key_from)
    if "key" in kept:
        return Credentials(kept["url"], kept["key"], str(credentials_path()))
    return _from_keyring(kept["url"])


def _from_keyring(url: str) -> Credentials:
    again = "Unlock it, set SITEGLASS_API_KEY, or run `sgl login` to store the key in a file that only you can read."
    try:
        keyring = Keyring()
        key = keyring.get(url)
    except KeyringFailed as error:
        raise Failure(f"The key is in the keyring. {error.reason} {again}", NOT_AUTHORISED) from None
    if key is None:
        raise Failure(
            f"The keyring ({keyring.name}) no longer has a key for {url}. Run `sgl login --keyring` again.",
            NOT_AUTHORISED,
        )
    return Credentials(url, key, f"the keyring ({keyring.name})")
