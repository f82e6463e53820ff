"""The rules of real leads, as the merge asks for them by name; tests of the merge have others."""

from __future__ import annotations

from siteglass.corpus.address_kinds import kind_of
from siteglass.corpus.role import is_free_mail
from siteglass.ingest.extract.paths import priority
from siteglass.ingest.ownership import owners
from siteglass.ingest.rules import Rules
from siteglass.ingest.score import score
from siteglass.ingest.spending import estimate

RULES = Rules(priority=priority, kind=kind_of, is_free_mail=is_free_mail, score=score, owners=owners, spending=estimate)
