"""The manifest of a facts store: the files that count. It is replaced as a whole, so a store changes at one moment."""

from __future__ import annotations

import msgspec

from siteglass.ingest.store.files import StoreFiles

MANIFEST = "manifest.json"
VERSION = 1


class StoreError(Exception):
    """A store that cannot be used; the message says what to do."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """Names of files, the oldest first."""

    version: int = VERSION
    number: int = 0
    """How often it was replaced: the name of what is written next."""
    base: list[str] = []
    """Folded pages of all domains, in order."""
    deltas: dict[str, list[str]] = {}
    """The same for each run since the last compaction."""
    values: list[str] = []
    """Domains and the values that they ever showed, see `shared_values`."""
    shared: list[str] = []
    """Values that are over the threshold."""
    links: list[str] = []
    """Domains and those that they ever led to, see `alias_links`."""
    leads: list[str] = []
    """What leads said when they were last merged, see `ingest.content`. For each domain, the last file counts."""
    pending: list[str] = []
    """Domains whose leads are to be merged and loaded."""
    tasks: list[str] = []
    """Archives that are in the store, by the names of their tasks."""

    @property
    def facts(self) -> list[str]:
        """All files of pages."""
        return [*self.base, *(name for names in self.deltas.values() for name in names)]

    @property
    def names(self) -> set[str]:
        """All files."""
        return {*self.facts, *self.values, *self.shared, *self.links, *self.leads, *self.pending}


def read_manifest(files: StoreFiles) -> Manifest:
    """The manifest of a store; an empty one where there is no store yet."""
    content = files.read_bytes(MANIFEST)
    if content is None:
        return Manifest()
    try:
        manifest = msgspec.json.decode(content, type=Manifest)
    except msgspec.DecodeError as error:
        raise StoreError(f"{files.path(MANIFEST)} cannot be read: {error}. Restore it from a backup.") from None
    if manifest.version != VERSION:
        raise StoreError(
            f"{files.path(MANIFEST)} has version {manifest.version}, and this build reads {VERSION}. Use the build "
            "that wrote it, or another folder: --store"
        )
    return manifest


def write_manifest(files: StoreFiles, manifest: Manifest) -> Manifest:
    """Replace the manifest; the one that counts from now on."""
    manifest = msgspec.structs.replace(manifest, number=manifest.number + 1)
    content = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
    files.replace_bytes(MANIFEST, content)
    return manifest
