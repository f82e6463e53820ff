"""The name of a facts store that nothing else ever had.

A crawler asks a site for changes only of pages that went into this store. A new store, even in the same place, gets
whole pages again.
"""

from __future__ import annotations

import secrets
import zlib
from pathlib import Path

from siteglass.ingest.store.files import StoreFiles
from siteglass.ingest.store.manifest import StoreError
from siteglass.settings import Settings

_NAME = "identity"


def store_identity(address: str, settings: Settings) -> int:
    """A number, which the store keeps from now on; raises StoreError."""
    try:
        files = StoreFiles(address, settings)
        if files.is_local:
            Path(address).mkdir(parents=True, exist_ok=True)
        content = files.read_bytes(_NAME)
        if content is None:
            content = secrets.token_hex(16).encode()
            files.replace_bytes(_NAME, content)
    except (OSError, ValueError) as error:
        raise StoreError(f"The store {address} cannot be used: {error}") from error
    return zlib.crc32(content) << 31 | zlib.crc32(content[::-1]) >> 1
