"""Index: the leads of one dataset in OpenSearch, with the connections, names and deadlines that its requests need."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from siteglass.index.names import IndexNames
from siteglass.platform.backends import Backends, Clock
from siteglass.platform.opensearch import OpenSearch
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings


@dataclass(frozen=True, slots=True)
class Index:
    """What every function of this package takes first."""

    opensearch: OpenSearch
    postgres: Postgres
    """Holds the suppression list, which every writer asks."""
    settings: Settings
    clock: Clock
    names: IndexNames

    def sandbox(self) -> Self:
        """The index of the made-up leads that test keys search, beside this one."""
        return replace(self, names=IndexNames(self.names.prefix, "test"))


def open_index(backends: Backends) -> Index:
    """The live index, under the prefix of the settings."""
    names = IndexNames(backends.settings.index_prefix)
    return Index(backends.opensearch, backends.postgres, backends.settings, backends.clock, names)
