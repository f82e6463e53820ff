"""A keyring that works without a desktop: passwords in the file that FILE_KEYRING names. For tests alone.

`PYTHON_KEYRING_BACKEND=tests.client.file_keyring.FileKeyring` makes it that of a process.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError


class FileKeyring(KeyringBackend):
    """Service and user -> password; locked while a file of the same name with `.locked` is there."""

    priority = 1.0

    @property
    def name(self) -> str:
        return "File keyring"

    @property
    def _path(self) -> Path:
        path = Path(os.environ["FILE_KEYRING"])
        if path.with_name(path.name + ".locked").exists():
            raise KeyringLocked("the collection is locked")
        return path

    def _kept(self) -> dict[str, str]:
        kept: dict[str, str] = json.loads(self._path.read_text()) if self._path.exists() else {}
        return kept

    def set_password(self, service: str, username: str, password: str) -> None:
        self._path.write_text(json.dumps({**self._kept(), f"{service} {username}": password}))

    def get_password(self, service: str, username: str) -> str | None:
        return self._kept().get(f"{service} {username}")

    def delete_password(self, service: str, username: str) -> None:
        kept = self._kept()
        if kept.pop(f"{service} {username}", None) is None:
            raise PasswordDeleteError("not there")
        self._path.write_text(json.dumps(kept))
