"""The OpenAPI document: made from the catalogue, the declared operations, the error tree and the settings."""

from siteglass.openapi.document import document

__all__ = ["document"]
