"""The version of the client, which the distribution and the User-Agent carry: that of the whole project."""

from importlib.metadata import version

__version__ = version("siteglass-client")
