"""One capture in, its facts out: one module per fact, pure, without an engine. `facts_of` puts them together."""

from siteglass.ingest.extract.assembly import ExtractFailed, NotHtml, facts_of

__all__ = ["ExtractFailed", "NotHtml", "facts_of"]
