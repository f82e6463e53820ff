"""The one client of OpenSearch: it knows which nodes answer, and asks another one when the first does not."""

from siteglass.platform.opensearch.client import Decode, EngineError, OpenSearch, open_opensearch

__all__ = ["Decode", "EngineError", "OpenSearch", "open_opensearch"]
