"""The version of the client, which the distribution and the User-Agent carry."""

__version__ = "0.1.0"
