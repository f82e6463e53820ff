"""The keyring of the system, through the extra `keyring`: what it does, and one line for each way it can fail.

Backends are third-party plugins and may raise anything: all their exceptions are caught here.
"""

from __future__ import annotations

from typing import Any

from siteglass_client.cli.failures import WRONG_INPUT, Failure
from siteglass_client.errors import MissingExtra
from siteglass_client.parquet import load_package

SERVICE = "siteglass"
"""The name under which a keyring shows the key; the user is the address of the service."""
# What the package falls back to: the one fails at each call, the other forgets what it is given.
USELESS = ("keyring.backends.fail", "keyring.backends.null")
INSTEAD = (
    "Without --keyring, `sgl login` stores the key in a file that only you can read; SITEGLASS_API_KEY needs neither."
)


class KeyringFailed(Failure):
    """The keyring of the system cannot be used."""

    def __init__(self, reason: str, then: str) -> None:
        super().__init__(f"{reason} {then}", WRONG_INPUT)
        self.reason = reason


class Keyring:
    """The keyring that this system uses."""

    def __init__(self) -> None:
        try:
            self._package: Any = load_package("keyring", "keyring")
        except MissingExtra as error:
            raise KeyringFailed(str(error), INSTEAD) from None
        try:
            backend = self._package.get_keyring()
            self.name = str(backend.name)
        except Exception as error:
            raise KeyringFailed(f"The system keyring cannot be set up: {_reason(error)}.", INSTEAD) from None
        if type(backend).__module__ in USELESS:
            raise KeyringFailed("This system has no usable keyring, which is normal without a desktop.", INSTEAD)

    def put(self, url: str, key: str) -> None:
        """Keep the key of an address; it is read back, so that a login is not believed in vain."""
        try:
            self._package.set_password(SERVICE, url, key)
        except Exception as error:
            raise _failed("It did not accept the key", error) from None
        if self.get(url) != key:
            raise KeyringFailed(f"The keyring ({self.name}) accepted the key, but does not return it.", INSTEAD)

    def get(self, url: str) -> str | None:
        """The key of an address; None if it is not there."""
        try:
            key: str | None = self._package.get_password(SERVICE, url)
        except Exception as error:
            raise _failed("It did not return the key", error) from None
        return key

    def remove(self, url: str) -> None:
        """Forget the key of an address, if it is there."""
        if self.get(url) is None:
            return
        try:
            self._package.delete_password(SERVICE, url)
        except Exception as error:
            raise _failed("It did not remove the key", error) from None


def _failed(what: str, error: Exception) -> KeyringFailed:
    return KeyringFailed(f"The system keyring failed. {what}: {_reason(error)}. Is it unlocked?", INSTEAD)


def _reason(error: Exception) -> str:
    return (" ".join(str(error).split()) or type(error).__name__)[:200].rstrip(".")
